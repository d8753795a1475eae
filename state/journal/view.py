"""The current state as records: a run, its tasks, its calls with models, its questions.

Only `state.journal.fold` fills them. All decisions and all displays read from here.
"""

from dataclasses import dataclass, field
from datetime import datetime

from state.journal.call_view import CallView
from state.journal.events.calls import SpendDiffered
from state.journal.events.checkout import UsersWorkKept, WorkDelivered, WorkKept, WorkLeft
from state.journal.events.evidence import ProofsTaken, VerificationFinished
from state.journal.events.notices import NoticeSent
from state.journal.events.plan import AnalysisRejected, PlanRejected
from state.journal.events.questions import QuestionsAnswered, QuestionsAsked, QuestionsFailed, QuestionsParked
from state.journal.events.run import RunEnded, RunResumed, RunStarted
from state.journal.task_view import TaskView, WholeView
from state.records.commands import BaselineCheck
from state.records.findings import ReviewIssue
from state.records.plan import Analysis, Criterion, Plan, TestThatChanges
from state.records.questions import Answer
from state.roles import Role
from state.settings.records import Settings
from state.words import question_key


@dataclass(slots=True)
class AskView:
    """One AskUserQuestion call and its outcome. `rejected`: the questions whose answers were rejected."""

    asked: QuestionsAsked
    seq: int
    answered: QuestionsAnswered | None = None
    failed: QuestionsFailed | None = None
    parked: QuestionsParked | None = None
    at: datetime | None = None
    rejected: set[str] = field(default_factory=set)

    @property
    def held(self) -> tuple[Answer, ...]:
        """The answers that the Worker did not reject."""
        answers = self.answered.answers if self.answered else ()
        return tuple(answer for answer in answers if answer.question not in self.rejected)


@dataclass(frozen=True, slots=True)
class CommandsView:
    """Commands of the project that sq has begun to run. `purpose` is baseline, verification or set-up."""

    purpose: str
    task_id: str
    commands: tuple[str, ...]
    at: datetime


@dataclass(slots=True)
class Context:
    """The seed's OrchestratorContext (002): empty at the start, filled by events."""

    discoveries: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    review_issues: list[ReviewIssue] = field(default_factory=list)


@dataclass(slots=True)
class ClockView:
    """When events were stored, and the place of the newest one."""

    started_at: datetime | None = None
    last_at: datetime | None = None
    last_seq: int = 0
    ended_seq: int = 0  # of the newest end of the run, which notices may follow
    worked_s: float = 0.0  # by all processes of the run together


@dataclass(slots=True)
class ProcessView:
    """The newest process that works on the run, and its limits."""

    resumptions: int = 0
    resumed: RunResumed | None = None
    resumed_seq: int = 0  # the place in the journal where it took the run up
    interrupted_by: str = ""
    budget_usd: float | None = None  # given to a resumed run, in place of those of its settings
    max_iterations: int | None = None  # likewise
    limit: str = ""  # which limit of the whole run is reached
    quiet_until: datetime | None = None  # no request goes to a model before this time
    judge_answers: bool = False  # the judge has answered in this process
    judge_refused: str = ""  # the call in which a judge was refused for good before it had answered any


@dataclass(slots=True)
class BaselineView:
    """The newest baseline. `seq`: its place in the journal, 0 if none was taken."""

    checks: dict[str, BaselineCheck] = field(default_factory=dict)  # by command
    tree: str = ""
    seq: int = 0
    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()  # commands that the analysis names
    exports: tuple[str, ...] = ()  # the variables of the commands, for a shell


@dataclass(slots=True)
class PlanView:
    """The analysis and the plan: proposed, rejected, accepted."""

    proposed_analysis: Analysis | None = None  # under review
    analysis_rejections: list[AnalysisRejected] = field(default_factory=list)
    analysis: Analysis | None = None
    proposed: Plan | None = None  # under review
    rejections: list[PlanRejected] = field(default_factory=list)
    unusable: int = 0  # reports on the proposal under review that could not be used
    criteria: tuple[Criterion, ...] = ()
    tests_that_change: tuple[TestThatChanges, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


@dataclass(slots=True)
class EvidenceView:
    """Runs of the project's commands: those under way, and results. `…_at`: places in the journal."""

    commands: dict[str, CommandsView] = field(default_factory=dict)  # under way, by purpose and subject
    verifications: dict[str, VerificationFinished] = field(default_factory=dict)  # newest, by tree
    verified_at: dict[str, int] = field(default_factory=dict)  # by tree
    proofs: dict[tuple[str, str], ProofsTaken] = field(default_factory=dict)  # by task and tree
    proved_at: dict[tuple[str, str], int] = field(default_factory=dict)
    not_again: dict[str, None] = field(default_factory=dict)  # steps of set-ups that no sandbox could repeat
    not_set_up: dict[str, None] = field(default_factory=dict)  # steps that failed or lack their program


@dataclass(slots=True)
class CheckoutView:
    """The user's checkout: their own work in it, and how the finished work came to it."""

    users_work: UsersWorkKept | None = None  # the newest copy of it
    own_base: str = ""  # without worktrees: the commit from which the run's own changes count
    left_tree: str = ""  # its tree at the last end of a process, "" if a Worker has changed it since
    delivered: WorkDelivered | None = None
    left: WorkLeft | None = None
    kept: WorkKept | None = None
    changed_git: tuple[str, ...] = ()  # files of the git folder that changed during the run

    @property
    def is_home(self) -> bool:
        """Whether the work is in its final place: the user's branch, the checkout, or sq's branch."""
        return bool(self.delivered or self.left or self.kept)


@dataclass(slots=True)
class RunView:
    """A run as its events describe it. `settings`: those in effect now."""

    started: RunStarted | None = None
    ended: RunEnded | None = None
    settings: Settings | None = None
    clock: ClockView = field(default_factory=ClockView)
    process: ProcessView = field(default_factory=ProcessView)
    baseline: BaselineView = field(default_factory=BaselineView)
    plan: PlanView = field(default_factory=PlanView)
    evidence: EvidenceView = field(default_factory=EvidenceView)
    tasks: dict[str, TaskView] = field(default_factory=dict)
    calls: dict[str, CallView] = field(default_factory=dict)
    asks: dict[str, AskView] = field(default_factory=dict)
    whole: WholeView = field(default_factory=WholeView)
    checkout: CheckoutView = field(default_factory=CheckoutView)
    differences: list[SpendDiffered] = field(default_factory=list)
    notices: dict[tuple[int, str], NoticeSent] = field(default_factory=dict)  # by their event and target
    context: Context = field(default_factory=Context)

    def calls_of(
        self, role: Role, task_id: str, attempt: int | None = None, subject: str = ""
    ) -> list[CallView]:
        """Return the calls of a role for a task about one subject, oldest first."""
        return [
            call
            for call in self.calls.values()
            if call.started.role is role
            and call.started.task_id == task_id
            and (attempt is None or call.started.attempt == attempt)
            and call.started.subject == subject
        ]

    def decided(self, task_id: str = "") -> list[tuple[str, Answer]]:
        """Return the answers that hold, with the task that asked: the newest one to each question of a task.

        `task_id`: only of this task.
        """
        newest: dict[tuple[str, str], Answer] = {}
        for ask in self.asks.values():
            if task_id in {"", ask.asked.task_id}:
                for answer in ask.held:
                    newest[ask.asked.task_id, question_key(answer.question)] = answer
        return [(task, answer) for (task, _), answer in newest.items()]

    @property
    def cost_usd(self) -> float:
        """The cost of all calls so far, aborted ones included."""
        return sum(call.cost_usd for call in self.calls.values())
