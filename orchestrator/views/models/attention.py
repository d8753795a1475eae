"""The places of a finished run that a person should look at, computed from its events: most urgent first."""

from collections.abc import Iterable, Iterator

from orchestrator.views.models.conclusions import Point, Urgency
from orchestrator.views.models.criteria import CriterionRow, Standing
from orchestrator.views.models.history import RunFacts
from state.journal import events as e
from state.journal.task_view import UNMERGED_ENDS, Stage, TaskView
from state.journal.view import RunView
from state.records import Basis, EvidenceKind, Finding, FindingState
from state.settings.records import Sandbox
from state.verdicts import Source, Verdict
from state.words import listed

_PROTECTED = "Protected paths were changed"  # begins the reason of the gate on the diff


def attention(story: RunFacts, rows: tuple[CriterionRow, ...]) -> tuple[Point, ...]:
    """Return the points of a run.

    Args:
        story: the run. Its messages are not needed.
        rows: its criteria.
    """
    points = [
        *_questions(story.view),
        *_criteria(story.view, rows),
        *_tasks(story),
        *_findings(story),
        *_suggestions(story),
        *_checks(story),
        *_proofs(story.view),
        *_earlier_proofs(story),
        *_surroundings(story),
    ]
    return tuple(sorted(points, key=lambda one: one.urgency))


def _point(
    urgency: Urgency, kind: str, what: str, *, words: str = "", task_id: str = "", seq: int = 0
) -> Point:
    return Point(urgency=urgency, kind=kind, what=what, words=words, task_id=task_id, seq=seq)


def _questions(view: RunView) -> Iterator[Point]:
    for ask in view.asks.values():
        task_id = ask.asked.task_id
        if ask.parked:
            yield _point(
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
                yield _point(
                    Urgency.KNOW if answer.basis is Basis.SPEC else Urgency.DECIDE,
                    "decision that is not easy to undo",
                    f"the Developer decided, on {basis}, something that is not easy to undo",
                    words=f"{answer.question} → {answer.marked}",
                    task_id=task_id,
                    seq=ask.seq,
                )


_STANDINGS = {
    Standing.NOT_MET: (Urgency.DECIDE, "a criterion is not met"),
    Standing.CLAIMED: (Urgency.UNPROVEN, "a criterion is claimed, and sq has seen no proof"),
    Standing.NOT_CHECKED: (Urgency.UNPROVEN, "a criterion was not checked"),
    Standing.UNDER_WAY: (Urgency.UNPROVEN, "a criterion has work that did not end"),
    Standing.NOT_BEGUN: (Urgency.UNPROVEN, "no work was begun for a criterion"),
}
_WHILE_IT_GOES_ON = frozenset({Standing.UNDER_WAY, Standing.NOT_BEGUN})


def _criteria(view: RunView, rows: Iterable[CriterionRow]) -> Iterator[Point]:
    for row in rows:
        if row.standing in _STANDINGS and (view.ended or row.standing not in _WHILE_IT_GOES_ON):
            urgency, what = _STANDINGS[row.standing]
            yield _point(
                urgency, f"criterion {row.standing}", f"{what} ({row.id})", words=row.text, seq=row.seq
            )
        if row.proof and row.proof.kind is EvidenceKind.LINE:
            yield _point(
                Urgency.KNOW,
                "criterion that a line alone proves",
                f"sq saw the line that is the proof of {row.id}, and only the reviewer says that it suffices",
                words=row.text,
                seq=row.seq,
            )
        if row.standing is Standing.PROVEN and not row.place:
            yield _point(
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


def _tasks(story: RunFacts) -> Iterator[Point]:
    for id_, task in story.view.tasks.items():
        if task.stage in UNMERGED_ENDS:
            spans = story.history.stages.get(id_, ())
            yield _point(
                Urgency.DECIDE,
                "task not merged",
                f"the task {id_} {_ENDS[task.stage]}",
                words=task.end.reason,
                task_id=id_,
                seq=spans[-1].seq if spans else 0,
            )
        ended_badly = [span for span in story.history.stages.get(id_, ()) if span.stage in UNMERGED_ENDS]
        if task.stage is Stage.MERGED and ended_badly:
            yield _point(
                Urgency.KNOW,
                "merged after a bad end",
                f"the task {id_} was merged at attempt {task.attempt}, after it had been "
                f"{ended_badly[-1].stage}",
                task_id=id_,
                seq=ended_badly[-1].seq,
            )


_LET_GO = {
    FindingState.OPEN: (Urgency.DECIDE, "a finding is open"),
    FindingState.DISPUTED: (Urgency.DECIDE, "a finding was disputed by the Worker and let go"),
    FindingState.WONT_FIX: (Urgency.KNOW, "a finding is not going to be fixed"),
}


def _findings(story: RunFacts) -> Iterator[Point]:
    for task_id, finding, seq in findings_of(story):
        if finding.state in _LET_GO:
            urgency, what = _LET_GO[finding.state]
            yield _point(
                urgency,
                f"finding {finding.state}",
                f"{what}: {finding.issue.type}",
                words=f"{finding.issue.location}: {finding.issue.description}",
                task_id=task_id,
                seq=seq,
            )


def _suggestions(story: RunFacts) -> Iterator[Point]:
    """Yield the suggestions of the newest passing review of each task and of the whole."""
    newest = {
        stored.event.task_id: stored
        for stored in story.history.notable
        if isinstance(stored.event, e.ReviewRecorded)
        and stored.event.passed
        and (not stored.event.task_id or stored.event.task_id in story.view.tasks)
    }
    for task_id, stored in newest.items():
        if isinstance(stored.event, e.ReviewRecorded):
            for suggestion in stored.event.suggestions:
                yield _point(
                    Urgency.KNOW,
                    "suggestion of a review",
                    "a review that passed suggests",
                    words=suggestion,
                    task_id=task_id,
                    seq=stored.seq,
                )


def findings_of(story: RunFacts) -> Iterator[tuple[str, Finding, int]]:
    """Yield each finding in its newest state, with its task ("" for the whole) and the event that says so.

    A finding of the final review that became one of a task is yielded with its task alone.
    """
    seqs = {
        stored.event.task_id: stored.seq
        for stored in story.history.notable
        if isinstance(stored.event, e.ReviewRecorded | e.CheckpointReviewed)
    }
    of_tasks = set()
    for id_, task in story.view.tasks.items():
        for finding in task.review.findings:
            of_tasks.add(finding.id)
            yield id_, finding, seqs.get(id_, 0)
    for finding in story.view.whole.findings:
        if finding.id not in of_tasks:
            yield "", finding, seqs.get("", 0)


def _checks(story: RunFacts) -> Iterator[Point]:
    for id_, task in story.view.tasks.items():
        yield from _steering(story, id_, task)
        for gate in task.open.gates:
            if gate.verdict is Verdict.NOT_CHECKED:
                yield _point(
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
        yield _point(
            Urgency.UNPROVEN,
            "checks not judged",
            f"{len(missing)} of {len(newest)} checks of {id_} were not judged: {listed(missing)}",
            task_id=id_,
            seq=seqs[-1] if seqs else 0,
        )


def _proofs(view: RunView) -> Iterator[Point]:
    """Yield the gaps in the proofs of the merged work, and of each task's accepted tree."""
    accepted = {("", view.whole.tree)} | {(id_, task.claim.accepted_tree) for id_, task in view.tasks.items()}
    for key, proofs in view.evidence.proofs.items():
        if key not in accepted:
            continue
        seq = view.evidence.proved_at.get(key, 0)
        for kind, urgency, what in _gaps(proofs):
            yield _point(urgency, kind, what, task_id=proofs.task_id, seq=seq)
    for check in view.baseline.checks.values():
        if check.canary and check.canary.caught is False:
            yield _point(
                Urgency.UNPROVEN,
                "canary not caught",
                f"`{check.run.command}` passes at the base although a test fails: it proves nothing",
                seq=view.baseline.seq,
            )
    if view.whole.tree and not any(run.runs for run in view.evidence.verifications.values()):
        yield _point(
            Urgency.UNPROVEN, "nothing to verify with", "no command verified the work: give one with --verify"
        )


def _earlier_proofs(story: RunFacts) -> Iterator[Point]:
    """Yield the checks of earlier attempts that had no answer: a later one may have checked its fix alone."""
    view = story.view
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted) and event.tree != view.tasks[event.task_id].claim.accepted_tree:
            key = (event.task_id, event.tree)
            newest = view.evidence.proofs.get((event.task_id, view.tasks[event.task_id].claim.accepted_tree))
            earlier = view.evidence.proofs[key].untold if key in view.evidence.proofs else ()
            for untold in [one for one in earlier if newest is None or one not in newest.untold]:
                yield _point(
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
    if proofs.unproven:
        what = f"{of}: new tests that pass without the work too: {listed(proofs.unproven)}"
        yield "test proves nothing", Urgency.UNPROVEN, what


def _surroundings(story: RunFacts) -> Iterator[Point]:
    view = story.view
    for stored in story.history.notable:
        for kind, urgency, what in _of_event(stored.event):
            yield _point(urgency, kind, what, task_id=getattr(stored.event, "task_id", ""), seq=stored.seq)
    refused = [one.seq for one in story.history.notable if isinstance(one.event, e.ActionRefused)]
    if refused:
        what = f"policy refused {len(refused)} call(s) of agents, the first one here"
        yield _point(Urgency.KNOW, "refused calls", what, seq=refused[0])
    for flaky in dict.fromkeys(name for done in view.evidence.verifications.values() for name in done.flaky):
        yield _point(Urgency.KNOW, "flaky test", f"the test {flaky} failed and passed")


def _of_event(event: e.Event) -> Iterator[tuple[str, Urgency, str]]:  # noqa: C901  one case an event
    match event:
        case e.GitFolderChanged():
            files = (
                f"files by which git runs programs changed: {listed(event.paths)}. Look before you run git"
            )
            yield "git folder changed", Urgency.DECIDE, files
        case e.UsersWorkRestored():
            if event.problem:
                what = f"your uncommitted work could not be put back: {event.problem}"
                yield "your work", Urgency.DECIDE, what
            elif event.paths or event.overwritten:
                what = f"agents changed your uncommitted work, and sq put it back: {listed(event.paths)}"
                yield "your work", Urgency.KNOW, what
            if event.heads:
                yield (
                    "your work",
                    Urgency.KNOW,
                    f"an agent moved HEAD in {listed(event.heads)}, sq put it back",
                )
        case e.WorkRescued():
            what = f"unfinished work of {event.task_id} was in the way and is kept as {event.ref}"
            yield "work rescued", Urgency.KNOW, what
        case e.MergeBuilt() if event.summary:
            yield "conflict resolved", Urgency.KNOW, f"a Resolver resolved the conflict of {event.task_id}"
        case e.RunStarted() | e.RunResumed():
            held = event.confined.sandbox
            if held and held.level == Sandbox.OFF:
                yield "sandbox off", Urgency.KNOW, f"agents worked without a sandbox ({held.reason})"
            if event.confined.key_exposed:
                yield "key exposed", Urgency.DECIDE, event.confined.key_exposed
        case e.GateDecided(verdict=Verdict.BLOCK) if event.reason.startswith(_PROTECTED):
            what = f"an agent changed protected paths in {event.task_id} and had to put them back"
            yield "protected paths", Urgency.KNOW, what
        case e.ReviewUnusable():
            whose = event.task_id or "the whole"
            yield "review unusable", Urgency.KNOW, f"a review of {whose} was unusable: {event.problem}"
