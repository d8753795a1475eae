"""Matches globs against the relative paths of a project."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

_NOISE = frozenset({
    ".git", "node_modules", "vendor", "target", "build", "dist", "_build", "deps", ".venv", "venv", ".tox",
    ".nox", "__pycache__", ".eggs", "site-packages", ".gradle", ".hypothesis", ".pytest_cache",
    ".mypy_cache", "bin", "obj",
})  # fmt: skip
_MOST = 50_000


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a relative path matches one of the globs.

    A glob without a slash is compared with the name, at any depth. A glob with a slash is compared with the
    whole path. `**` stands for any number of folders.
    """
    return any(_pattern(glob).fullmatch(path) is not None for glob in globs)


def walked(folder: Path) -> Iterator[str]:
    """Yield the relative paths of the project's files, sorted, without files that tools made or fetched."""
    seen = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOISE)
        for name in sorted(names):
            seen += 1
            if seen > _MOST:
                return
            yield os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")  # noqa: PTH118  speed


@lru_cache(maxsize=2048)
def _pattern(glob: str) -> re.Pattern[str]:
    text = glob.removeprefix("/")
    anchored = "/" in glob
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]*\])", text)
    translated = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = "".join(
        translated.get(part) or (part if part.startswith("[") and part.endswith("]") else re.escape(part))
        for part in parts
    )
    return re.compile(pattern if anchored else rf"(?:.*/)?{pattern}")
