"""The evidence of a run: its criteria, the commands on the merged work beside the base, points to look at."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from pathlib import PurePath

from orchestrator.views.objections import Urgency
from state.journal.events.reviews import JudgedView
from state.journal.events.tasks import Stage, TaskView
from state.journal.view import RunView
from state.records.commands import UNCOUNTED, BaselineCheck, CommandRun, TestState
from state.records.plan import Criterion, CriterionKind
from state.records.reviews import Evidence, Finding, JudgedBy, Mark
from state.words import names_of


class CriterionState(StrEnum):
    """The state of a criterion, in words: of the work on it, and after a review its mark."""

    EXAMINED = "examined"
    TESTED = "tested"
    COMPUTED = "computed"
    CLAIMED = "claimed"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"
    UNDER_WAY = "under way"
    NOT_BEGUN = "not begun"

    @property
    def is_seen(self) -> bool:
        """Whether sq has seen something that shows the criterion."""
        return self in {CriterionState.EXAMINED, CriterionState.TESTED, CriterionState.COMPUTED}

    @property
    def mark(self) -> Mark:
        """The name for machines. Without a verdict it is `not_checked`."""
        return Mark.__members__.get(self.name, Mark.NOT_CHECKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionRow:
    """One criterion. The fields from `evidence` on are empty until there is a verdict on it.

    `place` is `spec.md:14-16`, or "" if its words are not in the spec. `proof` is the piece of evidence that
    shows it. `words` are the reviewer's. `note` says why there is no verdict, or that the verdict is about
    another tree. `seq` is the place of the verdict in the journal, or 0.
    """

    id: str
    text: str
    kind: CriterionKind
    place: str
    quote: str
    tasks: tuple[str, ...]
    state: CriterionState
    mark: Mark
    evidence: tuple[Evidence, ...] = ()
    proof: Evidence | None = None
    words: str = ""
    by: JudgedBy | None = None
    commit: str = ""
    tree: str = ""
    note: str = ""
    seq: int = 0


def criteria_of(view: RunView) -> tuple[CriterionRow, ...]:
    """Return the criteria of a run in the order of the plan. A run without a planner has none."""
    return tuple(_row(view, criterion) for criterion in view.plan.criteria)


def counted(rows: Iterable[CriterionRow]) -> dict[CriterionState, int]:
    """Return how many criteria have each state, without those that none has."""
    found = Counter(row.state for row in rows)
    return {state: found[state] for state in CriterionState if found[state]}


def place_of(view: RunView, criterion: Criterion) -> str:
    """Return the file and the lines of a criterion's words, or "" if they are not in the spec."""
    if not criterion.is_placed:
        return ""
    first, last = criterion.spec_lines
    origin = view.plan.origin
    file = PurePath(view.started.spec_name).name if view.started else "the spec"
    name = "the review" if origin.follows else origin.issue or file
    return f"{name}:{first}" + (f"-{last}" if last > first else "")


def _row(view: RunView, criterion: Criterion) -> CriterionRow:
    judged = view.whole.judged.get(criterion.id)
    state, note = _state(view, criterion, judged)
    said = judged.event if judged else None
    return CriterionRow(
        id=criterion.id,
        text=criterion.text,
        kind=criterion.kind,
        place=place_of(view, criterion),
        quote=criterion.quote,
        tasks=criterion.task_ids,
        state=state,
        mark=state.mark,
        evidence=said.evidence if said else (),
        proof=said.proof if said and state.is_seen else None,
        words=said.claim if said else "",
        by=said.by if said else None,
        commit=said.commit if said else "",
        tree=said.tree if said else "",
        note=note,
        seq=judged.seq if judged else 0,
    )


def _state(view: RunView, criterion: Criterion, judged: JudgedView | None) -> tuple[CriterionState, str]:
    """Return the state and a note. A verdict counts only for the tree of the merged work."""
    tasks = [view.tasks[id_] for id_ in criterion.task_ids if id_ in view.tasks]
    is_over = view.ended is not None or view.checkout.is_home
    fits = judged is not None and judged.event.tree == view.whole.tree
    if judged and fits and (is_over or all(task.stage is Stage.MERGED for task in tasks)):
        return CriterionState(judged.event.mark.words), ""
    if all(task.stage is Stage.WAITING for task in tasks):
        return CriterionState.NOT_BEGUN, ""
    if not is_over:
        return CriterionState.UNDER_WAY, ""
    return CriterionState.NOT_CHECKED, _unjudged(tasks, judged)


def _unjudged(tasks: Iterable[TaskView], judged: JudgedView | None) -> str:
    if judged:
        return f"the verdict is about commit {judged.event.commit[:12]}, and the work has changed since"
    unmerged = [
        f"{one.task.id} {'was not finished' if one.stage is Stage.BUILDING else f'is {one.stage}'}"
        for one in tasks
        if one.stage is not Stage.MERGED
    ]
    return ", ".join(unmerged) or "no review gave a verdict on it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFacts:
    """One command on the merged tree, and at the base. A number of None is unknown, which is not zero.

    `exit_code` is None if the command did not start or was ended. `names_…` are tests by name, and empty if
    the runner names none: those that failed, those that are new, those of the base that are gone, and those
    that passed at the base and are skipped now.
    """

    command: str
    passed: bool
    exit_code: int | None
    seconds: float
    passed_tests: int | None
    failed: int | None
    skipped: int | None
    names_failed: tuple[str, ...]
    base_passed: int | None
    base_failed: int | None
    base_skipped: int | None
    names_new: tuple[str, ...]
    names_gone: tuple[str, ...]
    names_skipped_now: tuple[str, ...]

    @property
    def more_tests(self) -> int | None:
        """How many more tests there are than at the base, skipped ones included, or None if it is unknown."""
        now = _total(self.passed_tests, self.failed, self.skipped)
        before = _total(self.base_passed, self.base_failed, self.base_skipped)
        return None if now is None or before is None else now - before

    @property
    def more_skipped(self) -> int | None:
        """How many more tests are skipped than at the base, or None if it is unknown."""
        if self.skipped is None or self.base_skipped is None:
            return None
        return self.skipped - self.base_skipped


def facts_of(view: RunView) -> tuple[CommandFacts, ...]:
    """Return the newest verification of the merged tree, a row a command. Empty: there is none."""
    verified = view.evidence.verifications.get(view.whole.tree) if view.whole.tree else None
    if verified is None:
        return ()
    return tuple(_facts(done, view.baseline.checks.get(done.command)) for done in verified.runs)


def verified_seq(view: RunView) -> int:
    """Return the place of the verification of the merged tree, or 0."""
    return view.evidence.verified_at.get(view.whole.tree, 0) if view.whole.tree else 0


def _facts(done: CommandRun, base: BaselineCheck | None) -> CommandFacts:
    before = base.run.count if base else UNCOUNTED
    now = done.count
    both = bool(now.tests and before.tests)
    return CommandFacts(
        command=done.command,
        passed=done.passed,
        exit_code=done.exit_code,
        seconds=done.seconds,
        passed_tests=0 if now.says_none else now.passed,
        failed=0 if now.says_none else now.failed,
        skipped=0 if now.says_none else now.skipped,
        names_failed=tuple(names_of(now, TestState.FAILED)),
        base_passed=0 if before.says_none else before.passed,
        base_failed=0 if before.says_none else before.failed,
        base_skipped=0 if before.says_none else before.skipped,
        names_new=tuple(name for name in now.tests if name not in before.tests) if both else (),
        names_gone=tuple(name for name in before.tests if name not in now.tests) if both else (),
        names_skipped_now=tuple(
            name for name in names_of(now, TestState.SKIPPED) if before.tests.get(name) is TestState.PASSED
        ),
    )


def _total(*numbers: int | None) -> int | None:
    """Return the sum. An unknown number of skipped tests counts as none if the others are known."""
    passed, failed, skipped = numbers
    return None if passed is None and failed is None else (passed or 0) + (failed or 0) + (skipped or 0)


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to look at. `what` is sq's sentence, `words` an agent's, `seq` the place in the journal.

    `kind` is equal for points of the same sort, so that a view can count them.
    """

    urgency: Urgency
    kind: str
    what: str
    _: KW_ONLY
    words: str = ""
    task_id: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding with its task ("" for the whole) and the event that holds its newest state."""

    task_id: str
    finding: Finding
    seq: int
