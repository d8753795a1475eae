"""Lines of merges and their conflicts."""

from typing import assert_never

from orchestrator.views.words import short
from state.journal import events as e


def lines(event: e.MergeEvent) -> list[str]:
    """The lines that an event of a merge adds to the story."""
    match event:
        case e.MergeConflicted():
            return _merge_conflicted(event)
        case e.ResolutionRefused():
            return _resolution_refused(event)
        case e.MergeBuilt():
            return _merge_built(event)
        case e.MergeFailed():
            return _merge_failed(event)
        case e.TaskMerged():
            return _merged(event)
        case e.WorkMeasured():
            return _measured(event)
        case e.MergeStarted():
            return []
        case _:
            assert_never(event)


def _merge_conflicted(event: e.MergeConflicted) -> list[str]:
    return [f"{event.task_id}: the merge conflicts in {', '.join(event.paths)}"]


def _resolution_refused(event: e.ResolutionRefused) -> list[str]:
    return [f"{event.task_id}: the resolution does not hold: {short(event.reason, 300)}"]


def _merge_built(event: e.MergeBuilt) -> list[str]:
    return [f"{event.task_id}: merged two additions at one place in {path}" for path in event.united]


def _merge_failed(event: e.MergeFailed) -> list[str]:
    return [f"{event.task_id}: not merged: {short(event.reason, 300)}"]


def _merged(event: e.TaskMerged) -> list[str]:
    return [f"{event.task_id}: merged"]


def _measured(event: e.WorkMeasured) -> list[str]:
    if event.task_id:
        return []
    files = len(event.files) + event.left_out
    return [f"the whole: +{event.added} -{event.removed} in {files} file(s)"]
