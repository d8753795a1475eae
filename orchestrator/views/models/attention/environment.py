"""Things that happened around the work: to the user's files, in git, with the sandbox."""

from collections.abc import Iterator

from orchestrator.views.models.conclusions import Point, Urgency, point
from orchestrator.views.models.history import RunFacts
from state.journal import events as e
from state.settings.records import Sandbox
from state.verdicts import Verdict
from state.words import listed

_PROTECTED = "Protected paths were changed"  # begins the reason of the gate on the diff


def surroundings(story: RunFacts) -> Iterator[Point]:
    """Yield changes of git, of the user's work, the sandbox, refused calls and flaky tests."""
    view = story.view
    for stored in story.history.notable:
        for kind, urgency, what in _of_event(stored.event):
            yield point(urgency, kind, what, task_id=getattr(stored.event, "task_id", ""), seq=stored.seq)
    refused = [one.seq for one in story.history.notable if isinstance(one.event, e.ActionRefused)]
    if refused:
        what = f"policy refused {len(refused)} call(s) of agents, the first one here"
        yield point(Urgency.KNOW, "refused calls", what, seq=refused[0])
    for flaky in dict.fromkeys(name for done in view.evidence.verifications.values() for name in done.flaky):
        yield point(Urgency.KNOW, "flaky test", f"the test {flaky} failed and passed")


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
