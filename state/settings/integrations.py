"""What a run tells others while nobody watches: notices to people, and telemetry to a collector."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

FROM_ENVIRONMENT = "env:"  # before the name of a variable that holds a secret
_TRACES = "/v1/traces"


class NoticeKind(StrEnum):
    """The occasions of a notice: a run ended, a question is parked, a task is stuck, a long wait began."""

    ENDED = "ended"
    PARKED = "parked"
    STUCK = "stuck"
    WAITING = "waiting"


def variable_in(value: str) -> str:
    """Return the name of the variable in `env:NAME`, or ""."""
    return value.removeprefix(FROM_ENVIRONMENT) if value.startswith(FROM_ENVIRONMENT) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeTarget:
    """One table of `[[notify]]`: a command, or the variable of an Apprise address as `env:NAME`."""

    on: tuple[NoticeKind, ...]
    command: str = ""
    url: str = ""

    @property
    def variable(self) -> str:
        """The name of the variable that holds the address, or "" for a command."""
        return variable_in(self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """Where spans go: the address of an OTLP collector, and `env:NAME` for the headers that it wants.

    Without an address telemetry is off.
    """

    otlp: str = ""
    headers: str = ""

    @property
    def traces_url(self) -> str:
        """The address that takes spans, or "" if telemetry is off."""
        base = self.otlp.rstrip("/")
        return base if not base or urlsplit(base).path.endswith(_TRACES) else f"{base}{_TRACES}"

    @property
    def variable(self) -> str:
        """The name of the variable that holds the headers, or ""."""
        return variable_in(self.headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrations:
    """All of it. `bell`: the terminal rings at the end of a run that took more than a minute."""

    notify: tuple[NoticeTarget, ...] = ()
    telemetry: Telemetry = Telemetry()
    bell: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables that hold addresses and headers."""
        named = (*(target.variable for target in self.notify), self.telemetry.variable)
        return tuple(dict.fromkeys(filter(None, named)))


NOTIFY = "notify"
_FIELDS = ("on", "command", "url")
_VARIABLE = re.compile(rf"{FROM_ENVIRONMENT}[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class GivenTarget:
    """A checked table and the file that it stands in."""

    target: NoticeTarget
    file: Path


def targets_in(file: Path, value: object, problems: list[str]) -> Iterator[GivenTarget]:
    """Yield the targets of a file's tables. A table that cannot be used adds lines to `problems`."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        problems.append(f"{file}: {NOTIFY} needs tables, each as [[{NOTIFY}]]")
        return
    for number, table in enumerate(value, start=1):
        place = f"{file}: {NOTIFY} {number}"
        found = list(_problems(table))
        problems += [f"{place}: {one}" for one in found]
        if not found:
            kinds = tuple(dict.fromkeys(map(NoticeKind, table["on"])))
            yield GivenTarget(
                NoticeTarget(on=kinds, command=table.get("command", ""), url=table.get("url", "")), file
            )


def is_variable(value: object) -> bool:
    """Whether a value has the form `env:NAME`."""
    return isinstance(value, str) and bool(_VARIABLE.fullmatch(value))


def _problems(table: dict[str, object]) -> Iterator[str]:
    for name in table:
        if name not in _FIELDS:
            yield f"unknown key {name}, known are {', '.join(_FIELDS)}"
    kinds = table.get("on")
    if not isinstance(kinds, list) or not kinds or any(kind not in list(NoticeKind) for kind in kinds):
        yield f"on needs a list of {', '.join(NoticeKind)}"
    command, url = table.get("command"), table.get("url")
    if (command is None) == (url is None):
        yield f'needs either a command or a url = "{FROM_ENVIRONMENT}NAME"'
        return
    if command is not None and not (isinstance(command, str) and command.strip() and "\0" not in command):
        yield "command needs a text"
    if url is not None and not is_variable(url):
        yield (
            f'url needs "{FROM_ENVIRONMENT}NAME", the variable with the address: an address often holds a '
            "secret, and a file of the repository is no place for one"
        )
