"""Events of the analysis and the plan: proposed, rejected, accepted."""

from dataclasses import dataclass

from state.records import Analysis, Criterion, Task, TestThatChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisProposed:
    """The repository was read; the effort has the result reviewed before anyone builds on it."""

    analysis: Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRejected:
    """A reviewer does not accept the proposed analysis; the problems go back to the planner."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryAnalyzed:
    """The repository was read (or, where `skipped` says why, was not)."""

    analysis: Analysis
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed:
    """A plan holds together; the effort has it reviewed before it is built."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected:
    """A proposed plan does not hold; the problems and a reviewer's suggestions go back to the planner."""

    problems: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted:
    """A proposed plan was checked and holds. `reviewed`: a reviewer accepted it, with these `suggestions`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


PlanEvent = (
    AnalysisProposed | AnalysisRejected | RepositoryAnalyzed | PlanProposed | PlanRejected | PlanAccepted
)
