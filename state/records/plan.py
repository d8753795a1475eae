"""A plan with its tasks, criteria and tests that change, the description of a repository, and a forecast."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from graphlib import TopologicalSorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One piece of the plan. `dependencies` are ids of other tasks of the same plan.

    `without_tests` is the line of the spec that wants no test for it, or "".
    """

    id: str
    title: str
    description: str
    acceptance_criteria: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    estimated_iterations: int = 1
    without_tests: str = ""


class CriterionKind(StrEnum):
    """The kind of a criterion, which decides the evidence that proves it."""

    BEHAVIOUR = "behaviour"
    CONSTRAINT = "constraint"
    DOCUMENT = "document"


class ConstraintKind(StrEnum):
    """A constraint that sq computes from the files, or by running a command."""

    DEPENDENCIES = "dependencies"
    PUBLIC_NAMES = "public names stay"
    NEW_NAMES = "new public names"
    UNTOUCHED = "untouched"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One demand of the spec, and the tasks that will meet it according to the planner.

    `quote` are the words of the spec as the planner quotes them. sq gives the `id` (c-1, c-2, …) and looks
    for the quote: `spec_lines` are the first and the last line of its place, or (0, 0) if it has none.
    `constraint` is the one that sq computes, with its `names`: the dependencies or public names that may
    differ all the same, the paths that stay as they are, or the commands that have to pass. `stays`: it asks
    for something that was so before the work.
    """

    text: str
    task_ids: tuple[str, ...] = ()
    id: str = ""
    quote: str = ""
    spec_lines: tuple[int, int] = (0, 0)
    kind: CriterionKind = CriterionKind.BEHAVIOUR
    constraint: ConstraintKind | None = None
    names: tuple[str, ...] = ()
    stays: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether sq found its words in the spec."""
        return self.spec_lines != (0, 0)

    @property
    def place(self) -> str:
        """Its lines of the spec in words, or "" if sq found none."""
        first, last = self.spec_lines
        if not self.is_placed:
            return ""
        return f"line {first} of the spec" if first == last else f"lines {first} to {last} of the spec"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestThatChanges:
    """A test, or a file of tests, that the plan expects to change. `line`: the line of the spec that asks."""

    __test__ = False

    test: str
    line: str = ""


class ReadingKind(StrEnum):
    """What a line of the spec says beside its criteria."""

    SUITE = "suite passes"
    EMPTY = "stays empty"
    CHANGES = "changes"
    STAYS = "stays"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A line of the spec as it is to be read.

    `suite passes`: all tests have to pass, also those that fail before the work. `stays empty`: the functions
    in `names` shall do nothing, or refuse to. `changes`: existing functions in `names` shall give other
    results for the same inputs. `stays`: their results shall remain.
    """

    kind: ReadingKind
    line: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A planner's proposal. It counts only after `orchestrator.run.plan.rules.problems_of`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...] = ()
    tests_that_change: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """An agent's description of a repository. Its commands are claims, checked by running them."""

    project_type: str = ""
    stack: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    verification_commands: tuple[str, ...] = ()


def turns_of(tasks: Sequence[Task]) -> int:
    """Return the turns that a plan estimates for all tasks together."""
    return sum(max(1, task.estimated_iterations) for task in tasks)


def chain_of(tasks: Sequence[Task]) -> int:
    """Return the turns of the longest chain of tasks that depend on each other."""
    by_id, ends = {task.id: task for task in tasks}, dict[str, int]()
    for id_ in TopologicalSorter({task.id: task.dependencies for task in tasks}).static_order():
        before = max((ends[needed] for needed in by_id[id_].dependencies), default=0)
        ends[id_] = before + max(1, by_id[id_].estimated_iterations)
    return max(ends.values(), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineFit:
    """What can be merged by a deadline, by the times of the run's own commands so far.

    `claim_s`: from claim to merge one task needs so many seconds at the least. `landing` of the `tasks` that
    are left can be merged by then (of any, if there is no plan yet: `tasks` is 0), and all by `all_until`.
    """

    until: datetime
    claim_s: float
    landing: int
    tasks: int
    all_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """In USD and seconds: half of such runs end below `…_p50`, nine of ten below `…_p90`.

    `runs` is the number of earlier runs that it rests on, 0 if it follows from the limits of the preset.
    `basis` says in words what it rests on. `tasks` is the number of tasks of the plan, 0 before there is one.
    `fit`: what fits before the deadline, if there is one and the baseline was taken.
    """

    usd_p50: float
    usd_p90: float
    seconds_p50: float
    seconds_p90: float
    basis: str
    runs: int = 0
    tasks: int = 0
    fit: DeadlineFit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that has ended, as far as forecasts need it. `seconds` are those in which processes worked on it.

    `repository` is its `repository_mark`. `turns` are those that its plan estimated for all tasks, and
    `chain` those of the longest chain of tasks that depend on each other. Both are 0 without a plan.
    """

    run_id: str
    repository: str
    effort: str
    workflow: str
    worker: str
    rehearsal: bool
    turns: int
    chain: int
    usd: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastBasis:
    """What forecasts of one run rest on: earlier runs, newest first, and the repository of this one."""

    past: tuple[PastRun, ...]
    repository: str
    rehearsal: bool


def repository_mark(repository: str) -> str:
    """Return a name for a repository that does not tell its path."""
    return hashlib.sha256(repository.encode(errors="surrogatepass")).hexdigest()[:12]
