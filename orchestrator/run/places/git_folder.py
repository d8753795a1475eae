"""Says that the user's git folder changed during a run, which sq's own git commands do not care about."""

from anyio import to_thread

from orchestrator.git.pinned import changed_git
from orchestrator.git.pinned_config import trusted_now
from orchestrator.run.record import Run
from state.journal.events import GitFolderChanged


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
