"""Events of the analysis and the plan: proposed, rejected, accepted."""

from dataclasses import dataclass, field

from state.journal.events.before import BeforeView
from state.records.plan import Analysis, Criterion, Plan, Reading, Task, TestThatChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisProposed:
    """The repository was read. Depending on the effort, the result is reviewed before further work."""

    analysis: Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRejected:
    """A reviewer does not accept the proposed analysis. The problems go back to the planner."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryAnalyzed:
    """The repository was read, or was not, for the reason in `skipped`."""

    analysis: Analysis
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed:
    """A plan is consistent. Depending on the effort, it is reviewed before it is built."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected:
    """A proposed plan is not acceptable. The problems and a reviewer's suggestions go back to the planner."""

    problems: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted:
    """A proposed plan was checked and accepted. `reviewed`: by a reviewer, with these `suggestions`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecTaken:
    """The spec is no file of the user's.

    `issue`: it is the text of this one, as `OWNER/REPO#N`. `follows`: it is what the review of a pull request
    asks for, and this run made that pull request. `instructed_at`: the commit whose instructions, MCP servers
    and `.worktreeinclude` count then, in place of those that the pull request has.
    """

    issue: str = ""
    follows: str = ""
    instructed_at: str = ""


PlanEvent = (
    SpecTaken
    | AnalysisProposed
    | AnalysisRejected
    | RepositoryAnalyzed
    | PlanProposed
    | PlanRejected
    | PlanAccepted
)


@dataclass(slots=True)
class PlanView:
    """The analysis and the plan: proposed, rejected, accepted. `origin` is that of the spec."""

    origin: SpecTaken = field(default_factory=SpecTaken)
    before: BeforeView = field(default_factory=BeforeView)
    proposed_analysis: Analysis | None = None  # under review
    analysis_rejections: list[AnalysisRejected] = field(default_factory=list)
    analysis: Analysis | None = None
    proposed: Plan | None = None  # under review
    rejections: list[PlanRejected] = field(default_factory=list)
    unusable: int = 0  # reports on the proposal under review that could not be used
    criteria: tuple[Criterion, ...] = ()
    tests_that_change: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()
