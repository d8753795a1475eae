"""How a reply goes wrong on purpose: one mapping of a scenario, which validates itself.

    misbehave: {status: 429, message: Slow down., retry_after: 20, times: 1}
    misbehave: {stream: cut}             # or cut-in-tool: inside the first text or the first call of a tool
    misbehave: {hang: before-headers}    # or after-headers. With seconds, the reply comes after them
    misbehave: {body: malformed}         # not JSON. Or empty: a message without content
    misbehave: {connection: dropped}     # before any header. Or refused
    misbehave: {slow: 0.02}              # seconds before each delta

With `times: N`, the first N requests for which the reply is due go wrong, then it is given. Without it, all
go wrong. Requests are counted, so repetitions by a client count too. Claude Code sends a 400 three to six
times, with fewer features each time: script it without `times`. It requests a broken stream once more without
streaming, unless configured otherwise: `times: 1` lets it have the reply then. After a whole block (a text
before `cut-in-tool`) it asks the model to go on instead, at most three times, and after an empty reply once.
The count is kept for each lane and survives the server's process. Expectations of the reply apply as usual.
The words of `then` never go wrong. To make them fail, write them as a reply.

`connection: refused` is not counted, as no request arrives. The lane of such a first reply has a port of its
own, which refuses from the moment its URL is known, for `seconds` or always. After a restart the server
refuses again only if it refuses always.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

_KINDS = ("status", "stream", "hang", "body", "connection", "slow")

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Cut(StrEnum):
    """Where a stream ends too early. An answer without streaming is cut in the middle."""

    TEXT = "cut"
    TOOL = "cut-in-tool"


class Hang(StrEnum):
    """Where an answer stops and waits."""

    BEFORE_HEADERS = "before-headers"
    AFTER_HEADERS = "after-headers"


class Body(StrEnum):
    """The fault of a body that arrives whole."""

    MALFORMED = "malformed"
    EMPTY = "empty"


class ConnectionFault(StrEnum):
    """The fault of a connection that gets no answer."""

    DROPPED = "dropped"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Misbehave:
    """One way to go wrong, and how often. The module's docstring describes each key."""

    status: Annotated[int, Field(ge=400, le=599)] | None = None
    message: Annotated[str, Field(min_length=1)] | None = None
    retry_after: Annotated[int, Field(ge=0)] | None = None
    stream: Cut | None = None
    hang: Hang | None = None
    body: Body | None = None
    connection: ConnectionFault | None = None
    slow: Seconds | None = None
    seconds: Seconds | None = None
    times: Annotated[int, Field(ge=1)] | None = None

    @property
    def kind(self) -> str:
        """The fault in the words of the scenario: `status 429`, `stream cut`."""
        (kind,) = self._kinds()
        return f"{kind} {getattr(self, kind)}"

    @property
    def refuses(self) -> bool:
        """Whether it keeps requests from arriving, so that none is answered."""
        return self.connection is ConnectionFault.REFUSED

    @property
    def needs_words(self) -> bool:
        """Whether the words of the reply, or a part of them, are given at some time."""
        return any(each is not None for each in (self.times, self.seconds, self.stream, self.slow))

    @model_validator(mode="after")
    def _makes_sense(self) -> "Misbehave":
        if wrong := "; ".join(self._contradictions()):
            raise ValueError(wrong)
        return self

    def _contradictions(self) -> Iterator[str]:
        kinds = self._kinds()
        if len(kinds) != 1:
            yield f"exactly one of {', '.join(_KINDS)} is needed, found {' and '.join(kinds) or 'none'}"
        for key in ("message", "retry_after"):
            if getattr(self, key) is not None and self.status is None:
                yield f"{key} is sent with a status, and there is none here"
        if self.seconds is not None and not (self.hang or self.refuses):
            yield "seconds is how long a hang or connection: refused lasts, and there is none here"
        if self.times is not None and self.refuses:
            yield "times counts requests, and connection: refused lets none arrive, so give seconds instead"

    def _kinds(self) -> list[str]:
        return [kind for kind in _KINDS if getattr(self, kind) is not None]
