"""Events as they are stored: a name, a version, and the JSON of the dataclass.

A field may be added to an event if it has a default. Any other change raises the event's entry in `VERSIONS`
and adds a step to `UPCASTS`, so that old journals stay readable.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from state.errors import JournalError
from state.journal.events import EVENTS, Event

type_by_name: dict[str, type] = {event.__name__: event for event in EVENTS}


def _confined(old: dict[str, Any]) -> dict[str, Any]:
    """Gather how agents are held, which three fields of their own held in version 1."""
    held = {name: old[name] for name in ("containment", "sandbox", "key_exposed") if name in old}
    return {**{name: value for name, value in old.items() if name not in held}, "confined": held}


def _numbered(old: dict[str, Any]) -> dict[str, Any]:
    """Give the criteria of a plan their ids, which version 1 had not."""
    criteria = old.get("criteria", [])
    return {**old, "criteria": [{**one, "id": f"c-{number}"} for number, one in enumerate(criteria, start=1)]}


# 1 for an event that is not listed
VERSIONS: dict[str, int] = {"RunStarted": 2, "RunResumed": 2, "PlanProposed": 2, "PlanAccepted": 2}
UPCASTS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {
    ("RunStarted", 1): _confined,
    ("RunResumed", 1): _confined,
    ("PlanProposed", 1): _numbered,
    ("PlanAccepted", 1): _numbered,
}


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Any] | None:
    event = type_by_name.get(name)
    return msgspec.json.Decoder(event) if event else None


def version_of(name: str) -> int:
    """Return the version in which events of this name are written now."""
    return VERSIONS.get(name, 1)


def encode(event: Event) -> tuple[str, int, str]:
    """Return an event as `(name, version, JSON body)`."""
    name = type(event).__name__
    try:
        body = msgspec.json.encode(event)
    except UnicodeEncodeError:  # half a surrogate pair: some program cut its output inside a character
        body = json.dumps(_mended(msgspec.to_builtins(event)), ensure_ascii=False).encode()
    return name, version_of(name), body.decode()


def decode(name: str, version: int, body: str | bytes) -> Event:
    """Return the event that was stored.

    Raises:
        JournalError: the name or version is unknown (a newer sq wrote it), or the body is damaged.
    """
    decoder, newest = _decoder(name), version_of(name)
    if decoder is None or version > newest:
        raise JournalError(
            f"the journal holds {name} version {version}, which this sq does not know: "
            "it was written by a newer sq, so use that one"
        )
    try:
        if version == newest:
            return decoder.decode(body)  # type: ignore[no-any-return]
        data = msgspec.json.decode(body, type=dict[str, Any])
        for step in range(version, newest):
            data = UPCASTS[name, step](data)
        return msgspec.convert(data, type_by_name[name])
    # An upcast of a damaged body fails in any of these ways.
    except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, TypeError, ValueError) as error:
        raise JournalError(f"a stored {name} cannot be read: {error}") from error


def _mended(value: Any) -> Any:  # noqa: ANN401  JSON
    """Return the same JSON with every half surrogate pair replaced by Unicode's replacement character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(part) for key, part in value.items()}
    return [_mended(part) for part in value] if isinstance(value, list | tuple) else value
