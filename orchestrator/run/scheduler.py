"""Which task is worked on next: pure. For now one at a time, in the plan's order as dependencies allow."""

from collections.abc import Mapping

from state.fold import ENDED_STAGES, Stage, TaskView


def next_task(tasks: Mapping[str, TaskView]) -> str | None:
    """The task under way, else the first whose dependencies are merged; None: nothing can move."""
    under_way = [id_ for id_, task in tasks.items() if task.stage not in {*ENDED_STAGES, Stage.WAITING}]
    if under_way:
        return under_way[0]
    return next(
        (
            id_
            for id_, task in tasks.items()
            if task.stage is Stage.WAITING
            and all(tasks[needed].stage is Stage.MERGED for needed in task.task.dependencies)
        ),
        None,
    )
