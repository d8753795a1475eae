"""`sq doctor`: checks whether sq can work on this machine and in this repository. It changes nothing."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click

from agents.session.permissions import rule_names
from orchestrator.cli import options
from orchestrator.cli.clean.cleanable import runs_without_state
from orchestrator.cli.doctor.checks import (
    CheckLevel,
    DoctorCheck,
    check_lines,
    checks_of_machine,
    fail,
    ok,
    warn,
)
from orchestrator.cli.doctor.settings import (
    checks_of_hook,
    checks_of_integrations,
    checks_of_sessions,
    checks_of_settings,
)
from orchestrator.cli.runs.notes import lines_on_places, set_up_of
from orchestrator.git.artifacts import missing_worktrees
from orchestrator.git.command import git_succeeds, git_version
from orchestrator.git.held import held_git
from orchestrator.git.repository import Repository, find_repository, uncommitted
from orchestrator.views.screen import say, say_json
from state.errors import GitError, UsageError
from state.paths import StateFolder, worktree_root
from state.settings.config import load_config
from state.words import listed

if TYPE_CHECKING:
    from orchestrator.project.readiness.plan import SetUpPlan


@click.command("doctor", short_help="Check whether sq can work on this machine, with advice.")
@click.option(
    "--ask-checkout",
    is_flag=True,
    help="Also run the test commands on a copy of your checkout, in a sandbox without network.",
)
@options.json_object
@options.state_dir
def command(ask_checkout: bool, as_json: bool, state_dir: Path | None) -> int:
    """Check whether sq can work here: `ok`, `warn` or `fail`, with advice for each that is not ok.

    No model is asked and nothing is changed. Exit code 0 if nothing fails, else 2.
    """
    checks = list(_checks(options.state_folder_of(state_dir)))
    if ask_checkout:
        from orchestrator.cli.doctor.asking import ask_checkout as ask

        root = anyio.run(find_repository, Path.cwd()).root
        settings = load_config(root, os.environ, rules=rule_names()).settings
        checks += anyio.run(ask, root, settings, os.environ)
    failed = any(check.level is CheckLevel.FAIL for check in checks)
    if as_json:
        say_json({"ok": not failed, "checks": checks})
    else:
        say(*check_lines(checks))
    return 2 if failed else 0


def _checks(state: Path) -> Iterator[DoctorCheck]:
    yield from checks_of_machine(os.environ)
    if git_version():
        with held_git(Path.cwd()):
            yield from anyio.run(checks_of_repository, state)
    yield from checks_of_settings(os.environ, options.repository_here())
    yield from checks_of_integrations(os.environ, options.repository_here())
    yield from checks_of_hook(os.environ)
    yield from checks_of_sessions()


LOW_BYTES = 2**30  # enough for transcripts, journals and rehearsals of a few runs
_RUNS_NAMED = 3


async def checks_of_repository(state: Path) -> list[DoctorCheck]:
    """Check the repository around this folder, and the state folder `state`."""
    try:
        repository = await find_repository(Path.cwd())
    except UsageError as error:
        none = str(error).split(", and ")[0]
        advice = "go to a repository, or make this folder one, before `sq --spec`. `sq demo` makes its own"
        return [warn("repository", none, advice), _state(state, ignored=None), _space(state)]
    ignored = None
    real = Path(os.path.realpath(state))
    if real.is_relative_to(repository.root):  # with a slash, since it is a folder that may not exist yet
        relative = f"{real.relative_to(repository.root).as_posix()}/"
        ignored = await git_succeeds(repository.root, "check-ignore", "--quiet", relative)
    try:
        looked_at = [await _repository(repository, state)]
        left = [await _leftovers(repository.root, state)]
    except GitError as error:
        looked_at = [fail("repository", str(error), "`git fsck` shows the damage")]
        left = []
    ready = [*await _places(repository), _commands(repository.root)]
    return [*looked_at, *ready, _state(state, ignored=ignored), _space(state), *left]


async def _repository(repository: Repository, state: Path) -> DoctorCheck:
    name = "repository"
    dirty = await uncommitted(repository, not_dirt=[state])
    if repository.head is None:
        found = f"{repository.root} has no commit yet"
        if dirty:
            advice = "a run would not see the files here: `git add -A && git commit -m 'First commit'`"
            return warn(name, found, advice)
        return ok(name, f"{found} and no files: a run starts from nothing")
    found = f"{repository.root}, {repository.branch or 'detached HEAD'} at {repository.head[:10]}"
    if repository.branch is None:
        advice = (
            "a run leaves its work on a branch of sq's. `git switch BRANCH` to have a branch moved forward"
        )
        return warn(name, found, advice)
    if dirty:
        return warn(
            name,
            f"{found}, {len(dirty)} uncommitted change(s)",
            "commit or stash them: a run starts from the last commit, does not see them, and while they are "
            "there leaves its work on a branch of sq's",
        )
    return ok(name, f"{found}, clean")


async def _places(repository: Repository) -> list[DoctorCheck]:
    """What a run would say of its worktrees: their set-up, and what differs there. Nothing is run."""
    try:
        settings = load_config(repository.root, os.environ, rules=rule_names()).settings
    except UsageError:  # another check says so
        return []
    plan = await set_up_of(repository.root, settings)
    others = await lines_on_places(repository, settings, plan) if repository.head else []
    ignored = await _ignored_files(repository.root)
    found = "; ".join((*others, *ignored)) or "as the checkout"
    advice = "a run says this at its start too, and again beside a command that fails because of it"
    return [_set_up(plan), warn("worktrees", found, advice) if others else ok("worktrees", found)]


def _set_up(plan: "SetUpPlan | None") -> DoctorCheck:
    """Whether each program for the set-up of a worktree is installed."""
    if plan is None:
        return ok("set-up", "as `worktree.setup` lists it")
    if plan.left_out:
        found = "; ".join(one.partition(", so ")[0] for one in plan.left_out)
        return warn("set-up", found, "; ".join(one.partition(": ")[2] for one in plan.left_out))
    return ok("set-up", "; ".join(map(str, plan.steps)) or "a worktree needs none")


async def _ignored_files(root: Path) -> list[str]:
    """Say what git ignores, without the packages that `differences` tells or that the set-up makes."""
    from orchestrator.project.readiness.checkout import ignored_entries, packages_in

    files = [one for one in await ignored_entries(root) if not packages_in(root, one.rstrip("/"))]
    return [f"git ignores {listed(files)}: `worktree.include` copies what tests need of it"] if files else []


def _commands(root: Path) -> DoctorCheck:
    """The commands that would verify a run here, and what each can say."""
    from orchestrator.checks.results.vouching import shown_commands
    from orchestrator.project.checks import is_check
    from orchestrator.project.runners.suite import suite_of

    suites = {f"`{one}` ({source})": suite_of(one, root) for one, source in shown_commands(root)[0].items()}
    if not suites:
        advice = "name one with `--verify`, else a run ends with code 5 at best"
        return warn("commands", "the repository shows none that verifies it", advice)
    says = {True: "new complaints", False: "its exit code"}
    told = [
        f"{name} says {'which tests pass' if one.test_runs else says[is_check(one)]}"
        for name, one in suites.items()
    ]
    return ok("commands", "; ".join(told))


def _state(state: Path, *, ignored: bool | None) -> DoctorCheck:
    name = "state folder"
    nearest = _nearest(state)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        why = f"{nearest} is not {'writable' if nearest.is_dir() else 'a folder'}"
        return fail(
            name, f"{state} cannot be used: {why}", "make it one that is, or name another: --state-dir"
        )
    there = "writable" if nearest == state else "made by the first run"
    match ignored:
        case None:
            seen = "outside the repository"
        case True:
            seen = "ignored by git"
        case False:
            seen = "not ignored by git yet: a run enters it in .git/info/exclude"
    return ok(name, f"{state}, {there}, {seen}")


def _space(state: Path) -> DoctorCheck:
    nearest = _nearest(state)
    return space_check(nearest, shutil.disk_usage(nearest).free)


def space_check(folder: Path, free: int) -> DoctorCheck:
    """Whether `free` bytes are enough for the runs that are kept in a folder."""
    found = f"{free / 2**30:.1f} GiB free at {folder}"
    if free < LOW_BYTES:
        return warn(
            "disk space",
            found,
            "make room (`sq clean --all` removes ended runs), or name another folder with --state-dir: a run "
            "stops if it cannot store its events",
        )
    return ok("disk space", found)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest existing one above it."""
    return next(one for one in (folder, *folder.parents) if os.access(one, os.F_OK))


async def _leftovers(root: Path, state: Path) -> DoctorCheck:
    name = "leftovers"
    runs = await runs_without_state(StateFolder(state), root)
    known = {run.run_id for run in runs}
    missing = [
        folder
        for folder in await missing_worktrees(root, worktree_root(root, "any").parent)
        if folder.parent.name in known
    ]
    if missing:
        found = f"git still knows {len(missing)} worktree(s) of runs whose folders are gone: {missing[0]}"
        return warn(name, found, "`git worktree prune`, then `sq doctor` again")
    if runs:
        named = ", ".join(run.run_id for run in runs[:_RUNS_NAMED]) + (
            " …" if len(runs) > _RUNS_NAMED else ""
        )
        found = f"{len(runs)} run(s) without state in {state} have left branches or worktrees: {named}"
        where = options.again(state if state != root / ".sq" else None)
        advice = (
            f"`sq clean --run {runs[0].run_id} --force{where}` removes them and keeps unmerged work under a "
            "ref. If their state is in another folder, name that with --state-dir"
        )
        return warn(name, found, advice)
    return ok(name, "none: every branch and worktree of sq's belongs to a run that is known here")
