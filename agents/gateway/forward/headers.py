"""Which headers go through: all of the client's but its credentials, of the API's those that matter."""

from collections.abc import Iterable, Iterator, Mapping

Pair = tuple[bytes, bytes]

_OF_THE_CONNECTION = {
    b"connection",
    b"content-length",
    b"expect",
    b"host",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
}
_CREDENTIALS = {b"authorization", b"cookie", b"x-api-key"}
_REPLACED = {b"accept-encoding"}  # a compressed answer could not be counted
_BACK = {
    b"content-encoding",
    b"content-length",
    b"content-type",
    b"request-id",
    b"retry-after",
    b"x-should-retry",
}
_BACK_TOO = b"anthropic-"


def to_upstream(headers: Iterable[Pair], secrets: Mapping[str, str]) -> list[Pair]:
    """Return the client's headers for the API, with the real credentials in place of the lane's token."""
    dropped = _OF_THE_CONNECTION | _CREDENTIALS | _REPLACED
    kept = [(name, value) for name, value in headers if name.lower() not in dropped]
    added = {"accept-encoding": "identity", **secrets}
    return [*kept, *((name.encode(), value.encode("latin-1")) for name, value in added.items())]


def to_client(headers: Iterable[Pair]) -> list[Pair]:
    """Return the API's headers for the client."""
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() in _BACK or name.lower().startswith(_BACK_TOO)
    ]


def token_in(headers: Iterable[Pair]) -> str:
    """Return the lane's token in the client's headers, or "" if there is none."""
    return next(_tokens(headers), "")


def _tokens(headers: Iterable[Pair]) -> Iterator[str]:
    for name, value in headers:
        if name == b"x-api-key":
            yield value.decode("latin-1")
        elif name == b"authorization" and value[:7].lower() == b"bearer ":
            yield value[7:].strip().decode("latin-1")
