"""The kinds of values that settings take, and the key that sets a field of a record."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args
from urllib.parse import urlsplit

Value = bool | int | float | str | tuple[str, ...] | None

AUTO = "auto"  # how a switch is left to sq
NONE = "none"  # how a file, the environment or a flag says that nothing is held back
_PORTS = 65_536
_MOST = 10**12  # no number means anything beyond it, and what is stored has 64 bits
# How hosts are left to the project's files: with the user's credentials for reading, or never with them.
REGISTRIES, ANONYMOUS = "registries", "anonymous-registries"
_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)
_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a value has to be.

    `needs` says it in words, and `names` are all values of a choice. `fits` decides it for the content of a
    TOML file. `parse` turns the text of an environment variable or a flag into such content, and `keep` a
    fitting value into the kept one. `store` turns that into the value of a record's field, and `load` is the
    way back.
    """

    needs: str
    fits: Callable[[Any], bool]
    parse: Callable[[str], object]
    keep: Callable[[Any], Value] = lambda value: value
    store: Callable[[Any], object] = lambda value: value
    load: Callable[[Any], Value] = lambda value: value
    names: tuple[str, ...] = ()

    def read(self, value: object) -> Value:
        """The value as it is kept.

        Raises:
            ValueError: it does not fit; says what is needed and what was found.
        """
        if not self.fits(value):
            raise ValueError(f"needs {self.needs}; found {_found(value)}")
        return self.keep(value)


def whole(least: int) -> ValueKind:
    """Return the kind of whole numbers from `least`."""

    def fits(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST

    return ValueKind(f"a whole number from {least}", fits, _number_in)


def number(needs: str, *, zero: bool) -> ValueKind:
    """Return the kind of numbers above 0, or with `zero` from 0."""

    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return 0 <= value <= _MOST and (zero or value > 0)

    return ValueKind(needs, fits, _number_in, float)


def or_none(kind: ValueKind) -> ValueKind:
    """Return the kind that also takes "none"."""

    def keep(value: object) -> Value:
        return None if value == NONE else kind.keep(value)

    return ValueKind(
        f'{kind.needs}, or "{NONE}"', lambda value: value == NONE or kind.fits(value), kind.parse, keep
    )


def or_empty(kind: ValueKind) -> ValueKind:
    """Return the kind that also takes "none", which a record holds as an empty text."""
    return replace(or_none(kind), store=lambda value: value or "", load=lambda value: value or None)


def one_of(names: type[StrEnum]) -> ValueKind:
    """Return the kind of a choice."""
    fits = list(names).__contains__
    return ValueKind(f"one of {', '.join(names)}", fits, str.strip, names, names=tuple(map(str, names)))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_address(value: object) -> bool:
    if not _is_text(value):
        return False
    try:
        found = urlsplit(str(value).strip())
    except ValueError:
        return False
    return found.scheme in {"http", "https"} and bool(found.hostname) and "@" not in found.netloc


def _number_in(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip()


def _switch_in(text: str) -> object:
    word = text.strip().lower()
    return word in _YES if word in _YES | _NO else text


def _lines_in(text: str) -> object:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _are_hosts(value: object) -> bool:
    return LINES.fits(value) and all(map(_HOST.fullmatch, value))  # type: ignore[call-overload]


def _are_services(value: object) -> bool:
    found = [_HOST.fullmatch(one) for one in value] if LINES.fits(value) else [None]  # type: ignore[attr-defined]
    ports = [int(one[1] or 0) for one in found if one]
    return (
        len(ports) == len(found) and all(0 < port < _PORTS for port in ports) and len({*ports}) == len(ports)
    )


_DURATION = re.compile(r"\+(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def moment_in(text: str, now: datetime) -> datetime:
    """Return the time that a deadline names, in the time zone of `now` if it names none.

    `+8h`, `+1h30m` and `+90s` count from `now`. `07:00` is the next such time. Others are dates with times.

    Raises:
        ValueError: it is none of these.
    """
    if found := _DURATION.fullmatch(text.strip()):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if not length:
            raise ValueError("no time")
        return now + length
    try:
        clock = datetime.strptime(text.strip(), "%H:%M").time()  # noqa: DTZ007  only the clock is read
    except ValueError:
        named = datetime.fromisoformat(text.strip())
        return named if named.tzinfo else named.replace(tzinfo=now.tzinfo)
    at = now.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


def _is_moment(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(moment_in(value, datetime.now().astimezone()))
    except (ValueError, OverflowError):
        return False


TEXT = ValueKind("a text", _is_text, str.strip, str.strip)
SWITCH = ValueKind("true or false", lambda value: isinstance(value, bool), _switch_in)
LINES = ValueKind(
    "a list of texts",
    lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)),
    _lines_in,
    tuple,
)
HOSTS = ValueKind(
    f'"{REGISTRIES}", "{ANONYMOUS}" or a list of hosts, each as "HOST" or "HOST:PORT" (either may be in it)',
    lambda value: value in {REGISTRIES, ANONYMOUS} if isinstance(value, str) else _are_hosts(value),
    lambda text: text.strip() if text.strip() in {REGISTRIES, ANONYMOUS} else _lines_in(text),
    lambda value: value if isinstance(value, str) else tuple(one.lower() for one in value),
    store=lambda value: (value,) if isinstance(value, str) else value,
    load=lambda value: value[0] if value in {(REGISTRIES,), (ANONYMOUS,)} else value,
)
SERVICES = ValueKind(
    'a list of services, each as "HOST:PORT" with a port of its own', _are_services, _lines_in, tuple
)
SET_UP = ValueKind(
    '"auto", "none" or a list of texts',
    lambda value: value in {AUTO, NONE} if isinstance(value, str) else LINES.fits(value),
    lambda text: text.strip() if text.strip() in {AUTO, NONE} else _lines_in(text),
    lambda value: value if isinstance(value, str) else tuple(value) or NONE,
)
_VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.ASCII | re.DOTALL)


def _assigned(value: object) -> list[str]:
    given = value.items() if isinstance(value, dict) else ()
    return [f"{name}={text}" for name, text in given] or (
        list(value) if isinstance(value, list | tuple) else []
    )


VARIABLES = ValueKind(
    'a table of texts, as {PORT = "auto", DATABASE = "test_{place}"}, or a list of "NAME=VALUE"',
    lambda value: (
        isinstance(value, dict | list | tuple)
        and all(isinstance(one, str) and _VARIABLE.fullmatch(one) for one in _assigned(value))
        and all(isinstance(one, str) for one in (value.values() if isinstance(value, dict) else ()))
    ),
    _lines_in,
    lambda value: tuple(_assigned(value)),
)
EVERY = "all"
EXCLUSIVE = ValueKind(
    f'"{EVERY}" or a list of commands',
    lambda value: value == EVERY if isinstance(value, str) else LINES.fits(value),
    lambda text: EVERY if text.strip() == EVERY else _lines_in(text),
    lambda value: value if isinstance(value, str) else tuple(value),
    store=lambda value: (value,) if isinstance(value, str) else value,
    load=lambda value: EVERY if value == (EVERY,) else value,
)
_TITLE, _AUTHOR = "{title}", re.compile(r"sq|user|[^<>\n]+ <[^<>\s]+@[^<>\s]+>")
TITLE = ValueKind(
    f"a text of one line with {_TITLE} in it",
    lambda value: isinstance(value, str) and _TITLE in value and "\n" not in value.strip(),
    str.strip,
    str.strip,
)
AUTHOR = ValueKind(
    '"sq", "user" (of git\'s settings) or "NAME <ADDRESS>"',
    lambda value: isinstance(value, str) and bool(_AUTHOR.fullmatch(value.strip())),
    str.strip,
    str.strip,
)
BY_ITSELF = ValueKind(
    f'true, false or "{AUTO}"',
    lambda value: isinstance(value, bool) or value == AUTO,
    lambda text: text.strip() if text.strip() == AUTO else _switch_in(text),
    store=lambda value: None if value == AUTO else value,
    load=lambda value: AUTO if value is None else value,
)
ADDRESS = ValueKind("an http or https address without a user", _is_address, str.strip, str.strip)
MOMENT = ValueKind(
    'a time ("07:00", "2026-11-27T07:00") or a duration from the start ("+8h", "+1h30m")',
    _is_moment,
    str.strip,
    str.strip,
)
POSITIVE = number("a number above 0", zero=False)
AMOUNT = number("a number from 0", zero=True)
_BY_TYPE: dict[object, ValueKind] = {
    bool: SWITCH,
    int: whole(1),
    float: POSITIVE,
    str: TEXT,
    tuple[str, ...]: LINES,
}


@dataclass(frozen=True, slots=True)
class SetBy:
    """The key that sets a field of a record, as the field's annotation.

    `meaning` is for documents and helps. Without `kind` it follows from the field's type, and without `key`
    its name from the field's place in `Settings`, as in `limits.idle_s`. `at` leads to a field of the record
    in this field. `effort`: the preset's field that holds the default.
    """

    meaning: str
    kind: ValueKind | None = None
    key: str = ""
    at: tuple[str, ...] = ()
    effort: str = ""


def kind_of(annotation: object) -> ValueKind:
    """Return the kind of a field with this annotation: its own, or the one that the type has.

    Raises:
        TypeError: no setting can be of this type.
    """
    for one in getattr(annotation, "__metadata__", ()):
        if found := one if isinstance(one, ValueKind) else getattr(one, "kind", None):
            return found
    plain = get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation
    if isinstance(plain, UnionType):
        kept = [one for one in get_args(plain) if one is not NoneType]
        return or_none(kind_of(kept[0]))
    if isinstance(plain, type) and issubclass(plain, StrEnum):
        return one_of(plain)
    if plain in _BY_TYPE:
        return _BY_TYPE[plain]
    raise TypeError(f"no setting can be of the type {plain}")


def _found(value: object) -> str:
    if isinstance(value, str):
        return f'the text "{value}"' if value.strip() else "an empty text"
    if isinstance(value, dict):
        return "a table"
    return json.dumps(value, ensure_ascii=False, default=str)
