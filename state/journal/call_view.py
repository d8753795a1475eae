"""The current state of a call: part of a run's view (`state.journal.view`)."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from state.journal.events.calls import NO_USAGE, CallEnded, CallRetried, CallStarted, SignalReceived
from state.records.calls import CallEnd, Usage
from state.roles import ROLES

_GOOD_ENDS = frozenset({CallEnd.COMPLETED, CallEnd.SIGNALLED})


@dataclass(slots=True)
class CallView:
    """One exchange with a model. `end` is None while it is under way, or if it was when its process died.

    `spent_usd` is the cost of its earlier tries and of parts that were cut off. `held_usd` is reserved for
    the try under way and counts as spent in the budget. `usage` and `spent_s` cover all its tries, without
    waits between them and between processes.
    """

    started: CallStarted
    at: datetime
    session_id: str
    report: SignalReceived | None = None  # the first one, which ended the turn
    last_text: str = ""
    resumed_at: int = 0
    retries: list[CallRetried] = field(default_factory=list)  # since it was started or resumed
    spent_usd: float = 0.0
    usage: Usage = NO_USAGE
    spent_s: float = 0.0
    since: datetime | None = None  # start of the try under way, or None if there is none or its process died
    held_usd: float = 0.0
    allowed_usd: float = 0.0  # the most that its session may spend before its cap ends it
    refused: str = ""  # why its newest refused tool call was refused
    killed: bool = False  # its process was killed, so the CLI counts the conversation's cost from zero
    end: CallEnded | None = None

    @property
    def shown_usage(self) -> Usage:
        """Return `usage` with the requests. A call of a role without a session is one itself."""
        return self.usage if ROLES[self.started.role].has_session else replace(self.usage, requests=1)

    @property
    def cost_usd(self) -> float:
        """Its cost so far."""
        return self.spent_usd + (self.end.cost_usd if self.end else 0.0)

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
        return self.end is not None and self.end.end not in _GOOD_ENDS

    @property
    def payload(self) -> str | None:
        """The JSON of the report that the agent made through a typed tool."""
        return self.report.payload if self.report else None

    @property
    def failure(self) -> str:
        """Why it did not end as it should, for people. Empty if it did."""
        if self.end is None or not self.failed:
            return ""
        return f"{self.started.role}: {self.end.end}: {self.end.detail or 'no details'}"
