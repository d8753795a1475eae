"""Events of a task: started, attempted, claimed, committed, ended."""

from dataclasses import dataclass

from state.records.hand_over import HandOver
from state.verdicts import CheckResult, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    """A task got its branch and worktree, made from `base_commit`."""

    task_id: str
    branch: str
    worktree: str
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The notes that a finished attempt leaves to the next one."""

    task_id: str
    attempt: int
    notes: HandOver


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """A new Worker session begins on a task. `tree` is the content of the workspace then."""

    task_id: str
    attempt: int
    session_id: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationMeasured:
    """The state at the end of an iteration: the progress check looks at content, not claims.

    `error` is the last error that a tool reported in it, without numbers, or "".
    """

    task_id: str
    attempt: int
    iteration: int
    tree: str
    error: str = ""


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
class ChecksDecided:
    """Power steering looked at a Worker's session: the result of each consideration."""

    task_id: str
    attempt: int
    iteration: int
    results: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionAccepted:
    """All completion gates accepted a Worker's claim, for exactly this tree."""

    task_id: str
    attempt: int
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRefused:
    """A completion gate blocked. `feedback` is the next prompt in the same session.

    `reason` says for people why, empty if `feedback` does.
    """

    task_id: str
    attempt: int
    iteration: int
    feedback: str
    fingerprint: str
    reason: str = ""

    @property
    def for_people(self) -> str:
        """Why the claim was refused, without the parts of outputs that the agent gets."""
        return self.reason or self.feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommitted:
    """sq committed a task's verified tree on its branch."""

    task_id: str
    attempt: int
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceGiven:
    """At a checkpoint the Developer looked at the progress. An empty `guidance` changes nothing."""

    task_id: str
    attempt: int
    iteration: int
    guidance: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStuck:
    """A task cannot make progress. Tasks that depend on it do not start."""

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
    """A check that should have answered did not. The task is not merged."""

    task_id: str
    reason: str


TaskEvent = (
    TaskStarted
    | HandedOver
    | AttemptStarted
    | IterationMeasured
    | GateDecided
    | ChecksDecided
    | CompletionAccepted
    | CompletionRefused
    | TaskCommitted
    | GuidanceGiven
    | TaskStuck
    | TaskFailed
    | TaskUnverified
)
