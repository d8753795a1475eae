"""The secrets in addresses and headers of notices and telemetry, for the redactor of a run."""

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from orchestrator.telemetry.headers import read_headers
from state.redaction.known import Known

_LEAST = 8  # characters of a part of an address that counts as a secret


def known_in(addresses: Mapping[str, str]) -> tuple[Known, ...]:
    """Return the values and those parts of them that may be secrets, for the redactor."""
    return tuple(
        Known(name, part)
        for name, value in addresses.items()
        for part in dict.fromkeys((value, *_parts(value)))
        if len(part) >= _LEAST
    )


def _parts(value: str) -> Iterator[str]:
    try:
        found = urlsplit(value)
    except ValueError:
        return
    if found.scheme and found.netloc:
        userinfo, _, _ = found.netloc.rpartition("@")
        yield from (unquote(part) for part in (*userinfo.split(":"), *found.path.split("/")))
    else:
        yield from read_headers(value).values()
