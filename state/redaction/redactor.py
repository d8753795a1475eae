"""Takes the secrets out of a text that is stored, shown, or sent to a model: known values, and tokens.

Known values are those of the environment, of files at the start of a run (credentials, `.env`, git remotes),
and of addresses and headers. Unknown tokens are found by their formats (`formats.yaml`). Randomness alone is
no sign.
"""

import binascii
import json
import os
import re
import zlib
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from state.decoding import table_beside
from state.redaction.known import Known, KnownValues
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


Redact = Callable[[str], str]
_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/@\s:]*:([^/@\s]+)@", re.IGNORECASE)
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUM = 6  # its digits in base62
_VARIED = 8  # different characters that random ones have at least
_SHORTEST = 20  # characters of a token: the AWS access key
_RUN = b"a" * 16  # letters and digits on end, which most formats have
_LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RUNS = bytes(97 if one in _LETTERS else 32 for one in range(256))


class Redactor:
    """Replaces each known secret by its name, and each token of a known format by the name of that format."""

    def __init__(self, values: Iterable[Known] = ()) -> None:
        self._known = KnownValues(values)

    def __call__(self, text: str) -> str:
        """Return the text without known secrets and without tokens."""
        return without_tokens(self.known(text))

    def known(self, text: str) -> str:
        """Return the text without known secrets. A token in a file or diff of the work stays as it is."""
        return self._known.replaced(text) if self._known else text


def redactor(environ: Mapping[str, str], more: Iterable[Known] = ()) -> Redactor:
    """Return the redactor for the secrets of an environment, and for `more` of them."""
    return Redactor([*(one for name in secret_names(environ) for one in _of(name, environ[name])), *more])


def _of(name: str, value: str) -> list[Known]:
    """Return a value, and the password in it if it is an address with one."""
    found = _PASSWORD.match(value)
    passwords = {found[1], unquote(found[1])} if found else set()
    return [Known(name, value), *(Known(name, one) for one in passwords)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFormat:
    """A format. `checks` decides on the part behind the start. With the word `without` it is an example."""

    name: str
    starts: tuple[str, ...]
    pattern: str
    contains: tuple[str, ...]
    without: str
    checks: Callable[[str], bool]

    def is_one(self, found: str) -> bool:
        """Whether a match of the pattern is a token."""
        start = next(one for one in self.starts if found.startswith(one))
        return not (self.without and self.without in found) and self.checks(found[len(start) :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token in a text: the name of its format, and its place in characters."""

    format: str
    start: int
    end: int


def tokens_in(text: str) -> list[Token]:
    """Return the tokens of a known format in a text, in order."""
    return list(_tokens_in(text)) if _may_hold_one(text) else []


def without_tokens(text: str) -> str:
    """Return the text with the name of its format in the place of each token."""
    parts, after = [], 0
    for token in tokens_in(text):
        parts += [text[after : token.start], f"[redacted: {token.format}]"]
        after = token.end
    return "".join([*parts, text[after:]]) if parts else text


@cache
def token_formats() -> tuple[TokenFormat, ...]:
    """Return the formats of the data file, in its order."""
    rows = tuple(table_beside(__file__, "formats.yaml"))
    return tuple(map(_format, rows))


def _format(row: dict[str, Any]) -> TokenFormat:
    starts = "|".join(map(re.escape, row["starts"]))
    return TokenFormat(
        name=row["name"],
        starts=tuple(row["starts"]),
        pattern=f"(?:{starts})(?:{row['rest']})",
        contains=tuple(row.get("contains", ())),
        without=row.get("not", ""),
        checks=_CHECKS[row.get("check", "")],
    )


def checksum(random: str) -> str:
    """Return the checksum of GitHub's and npm's tokens: CRC-32 in six digits of base62."""
    number, digits = zlib.crc32(random.encode()), ""
    while number:
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return digits.rjust(_CHECKSUM, "0")


def _has_checksum(rest: str) -> bool:
    return checksum(rest[:-_CHECKSUM]) == rest[-_CHECKSUM:]


def _is_varied(rest: str) -> bool:
    return len(set(rest)) >= _VARIED


def _is_mixed(rest: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return _is_varied(rest) and all(any(kind(one) for one in rest) for kind in kinds)


def _is_jwt(rest: str) -> bool:
    """Whether the header of a token without its first letters `eyJ` is JSON that names an algorithm."""
    header = "eyJ" + rest.partition(".")[0]
    try:
        data = json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, binascii.Error):
        return False
    return isinstance(data, dict) and "alg" in data and str(data["alg"]).lower() != "none"


_CHECKS: dict[str, Callable[[str], bool]] = {
    "": bool,
    "crc32": _has_checksum,
    "varied": _is_varied,
    "mixed": _is_mixed,
    "jwt": _is_jwt,
}


def _may_hold_one(text: str) -> bool:
    """Whether a text may hold a token. It costs a few microseconds a kilobyte."""
    if len(text) < _SHORTEST:
        return False
    runs = text.encode("ascii", "replace").translate(_RUNS)
    return _RUN in runs or any(word in text for word in _compiled().words)


def _tokens_in(text: str) -> Iterator[Token]:
    compiled = _compiled()
    for found in compiled.pattern.finditer(text):
        format_ = compiled.formats[int((found.lastgroup or "f0")[1:])]
        if format_.is_one(found.group()):
            yield Token(format=format_.name, start=found.start(), end=found.end())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """All formats in one expression, with a group for each."""

    pattern: re.Pattern[str]
    formats: tuple[TokenFormat, ...]
    words: tuple[str, ...]


@cache
def _compiled() -> _Compiled:
    formats = token_formats()
    groups = "|".join(f"(?P<f{number}>{one.pattern})" for number, one in enumerate(formats))
    return _Compiled(
        pattern=re.compile(rf"(?<![0-9A-Za-z_])(?:{groups})(?![0-9A-Za-z])"),
        formats=formats,
        words=tuple(dict.fromkeys(word for one in formats for word in one.contains)),
    )
