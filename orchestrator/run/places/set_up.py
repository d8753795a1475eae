"""Set-up: a worktree gets the ignored files that the configuration names, and all that its project needs.

Changes in files that sq would commit are undone, because they are not part of any task's work. A scratch
worktree is set up the same way. sq runs commands there on an exact tree, and no agent works in it, so nothing
else that a Worker leaves (an ignored program, a patched package) is there.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog
from anyio import Lock, to_thread

from orchestrator.checks.bench import ScratchWorktree
from orchestrator.git.locks import git_dir
from orchestrator.git.repository import named
from orchestrator.git.seeding import copy_files, files_to_copy, ignored_in, not_ignored_there
from orchestrator.git.trees import changed_paths
from orchestrator.git.users.shadows import put_back, shadow_snapshot
from orchestrator.git.users.submodules import put_files, submodules_of
from orchestrator.git.workspace import head_of, remove_scratch, show_tree, tree_of
from orchestrator.project.readiness.inputs import is_below
from orchestrator.project.readiness.kept import is_as_made, kept_folder, note_made, put_at
from orchestrator.project.readiness.plan import SetUpPlan, key_of_list
from orchestrator.project.readiness.steps import offline_variables
from orchestrator.run.places.shared import leave_for_later
from orchestrator.run.places.steps import (
    Noted,
    Results,
    Worktree,
    as_base,
    base_tree,
    is_lost,
    plan_for,
    read_note,
    ready_environment,
    run_listed,
    run_steps,
    run_steps_apart,
    write_note,
)
from orchestrator.run.ports import Reach
from orchestrator.run.purpose import next_command, run_for
from orchestrator.run.record import Trial
from state.errors import GitError, SqError
from state.journal.events import SetUpStarted, WorkspaceSetUp
from state.paths import SCRATCH, worktree_root
from state.records.commands import CommandRun

log = structlog.get_logger(__name__)

_SUBMODULES = "sq-submodules"  # beside it
_MARKER = "sq-set-up"  # beside the worktree's index, and removed with the worktree
_BEGUN, _CUT, _DONE = "begun on", "begun", "done for"
_PATHS_TOLD = 100
_CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage"}
)
_AS_SET_UP = {"UV_NO_SYNC": "1"}  # `uv run` takes the environment that is there, also without a lock file


class SetUpError(SqError):
    """A worktree cannot be made ready for work as the configuration asks for."""


async def set_up(run: Trial, task_id: str, folder: Path, *, of_sq: bool = False) -> str:
    """Make a worktree ready for work, once and after changes of the files that the set-up depends on.

    Returns a fingerprint of those, "" without a set-up.

    The commands of a list are run once in a task's worktree, whatever its Worker changes.

    Args:
        task_id: the worktree's task, or "" for a worktree of sq's own.
        folder: the worktree.
        of_sq: the worktree is a scratch one, which sq needs without worktrees for tasks too.

    Raises:
        SetUpError: a command of the user's fails, or files cannot be copied. Says how to fix that.
    """
    settings = run.settings
    if not (settings.worktrees or of_sq):
        return ""
    await _with_submodules(run, folder)
    plan = await plan_for(run, folder)
    listed = bool(settings.worktree_setup)
    key = await _list_key(run, folder) if listed else plan.key
    if not (settings.worktree_include or settings.worktree_setup or plan.steps or plan.left_out):
        return ""
    marker = git_dir(folder) / _MARKER
    noted = read_note(marker)
    lost = is_lost(kept_folder(run.folder), folder, noted)
    if _is_done(noted, key, once=listed and bool(task_id)) and not lost:
        return key
    if lost or (noted.state == _CUT and not task_id):
        noted = Noted()  # a set-up that was cut off, or whose results are gone, begins anew
    asked = next_command()
    run_for("set-up", task_id or asked.task_id)
    ready, results = await _made_ready(run, task_id, folder, plan, marker, noted)
    run_for(asked.purpose, asked.task_id, about=asked.about, nth=asked.nth, of=asked.of)
    if listed:  # the commands' own results must not require another run
        key = await _list_key(run, folder)
    run.record(ready)
    run.record_hosts()
    failed = [one for one in ready.runs if not one.passed]
    if failed and listed:
        raise SetUpError(_failed(task_id, folder, failed[0], sealed=results.sealed))
    state = _failed_here(key) if failed or results.failed else f"{_DONE} {key}"
    now = _noted(state, plan, noted, results, folder)
    if not task_id:
        await to_thread.run_sync(note_made, marker.parent, folder, now.made)
    write_note(marker, now)
    return key


async def _with_submodules(run: Trial, folder: Path) -> None:
    """Give a new place the submodules that the checkout shows, as at the base."""
    own = git_dir(folder)
    if (own / _SUBMODULES).exists():
        return
    found = [one for one in await submodules_of(run.repository, await base_tree(run)) if one.objects]
    for one in found:
        with TemporaryDirectory(prefix="sq-") as temporary:
            await put_files(run.repository, one, Path(temporary) / "it")
            await to_thread.run_sync(put_at, Path(temporary) / "it", folder, one.path)
    if paths := [one.path for one in found]:
        await to_thread.run_sync(partial(note_made, own, folder, paths, note=_SUBMODULES))


def _is_done(noted: Noted, key: str, *, once: bool) -> bool:
    return noted.state in {f"{_DONE} {key}", _failed_here(key)} or (once and noted.state.startswith(_DONE))


def _failed_here(key: str) -> str:
    """Return the state after a failure. Another process tries it again."""
    return f"failed in {os.getpid()} for {key}"


def _noted(state: str, plan: SetUpPlan, before: Noted, results: Results, folder: Path) -> Noted:
    """Return the note on a worktree after its set-up."""
    keys = tuple(step.key for step in plan.steps if step.key in results.keys)
    every = dict.fromkeys((*before.made, *results.again, *results.made))
    return Noted(
        state=state,
        keys=keys,
        apart=tuple(key for key in keys if key in {*before.apart, *results.apart}),
        made=tuple(one for one in every if os.path.lexists(folder / one)),
    )


async def _made_ready(
    run: Trial, task_id: str, folder: Path, plan: SetUpPlan, marker: Path, noted: Noted
) -> tuple[WorkspaceSetUp, Results]:
    """Copy the files and run the commands of a set-up; tracked files that they change are put back."""
    copied: list[str] = []
    with TemporaryDirectory(prefix="sq-") as temporary:
        index = Path(temporary) / "index"
        head = await head_of(folder)
        committed = await tree_of(folder, head)
        cut_off = noted.state == f"{_BEGUN} {head}"  # no agent has worked there since
        found = await shadow_snapshot(folder, index)
        before = committed if cut_off else found
        untouched = before == committed and not noted.state
        write_note(marker, Noted(state=f"{_BEGUN} {head}" if task_id and before == committed else _CUT))
        started = SetUpStarted(task_id=task_id, folder=str(folder), steps=tuple(map(str, plan.steps)))

        async def prepare() -> None:
            copied.extend(await _copy(run, folder))

        if run.commands.sandboxed:
            async with in_turn(run.making_ready, started, run.record):
                at = Worktree(
                    folder=folder,
                    index=index,
                    tree=before,
                    take_index=partial(shadow_snapshot, folder, index),
                    done=frozenset(noted.keys),
                    fresh=cut_off or untouched or not task_id,
                    disposable=not task_id or cut_off,
                )
                results = await _in_sandbox(run, at, prepare, partial(_put_back, folder, index))
        else:
            keeps = untouched and before == await base_tree(run)
            await prepare()
            results = await _as_always(run, started, plan, index, keeps=keeps)
        await _put_back(folder, index, before)
    seals = run.scratch.seals
    ready = WorkspaceSetUp(
        task_id=task_id,
        folder=str(folder),
        copied=_told(copied),
        runs=tuple(results.runs),
        again=tuple(results.again),
        left_out=plan.left_out,
        not_again=tuple(results.not_again),
        seals=tuple(f"{key} {seals[key]}" for key in results.keys if key in seals),
    )
    return ready, results


@asynccontextmanager
async def in_turn(
    turn: Lock, started: SetUpStarted, record: Callable[[SetUpStarted], None]
) -> AsyncIterator[None]:
    """Hold the turn of one set-up, so that others do not repeat its steps. Record its wait, and its begin."""
    if started.steps and turn.locked():
        record(replace(started, waits=True))
    async with turn:
        if started.steps:
            record(started)
        yield


async def _in_sandbox(
    run: Trial,
    at: Worktree,
    prepare: Callable[[], Awaitable[None]],
    put_back: Callable[[str], Awaitable[None]],
) -> Results:
    """Do the steps of a set-up, and return their results.

    Args:
        prepare: copies the user's ignored files into it.
        put_back: undoes what commands changed in the files of a tree.
    """
    results, listed = Results(keys=[*at.done]), bool(run.settings.worktree_setup)
    list_at_base = ""
    async with as_base(run, at) as is_base:
        await prepare()
        if is_base:
            results.keys.clear()
            list_at_base = await _list_key(run, at.folder)
            if listed:
                results.runs += await run_listed(run, at.folder, reach=Reach.ONLINE)
            plan = await plan_for(run, at.folder)
            await run_steps(run, plan, at.folder, results, index=at.index, keeps=True)
            await put_back(await base_tree(run))
    if any(not one.passed for one in results.runs) and listed:
        return results
    if listed and not run.settings.base_setup and await _list_key(run, at.folder) != list_at_base:
        results.sealed = True
        variables = {**await ready_environment(run, at.folder), **offline_variables()}
        results.runs += await run_listed(run, at.folder, reach=Reach.SEALED, environment=variables)
    changed = [step for step in (await plan_for(run, at.folder)).steps if step.key not in results.keys]
    if run.settings.base_setup:
        results.keys += [step.key for step in changed]
        results.not_again += [
            f"`{one.command}` ({one.why}) is not run: the set-up is that of the base" for one in changed
        ]
    else:
        await run_steps_apart(run, changed, at.folder, results, tree=at.tree)
    return results


async def _list_key(run: Trial, folder: Path) -> str:
    return await to_thread.run_sync(key_of_list, folder, run.settings.worktree_setup)


async def _as_always(
    run: Trial, started: SetUpStarted, plan: SetUpPlan, index: Path, *, keeps: bool
) -> Results:
    """Do the set-up without a sandbox. `keeps` as in `run_steps`."""
    results, folder = Results(), Path(started.folder)
    if plan.steps:
        async with in_turn(run.making_ready, started, run.record):
            await run_steps(run, plan, folder, results, index=index, keeps=keeps)
    else:
        results.runs += await run_listed(run, folder, reach=Reach.ONLINE)
    return results


async def _copy(run: Trial, folder: Path) -> Sequence[str]:
    patterns = run.settings.worktree_include
    paths = await files_to_copy(run.repository, patterns, state=run.folder.parents[1])
    seen = await not_ignored_there(folder, paths)
    if seen and run.settings.included_by_file:
        log.warning("worktree.include.skipped", paths=seen, reason="no committed file ignores it")
        paths = tuple(path for path in paths if path not in seen)
    elif seen:
        raise SetUpError(
            f"`worktree.include` names {named(seen)}, which git ignores in {run.repository} but not by files "
            "committed there: commit the .gitignore, or put the patterns into .git/info/exclude"
        )
    try:
        return await to_thread.run_sync(copy_files, run.repository, folder, paths)
    except OSError as error:
        raise SetUpError(
            f"files of `worktree.include` could not be copied from {run.repository} to {folder}: {error}"
        ) from error


async def _put_back(folder: Path, index: Path, before: str) -> None:
    after = await shadow_snapshot(folder, index)
    if after == before:
        return
    changed = await changed_paths(folder, before, after)
    if inner := [path for path in changed if (folder / path).is_dir() and not (folder / path).is_symlink()]:
        raise SetUpError(
            f"the commands of `worktree.setup` made {named(inner)}, a git repository inside {folder} that "
            "git does not ignore: add it to .gitignore"
        )
    await put_back(folder, index, changed=after, base=before, now=after)


def _told(copied: Sequence[str]) -> tuple[str, ...]:
    more = len(copied) - _PATHS_TOLD
    return (*copied[:_PATHS_TOLD], f"… and {more} more") if more > 0 else tuple(copied)


def _failed(task_id: str, folder: Path, done: CommandRun, *, sealed: bool) -> str:
    again = f"sq resume --retry {task_id}" if task_id else "sq resume"
    why = f"It seems to lack {done.walled}. " if done.walled else ""
    if sealed:
        why += (
            "Files that it depends on were changed by a task, so it runs without the network and without "
            'credentials: `sandbox.network = "full"` opens the network, `--sandbox off` both. '
        )
    return (
        f"the set-up of {folder} failed: `{done.command}` {done.problem or f'ended with {done.exit_code}'}. "
        f"Its output ends:\n{done.output_tail.strip()}\n"
        f"{why}Fix the cause and `{again}`, or begin a new run with another `worktree.setup`"
    )


@asynccontextmanager
async def scratch_worktree(run: Trial, tree: str, *, afresh: bool = False) -> AsyncIterator[ScratchWorktree]:
    """Yield a scratch worktree that holds exactly `tree`, ready for commands, until the context is left.

    A new one is made if all others are in use. `afresh`: without what commands have left there.

    Raises:
        GitError: git cannot put the tree into a folder.
        SetUpError: the user's own set-up commands fail there.
    """
    scratch = run.scratch
    if not scratch.free:
        scratch.made += 1
        root = worktree_root(run.repository, run.started.run_id)
        scratch.free.append(root / f"{SCRATCH}{scratch.made}")
    folder = scratch.free.pop()
    try:
        if afresh:
            await remove_scratch(run.repository, folder)
        await show_tree(run.repository, folder, tree, base=run.started.base_commit)
        if scratch.shown.get(folder) != tree:
            await _tidy(folder)
        scratch.shown[folder] = tree
        key = await set_up(run, "", folder, of_sq=True)
        environment = await ready_environment(run, folder) | _AS_SET_UP
        yield ScratchWorktree(folder=folder, tree=tree, environment=environment, set_up=key)
    finally:
        scratch.free.append(folder)


async def have_outputs(run: Trial) -> bool:
    """Whether commands have left files in sq's places that git ignores, beside set-ups and caches."""
    for folder in run.scratch.free:
        made = read_note(git_dir(folder) / _MARKER).made
        ignored = [one for one in await ignored_in(folder) if not is_below(one, made)]
        if any(_CACHES.isdisjoint(path.split("/")) for path in ignored):
            return True
    return False


async def _tidy(folder: Path) -> None:
    """Remove what commands of another tree left among the results of a set-up, or let it be made anew."""
    own = git_dir(folder)
    if not await to_thread.run_sync(partial(is_as_made, own, folder, tidies=True)):
        (own / _MARKER).unlink(missing_ok=True)
    if not await to_thread.run_sync(partial(is_as_made, own, folder, tidies=True, note=_SUBMODULES)):
        (own / _SUBMODULES).unlink(missing_ok=True)


async def remove_scratch_worktrees(run: Trial) -> None:
    """Remove the scratch worktrees, and of the set-up results those that no later run can use.

    A run that can be resumed keeps both, so that it ends at once and goes on without another set-up.
    """
    if run.view.ended is None or run.view.ended.resumable:
        return
    root = worktree_root(run.repository, run.started.run_id)
    for folder in sorted(root.glob(f"{SCRATCH}*")):
        try:
            await remove_scratch(run.repository, folder)
        except GitError as error:
            log.warning("scratch_worktree.remove.failed", folder=str(folder), error=str(error))
    for link in [one for one in root.glob("*") if one.is_symlink()]:  # to what lies beside the checkout
        link.unlink()
    run.scratch.free.clear()
    await leave_for_later(run)
    if root.is_dir() and not any(root.iterdir()):
        root.rmdir()
