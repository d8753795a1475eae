"""Folders for files of sandboxed processes: made for a block, removed whatever is in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import mkdtemp

import structlog
from anyio import CancelScope, to_thread

from state.safe_paths import remove_tree

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
