"""Where a run is: a plain function of its view, the same for whoever decides and whoever shows."""

from collections.abc import Mapping
from enum import StrEnum

from state.view import ENDED_STAGES, RunView, Stage, TaskView

MAX_UNUSABLE = 2  # a reviewer is asked once more, then given up


class Phase(StrEnum):
    """What a run as a whole does next. `TASKS`: each task has a stage of its own."""

    ANALYZE = "analyze"
    PLAN = "plan"
    TASKS = "tasks"
    FINAL_REVIEW = "final review"
    BRING_HOME = "bring home"
    END = "end"


def phase_of(view: RunView) -> Phase:
    """What comes next; a limit that is reached leaves only the way home."""
    dry = bool(view.started and view.started.settings and view.started.settings.dry_run)
    if view.limit:
        return Phase.END if view.is_home or not view.tasks else Phase.BRING_HOME
    if view.analysis is None:
        return Phase.ANALYZE
    if not view.tasks:
        return Phase.PLAN
    if dry:
        return Phase.END
    if movable(view.tasks):
        return Phase.TASKS
    if all(task.stage is Stage.MERGED for task in view.tasks.values()) and not _whole_is_judged(view):
        return Phase.FINAL_REVIEW
    return Phase.END if view.is_home else Phase.BRING_HOME


def movable(tasks: Mapping[str, TaskView]) -> list[str]:
    """The tasks that something can be done for: those under way, then those whose dependencies are merged."""
    under_way = [id_ for id_, task in tasks.items() if task.stage not in {*ENDED_STAGES, Stage.WAITING}]
    ready = [
        id_
        for id_, task in tasks.items()
        if task.stage is Stage.WAITING
        and all(tasks[needed].stage is Stage.MERGED for needed in task.task.dependencies)
    ]
    return under_way + ready


def _whole_is_judged(view: RunView) -> bool:
    reviewed = bool(view.final_reviews) and view.final_reviews[-1].commit == view.head_commit
    return reviewed or len(view.final_unusable) >= MAX_UNUSABLE
