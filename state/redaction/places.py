"""Secrets in files at the start of a run (credentials, `.env`, git remotes), and in addresses and headers."""

import os
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from state.decoding import table_beside
from state.redaction.known import Known
from state.secrets import secret_names

_LARGEST = 256 * 1024  # bytes of a file that is read
_DEEPEST = 3  # folders below the checkout in which `.env` files are looked for
_MOST_FOLDERS = 2_000
_NOT_LOOKED_AT = frozenset(
    {"node_modules", ".git", ".sq", ".venv", "venv", "target", "dist", "build", "vendor"}
)
_ENV_NAME = re.compile(r"\.env(?:rc|[.-].+)?")
_EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults", ".schema")
_GIT = (
    r"(?i)extraheader\s*=\s*\"?authorization:\s*\w+\s+([^\s\"]+)",
    r"://[^:/@\s]*:([^@\s]+)@",
    r"://([^:/@\s]{16,})@",  # a token instead of a user's name
)
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", re.MULTILINE)
_RANDOM = re.compile(r"(?=[^a-z]*[a-z])(?=\D*\d)[A-Za-z0-9+=_-]{20,}")
_LEAST = 8  # characters of a part that counts as a secret


def known_in_files(home: Path, checkout: Path) -> list[Known]:
    """Return the secret values in the files that usually hold some. Unreadable ones are left out."""
    return [*_in_rows(home, checkout), *known_in_git(checkout), *_in_env_files(checkout)]


@cache
def _rows() -> tuple[dict[str, Any], ...]:
    return tuple(table_beside(__file__, "places.yaml"))


def _in_rows(home: Path, checkout: Path) -> Iterator[Known]:
    for row in _rows():
        root, _, name = row["file"].partition("/")
        for file in sorted((home if root == "~" else checkout).glob(name)):
            for value in _values(_text_of(file), row["values"], pair=row.get("pair", False)):
                yield Known(f"{root}/{name}".removeprefix("./"), value)


def known_in_git(checkout: Path) -> Iterator[Known]:
    """Yield the credentials in the configuration of a repository, by its checkout or a worktree of it."""
    for file in _git_configurations(checkout):
        for value in _values(_text_of(file), _GIT, pair=True):
            yield Known("a git remote", value)


def _git_configurations(checkout: Path) -> Iterator[Path]:
    """Yield the configuration files of a repository, found from its checkout or a worktree of it."""
    folder = checkout / ".git"
    if folder.is_file():
        folder = (checkout / _text_of(folder).removeprefix("gitdir:").strip()).resolve()
    common = _text_of(folder / "commondir").strip()
    for place in {folder, (folder / common).resolve() if common else folder}:
        yield from (place / "config", place / "config.worktree")


def _in_env_files(checkout: Path) -> Iterator[Known]:
    for file in _env_files(checkout):
        found = {name: _unquoted(value) for name, value in _ASSIGNMENT.findall(_text_of(file))}
        secret = set(secret_names(found))
        for name, value in found.items():
            if name in secret or _RANDOM.fullmatch(value):
                yield Known(f"{name} in {file.name}", value)


def _env_files(checkout: Path) -> Iterator[Path]:
    for folder, below, names in islice(os.walk(checkout), _MOST_FOLDERS):
        depth = len(Path(folder).relative_to(checkout).parts)
        below[:] = [name for name in below if name not in _NOT_LOOKED_AT] if depth < _DEEPEST else []
        for name in names:
            if _ENV_NAME.fullmatch(name) and not name.endswith(_EXAMPLES):
                yield Path(folder, name)


def _values(text: str, patterns: Iterable[str], *, pair: bool) -> Iterator[str]:
    for pattern in patterns:
        for value in re.findall(pattern, text):
            yield value
            if unquote(value) != value:
                yield unquote(value)
            if pair and (password := _password_in(value)):
                yield password


def _password_in(value: str) -> str:
    """Return the password if a value is base64 of `user:password`, else ""."""
    try:
        return b64decode(value, validate=True).decode("utf-8").partition(":")[2]
    except ValueError:
        return ""


def _unquoted(value: str) -> str:
    for quote in "\"'":
        if len(value) > 1 and value.startswith(quote) and quote in value[1:]:
            return value[1 : value.index(quote, 1)]
    return value.split(" #", maxsplit=1)[0].strip()


def _text_of(file: Path) -> str:
    """Return the text of a regular file that is not too large, else ""."""
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ""
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def known_in(values: Mapping[str, str]) -> tuple[Known, ...]:
    """Return addresses and headers, and those parts of them that may be secrets, by their variables."""
    return tuple(
        Known(name, part)
        for name, value in values.items()
        for part in dict.fromkeys((value, *_parts(value)))
        if len(part) >= _LEAST
    )


def _parts(value: str) -> Iterator[str]:
    try:
        found = urlsplit(value)
    except ValueError:
        return
    if found.scheme and found.netloc:
        user, _, _ = found.netloc.rpartition("@")
        yield from (unquote(part) for part in (*user.split(":"), *found.path.split("/")))
        return
    for header in value.split(","):
        _, _, content = header.partition("=")
        plain = unquote(content.strip())
        yield from (content.strip(), plain, *re.split(r"\s+", plain))
