"""Merges of tasks into the merged work."""

from typing import assert_never

from state.errors import JournalError
from state.journal import events as e
from state.journal.task_view import MergeView, Stage, TaskView
from state.journal.view import RunView


def apply(view: RunView, event: e.MergeEvent) -> None:
    """Add an event of a merge to the view of its run.

    Raises:
        JournalError: the merge never began.
    """
    if isinstance(event, e.WorkMeasured):
        before = view.whole.measured.get(event.task_id, []) if event.task_id else []
        view.whole.measured[event.task_id] = [*before, event]
        return
    task = view.tasks[event.task_id]
    match event:
        case e.MergeStarted():
            task.merge, task.merges = MergeView(event.commit, event.onto), task.merges + 1
        case e.MergeConflicted():
            _merge_of(task).conflict = event
        case e.ResolutionRefused():
            _merge_of(task).refusals.append(event)
        case e.MergeBuilt():
            _merge_of(task).built = event
        case e.MergeFailed():
            task.merge = None
            view.context.errors.append(f"merge of {event.task_id}: {event.reason}")
        case e.TaskMerged():
            _merged(view, task, event)
        case _:
            assert_never(event)


def _merge_of(task: TaskView) -> MergeView:
    if task.merge is None:
        raise JournalError(f"the journal holds a step of a merge of {task.task.id} that never began")
    return task.merge


def _merged(view: RunView, task: TaskView, event: e.TaskMerged) -> None:
    whole = view.whole
    if task.merge and task.merge.conflict:
        whole.resolved.append(task.merge)
    if task.merge and task.merge.built and task.merge.built.united:
        whole.united.append(task.merge.built)
    task.stage, task.merge, task.review.rounds = Stage.MERGED, None, 0
    task.merged_commit, task.merged_onto = event.commit, event.onto or task.place.base_commit
    whole.commit, whole.tree, whole.merged_tree = event.commit, event.tree, event.tree
    whole.merged_since_review, whole.unusable = True, []
