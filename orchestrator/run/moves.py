"""Which tasks move on, side by side, and the moves themselves.

A task moves by itself to its next stage (build, commit, review, merge), and no task waits for a round of
others. It holds one of the places from its start until it is merged, has ended or is sent back. Those with
the longest way to go come first.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from graphlib import TopologicalSorter

from anyio.abc import TaskGroup

from agents.concurrency import task_group
from orchestrator.run.landing import has_time, until_landing
from orchestrator.run.record import Run
from state.errors import JournalError
from state.journal.events import Event
from state.journal.events.tasks import ENDED_STAGES, Stage, TaskView
from state.journal.phase import can_land, is_parked, is_under_way, may_begin


class _Moves:
    """The tasks that move side by side. `endings` end the run, and in `broken` nothing could be stored."""

    def __init__(self, run: Run, move: Callable[[str], Awaitable[Event | None]], tasks: TaskGroup) -> None:
        self._run, self._move, self._tasks = run, move, tasks
        self._busy: set[str] = set()
        self.endings: list[Event] = []
        self.broken: list[JournalError] = []

    def start(self) -> None:
        """Begin each move that can be made now. Without any, end the waits for people and then the group."""
        is_over = bool(self.broken or self.endings)
        lands = self._run.view.process.landing is not None
        chosen = next_moves(self._run.view.tasks, self._busy, _places(self._run), lands=lands)
        for task_id in [] if is_over else self._in_time(chosen):
            self._busy.add(task_id)
            self._tasks.start_soon(self._one, task_id)
        if is_over or not self._busy:
            self._tasks.cancel_scope.cancel()
        elif self._busy <= parked(self._run):  # nothing else is left, so none waits longer
            for scope in self._run.under_way.values():
                scope.cancel()

    def _in_time(self, chosen: list[str]) -> list[str]:
        """Return those that can be merged before the deadline. Without any, landing begins with the first."""
        going_on = [id_ for id_ in chosen if is_under_way(self._run.task(id_))]
        others = [id_ for id_ in chosen if id_ not in going_on]
        at = self._run.view.process.deadline
        worth = [id_ for id_ in others if has_time(self._run, self._run.task(id_), at)]
        return [*going_on, *(worth if going_on or worth or self._busy else others)]

    async def heed_people(self) -> None:
        """Begin moves whenever a task is parked, or answered. Ends with the group."""
        waiting = parked(self._run)
        while True:
            await self._run.changed.wait()
            if parked(self._run) != waiting:
                waiting = parked(self._run)
                self.start()

    async def _one(self, task_id: str) -> None:
        try:
            with until_landing(self._run, task_id):
                ending = await self._move(task_id)
                self.endings.extend([ending] if ending else [])
        except JournalError as error:  # the others meet it too
            self.broken.append(error)
        self._busy.discard(task_id)
        self.start()


async def move_tasks(run: Run, move: Callable[[str], Awaitable[Event | None]]) -> Event | None:
    """Move tasks on until nothing can be done for any, or the run as a whole has to end.

    Args:
        run: the run.
        move: takes the task of this id to its next stage. An event that it returns ends the run: the other
            tasks are stopped where they are, and the event is returned to be recorded.

    Raises:
        JournalError: nothing can be stored any more.
    """
    async with task_group() as tasks:
        moves = _Moves(run, move, tasks)
        tasks.start_soon(moves.heed_people)
        moves.start()
    if moves.broken:
        raise moves.broken[0]
    return moves.endings[0] if moves.endings else None


def parked(run: Run) -> set[str]:
    """Return the tasks that wait for a person's answer."""
    return {id_ for id_, task in run.view.tasks.items() if is_parked(task)}


def _places(run: Run) -> int:
    """Return how many tasks may go on at once. In the checkout itself none beside one that waits."""
    return 0 if parked(run) and not run.settings.worktrees else run.settings.places


def next_moves(
    tasks: Mapping[str, TaskView], busy: Collection[str], places: int, *, lands: bool = False
) -> list[str]:
    """Return the tasks that are moved on now. To be called again whenever a move has ended.

    Tasks that hold a place go on first, then tasks that were sent back, then new ones. One task is merged at
    a time. A task that waits for a person holds no place.

    Args:
        tasks: all tasks of the plan, in its order.
        busy: those whose move is under way.
        places: how many tasks may hold one at once.
        lands: the end of the run's time is near, so only accepted work goes on.
    """
    idle = [id_ for id_ in _longest_way_first(tasks) if id_ not in busy]
    idle = [id_ for id_ in idle if not is_parked(tasks[id_]) and (can_land(tasks[id_]) or not lands)]
    going_on = [id_ for id_ in idle if is_under_way(tasks[id_])]
    going_on.sort(key=lambda id_: tasks[id_].merge is None)  # a merge that was begun is finished first
    beginning = [id_ for id_ in idle if may_begin(tasks, id_)]
    beginning.sort(key=lambda id_: tasks[id_].stage is Stage.WAITING)
    taken = sum(not is_parked(tasks[id_]) for id_ in busy)
    chosen = [*going_on, *beginning][: max(0, places - taken)]
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
