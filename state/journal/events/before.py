"""Events before the work: the spec questioned, a plan that a person gave, the forecast, the approval."""

from dataclasses import dataclass, field
from datetime import datetime

from state.records.plan import Criterion, Forecast, Reading, Task, TestThatChanges
from state.records.spec_check import Decider, SpecAnswer, SpecFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersFound:
    """Answers from `file`, beside the spec or in a plan. `stale` are questions whose line is gone from it."""

    file: str
    answers: tuple[SpecAnswer, ...]
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecChecked:
    """The Planner read the spec for faults before it was planned, in its call about the analysis."""

    findings: tuple[SpecFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecQuestionsShown:
    """The open questions about the spec are shown on a terminal. sq waits for answers until this time."""

    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecQuestionDecided:
    """A question about the spec was decided before the work. `why`: the reason of a Developer who decided."""

    finding_id: str
    answer: str
    by: Decider
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanGiven:
    """A person gave the plan as a file. `reviewed` and `suggestions` are those of its file."""

    file: str
    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastMade:
    """What the run will probably cost. The newest one counts."""

    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAwaited:
    """The plan is there, and nothing is built until `sq approve`, or until this time, which ends the run."""

    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanApproved:
    """A person approved the plan with `sq approve`. `by` is their name on this machine."""

    by: str


BeforeEvent = (
    AnswersFound
    | SpecChecked
    | SpecQuestionsShown
    | SpecQuestionDecided
    | PlanGiven
    | ForecastMade
    | ApprovalAwaited
    | PlanApproved
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAnswerView:
    """An answer about the spec that holds, with its place in the journal and its time.

    `finding` is the question as the Planner asked it, None if it did not ask that of an answer from a file.
    `why` is the Developer's reason.
    """

    given: SpecAnswer
    seq: int
    at: datetime
    finding: SpecFinding | None = None
    why: str = ""


@dataclass(slots=True)
class SpecCheckView:
    """The questions about the spec and their answers. `seq`: the place of the check, 0 before it."""

    findings: tuple[SpecFinding, ...] = ()
    answers: AnswersFound | None = None
    held: list[SpecAnswerView] = field(default_factory=list)
    shown: SpecQuestionsShown | None = None
    seq: int = 0
    at: datetime | None = None

    def answer_to(self, finding: SpecFinding) -> SpecAnswer | None:
        return next((one.given for one in self.held if one.finding == finding), None)

    @property
    def open(self) -> list[SpecFinding]:
        """The findings that nobody has decided."""
        return [one for one in self.findings if self.answer_to(one) is None]


@dataclass(slots=True)
class BeforeView:
    """All that is settled before the work. `plan` is that of a person, in place of a Planner's."""

    check: SpecCheckView = field(default_factory=SpecCheckView)
    plan: PlanGiven | None = None
    forecast: Forecast | None = None
    awaited: ApprovalAwaited | None = None
    approved: PlanApproved | None = None
