"""Gaps in the evidence: checks without a judgement, and proofs without an answer."""

from collections.abc import Iterator

from orchestrator.views.models.criteria import RUNS_LATER, Point, Urgency
from orchestrator.views.models.history import RunFacts
from state.journal import events as e
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.verdicts import Source, Verdict
from state.words import doubts, facts_words, later_words, listed


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
        for kind, urgency, what in _gaps(proofs):
            yield Point(urgency, kind, what, task_id=proofs.task_id, seq=seq)
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
    if view.whole.tree and not any(run.runs for run in view.evidence.verifications.values()):
        yield Point(
            Urgency.UNPROVEN, "nothing to verify with", "no command verified the work: give one with --verify"
        )


def earlier_proofs(story: RunFacts) -> Iterator[Point]:
    """Yield the checks of earlier attempts that had no answer: a later one may have checked its fix alone."""
    view = story.view
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted) and event.tree != view.tasks[event.task_id].claim.accepted_tree:
            key = (event.task_id, event.tree)
            newest = view.evidence.proofs.get((event.task_id, view.tasks[event.task_id].claim.accepted_tree))
            earlier = view.evidence.proofs[key].untold if key in view.evidence.proofs else ()
            for untold in [one for one in earlier if newest is None or one not in newest.untold]:
                yield Point(
                    Urgency.UNPROVEN,
                    "could not be checked",
                    f"{event.task_id}, attempt {event.attempt}: sq could not check {untold}",
                    task_id=event.task_id,
                    seq=view.evidence.proved_at.get(key, 0),
                )


def _gaps(proofs: e.ProofsTaken) -> Iterator[tuple[str, Urgency, str]]:
    of = proofs.task_id or "the merged work"
    for change in proofs.changes:
        by = "the spec or the plan announced it" if change.expected_by else "nothing announced it"
        urgency = Urgency.KNOW if change.expected_by else Urgency.DECIDE
        yield "test changed", urgency, f"{of}: the test {change.name} {change.kind}, and {by}"
    for canary in proofs.canaries:
        if canary.caught is False:
            what = f"{of}: `{canary.command}` passes although a failing test was added in {canary.path}"
            yield "canary not caught", Urgency.UNPROVEN, what
    for untold in proofs.untold:
        yield "could not be checked", Urgency.UNPROVEN, f"{of}: sq could not check {untold}"
    for command in proofs.only_here:
        what = f"{of}: `{command}` passes in the checkout and not on a clean copy of the files"
        yield "passes only here", Urgency.UNPROVEN, what
    for broken in proofs.broken:
        yield "constraint broken", Urgency.DECIDE, f"{of}: {broken}"
    for fact in () if proofs.task_id else facts_words(proofs.facts):
        yield "computed from the files", Urgency.KNOW, f"{of}: {fact}"
    later = later_words(proofs.facts.later) if proofs.facts else ""
    for doubt in doubts(proofs):
        told = (RUNS_LATER, Urgency.DECIDE) if doubt == later else ("not shown by tests", Urgency.UNPROVEN)
        yield *told, f"{of}: {doubt}"
    if proofs.unproven:
        what = f"{of}: new tests that pass without the work too: {listed(proofs.unproven)}"
        yield "test proves nothing", Urgency.UNPROVEN, what
