"""The files of a git folder by which git runs programs or changes contents, each with a hash."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_FILES = (
    "config",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "commondir",
)
_MOST = 1 << 20


def prints_of(own: Path, common: Path) -> dict[str, str]:
    """Return those files that exist in the two git folders of a checkout, with hash and mode."""
    return {str(path): found for path in _paths(own, common) if (found := _print(path))}


def _paths(own: Path, common: Path) -> Iterator[Path]:
    for folder in dict.fromkeys((common, own)):
        yield from (folder / name for name in _FILES)
    hooks = common / "hooks"
    if hooks.is_symlink():
        yield hooks
        return
    if hooks.is_dir():
        yield from (path for path in sorted(hooks.iterdir()) if path.suffix != ".sample")


def _print(path: Path) -> str:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return f"link {os.fsencode(path.readlink()).hex()}"
        if not stat.S_ISREG(facts.st_mode):
            return "no file"
        with path.open("rb") as file:
            content = file.read(_MOST)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{facts.st_mode & 0o111:o} {facts.st_size} {hashlib.sha256(content).hexdigest()}"
