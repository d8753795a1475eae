"""`sq clean`: remove the remains of runs, but never work that exists nowhere else."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json
from state.safe_paths import remove_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.cli.clean.cleanable import Candidate, RunCleaned
    from orchestrator.git.cleaning import Cleaned
    from state.paths import StateFolder

_REMOVING = "removing"  # in the state folder: the rest of an interrupted clean
_FORCE = "Remove unmerged work too. It is kept under refs/sq-rescue/ first."


@click.command("clean", short_help="Remove worktrees, branches and state of runs that are over.")
@click.option("--run", "name", metavar="ID", shell_complete=options.complete_runs, help="Clean this run.")
@click.option("--all", "everything", is_flag=True, help="Clean every run that has ended for good.")
@click.option("--force", is_flag=True, help=_FORCE)
@click.option(
    "--sessions",
    is_flag=True,
    help="Remove the stop gate's state of sessions without a stop for 30 days.",
)
@options.state_dir
@options.json_object
def command(
    name: str | None, everything: bool, force: bool, sessions: bool, state_dir: Path | None, as_json: bool
) -> int:
    """Remove the worktrees, branches, refs and the state of one run, or of all that have ended for good.

    ID is a run's id, or an unambiguous beginning or end of one. Work that no branch of yours has stays,
    unless --force is given. Then a ref keeps it. Without --run and --all it shows what could be removed.
    Exit code 0 if everything asked for was removed, else 2.
    """
    import anyio

    from orchestrator.cli.clean.cleanable import cleaned_lines
    from state.paths import StateFolder

    if sessions:
        if name or everything or force or state_dir:
            raise click.UsageError(
                "--sessions is about the stop gate's sessions. Leave the other options out"
            )
        return _clean_sessions(as_json=as_json)
    if name and everything:
        raise click.UsageError("--run cleans one run and --all every one. Leave one of the two out")
    state = StateFolder(options.state_folder_of(state_dir))
    again = options.again(state_dir)
    done = anyio.run(_clean, state, name, everything, force, again)
    refused = any(run.is_refused for run in done)
    if as_json:
        say_json({"ok": not refused, "state_dir": str(state.root), "runs": done})
    else:
        say(*(cleaned_lines(done) or [f"there is nothing to clean in {state.root}"]))
    return 2 if refused else 0


def _clean_sessions(*, as_json: bool) -> int:
    """Remove the folders of this project's sessions without a write for 30 days."""
    from orchestrator.gates.session_state.diagnostics import (
        SteeringSettings,
        old_sessions,
        remove_sessions,
        sessions_folder,
    )

    old = old_sessions(sessions_folder(Path.cwd(), SteeringSettings.of(os.environ)), datetime.now(UTC))
    done = list(remove_sessions(old))
    failed = [folder for folder, problem in done if problem]
    if as_json:
        sessions = [
            {"session": folder.name, "folder": str(folder), "problem": problem} for folder, problem in done
        ]
        say_json({"ok": not failed, "sessions": sessions})
        return 2 if failed else 0
    for folder, problem in done:
        say(f"{folder} cannot be removed: {problem}" if problem else f"removed {folder}")
    if not done:
        say("no session's folder is older than 30 days")
    return 2 if failed else 0


async def _clean(
    state: "StateFolder", name: str | None, everything: bool, force: bool, again: str
) -> "list[RunCleaned]":
    from orchestrator.cli.clean.cleanable import candidates_of
    from orchestrator.git.repository import find_repository
    from orchestrator.project.readiness.kept import lasting_folder
    from state.errors import UsageError

    remove_tree(state.root / _REMOVING)
    try:
        here = (await find_repository(Path.cwd())).root
    except UsageError:  # the runs of a state folder may be of another repository
        here = None
    candidates = await candidates_of(state, here)
    if name:
        return [await _clean_one(state, _named(candidates, name, state.root), force, again)]
    if not everything:
        raise UsageError(await _what_there_is(candidates, state.root, again))
    remove_tree(lasting_folder(state.root))
    return [await _clean_if_over(state, candidate, force, again) for candidate in candidates]


def _named(candidates: "Sequence[Candidate]", name: str, root: Path) -> "Candidate":
    from state.errors import UsageError

    fitting = [one for one in candidates if one.run_id == name] or [
        one for one in candidates if one.run_id.startswith(name) or one.run_id.endswith(name)
    ]
    if len(fitting) != 1:
        known = ", ".join(one.run_id for one in fitting or candidates) or "none"
        found = "several runs fit" if fitting else "no such run"
        raise UsageError(f"run {name}: {found} in {root}. Known are {known}")
    return fitting[0]


async def _clean_if_over(
    state: "StateFolder", candidate: "Candidate", force: bool, again: str
) -> "RunCleaned":
    from orchestrator.cli.clean.cleanable import CleanState, RunCleaned
    from state.errors import RunActiveError

    run_state = candidate.run_state
    if run_state in {CleanState.ENDED, CleanState.NEVER_BEGAN}:
        try:
            return await _clean_one(state, candidate, force, again)
        except RunActiveError:  # since the look
            run_state = CleanState.ACTIVE
    forced = " --force" if run_state is CleanState.STATELESS else ""
    return RunCleaned(
        run_id=candidate.run_id,
        run_state=run_state,
        skipped=run_state,
        next_command=(
            "" if run_state is CleanState.ACTIVE else f"sq clean --run {candidate.run_id}{forced}{again}"
        ),
    )


async def _clean_one(state: "StateFolder", candidate: "Candidate", force: bool, again: str) -> "RunCleaned":
    from orchestrator.cli.clean.cleanable import CleanState, RunCleaned
    from orchestrator.git.cleaning import remove_holdings, remove_worktree_root, what_would_stay
    from state.errors import GitError, RunActiveError

    run_id, run_state = candidate.run_id, candidate.run_state
    if run_state is CleanState.ACTIVE:
        raise RunActiveError(
            f"run {run_id} is being worked on by another sq process, or began a moment ago. Stop it first, "
            f"or watch it: sq status {run_id}{again}"
        )
    forced = f"sq clean --run {run_id} --force{again}"
    if run_state is CleanState.STATELESS and not force:
        refused = f"no state of it is in {state.root}, so it may be at work. Name its --state-dir"
        return RunCleaned(run_id=run_id, run_state=run_state, refused=refused, next_command=forced)
    cleaned: list[Cleaned] = []
    removable, refused = False, ""
    with candidate.held():
        try:
            holdings = await candidate.look()
            if run_state is CleanState.RESUMABLE:  # a half-removed run is useless
                cleaned = what_would_stay(holdings, force=force)
            cleaned = cleaned or await remove_holdings(candidate.repository, run_id, holdings, force=force)
            left = [one for one in cleaned if not one.removed]
            if candidate.worktrees and not left:
                remove_worktree_root(candidate.worktrees)
            removable = not left or (force and candidate.repository is None)
            if removable and candidate.folder:
                _remove_state(state, candidate.folder)
        except (GitError, OSError) as error:
            refused = str(error)
    could_by_force = any(one.holding.unmerged and not one.holding.blocked for one in cleaned if one.problem)
    return RunCleaned(
        run_id=run_id,
        run_state=run_state,
        cleaned=tuple(cleaned),
        state=str(candidate.folder) if removable and candidate.folder and not refused else "",
        note="it could have been resumed" if run_state is CleanState.RESUMABLE and removable else "",
        refused=refused,
        next_command=forced if could_by_force else "",
    )


def _remove_state(state: "StateFolder", folder: Path) -> None:
    """Move a run out of the state folder in one step, then remove it."""
    removing = state.root / _REMOVING
    removing.mkdir(mode=0o700, exist_ok=True)
    folder.rename(removing / folder.name)
    remove_tree(removing)


async def _what_there_is(candidates: "Sequence[Candidate]", root: Path, again: str) -> str:
    from orchestrator.cli.clean.cleanable import holding_text

    if not candidates:
        return f"there is nothing to clean in {root}"
    lines = [
        f"name the run to clean: `sq clean --run ID{again}`, or `sq clean --all{again}` for all ended ones"
    ]
    for candidate in candidates:
        lines.append(f"  {candidate.run_id}: {candidate.run_state}")
        lines += [f"    {holding_text(holding)}" for holding in await candidate.look()]
        if candidate.folder:
            lines.append(f"    state {candidate.folder}")
    return "\n".join(lines)
