"""The files that programs start or obey for their name alone (`runs_later.yaml`).

Names are compared as the least exact file system does: in any case, in any form of Unicode, without the
characters that it leaves out. So a name that is harmless where sq runs is none where the work is taken.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import msgspec

from state.decoding import table_beside

_LEFT_OUT = re.compile(r":[^/]*|[. ]+(?=/|$)")  # Windows: a stream of a file, dots and spaces at an end


class LaterFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row, as `runs_later.yaml` describes it."""

    tool: str
    does: str
    paths: tuple[str, ...]
    source: str
    examples: tuple[str, ...] = msgspec.field(default=(), name="as")
    holds: str = ""


class _Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    terms: tuple[str, ...]
    files: tuple[LaterFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """What a file is, and the terms by which a spec names it."""

    file: LaterFile
    terms: tuple[str, ...]


@cache
def later_files() -> tuple[Later, ...]:
    """Return all rows."""
    groups = msgspec.convert(table_beside(__file__, "runs_later.yaml"), tuple[_Group, ...])
    return tuple(Later(file=file, terms=one.terms) for one in groups for file in one.files)


def runs_later(path: str) -> Later | None:
    """Return what a path of a tree is to the programs that look for its name, or None."""
    plain = "/" + _plain(path)
    if not (found := _any().search(plain)):
        return None
    return next(row for row in later_files() if _pattern(row.file).search(plain, found.start()))


def _plain(path: str) -> str:
    if not path.isascii():
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
        path = "".join(one for one in folded if unicodedata.category(one) not in {"Cf", "Cc", "Mn"})
    return _LEFT_OUT.sub("", path.lower().replace("\\", "/"))


@cache
def _any() -> re.Pattern[str]:
    return _compiled(path for row in later_files() for path in row.file.paths)


@cache
def _pattern(file: LaterFile) -> re.Pattern[str]:
    return _compiled(file.paths)


def _compiled(paths: Iterable[str]) -> re.Pattern[str]:
    words = (
        re.escape(path.rstrip("/")).replace(r"\*", "[^/]*") + ("(?=/|$)" if path.endswith("/") else "$")
        for path in paths
    )
    return re.compile(f"/(?:{'|'.join(words)})")
