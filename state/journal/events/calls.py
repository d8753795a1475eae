"""Events of calls: the exchanges with models, and everything that happens in one. `CallView` is its state."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from state.records.calls import CallEnd, CallResult, Message, ToolServer, Usage
from state.roles import ROLES, Role
from state.words import listed

NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A prompt is about to be sent. Stored first, since it may cost money.

    `planning`: the agent makes a plan and writes nothing. `subject` distinguishes conversations of one role
    about one attempt. `reserved_usd` is its probable cost, `allowed_usd` the most that its session may spend.
    `words` are the ids of the words of people in the prompt.
    """

    call_id: str
    role: Role
    task_id: str
    attempt: int
    iteration: int
    session_id: str
    model: str
    prompt: str
    system: str = ""
    reserved_usd: float = 0.0
    planning: bool = False
    subject: str = ""
    allowed_usd: float = 0.0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetried:
    """A try of a call failed in a way that may pass. After `wait_s` it is tried again.

    All other calls wait as long: `wait_s` counts from this event's time. `cost_usd`: of the failed try.
    `resets_at`: the API named the end of a limit, and the wait ends then, some slack included.
    """

    call_id: str
    end: CallEnd
    detail: str
    wait_s: float
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = NO_USAGE
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInterrupted:
    """A call was cut off when the run stopped. It stays open. `cost_usd` is its cost until then."""

    call_id: str
    cost_usd: float
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResumed:
    """A call that started and did not end is asked to go on, in the same session if there is one.

    `words` are the ids of the words of people in the prompt, `answers` those of the parked questions that it
    answers.
    """

    call_id: str
    session_id: str
    prompt: str
    reserved_usd: float = 0.0
    allowed_usd: float = 0.0
    words: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A message was received in a session."""

    call_id: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceived:
    """An agent reported through one of its typed tools. `payload` is the checked input as JSON."""

    call_id: str
    name: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRefused:
    """sq refused a report in the agent's turn. `payload` counts if the turn ends without another one."""

    call_id: str
    payload: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRefused:
    """Policy refused a tool call, and the agent received the reason."""

    call_id: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call is over. `cost_usd` is from the CLI or the price list, `answer` is the JSON of an asked call."""

    call_id: str
    end: CallEnd
    detail: str = ""
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    turns: int = 0
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendDiffered:
    """At a session's end its cost by the agent and by the gateway differ by more than 2 %, in USD.

    `cut` answers count in the gateway's figure with the most that they can have cost.
    """

    call_id: str
    agent_usd: float
    gateway_usd: float
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServersListed:
    """The MCP servers of the project in a session, if they are others than in the one before."""

    call_id: str
    servers: tuple[ToolServer, ...]

    @property
    def lines(self) -> list[str]:
        """A line for people on each server, with its tools."""
        return [
            f"MCP server {one.name}: {one.status}, {listed(one.tools) or 'no tools, and the run goes on'}"
            for one in self.servers
        ]


CallEvent = (
    CallStarted
    | CallRetried
    | CallInterrupted
    | CallResumed
    | MessageReceived
    | SignalReceived
    | ReportRefused
    | ActionRefused
    | SpendDiffered
    | ToolServersListed
    | CallEnded
)


@dataclass(slots=True)
class RefusalView:
    """What sq refused in a call: why its newest refused action was, and the JSON of its refused report."""

    action: str = ""
    report: str = ""


_REMEDIES = {  # of ends that come again if nothing changes
    CallEnd.REFUSED: ". The model declines this: reword the task in the spec, or give the role another model",
    CallEnd.TRUNCATED: ". The reply reached its limit of tokens: ask for smaller steps, or split the task",
    CallEnd.SESSION_FULL: ". The model takes no longer conversation: split the task, or take a larger model",
}


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
    resumed: dict[int, CallResumed] = field(default_factory=dict)  # by its place in the journal
    retries: list[CallRetried] = field(default_factory=list)  # since it was started or resumed
    spent_usd: float = 0.0
    usage: Usage = NO_USAGE
    spent_s: float = 0.0
    since: datetime | None = None  # start of the try under way, or None if there is none or its process died
    held_usd: float = 0.0
    allowed_usd: float = 0.0  # the most that its session may spend before its cap ends it
    refused: RefusalView = field(default_factory=RefusalView)
    killed: bool = False  # its process was killed, so the CLI counts the conversation's cost from zero
    end: CallEnded | None = None

    @property
    def resumed_at(self) -> int:
        """The place in the journal where it was resumed last. 0: never."""
        return max(self.resumed, default=0)

    @property
    def words(self) -> set[str]:
        """The ids of the words of people in its prompts."""
        return {*self.started.words, *(word for one in self.resumed.values() for word in one.words)}

    @property
    def answers(self) -> set[str]:
        """The ids of the parked questions that its later prompts answer."""
        return {ask_id for one in self.resumed.values() for ask_id in one.answers}

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
        return self.end is not None and not self.end.end.is_good

    @property
    def payload(self) -> str | None:
        """The JSON of the report that the agent made through a typed tool."""
        return self.report.payload if self.report else None

    @property
    def failure(self) -> str:
        """Why it did not end as it should, for people. Empty if it did."""
        if self.end is None or not self.failed:
            return ""
        remedy = _REMEDIES.get(self.end.end, "")
        return f"{self.started.role}: {self.end.end}: {self.end.detail or 'no details'}{remedy}"


def call_ended(call_id: str, result: CallResult, *, answer: str = "") -> CallEnded:
    """Return the event for the end of a call with this result. `answer`: the JSON of an asked call."""
    return CallEnded(
        call_id=call_id,
        end=result.end,
        detail=result.detail,
        api_status=result.api_status,
        cost_usd=result.cost_usd,
        usage=result.usage,
        seconds=result.seconds,
        turns=result.turns,
        answer=answer,
    )


def call_retried(
    call_id: str, result: CallResult, *, wait_s: float = 0.0, resets_at: datetime | None = None
) -> CallRetried:
    """Return the event for a try of a call that is followed by another one after `wait_s` seconds."""
    return CallRetried(
        call_id=call_id,
        end=result.end,
        detail=result.detail,
        wait_s=wait_s,
        api_status=result.api_status,
        cost_usd=result.cost_usd,
        usage=result.usage,
        resets_at=resets_at,
    )
