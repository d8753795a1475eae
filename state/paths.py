"""Paths: the state folder with the files of a run, and worktrees and scratch folders outside the checkout."""

import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

import structlog
from anyio import CancelScope, to_thread

from state.errors import UsageError
from state.ids import RunId, run_id_at
from state.safe_paths import remove_tree

_PRIVATE = 0o700
SCRATCH = "verify."  # beginning of the names of scratch worktrees. No task id has a dot.


class StateFolder:
    """The folder that `--state-dir` names (default `.sq` in the repository): one folder per run."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def __repr__(self) -> str:
        return f"<StateFolder {self.root}>"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def new_run(self) -> tuple[RunId, Path]:
        """Make the folder of a new run. Its id is taken by making it, so no two runs share one.

        Raises:
            UsageError: the state folder cannot be written.
        """
        try:
            self.root.parent.mkdir(parents=True, exist_ok=True)
            # A folder that exists keeps its mode: it may be shared.
            self.root.mkdir(mode=_PRIVATE, exist_ok=True)
            self.runs.mkdir(mode=_PRIVATE, exist_ok=True)
            while True:
                run_id = run_id_at(datetime.now(UTC))
                try:
                    (self.runs / run_id).mkdir(mode=_PRIVATE)
                except FileExistsError:
                    continue
                return run_id, self.runs / run_id
        except OSError as error:
            raise UsageError(
                f"the state folder {self.root} cannot be used: {error.strerror}, so "
                "make it writable or name another with --state-dir"
            ) from error

    def run_ids(self) -> list[RunId]:
        """Return the runs that have a journal, oldest first."""
        if not self.runs.is_dir():
            return []
        return sorted(RunId(path.parent.name) for path in self.runs.glob("*/journal.db"))

    def find(self, name: str | None) -> Path:
        """Return the folder of the run with this id (or a unique beginning or end of it), or of the newest.

        Raises:
            UsageError: there is none, or the name fits several.
        """
        known = self.run_ids()
        if not known:
            raise UsageError(f"there are no runs in {self.root}, so begin one with `sq --spec SPEC.md`")
        if name is None:
            return self.runs / known[-1]
        fitting = [run for run in known if run == name] or [
            run for run in known if run.startswith(name) or run.endswith(name)
        ]
        if len(fitting) != 1:
            found = "several runs fit" if fitting else "no such run"
            raise UsageError(f"run {name}: {found} in {self.root}, known are {', '.join(fitting or known)}")
        return self.runs / fitting[0]


def users_folder() -> Path:
    """Return the folder of sq's state that belongs to the user and to no repository."""
    import platformdirs

    return platformdirs.user_state_path("sq", appauthor=False)


def worktree_root(repository: Path, run_id: str) -> Path:
    """Return the folder of a run's worktrees: in the user's own state folder, never inside the checkout."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", repository.name).strip("-.") or "repository"
    mark = hashlib.sha256(str(repository).encode()).hexdigest()[:8]
    return users_folder() / "worktrees" / f"{name}-{mark}" / run_id


log = structlog.get_logger(__name__)


@asynccontextmanager
async def scratch_folder(*, prefix: str = "sq-") -> AsyncIterator[Path]:
    """Yield a new folder outside every project. Nothing that is in it at the end is an error."""
    folder = Path(mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        await remove_scratch_folder(folder)


async def remove_scratch_folder(folder: Path) -> None:
    """Remove a folder, also on cancellation. A line of the log says what is left, and why."""
    with CancelScope(shield=True):
        left = await to_thread.run_sync(remove_tree, folder)
    if left:
        log.warning("folder.remove.failed", folder=str(folder), error=left, remedy="remove it by hand")
