"""Gaps in the evidence: checks without a judgement, and proofs without an answer."""

from collections.abc import Iterator

from orchestrator.views.models.criteria import Point
from orchestrator.views.models.history import RunFacts
from orchestrator.views.objections import Urgency, kind_of, told, urgency_of
from state.journal import events as e
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.objections import STRENGTH, Weight
from state.verdicts import Source, Verdict
from state.words import facts_words, groups_of, listed, strength_words


def checks(story: RunFacts) -> Iterator[Point]:
    """Yield the gates and the considerations of power steering that gave no answer."""
    for id_, task in story.view.tasks.items():
        yield from _steering(story, id_, task)
        for gate in task.open.gates:
            if gate.verdict is Verdict.NOT_CHECKED:
                yield Point(
                    Urgency.UNPROVEN,
                    "gate not checked",
                    f"the gate {gate.gate} of {id_} could not be checked",
                    words=gate.reason,
                    task_id=id_,
                )


def _steering(story: RunFacts, id_: str, task: TaskView) -> Iterator[Point]:
    newest = task.open.checks[-1].results if task.open.checks else ()
    missing = [one.consideration_id for one in newest if one.source is Source.NOT_CHECKED]
    if missing:
        seqs = [
            stored.seq
            for stored in story.history.notable
            if isinstance(stored.event, e.ChecksDecided) and stored.event.task_id == id_
        ]
        yield Point(
            Urgency.UNPROVEN,
            "checks not judged",
            f"{len(missing)} of {len(newest)} checks of {id_} were not judged: {listed(missing)}",
            task_id=id_,
            seq=seqs[-1] if seqs else 0,
        )


def proofs(view: RunView) -> Iterator[Point]:
    """Yield the gaps in the proofs of the merged work, and of each task's accepted tree."""
    accepted = {("", view.whole.tree)} | {(id_, task.claim.accepted_tree) for id_, task in view.tasks.items()}
    for key, proofs in view.evidence.proofs.items():
        if key not in accepted:
            continue
        seq = view.evidence.proved_at.get(key, 0)
        of = proofs.task_id or "the merged work"
        for group in groups_of(proofs.objections):
            what = f"{of}: {told(group)}"
            yield Point(urgency_of(group[0]), kind_of(group[0]), what, task_id=proofs.task_id, seq=seq)
        for fact in () if proofs.task_id else facts_words(proofs.facts):
            yield Point(Urgency.KNOW, "computed from the files", f"{of}: {fact}", seq=seq)
        for figure in () if proofs.task_id else strength_words(proofs.proofs):
            yield Point(Urgency.KNOW, STRENGTH, f"{of}: {figure}", seq=seq)
    yield from _of_baseline(view)
    if view.whole.tree and not any(run.runs for run in view.evidence.verifications.values()):
        yield Point(
            Urgency.UNPROVEN, "nothing to verify with", "no command verified the work: give one with --verify"
        )


def _of_baseline(view: RunView) -> Iterator[Point]:
    if view.baseline.not_run:
        yield Point(
            Urgency.UNPROVEN,
            "command not run",
            "sq did not run these commands of the analysis, because it does not know them: use --verify",
            words=", ".join(view.baseline.not_run),
            seq=view.baseline.seq,
        )
    for check in view.baseline.checks.values():
        if check.run.broken or check.run.missing:
            yield Point(
                Urgency.UNPROVEN,
                "command could not run",
                f"`{check.run.command}` could not run before any change",
                words=". ".join(
                    (check.run.broken or f"it lacks {check.run.missing}", *view.evidence.not_set_up)
                ),
                seq=view.baseline.seq,
            )
        elif check.run.passes_no_test:
            yield Point(
                Urgency.UNPROVEN,
                "no test passed before",
                f"no test of `{check.run.command}` passed before any change: what they show is little",
                words=". ".join(one for one in view.baseline.notes if check.run.command in one),
                seq=view.baseline.seq,
            )
        if check.canary and check.canary.caught is False:
            yield Point(
                Urgency.UNPROVEN,
                "canary not caught",
                f"`{check.run.command}` passes at the base although a test fails: it proves nothing",
                seq=view.baseline.seq,
            )


def earlier_proofs(story: RunFacts) -> Iterator[Point]:
    """Yield the checks of earlier attempts that had no answer: a later one may have checked its fix alone."""
    view = story.view
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted) and event.tree != view.tasks[event.task_id].claim.accepted_tree:
            key = (event.task_id, event.tree)
            newest = view.evidence.proofs.get((event.task_id, view.tasks[event.task_id].claim.accepted_tree))
            earlier = view.evidence.proofs[key].objections if key in view.evidence.proofs else ()
            for one in [one for one in earlier if newest is None or one not in newest.objections]:
                if one.weight is Weight.UNKNOWN:
                    yield Point(
                        urgency_of(one),
                        kind_of(one),
                        f"{event.task_id}, attempt {event.attempt}: {told([one])}",
                        task_id=event.task_id,
                        seq=view.evidence.proved_at.get(key, 0),
                    )
