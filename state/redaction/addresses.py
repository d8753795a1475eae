"""The secrets in an address of a service, or in headers for one."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from state.redaction.known import Known

_LEAST = 8  # characters of a part that counts as a secret


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
