"""set-up: a worktree gets the ignored files that the configuration names, and all that its project needs.

Changes in files that sq would commit are undone, because they are not part of any task's work.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import to_thread

from orchestrator.git.locks import git_dir
from orchestrator.git.repository import named
from orchestrator.git.seeding import copy_files, files_to_copy, not_ignored_there
from orchestrator.git.shadow import put_back, shadow_snapshot
from orchestrator.git.workspace import changed_paths, head_of, tree_of
from orchestrator.run.readiness.environment import environment_of
from orchestrator.run.readiness.made_once import copy_kept, keep, kept_folder
from orchestrator.run.readiness.plan import Plan, key_of_list, plan_of
from orchestrator.run.readiness.steps import Step
from orchestrator.run.record import Run
from state.errors import SqError
from state.inside import remove_inside, write_inside
from state.journal.events import SetUpStarted, WorkspaceSetUp
from state.records import CommandRun
from state.secrets import without_secrets

_MARKER = "sq-set-up"  # beside the worktree's index, and removed with the worktree
_BEGUN, _DONE = "begun on", "done for"
_PATHS_TOLD = 100


class SetUpError(SqError):
    """A worktree cannot be made ready for work as the configuration asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """The result of a set-up's commands. `again` are folders that were copied instead of being made."""

    runs: tuple[CommandRun, ...] = ()
    again: tuple[str, ...] = ()


async def set_up(run: Run, task_id: str, folder: Path, *, of_sq: bool = False) -> None:
    """Make a worktree ready for work, once and after changes of the files that the set-up depends on.

    The commands of a list are run once in a task's worktree, whatever its Worker changes.

    Args:
        run: the run.
        task_id: the worktree's task, or "" for a worktree of sq's own.
        folder: the worktree.
        of_sq: the worktree is a scratch one, which sq needs without worktrees for tasks too.

    Raises:
        SetUpError: a command of the user's fails, or files cannot be copied. Says how to mend that.
    """
    settings = run.settings
    if not (settings.worktrees or of_sq):
        return
    plan = await _plan(run, folder)
    listed = bool(settings.worktree_setup)
    key = await to_thread.run_sync(key_of_list, folder, settings.worktree_setup) if listed else plan.key
    if not (settings.worktree_include or settings.worktree_setup or plan.steps or plan.left_out):
        return
    marker = git_dir(folder) / _MARKER
    noted = marker.read_text("utf-8") if marker.exists() else ""
    failed_here = f"failed in {os.getpid()} for {key}"  # another process tries it again
    if noted in {f"{_DONE} {key}", failed_here} or (listed and task_id and noted.startswith(_DONE)):
        return
    ready = await _made_ready(run, task_id, folder, plan, marker)
    if listed:  # the commands' own results must not require another run
        key = await to_thread.run_sync(key_of_list, folder, settings.worktree_setup)
    run.record(ready)
    failed = [one for one in ready.runs if not one.passed]
    if failed and listed:
        raise SetUpError(_failed(task_id, folder, failed[0]))
    _mark(marker, failed_here if failed else f"{_DONE} {key}")


async def _made_ready(run: Run, task_id: str, folder: Path, plan: Plan, marker: Path) -> WorkspaceSetUp:
    """Copy the files and run the commands of a set-up; tracked files that they change are put back."""
    noted = marker.read_text("utf-8") if marker.exists() else ""
    with TemporaryDirectory(prefix="sq-") as temporary:
        index = Path(temporary) / "index"
        head = await head_of(folder)
        committed = await tree_of(folder, head)
        cut_off = noted == f"{_BEGUN} {head}"  # no agent has worked there since
        before = committed if cut_off else await shadow_snapshot(folder, index)
        if task_id and before == committed:
            _mark(marker, f"{_BEGUN} {head}")
        copied = await _copy(run, folder)
        done = await (_run_plan(run, task_id, folder, plan) if plan.steps else _run_listed(run, folder))
        await _put_back(folder, index, before)
    return WorkspaceSetUp(
        task_id=task_id,
        folder=str(folder),
        copied=_told(copied),
        runs=done.runs,
        again=done.again,
        left_out=plan.left_out,
    )


def _mark(marker: Path, text: str) -> None:
    write_inside(marker.parent, marker.name, text.encode())


async def ready_environment(run: Run, folder: Path) -> dict[str, str]:
    """Return the variables that commands in a worktree need beside those of sq's own environment.

    The worktree's own environment is first on the PATH, and its code is found before that of the checkout.
    """
    environ = without_secrets(run.environ)
    look = partial(environment_of, folder, checkout=run.repository, environ=environ)
    return await to_thread.run_sync(look)


async def forget_what_was_made(run: Run) -> None:
    """Remove the copies of set-up results, which a run that ends no longer needs."""
    await to_thread.run_sync(partial(shutil.rmtree, kept_folder(run.folder), ignore_errors=True))


async def _plan(run: Run, folder: Path) -> Plan:
    if not run.settings.sets_up_by_itself:
        return Plan()
    environ = without_secrets(run.environ)
    return await to_thread.run_sync(partial(plan_of, folder, checkout=run.repository, environ=environ))


async def _copy(run: Run, folder: Path) -> Sequence[str]:
    patterns = run.settings.worktree_include
    paths = await files_to_copy(run.repository, patterns, state=run.folder.parents[1])
    if seen := await not_ignored_there(folder, paths):
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


async def _run_listed(run: Run, folder: Path) -> _Done:
    """Run the user's commands in order, up to the first that fails."""
    runs: list[CommandRun] = []
    for command in run.settings.worktree_setup:
        runs.append(await run.commands.contained(command, folder, online=True))
        if not runs[-1].passed:
            break
    return _Done(runs=tuple(runs))


async def _run_plan(run: Run, task_id: str, folder: Path, plan: Plan) -> _Done:
    """Do each step, by a copy of an earlier result or by its command."""
    run.record(SetUpStarted(task_id=task_id, folder=str(folder), steps=tuple(map(str, plan.steps))))
    kept, runs, again = kept_folder(run.folder), list[CommandRun](), list[str]()
    environment = await ready_environment(run, folder)
    async with run.making_ready:  # so that worktrees side by side do not repeat a step
        for step in plan.steps:
            if await to_thread.run_sync(copy_kept, kept, step, folder):
                again += step.portable
                continue
            runs.append(await _run_step(run, step, folder, environment))
            if runs[-1].passed:
                await to_thread.run_sync(keep, kept, step, folder)
    return _Done(runs=tuple(runs), again=tuple(again))


async def _run_step(run: Run, step: Step, folder: Path, environment: dict[str, str]) -> CommandRun:
    """Run a step's command. If it fails, remove its partial results, which would be taken for complete."""
    new = [path for path in step.makes if not os.path.lexists(folder / path)]
    done = await run.commands.contained(step.command, folder, environment, online=True)
    for path in new if not done.passed else ():
        with suppress(OSError):  # a link on the way, which is not followed
            await to_thread.run_sync(remove_inside, folder, path)
    return done


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


def _failed(task_id: str, folder: Path, done: CommandRun) -> str:
    again = f"sq resume --retry {task_id}" if task_id else "sq resume"
    return (
        f"the set-up of {folder} failed: `{done.command}` {done.problem or f'ended with {done.exit_code}'}. "
        f"Its output ends:\n{done.output_tail.strip()}\n"
        f"Mend the cause and `{again}`, or begin a new run with another `worktree.setup`"
    )
