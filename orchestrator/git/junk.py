"""Build leftovers, which git has to ignore in worktrees of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files


@contextmanager
def ignoring_junk() -> Iterator[list[str]]:
    """Yield the setting that makes git ignore build leftovers, not the user's global ignores."""
    with as_file(files("orchestrator.git") / "junk.gitignore") as junk:
        yield [f"core.excludesFile={junk}"]
