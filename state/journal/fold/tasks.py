"""Tasks: their attempts and claims, their reviews, their merges, their ends, and their reopening."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from state.errors import JournalError
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.merges import MergeView
from state.journal.events.reviews import JudgedView
from state.journal.events.tasks import (
    ENDED_STAGES,
    AttemptView,
    ClaimView,
    PlaceView,
    Stage,
    TaskEndView,
    TaskView,
)
from state.journal.view import RunView
from state.records.reviews import FindingState, ReviewIssue, TestRuling
from state.verdicts import Verdict


def apply_task(view: RunView, event: e.TaskEvent, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
    """Add an event of a task to the view of its run."""
    task = view.tasks[event.task_id]
    match event:
        case e.TaskStarted():
            task.stage = Stage.BUILDING
            task.place = PlaceView(event.branch, event.worktree, event.base_commit, stored.seq)
            task.next.rebuilt, task.next.rebuild, task.open.is_open = task.next.rebuild, None, False
        case e.HandedOver():
            task.next.hand_over = event.notes
        case e.AttemptStarted():
            _attempt_started(task, event)
        case e.IterationMeasured():
            task.open.trees.append(event.tree)
            task.open.errors.append(event.error)
        case e.GateDecided():
            task.open.gates.append(event)
            if event.verdict is not Verdict.ALLOW:
                view.context.errors.append(f"{event.task_id}: {event.gate}: {event.reason}")
        case e.ChecksDecided():
            task.open.checks.append(event)
        case e.GuidanceGiven():
            task.open.guidance.append(event)
        case e.CompletionAccepted():
            task.stage, task.claim.accepted_tree = Stage.ACCEPTED, event.tree
            task.open.refusals, task.open.claimed_at = [], None
        case e.CompletionRefused():
            task.open.refusals.append(event)
            task.open.claimed_at = None
        case e.TaskCommitted():
            task.stage, task.open.is_open = Stage.COMMITTED, False
            task.claim = ClaimView(task.claim.accepted_tree, event.commit, event.tree)
            task.review = replace(task.review, unusable=0, unusable_forgiven=0)
        case e.TaskStuck() | e.TaskFailed() | e.TaskUnverified():
            _ended(view, task, event)
        case _:
            assert_never(event)


def reopen_at_limit(view: RunView) -> None:
    """Reopen the tasks that a limit had ended, each in its stage before that."""
    for task in view.tasks.values():
        if task.stage is Stage.STUCK and task.end.at_limit:
            _back(task)


def retry(task: TaskView) -> None:
    """Reopen a task that had ended, in its stage before that. Accepted work is not built again."""
    ended, at_limit = task.stage, task.end.at_limit
    _back(task)
    task.review = replace(task.review, revisions=0, unusable_forgiven=task.review.unusable)
    task.next.retried = True
    if ended is Stage.STUCK and not at_limit and task.stage is Stage.COMMITTED:  # its review had sent it back
        task.stage = Stage.BUILDING
    elif ended is not Stage.UNVERIFIED and task.stage is Stage.BUILDING:
        task.open.is_open = False  # none of its open calls can go on


def _back(task: TaskView) -> None:
    task.stage = task.end.stage_before
    task.end = replace(task.end, reason="", at_limit=False)


def _attempt_started(task: TaskView, event: e.AttemptStarted) -> None:
    task.stage, task.attempt = Stage.BUILDING, event.attempt
    renewed = task.open.renewed + 1 if event.because else 0
    task.open = AttemptView(session_id=event.session_id, is_open=True, renewed=renewed, trees=[event.tree])
    task.end.of_attempt, task.next.retried = "", False


def _ended(view: RunView, task: TaskView, event: e.TaskStuck | e.TaskFailed | e.TaskUnverified) -> None:
    match event:
        case e.TaskStuck():
            stage, reason, at_limit = Stage.STUCK, event.reason, event.limit
        case e.TaskFailed():
            stage, reason, at_limit = Stage.FAILED, event.cause, task.end.at_limit
        case e.TaskUnverified():
            stage, reason, at_limit = Stage.UNVERIFIED, event.reason, task.end.at_limit
        case _:
            assert_never(event)
    under_way = view.evidence.commands
    view.evidence.commands = {key: one for key, one in under_way.items() if one.task_id != event.task_id}
    before = task.end.stage_before if task.stage in ENDED_STAGES else task.stage
    task.stage = stage
    task.end = TaskEndView(reason, at_limit, before, of_attempt=f"{stage}: {reason}")


def apply_review(view: RunView, event: e.ReviewEvent, stored: Stored) -> None:
    """Add an event of a review to the view of its run."""
    match event:
        case e.ReviewRecorded() if not event.task_id:
            _whole_reviewed(view, event)
        case e.ReviewRecorded():
            _task_reviewed(view, event)
        case e.CheckpointReviewed():
            task = view.tasks[event.task_id]
            task.open.checkpoints.append(event)
            if event.problem:
                view.context.errors.append(f"checkpoint review of {event.task_id}: {event.problem}")
            else:
                task.review.findings = event.findings
        case e.ReviewUnusable():
            _unusable(view, event)
        case e.TaskReopened():
            _reopened(view, event)
        case e.CriterionJudged():
            view.whole.judged[event.criterion_id] = JudgedView(event, stored.seq)
        case _:
            assert_never(event)


def _whole_reviewed(view: RunView, event: e.ReviewRecorded) -> None:
    view.whole.reviews.append(event)
    view.whole = replace(
        view.whole,
        findings=event.findings,
        merged_since_review=False,
        resolved=[],
        united=[],
        unusable=[],
    )
    if event.passed:
        view.context.review_issues = []


def _accepted_before(before: Sequence[TestRuling], now: Sequence[TestRuling]) -> list[TestRuling]:
    """Return the earlier rulings that stay: a review of a fix is asked about the fix alone."""
    names = {one.test for one in now}
    return [one for one in before if one.accepted and one.ruled and one.test not in names]


def _task_reviewed(view: RunView, event: e.ReviewRecorded) -> None:
    if event.task_id not in view.tasks:  # a review before the build
        return
    task = view.tasks[event.task_id]
    task.review = replace(
        task.review,
        open=tuple(one for one in event.findings if one.state is FindingState.OPEN),
        findings=event.findings,
        commit=event.commit,
        rulings=(*_accepted_before(task.review.rulings, event.tests), *event.tests),
        suggestions=tuple(dict.fromkeys([*task.review.suggestions, *event.suggestions])),
        rounds=task.review.rounds + 1,
    )
    if event.passed:
        task.stage = Stage.APPROVED
    _keep_issues(view, event.task_id, event.issues)


def _unusable(view: RunView, event: e.ReviewUnusable) -> None:
    view.context.errors.append(f"review of {event.task_id or 'the whole'}: {event.problem}")
    if not event.task_id:
        view.whole.unusable.append(event)
    elif event.task_id in view.tasks:
        view.tasks[event.task_id].review.unusable += 1
    else:
        view.plan.unusable += 1


def _reopened(view: RunView, event: e.TaskReopened) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.open.is_open = Stage.BUILDING, False
    task.review = replace(
        task.review, open=event.findings, revisions=task.review.revisions + 1, reopened_by=event.by
    )
    issues = f"{len(event.issues)} issue{'' if len(event.issues) == 1 else 's'}"
    task.end.of_attempt = f"sent back by {event.by} with {issues}"
    if event.base:
        task.next.rebuild = (event.base, event.start)
    view.whole.unusable = []
    _keep_issues(view, event.task_id, event.issues)


def _keep_issues(view: RunView, task_id: str, issues: Iterable[ReviewIssue]) -> None:
    others = [issue for issue in view.context.review_issues if issue.task_id != task_id]
    view.context.review_issues = [*others, *issues]


def apply_merge(view: RunView, event: e.MergeEvent) -> None:
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
