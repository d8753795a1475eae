"""Tasks side by side: each moves on by itself. The scheduler decides which ones move now.

A move is the next step for the stage of a task: build, commit, review or merge. No task waits for a round of
others to end.
"""

from collections.abc import Awaitable, Callable

from agents.concurrency import task_group
from orchestrator.run.record import Run
from orchestrator.run.scheduler import next_moves
from state.errors import JournalError
from state.journal.events import Event

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
