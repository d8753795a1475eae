"""Which task is worked on next: pure. For now one at a time, in the plan's order as dependencies allow."""

from collections.abc import Mapping

from state.phase import movable
from state.view import TaskView


def next_task(tasks: Mapping[str, TaskView]) -> str | None:
    """The task under way, else the first whose dependencies are merged; None: nothing can move."""
    return next(iter(movable(tasks)), None)
