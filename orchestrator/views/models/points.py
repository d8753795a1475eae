"""The points of a run that a person should look at, with those that wait for one."""

from collections.abc import Iterable, Iterator

from orchestrator.checks.objecting import RUNS_LATER
from orchestrator.views.models import gaps
from orchestrator.views.models.criteria import (
    CriterionRow,
    CriterionState,
    FindingRow,
    Point,
)
from orchestrator.views.models.history import RunFacts
from orchestrator.views.objections import Urgency
from state.journal import events as e
from state.journal.events.tasks import UNMERGED_ENDS, Stage
from state.journal.view import RunView
from state.records.questions import Basis
from state.records.reviews import FindingState
from state.settings.records import Sandbox
from state.verdicts import Verdict
from state.words import listed


def attention(story: RunFacts, rows: tuple[CriterionRow, ...]) -> tuple[Point, ...]:
    """Return the points of a run.

    Args:
        story: the run. Its messages are not needed.
        rows: its criteria.
    """
    points = [
        *questions(story.view),
        *unheard(story.view),
        *criteria(story.view, rows),
        *tasks(story),
        *findings(story),
        *suggestions(story),
        *gaps.checks(story),
        *gaps.proofs(story.view),
        *gaps.earlier_proofs(story),
        *environment(story),
    ]
    return tuple(sorted(points, key=lambda one: (one.urgency, one.kind != RUNS_LATER)))


_PROTECTED = "Protected paths were changed"  # begins the reason of the gate on the diff


def environment(story: RunFacts) -> Iterator[Point]:
    """Yield changes of git, of the user's work, the sandbox, refused calls and flaky tests."""
    view = story.view
    for stored in story.history.notable:
        for kind, urgency, what in _of_event(stored.event):
            yield Point(urgency, kind, what, task_id=getattr(stored.event, "task_id", ""), seq=stored.seq)
    yield from _handed_over(story)
    refused = [one.seq for one in story.history.notable if isinstance(one.event, e.ActionRefused)]
    if refused:
        what = f"policy refused {len(refused)} call(s) of agents, the first one here"
        yield Point(Urgency.KNOW, "refused calls", what, seq=refused[0])
    for flaky in dict.fromkeys(name for done in view.evidence.verifications.values() for name in done.flaky):
        yield Point(Urgency.KNOW, "flaky test", f"the test {flaky} failed and passed")


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
        case e.WorkRescued(claimed=False):
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


def _handed_over(story: RunFacts) -> Iterator[Point]:
    """Yield the claims whose work was handed over, and neither merged nor worked on since."""
    rescued = {
        one.event.task_id: one.seq
        for one in story.history.notable
        if isinstance(one.event, e.WorkRescued) and one.event.claimed
    }
    for id_, task in story.view.tasks.items():
        if task.claim.handed_over and task.stage is not Stage.MERGED:
            what = f"{id_} was claimed to be complete and is not verified: it is on {task.claim.handed_over}"
            yield Point(Urgency.KNOW, "not verified", what, task_id=id_, seq=rescued.get(id_, 0))


def questions(view: RunView) -> Iterator[Point]:
    """Yield parked questions, and decisions without the user that are not easy to undo."""
    for ask in view.asks.values():
        task_id = ask.asked.task_id
        if ask.parked and not ask.answered:
            yield Point(
                Urgency.DECIDE,
                "parked question",
                "a question is parked for you",
                words=ask.parked.question,
                task_id=task_id,
                seq=ask.seq,
            )
        for answer in ask.held:
            if not answer.reversible and answer.basis is not Basis.PERSON:
                basis = "the spec" if answer.basis is Basis.SPEC else f"its {answer.basis}"
                yield Point(
                    Urgency.KNOW if answer.basis is Basis.SPEC else Urgency.DECIDE,
                    "decision that is not easy to undo",
                    f"the Developer decided, on {basis}, something that is not easy to undo",
                    words=f"{answer.question} → {answer.marked}",
                    task_id=task_id,
                    seq=ask.seq,
                )


def unheard(view: RunView) -> Iterator[Point]:
    """Yield the words of people that no agent has read, once the run has ended."""
    for word in view.unheard_words if view.ended else ():
        what = f"no agent has read what {word.by} said to {word.task_id or 'all'}"
        yield Point(Urgency.KNOW, "not heard", what, words=word.text, task_id=word.task_id)


_STATES = {
    CriterionState.NOT_MET: (Urgency.DECIDE, "a criterion is not met"),
    CriterionState.CLAIMED: (
        Urgency.UNPROVEN,
        "a criterion is claimed, and sq has seen nothing that shows it",
    ),
    CriterionState.NOT_CHECKED: (Urgency.UNPROVEN, "a criterion was not checked"),
    CriterionState.UNDER_WAY: (Urgency.UNPROVEN, "a criterion has work that did not end"),
    CriterionState.NOT_BEGUN: (Urgency.UNPROVEN, "no work was begun for a criterion"),
}
_WHILE_IT_GOES_ON = frozenset({CriterionState.UNDER_WAY, CriterionState.NOT_BEGUN})


def criteria(view: RunView, rows: Iterable[CriterionRow]) -> Iterator[Point]:
    """Yield the criteria that nothing shows which sq has seen, and those without a place in the spec."""
    for row in rows:
        if row.state in _STATES and (view.ended or row.state not in _WHILE_IT_GOES_ON):
            urgency, what = _STATES[row.state]
            yield Point(urgency, f"criterion {row.state}", f"{what} ({row.id})", words=row.text, seq=row.seq)
        if row.state.is_seen and not row.place:
            yield Point(
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
            yield Point(
                Urgency.DECIDE,
                "task not merged",
                f"the task {id_} {_ENDS[task.stage]}",
                words=task.end.reason,
                task_id=id_,
                seq=spans[-1].seq if spans else 0,
            )
        ended_badly = [span for span in story.history.stages.get(id_, ()) if span.stage in UNMERGED_ENDS]
        if task.stage is Stage.MERGED and ended_badly:
            yield Point(
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


def findings(story: RunFacts) -> Iterator[Point]:
    """Yield the findings that are open or were let go."""
    for row in findings_of(story):
        finding = row.finding
        if finding.state in _LET_GO:
            urgency, what = _LET_GO[finding.state]
            yield Point(
                urgency,
                f"finding {finding.state}",
                f"{what}: {finding.issue.type}",
                words=f"{finding.issue.location}: {finding.issue.description}",
                task_id=row.task_id,
                seq=row.seq,
            )


def suggestions(story: RunFacts) -> Iterator[Point]:
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
                yield Point(
                    Urgency.KNOW,
                    "suggestion of a review",
                    "a review that passed suggests",
                    words=suggestion,
                    task_id=task_id,
                    seq=stored.seq,
                )


def findings_of(story: RunFacts) -> Iterator[FindingRow]:
    """Yield each finding in its newest state.

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
            yield FindingRow(task_id=id_, finding=finding, seq=seqs.get(id_, 0))
    for finding in story.view.whole.findings:
        if finding.id not in of_tasks:
            yield FindingRow(task_id="", finding=finding, seq=seqs.get("", 0))


def findings_by_state(story: RunFacts) -> list[FindingRow]:
    """Return all findings, those of one state together."""
    return sorted(findings_of(story), key=lambda row: row.finding.state)


def found_before(story: RunFacts) -> Iterator[str]:
    """Yield what reviews of the analysis and of the plan found, which the Planner had to mend."""
    is_proposed = False
    for stored in story.history.notable:
        match stored.event:
            case e.PlanProposed():
                is_proposed = True
            case e.PlanRejected(problems=problems) if is_proposed:
                is_proposed = False
                yield from (f"the plan: {one}" for one in problems)
            case e.AnalysisRejected(problems=problems):
                yield from (f"the analysis: {one}" for one in problems)
            case _:
                pass
