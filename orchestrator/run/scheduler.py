"""Tasks side by side: each moves on by itself, and a plain function of their views decides which move now.

A move is the next step for the stage of a task: build, commit, review or merge. No task waits for a round of
others to end. A task holds one of the places from its start until it is merged, has ended or is sent back.
Those with the longest way to go come first.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from graphlib import TopologicalSorter

from agents.concurrency import task_group
from orchestrator.run.record import Run
from state.errors import JournalError
from state.journal.events import Event
from state.journal.events.tasks import ENDED_STAGES, Stage, TaskView
from state.journal.phase import is_under_way, may_begin

Move = Callable[[str], Awaitable[Event | None]]


async def move_tasks(run: Run, move: Move) -> Event | None:
    """Move tasks on until nothing can be done for any, or the run as a whole has to end.

    Args:
        run: the run.
        move: takes the task of this id to its next stage. An event that it returns ends the run: the other
            tasks are stopped where they are, and the event is returned to be recorded.

    Raises:
        JournalError: nothing can be stored any more.
    """
    busy: set[str] = set()
    endings: list[Event] = []
    broken: list[JournalError] = []
    async with task_group() as tasks:

        async def one(task_id: str) -> None:
            try:
                ending = await move(task_id)
            except JournalError as error:  # the others meet it too
                broken.append(error)
            else:
                endings.extend([ending] if ending else [])
            busy.discard(task_id)
            if broken or endings:
                tasks.cancel_scope.cancel()
            else:
                start()

        def start() -> None:
            for task_id in next_moves(run.view.tasks, busy, run.settings.places):
                busy.add(task_id)
                tasks.start_soon(one, task_id)

        start()
    if broken:
        raise broken[0]
    return endings[0] if endings else None


def next_moves(tasks: Mapping[str, TaskView], busy: Collection[str], places: int) -> list[str]:
    """Return the tasks that are moved on now. To be called again whenever a move has ended.

    Tasks that hold a place go on first, then tasks that were sent back, then new ones. One task is merged at
    a time.

    Args:
        tasks: all tasks of the plan, in its order.
        busy: those whose move is under way, each of which holds a place.
        places: how many tasks may hold one at once.
    """
    idle = [id_ for id_ in _longest_way_first(tasks) if id_ not in busy]
    going_on = [id_ for id_ in idle if is_under_way(tasks[id_])]
    going_on.sort(key=lambda id_: tasks[id_].merge is None)  # a merge that was begun is finished first
    beginning = [id_ for id_ in idle if may_begin(tasks, id_)]
    beginning.sort(key=lambda id_: tasks[id_].stage is Stage.WAITING)
    chosen = [*going_on, *beginning][: max(0, places - len(busy))]
    is_merging = any(tasks[id_].stage is Stage.APPROVED for id_ in busy)
    merges = [id_ for id_ in chosen if tasks[id_].stage is Stage.APPROVED]
    held_back = merges if is_merging else merges[1:]
    return [id_ for id_ in chosen if id_ not in held_back]


def _longest_way_first(tasks: Mapping[str, TaskView]) -> list[str]:
    """Return the tasks, longest chain of dependent work first, and ties in the plan's order."""
    needed_by: dict[str, list[str]] = {id_: [] for id_ in tasks}
    for id_, task in tasks.items():
        for needed in task.task.dependencies:
            if task.stage not in ENDED_STAGES:
                needed_by[needed].append(id_)
    way: dict[str, int] = {}
    for id_ in TopologicalSorter(needed_by).static_order():
        own = max(1, tasks[id_].task.estimated_iterations)
        way[id_] = own + max((way[later] for later in needed_by[id_]), default=0)
    return sorted(tasks, key=lambda id_: -way[id_])
