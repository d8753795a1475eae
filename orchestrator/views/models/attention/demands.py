"""Questions, criteria and tasks that wait for a person."""

from collections.abc import Iterable, Iterator

from orchestrator.views.models.conclusions import Point, Urgency, point
from orchestrator.views.models.criteria import CriterionRow, CriterionState
from orchestrator.views.models.history import RunFacts
from state.journal.task_view import UNMERGED_ENDS, Stage
from state.journal.view import RunView
from state.records.criteria import EvidenceKind
from state.records.questions import Basis


def questions(view: RunView) -> Iterator[Point]:
    """Yield parked questions, and decisions without the user that are not easy to undo."""
    for ask in view.asks.values():
        task_id = ask.asked.task_id
        if ask.parked:
            yield point(
                Urgency.DECIDE,
                "parked question",
                "a question is parked for you",
                words=ask.parked.question,
                task_id=task_id,
                seq=ask.seq,
            )
        for answer in ask.held:
            if not answer.reversible:
                basis = "the spec" if answer.basis is Basis.SPEC else f"its {answer.basis}"
                yield point(
                    Urgency.KNOW if answer.basis is Basis.SPEC else Urgency.DECIDE,
                    "decision that is not easy to undo",
                    f"the Developer decided, on {basis}, something that is not easy to undo",
                    words=f"{answer.question} → {answer.marked}",
                    task_id=task_id,
                    seq=ask.seq,
                )


_STANDINGS = {
    CriterionState.NOT_MET: (Urgency.DECIDE, "a criterion is not met"),
    CriterionState.CLAIMED: (Urgency.UNPROVEN, "a criterion is claimed, and sq has seen no proof"),
    CriterionState.NOT_CHECKED: (Urgency.UNPROVEN, "a criterion was not checked"),
    CriterionState.UNDER_WAY: (Urgency.UNPROVEN, "a criterion has work that did not end"),
    CriterionState.NOT_BEGUN: (Urgency.UNPROVEN, "no work was begun for a criterion"),
}
_WHILE_IT_GOES_ON = frozenset({CriterionState.UNDER_WAY, CriterionState.NOT_BEGUN})


def criteria(view: RunView, rows: Iterable[CriterionRow]) -> Iterator[Point]:
    """Yield the criteria without proof, with a line as their only proof, and without a place in the spec."""
    for row in rows:
        if row.standing in _STANDINGS and (view.ended or row.standing not in _WHILE_IT_GOES_ON):
            urgency, what = _STANDINGS[row.standing]
            yield point(
                urgency, f"criterion {row.standing}", f"{what} ({row.id})", words=row.text, seq=row.seq
            )
        if row.proof and row.proof.kind is EvidenceKind.LINE:
            yield point(
                Urgency.KNOW,
                "criterion that a line alone proves",
                f"sq saw the line that is the proof of {row.id}, and only the reviewer says that it suffices",
                words=row.text,
                seq=row.seq,
            )
        if row.standing is CriterionState.PROVEN and not row.place:
            yield point(
                Urgency.KNOW,
                "criterion without a place",
                f"the words of {row.id} are not in the spec: the planner wrote them",
                words=row.text,
                seq=row.seq,
            )


_ENDS = {
    Stage.STUCK: "is stuck",
    Stage.FAILED: "failed",
    Stage.UNVERIFIED: "could not be verified",
}


def tasks(story: RunFacts) -> Iterator[Point]:
    """Yield the tasks that are not merged, and those merged after a bad end."""
    for id_, task in story.view.tasks.items():
        if task.stage in UNMERGED_ENDS:
            spans = story.history.stages.get(id_, ())
            yield point(
                Urgency.DECIDE,
                "task not merged",
                f"the task {id_} {_ENDS[task.stage]}",
                words=task.end.reason,
                task_id=id_,
                seq=spans[-1].seq if spans else 0,
            )
        ended_badly = [span for span in story.history.stages.get(id_, ()) if span.stage in UNMERGED_ENDS]
        if task.stage is Stage.MERGED and ended_badly:
            yield point(
                Urgency.KNOW,
                "merged after a bad end",
                f"the task {id_} was merged at attempt {task.attempt}, after it had been "
                f"{ended_badly[-1].stage}",
                task_id=id_,
                seq=ended_badly[-1].seq,
            )
