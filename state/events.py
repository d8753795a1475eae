"""Every fact of a run: frozen, in the past tense, versioned.

A stored body is the JSON of the dataclass. A field may be added with a default; anything else raises
`VERSIONS` for that event and adds a step to `UPCASTS`, so that old journals stay readable.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from state.errors import JournalError
from state.outcome import Outcome
from state.records import (
    Analysis,
    Answer,
    CallEnd,
    CommandRun,
    Criterion,
    Message,
    Question,
    ReviewIssue,
    Role,
    Task,
    Usage,
)
from state.verdicts import Verdict

NO_USAGE = Usage()

# --- the run -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began; everything that was asked of it, so that it can be resumed without its command line."""

    run_id: str
    spec_name: str
    spec_text: str
    repository: str
    worktrees: str
    base_commit: str
    base_branch: str | None
    effort: str
    verify: tuple[str, ...]
    rehearsal: str | None
    credentials: str
    containment: str
    sq_version: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """Another process took the run up again."""

    containment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInterrupted:
    """The run was asked to stop (`by` names the signal) and saved its state."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run reached an outcome; `cause` is why it is not complete."""

    outcome: Outcome
    cause: str


# --- calls: exchanges with a model -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A prompt is about to be sent: stored first, since it may cost money."""

    call_id: str
    role: Role
    task_id: str
    attempt: int
    iteration: int
    session_id: str
    model: str
    prompt: str
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResumed:
    """A call that had started and not ended is asked to go on, in the same session where there is one."""

    call_id: str
    session_id: str
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """One message went by in a session."""

    call_id: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceived:
    """An agent reported through one of its typed tools. `payload` is the checked input as JSON."""

    call_id: str
    name: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRefused:
    """A tool call was refused by policy; the agent was told why."""

    call_id: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call is over. `cost_usd` is what the CLI or the price list says; `answer` an asked call's JSON."""

    call_id: str
    end: CallEnd
    detail: str = ""
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    turns: int = 0
    answer: str = ""


# --- analysis and plan -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryAnalyzed:
    """The repository was read (or, where `skipped` says why, was not)."""

    analysis: Analysis
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected:
    """A proposed plan does not hold; the problems go back to the planner."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted:
    """A proposed plan was checked and holds."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]


# --- tasks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    """A task got its branch and worktree, made from `base_commit`."""

    task_id: str
    branch: str
    worktree: str
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """A new Worker session begins on a task; `tree` is what the workspace holds then."""

    task_id: str
    attempt: int
    session_id: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationMeasured:
    """What the tree looked like when an iteration ended: the progress check looks at content, not claims."""

    task_id: str
    attempt: int
    iteration: int
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationStarted:
    """sq is about to run the verification commands. `task_id` is empty for the merged whole."""

    task_id: str
    tree: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFinished:
    """sq ran the verification commands on `tree`. No commands: there is nothing to verify with."""

    task_id: str
    tree: str
    runs: tuple[CommandRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided:
    """A completion gate answered a Worker's claim."""

    task_id: str
    attempt: int
    iteration: int
    gate: str
    verdict: Verdict
    reason: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionAccepted:
    """All completion gates let a Worker's claim stand, for exactly this tree."""

    task_id: str
    attempt: int
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRefused:
    """A completion gate blocked; `feedback` is the next prompt in the same session."""

    task_id: str
    attempt: int
    iteration: int
    feedback: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommitted:
    """sq committed a task's verified tree on its branch."""

    task_id: str
    attempt: int
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecorded:
    """A usable review of `commit`. `task_id` is empty for the final review of the whole."""

    task_id: str
    attempt: int
    commit: str
    passed: bool
    issues: tuple[ReviewIssue, ...]
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewUnusable:
    """A reviewer did not report usably; `issue` is the parser's synthetic one, never sent to a Worker."""

    task_id: str
    attempt: int
    commit: str
    problem: str
    issue: ReviewIssue


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReopened:
    """A failed review sends a task back; its issues go into the next attempt's prompt."""

    task_id: str
    issues: tuple[ReviewIssue, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMerged:
    """A task's commit is part of the run's branch."""

    task_id: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStuck:
    """A task cannot move; what depends on it does not start."""

    task_id: str
    reason: str
    limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed:
    """An agent or the infrastructure failed for good while on this task."""

    task_id: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUnverified:
    """A check that should have answered did not; the task is not merged."""

    task_id: str
    reason: str


# --- questions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAsked:
    """A Worker asked; `ask_id` is the id of its tool call."""

    ask_id: str
    call_id: str
    task_id: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAnswered:
    """Each question of one call has its own answer. `reused`: given before a crash, not asked again."""

    ask_id: str
    answers: tuple[Answer, ...]
    model: str
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsFailed:
    """A call's questions were not answered. `final`: the exchange ends; else the Worker may ask better."""

    ask_id: str
    cause: str
    final: bool = True


# --- the end -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDelivered:
    """The user's branch was moved to the finished work."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkKept:
    """The finished work stays on sq's branch: why, and how to take it over."""

    branch: str
    commit: str
    reason: str


EVENTS = (
    RunStarted, RunResumed, RunInterrupted, RunEnded,
    CallStarted, CallResumed, MessageReceived, SignalReceived, ActionRefused, CallEnded,
    RepositoryAnalyzed, PlanRejected, PlanAccepted,
    TaskStarted, AttemptStarted, IterationMeasured, VerificationStarted, VerificationFinished,
    GateDecided, CompletionAccepted, CompletionRefused, TaskCommitted,
    ReviewRecorded, ReviewUnusable, TaskReopened, TaskMerged, TaskStuck, TaskFailed, TaskUnverified,
    QuestionsAsked, QuestionsAnswered, QuestionsFailed,
    WorkDelivered, WorkKept,
)  # fmt: skip

type_by_name: dict[str, type] = {event.__name__: event for event in EVENTS}
VERSIONS: dict[str, int] = {}  # 1 where an event is not listed
UPCASTS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}

Event = (
    RunStarted | RunResumed | RunInterrupted | RunEnded
    | CallStarted | CallResumed | MessageReceived | SignalReceived | ActionRefused | CallEnded
    | RepositoryAnalyzed | PlanRejected | PlanAccepted
    | TaskStarted | AttemptStarted | IterationMeasured | VerificationStarted | VerificationFinished
    | GateDecided | CompletionAccepted | CompletionRefused | TaskCommitted
    | ReviewRecorded | ReviewUnusable | TaskReopened | TaskMerged | TaskStuck | TaskFailed | TaskUnverified
    | QuestionsAsked | QuestionsAnswered | QuestionsFailed
    | WorkDelivered | WorkKept
)  # fmt: skip


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Any] | None:
    event = type_by_name.get(name)
    return msgspec.json.Decoder(event) if event else None


def version_of(name: str) -> int:
    """The version in which events of this name are written now."""
    return VERSIONS.get(name, 1)


def encode(event: Event) -> tuple[str, int, str]:
    """An event as `(name, version, JSON body)`."""
    name = type(event).__name__
    try:
        body = msgspec.json.encode(event)
    except UnicodeEncodeError:  # half a surrogate pair: some program cut its output in a character
        body = json.dumps(_mended(msgspec.to_builtins(event)), ensure_ascii=False).encode()
    return name, version_of(name), body.decode()


def decode(name: str, version: int, body: str | bytes) -> Event:
    """The event that was stored.

    Raises:
        JournalError: the name or version is unknown (a newer sq wrote it), or the body is damaged.
    """
    decoder = _decoder(name)
    if decoder is None or version > version_of(name):
        raise JournalError(
            f"the journal holds {name} version {version}, which this sq does not know: "
            "it was written by a newer sq; use that one"
        )
    try:
        if version == version_of(name):
            return decoder.decode(body)  # type: ignore[no-any-return]
        data = msgspec.json.decode(body, type=dict[str, Any])
        for step in range(version, version_of(name)):
            data = UPCASTS[name, step](data)
        return msgspec.convert(data, type_by_name[name])
    # An upcast that meets a damaged body does not find what it looks for.
    except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, TypeError, ValueError) as error:
        raise JournalError(f"a stored {name} cannot be read: {error}") from error


def _mended(value: Any) -> Any:  # noqa: ANN401  JSON
    """The same JSON with every half of a surrogate pair replaced, as Unicode's replacement character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _mended(part) for key, part in value.items()}
    return [_mended(part) for part in value] if isinstance(value, list | tuple) else value
