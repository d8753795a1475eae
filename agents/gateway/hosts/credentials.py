"""The user's credentials at a registry: for which paths they go out, and how they stay out of answers.

They go out only below the address that an index has, and only for what the ecosystem's own client asks for
(`asked_paths.yaml`). Everything else is asked without them. Of an answer to them, only the headers that
clients need come back, and the body only of a success: whole (no ranges, nothing compressed), with every
spelling of the credentials and every beginning of one blanked out.
"""

import base64
import html
import json
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from os.path import commonprefix
from urllib.parse import quote, unquote

import h11
import msgspec

from state.decoding import table_beside

_ODD = re.compile(r"[^\w!$%+,.~@/()*'=-]|//|/\.{1,2}(?:/|$)|%(?!2[BbFf]|21|24|40)", re.ASCII)
_HEAD = 12  # bytes of a beginning that is blanked out by itself
_SHORTEST = 6  # characters of a password. A shorter one is blanked out with its user's name alone
_COMES_BACK = frozenset(
    {b"content-type", b"content-length", b"content-disposition", b"date", b"etag", b"last-modified"}
    | {b"location", b"cache-control", b"retry-after", b"link", b"vary", b"x-pypi-last-serial"}
)


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: str
    place: str
    source: str
    query: str = ""


class _Client(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rows: tuple[_Row, ...]
    indexes: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    words: dict[str, str]
    clients: dict[str, _Client]
    never: frozenset[str]


@cache
def asked_paths() -> _File:
    """Return the rows. The head of `asked_paths.yaml` describes the fields."""
    return msgspec.convert(table_beside(__file__, "asked_paths.yaml"), _File)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    words = asked_paths().words
    return re.compile(re.sub(r"(?<!\?P)<(\w+)>", lambda found: words[found[1]], text), re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """The value of an Authorization header for one address of an index, as `path` on its host.

    `ecosystem` says which client asks. Where it knows scopes, they go out for these `scopes` alone, and for
    packages without one if it is `also_unscoped`.
    """

    authorization: str = field(repr=False)
    path: str
    ecosystem: str
    scopes: frozenset[str] = frozenset()
    also_unscoped: bool = True

    def fits(self, target: str) -> bool:
        """Whether a request for this target goes out with it."""
        path, mark, query = target.partition("?")
        if _ODD.search(path) or _ODD.search(self.path) or path.startswith("/."):
            return False
        index = self.path.rstrip("/")
        if path == self.path != "/" and not mark:  # the very address, such as that of a file in a lock file
            return True
        client, beside = asked_paths().clients[self.ecosystem], index
        for name in client.indexes:
            beside = beside.removesuffix(f"/{name}")
        return any(self._fits(row, index, beside, path, query if mark else None) for row in client.rows)

    def _fits(self, row: _Row, index: str, beside: str, path: str, query: str | None) -> bool:
        base = index if row.place == "index" else beside
        if not path.startswith(f"{base}/") or (row.place == "own" and not beside):
            return False
        rest = path[len(base) + 1 :]
        found = _pattern(row.path).fullmatch(rest)
        is_asked = row.query and query is not None and _pattern(row.query).fullmatch(query)
        if not found or not (is_asked or (query is None and not row.query)):
            return False
        if "scope" in found.re.groupindex:
            if found["scope"]:
                return found["scope"] in self.scopes
            if not self.also_unscoped:
                return False
        first = rest.partition("/")[0]
        return bool(base) or first.lower() not in asked_paths().never or row.path.startswith(f"{first}/")


def authorization_for(target: bytes, credentials: Iterable[Credential]) -> str:
    """Return the header's value with which a registry is asked for a target, "" for none."""
    text = target.decode("latin-1")
    return next((one.authorization for one in credentials if one.fits(text)), "")


class Answer:
    """An answer to credentials on its way back. Raises `ProtocolError` if it cannot be looked into."""

    def __init__(self, authorization: str) -> None:
        spelled = sorted(_spellings(authorization), key=len, reverse=True)
        self._spelled, self._longest, self._held = spelled, max(map(len, spelled)), b""
        heads = {one[:_HEAD] for one in spelled}
        self._heads = re.compile(b"|".join(map(re.escape, sorted(heads, key=len, reverse=True))))
        self._unpack: zlib._Decompress | None = None

    def head(self, answer: h11.Response) -> h11.Response:
        """Return the beginning of the answer."""
        packed = dict(answer.headers).get(b"content-encoding", b"identity").lower()
        if packed in {b"gzip", b"x-gzip", b"deflate"}:
            self._unpack = zlib.decompressobj(wbits=47)
        elif packed != b"identity":
            raise h11.RemoteProtocolError("the registry packs answers in a way that was not asked for")
        keeps = answer.status_code // 100 == 2  # noqa: PLR2004
        lost = {b"content-length"} if self._unpack or not keeps else set()
        headers = [
            (name, self._blanked(value))
            for name, value in answer.headers
            if name in _COMES_BACK and name not in lost
        ]
        headers += [] if keeps else [(b"content-length", b"0")]
        return h11.Response(status_code=answer.status_code, headers=headers)

    def part(self, data: bytes, *, last: bool = False) -> bytes:
        """Return what of the body is known to be free of the credentials: all, with the `last` part."""
        if self._unpack:
            try:
                data = self._unpack.decompress(data)
            except zlib.error as error:
                raise h11.RemoteProtocolError("the registry's answer cannot be unpacked") from error
        data = self._held + data
        free = len(data) if last else max(0, len(data) - self._longest + 1)
        data = self._blanked(data, free)
        self._held = data[free:]
        return data[:free]

    def _blanked(self, data: bytes, free: int | None = None) -> bytes:
        """Return the data without what begins before `free`, so that it is there whole."""
        found, at, end = bytearray(data), 0, len(data) if free is None else free
        while (place := self._heads.search(data, at)) and (start := place.start()) < end:
            at = start + max(
                len(commonprefix([data[start : start + len(one)], one]))  # noqa: RUF071  by bytes, as is wanted
                for one in self._spelled
            )
            found[start:at] = b"*" * (at - start)
        return bytes(found)


def _spellings(authorization: str) -> set[bytes]:
    """Return the header's value, its parts, and how each may be written in an answer."""
    value = authorization.partition(" ")[2] or authorization
    texts = {authorization, value}
    if authorization.startswith("Basic "):
        with suppress(ValueError):  # a user's value that is no base64
            pair = base64.b64decode(value + "==").decode("utf-8", "replace")
            texts |= {pair, pair.partition(":")[2]}
    found: set[bytes] = set()
    for text in texts:
        data = text.encode()
        found |= {data, data.hex().encode(), data.hex().upper().encode(), data[::-1]}
        found |= {one.encode() for one in (json.dumps(text)[1:-1], html.escape(text), quote(text, safe=""))}
        found |= {re.sub(rb"%..", lambda one: one[0].lower(), quote(text, safe="").encode())}
        found |= {quote(text).encode(), unquote(text).encode(), text.replace("/", "\\/").encode()}
        for before in range(3):  # where it may begin in what is encoded
            inner = base64.b64encode(bytes(before) + data)[-(-before * 4 // 3) :]
            inner = inner.rstrip(b"=")[: None if (before + len(data)) % 3 == 0 else -1]
            found |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return {one for one in found if len(one) >= _SHORTEST}
