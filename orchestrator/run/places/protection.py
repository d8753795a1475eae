"""Without worktrees: the user's uncommitted work is copied, changes to it are refused, and it is put back.

A run works around the user's lines. If a Worker changes them, it gets a list of them. They are put back then,
before the next attempt, and at each end of the run, whatever its cause. A change of the git folder, which
sq's own git commands do not care about, is reported.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from orchestrator.git.own_refs import shadow_ref
from orchestrator.git.pinned import changed_git
from orchestrator.git.pinned_config import trusted_now
from orchestrator.git.users.backup import BACKUP, BESIDE, Backup, read_backup, take_backup
from orchestrator.git.users.files import Change
from orchestrator.git.users.ignored import changed_ignored, keep_ignored, put_ignored_back, read_ignored
from orchestrator.git.users.restoring import Restored, renewed_files, restore
from orchestrator.git.users.shadows import shadow_commit, shadow_snapshot
from orchestrator.run.record import Run
from state.errors import GitError
from state.journal.events import Event, GitFolderChanged, RunStarted, UsersWorkKept, UsersWorkRestored
from state.journal.view import RunView

IGNORED = "ignored"  # in the run's folder: the ignored files
_ASIDE = "aside"  # likewise: folders and links that were in the place of the user's files
_INDEX = "start.index"
_LINES_TOLD = 20
_PATHS_TOLD = 200
_AROUND = (
    "Read these files again and make your change around these lines, in other lines or another file. If the "
    "task cannot be done without changing them, end with task_stuck and say which line is in the way."
)
_PUT_BACK_S = 60.0  # limit for the last putting back of the user's work


async def keep_users_work(
    record: Callable[[Event], object],
    view: RunView,
    started: RunStarted,
    run_folder: Path,
    *,
    leave_out: Sequence[Path],
) -> None:
    """Copy the user's uncommitted work, again if it may have changed after a process of the run ended.

    Raises:
        GitError: something cannot be read or kept. Then nothing is begun.
    """
    root, ref = Path(started.repository), shadow_ref(started.run_id, BACKUP)
    index = run_folder / _INDEX
    now = await shadow_snapshot(root, index, lenient=True)
    kept = view.checkout.users_work
    if kept is None:
        message = "The checkout when the run began"
        base = await shadow_commit(
            root,
            ref=shadow_ref(started.run_id, f"{BACKUP}.base"),
            parent=started.base_commit,
            tree=now,
            message=message,
        )
        backup = await take_backup(root, ref=ref, parent=started.base_commit, leave_out=leave_out)
        ignored = await keep_ignored(root, run_folder / IGNORED, leave_out=leave_out)
        record(_kept(backup, ref, base=base, ignored=len(ignored.hashes), not_kept=ignored.not_kept))
    elif view.checkout.left_tree:  # no Worker has been active since, so the differences are the user's
        old = await read_backup(root, kept.commit)
        files = await renewed_files(root, old, left=view.checkout.left_tree, now=now)
        backup = await take_backup(
            root, ref=ref, parent=started.base_commit, leave_out=leave_out, instead=files
        )
        ignored = await keep_ignored(root, run_folder / IGNORED, leave_out=leave_out)
        record(_kept(backup, ref, ignored=len(ignored.hashes), not_kept=ignored.not_kept))
    index.unlink(missing_ok=True)


def guarded_files(run_folder: Path, root: Path) -> frozenset[str]:
    """Return the user's ignored files, which no file tool may write, or their folders if they are many."""
    return frozenset(str(root / path) for path in read_ignored(run_folder / IGNORED).guarded)


async def put_users_work_back(run: Run, *, last: bool = False) -> Restored:
    """Put the user's changed work back, and record it. Nothing is recorded if nothing had changed.

    `last`: a process of the run ends here. Then ignored files are put back as well, and the content of the
    checkout is recorded in any case.

    Raises:
        JournalError: it could not be recorded.
    """
    kept = run.view.checkout.users_work
    if run.settings.worktrees or kept is None:
        return Restored()
    root = run.repository
    restored, ignored, problem = Restored(), list[str](), ""
    try:
        restored = await restore(
            root,
            await read_backup(root, kept.commit),
            ref=shadow_ref(run.started.run_id, BESIDE),
            aside=run.folder / _ASIDE,
            files=not run.started.edit_dirty,
        )
        if last and not run.started.edit_dirty:
            ignored = changed_ignored(root, read_ignored(run.folder / IGNORED))
            put_ignored_back(root, run.folder / IGNORED, ignored)
        tree = await run.places.snapshot(root)
    except (GitError, OSError) as error:
        problem, tree = str(error), ""
    if last or problem or not restored.is_nothing:
        run.record(_restored(run, restored, ignored, tree, problem))
    return restored


async def put_back_at_the_end(run: Run) -> None:
    """As `put_users_work_back`, for the end of a process of the run. Cancellation waits for it.

    Raises:
        JournalError: it could not be recorded.
    """
    with anyio.move_on_after(_PUT_BACK_S, shield=True):
        await put_users_work_back(run, last=True)


async def put_back_after_a_kill(run: Run) -> None:
    """Put the work back if a process of the run was killed while a Worker may have been active."""
    if run.view.checkout.users_work and not run.view.checkout.left_tree and run.view.calls:
        await put_users_work_back(run)


async def refused_changes(run: Run) -> str:
    """Return a Worker's changes to the user's uncommitted work, which are undone by now, or ""."""
    restored = await put_users_work_back(run)
    refused = [change for change in restored.changes if change.refused]
    told = [line for change in refused for line in _told(change)]
    if restored.heads:
        told.append("HEAD: a git command of yours made commits or switched branches. sq commits, you do not")
    if not told:
        return ""
    return "\n".join(
        [
            "You changed uncommitted work of the user's, which has to stay as it is. sq has put back:",
            "",
            *told,
            "",
            _AROUND,
        ]
    )


def _told(change: Change) -> list[str]:
    path = change.kept.path.encode(errors="replace").decode()
    if not (change.lost or change.restored):
        return [f"{path}: the whole file, as the user had left it"]
    lines = [f"    line {number}: {line}" for number, line in change.lost]
    lines += [f"    deleted by the user, and still to be: {line}" for line in change.restored]
    more = len(lines) - _LINES_TOLD
    return [f"{path}:", *lines[:_LINES_TOLD], *([f"    … and {more} more"] if more > 0 else [])]


def _kept(backup: Backup, ref: str, *, base: str = "", ignored: int, not_kept: str) -> UsersWorkKept:
    return UsersWorkKept(
        ref=ref,
        commit=backup.commit,
        base=base,
        paths=_printable(list(backup.files)),
        ignored=ignored,
        not_kept=not_kept,
    )


def _restored(run: Run, restored: Restored, ignored: list[str], tree: str, problem: str) -> UsersWorkRestored:
    begun = [task for task in run.view.tasks.values() if task.place.begun]
    newest = max(begun, key=lambda task: task.place.begun, default=None)
    return UsersWorkRestored(
        tree=tree,
        task_id=newest.task.id if newest and tree else "",
        paths=_printable([change.kept.path for change in restored.changes]),
        overwritten=_printable(list(restored.overwritten)),
        ref=restored.ref,
        indexes=_printable(list(restored.indexes)),
        heads=_printable(list(restored.heads)),
        elsewhere=_printable(list(restored.elsewhere)),
        ignored=_printable(ignored),
        replaced=str(run.folder / IGNORED / "replaced") if ignored else "",
        problem=problem,
    )


def _printable(paths: list[str]) -> tuple[str, ...]:
    """Return paths in a form that can be stored and shown. A name need not be UTF-8."""
    shown = [path.encode(errors="surrogateescape").decode(errors="replace") for path in paths]
    more = len(shown) - _PATHS_TOLD
    return (*shown[:_PATHS_TOLD], f"… and {more} more") if more > 0 else tuple(shown)


async def report_git_folder(run: Run) -> None:
    """Record the changed files by which git runs programs, if they are others than before.

    Raises:
        JournalError: it could not be recorded.
    """
    trusted = trusted_now()
    if trusted is None:
        return
    paths = tuple(await to_thread.run_sync(changed_git, trusted))
    if set(paths) - set(run.view.checkout.changed_git):
        run.record(GitFolderChanged(paths=tuple(sorted({*paths, *run.view.checkout.changed_git}))))
