"""set-up: a new worktree gets the ignored files and runs the commands that the configuration names.

What that changes in files which sq would commit is put back: it is no part of any task's work.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import to_thread

from orchestrator.git.locks import git_dir
from orchestrator.git.repository import named
from orchestrator.git.seeding import copy_files, files_to_copy, not_ignored_there
from orchestrator.git.shadow import put_back, shadow_snapshot
from orchestrator.git.workspace import changed_paths, head_of, tree_of
from orchestrator.run.record import Run
from orchestrator.run.verification import run_contained
from state.errors import SqError
from state.events import WorkspaceSetUp
from state.records import CommandRun

_MARKER = "sq-set-up"  # beside the worktree's index: it goes with the worktree
_BEGUN, _DONE = "begun on", "done for"
_PATHS_TOLD = 100


class SetUpError(SqError):
    """A worktree cannot be made ready for work as the configuration asks for."""


async def set_up(run: Run, task_id: str, folder: Path, *, tree: str = "") -> None:
    """Make a worktree ready for work, once.

    Args:
        run: the run.
        task_id: the task that the worktree is of; empty for the integration worktree.
        folder: the worktree.
        tree: the content that it has to be ready for: with another one it is set up again, since what is
            installed may follow from files of the project.

    Raises:
        SetUpError: a command failed, or files cannot be copied; says what to do.
    """
    settings = run.settings
    if not settings.worktrees or not (settings.worktree_include or settings.worktree_setup):
        return
    marker = git_dir(folder) / _MARKER
    noted = marker.read_text("utf-8") if marker.exists() else ""
    if noted == f"{_DONE} {tree}" or (noted.startswith(_DONE) and not tree):
        return
    with TemporaryDirectory(prefix="sq-") as temporary:
        index = Path(temporary) / "index"
        head = await head_of(folder)
        committed = await tree_of(folder, head)
        cut_off = noted == f"{_BEGUN} {head}"  # nobody has worked there since
        before = committed if cut_off else await shadow_snapshot(folder, index)
        if task_id and before == committed:
            marker.write_text(f"{_BEGUN} {head}", "utf-8")
        copied = await _copy(run, folder)
        runs = await _run_commands(run, folder)
        await _put_back(folder, index, before)
    run.record(WorkspaceSetUp(task_id=task_id, folder=str(folder), copied=_told(copied), runs=tuple(runs)))
    if runs and not runs[-1].passed:
        raise SetUpError(_failed(task_id, folder, runs[-1]))
    marker.write_text(f"{_DONE} {tree}", "utf-8")


async def _copy(run: Run, folder: Path) -> Sequence[str]:
    patterns = run.settings.worktree_include
    paths = await files_to_copy(run.repository, patterns, state=run.folder.parents[1])
    if seen := await not_ignored_there(folder, paths):
        raise SetUpError(
            f"`worktree.include` names {named(seen)}, which git ignores in {run.repository} but not by what "
            "is committed there: commit the .gitignore, or put the patterns into .git/info/exclude"
        )
    try:
        return await to_thread.run_sync(copy_files, run.repository, folder, paths)
    except OSError as error:
        raise SetUpError(
            f"files of `worktree.include` could not be copied from {run.repository} to {folder}: {error}"
        ) from error


async def _run_commands(run: Run, folder: Path) -> list[CommandRun]:
    """Run them in order, up to the first that fails."""
    runs: list[CommandRun] = []
    for command in run.settings.worktree_setup:
        runs.append(await run_contained(run, command, folder))
        if not runs[-1].passed:
            break
    return runs


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
        f"Put right what it needs and `{again}`, or begin a new run with another `worktree.setup`"
    )
