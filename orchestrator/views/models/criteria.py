"""The criteria of a spec, each with its place there, its standing now, and the evidence for it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from state.journal.events.reviews import JudgedView
from state.journal.events.tasks import Stage, TaskView
from state.journal.view import RunView
from state.records.plan import Criterion, CriterionKind
from state.records.reviews import Evidence, JudgedBy


class CriterionState(StrEnum):
    """The state of a criterion: of the work on it, and after a review the worth of the verdict."""

    PROVEN = "proven"
    CLAIMED = "claimed"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"
    UNDER_WAY = "under way"
    NOT_BEGUN = "not begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionRow:
    """One criterion. The fields from `evidence` on are empty until there is a verdict on it.

    `place` is `spec.md:14-16`, or "" if its words are not in the spec. `proof` is the piece of evidence that
    proves it. `words` are the reviewer's. `note` says why there is no verdict, or that the verdict is about
    another tree. `seq` is the place of the verdict in the journal, or 0.
    """

    id: str
    text: str
    kind: CriterionKind
    place: str
    quote: str
    tasks: tuple[str, ...]
    standing: CriterionState
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
    """Return how many criteria have each standing, without those that none has."""
    found = Counter(row.standing for row in rows)
    return {standing: found[standing] for standing in CriterionState if found[standing]}


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
    standing, note = _standing(view, criterion, judged)
    said = judged.event if judged else None
    return CriterionRow(
        id=criterion.id,
        text=criterion.text,
        kind=criterion.kind,
        place=place_of(view, criterion),
        quote=criterion.quote,
        tasks=criterion.task_ids,
        standing=standing,
        evidence=said.evidence if said else (),
        proof=said.proof if said and standing is CriterionState.PROVEN else None,
        words=said.claim if said else "",
        by=said.by if said else None,
        commit=said.commit if said else "",
        tree=said.tree if said else "",
        note=note,
        seq=judged.seq if judged else 0,
    )


def _standing(view: RunView, criterion: Criterion, judged: JudgedView | None) -> tuple[CriterionState, str]:
    """Return the standing and a note. A verdict counts only for the tree of the merged work."""
    tasks = [view.tasks[id_] for id_ in criterion.task_ids if id_ in view.tasks]
    is_over = view.ended is not None or view.checkout.is_home
    fits = judged is not None and judged.event.tree == view.whole.tree
    if judged and fits and (is_over or all(task.stage is Stage.MERGED for task in tasks)):
        return CriterionState(judged.event.standing), ""
    if all(task.stage is Stage.WAITING for task in tasks):
        return CriterionState.NOT_BEGUN, ""
    if not is_over:
        return CriterionState.UNDER_WAY, ""
    return CriterionState.NOT_CHECKED, _unjudged(tasks, judged)


def _unjudged(tasks: Iterable[TaskView], judged: JudgedView | None) -> str:
    if judged:
        return f"the verdict is about commit {judged.event.commit[:12]}, and the work has changed since"
    unmerged = [f"{one.task.id} is {one.stage}" for one in tasks if one.stage is not Stage.MERGED]
    return ", ".join(unmerged) or "no review gave a verdict on it"
