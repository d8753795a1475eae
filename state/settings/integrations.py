"""What a run tells others while nobody watches: notices to people, and telemetry to a collector."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

FROM_ENVIRONMENT = "env:"  # before the name of a variable that holds a secret
_TRACES = "/v1/traces"
_VARIABLE = re.compile(rf"{FROM_ENVIRONMENT}[A-Za-z_]\w*", re.ASCII)


class NoticeKind(StrEnum):
    """The occasions of a notice.

    A run ended, a question is parked, a task is stuck, a long wait began, a pull request was opened.
    """

    ENDED = "ended"
    PARKED = "parked"
    STUCK = "stuck"
    WAITING = "waiting"
    PULL_REQUEST = "pull_request"


def is_variable(value: object) -> bool:
    """Whether a value has the form `env:NAME`."""
    return isinstance(value, str) and bool(_VARIABLE.fullmatch(value))


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
