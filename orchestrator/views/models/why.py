"""Why a task does not go on: the chain of reasons, each with the event that says so."""

from collections.abc import Iterator
from datetime import datetime

from orchestrator.views.models.history import RunFacts
from orchestrator.views.words import Reason, time_of_day
from state.journal.events.tasks import ENDED_STAGES, UNMERGED_ENDS, Stage, TaskView
from state.journal.phase import Phase, is_under_way, phase_of
from state.journal.view import RunView


def why_not(story: RunFacts, task_id: str, now: datetime, *, active: bool = True) -> list[Reason]:
    """Return why a task does nothing now, nearest reason first. Empty for a task that works or is merged.

    Args:
        story: the run.
        task_id: the task.
        now: this moment, for waits that are over.
        active: whether a process works on the run.
    """
    view = story.view
    task = view.tasks[task_id]
    if task.stage is Stage.MERGED:
        return []
    reasons = list(_of_task(story, task, now, seen=set()))
    if not active and not view.ended and task.stage not in ENDED_STAGES:
        reasons.append(Reason(text="no process works on this run", seq=view.clock.last_seq))
    return reasons


def _of_task(story: RunFacts, task: TaskView, now: datetime, seen: set[str]) -> Iterator[Reason]:
    view, id_ = story.view, task.task.id
    if id_ in seen:
        return
    seen.add(id_)
    if task.stage in UNMERGED_ENDS:
        yield Reason(text=f"{id_} is {task.stage}: {task.end.reason}", seq=_since(story, id_))
        yield from _refusals(task)
        return
    if waits := _paused(view, now):
        yield waits
    if is_under_way(task) or task.stage in ENDED_STAGES:
        return
    needed = [one for one in task.task.dependencies if view.tasks[one].stage is not Stage.MERGED]
    for one in needed:
        other = view.tasks[one]
        yield Reason(text=f"{id_} needs {one}, which is {other.stage}", seq=_since(story, one))
        yield from _of_task(story, other, now, seen)
    if not needed:
        yield from _no_place(view, id_)


def _refusals(task: TaskView) -> Iterator[Reason]:
    for refusal in task.open.refusals[-1:]:
        first = refusal.for_people.strip().partition("\n")[0]
        times = len(task.open.refusals)
        yield Reason(
            text=f"its last claim was refused, {times} time{'s' * (times != 1)} in a row: {first}",
        )


def _paused(view: RunView, now: datetime) -> Reason | None:
    """Why no task of the run goes on, if so."""
    if view.process.limit:
        return Reason(text=f"a limit of the run is reached: {view.process.limit}")
    if view.process.interrupted_by:
        return Reason(text=f"the run was stopped by {view.process.interrupted_by}")
    if paused := view.context.people.paused:
        run_id = view.started.run_id if view.started else ""
        return Reason(text=f"{paused.by} paused the run. Go on with: sq continue {run_id}")
    if view.process.quiet_until and view.process.quiet_until > now:
        until = time_of_day(view.process.quiet_until)
        return Reason(text=f"no request goes to a model before {until}")
    return None


def _no_place(view: RunView, task_id: str) -> Iterator[Reason]:
    if phase_of(view) is not Phase.TASKS or view.settings is None:
        return
    taken = [id_ for id_, one in view.tasks.items() if is_under_way(one) and id_ != task_id]
    if len(taken) >= view.settings.places:
        yield Reason(
            text=f"{task_id} waits for a place ({len(taken)} of {view.settings.places} taken: "
            f"{', '.join(taken)})"
        )


def _since(story: RunFacts, task_id: str) -> int:
    spans = story.history.stages.get(task_id, [])
    return spans[-1].seq if spans else 0
