"""A fold over a run's events, without input or output: it fills the records of `state.journal.view`.

`fold(events)` makes a view; `fold(more, view)` goes on from one and leaves it as it was. The writer of a
run keeps one view current with `apply`.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from state.errors import JournalError
from state.journal import events as e
from state.journal.store import Stored
from state.journal.view import (
    ENDED_STAGES,
    AskView,
    CallView,
    CommandsView,
    MergeView,
    RunView,
    Stage,
    TaskView,
)
from state.records import CallEnd, Message, MessageKind, Plan, ReviewIssue, Role
from state.verdicts import Verdict
from state.words import decision_line


def apply(view: RunView, stored: Stored) -> None:
    """Take one more event into a view."""
    if view.last_at and not isinstance(stored.event, e.RunResumed):  # between processes nobody works
        view.worked_s += (stored.at - view.last_at).total_seconds()
    if isinstance(stored.event, e.RunResumed):
        _stop_clocks(view)
        view.commands = {}
    view.last_seq, view.last_at = stored.seq, stored.at
    if change := _APPLY.get(type(stored.event)):
        change(view, stored.event, stored)


def fold(events: Iterable[Stored], start: RunView | None = None) -> RunView:
    """The view after these events; `start` is where they go on from and is not changed."""
    view = deepcopy(start) if start else RunView()
    for stored in events:
        apply(view, stored)
    return view


def _stop_clocks(view: RunView) -> None:
    """Calls that were under way as their process died took until its last event."""
    for call in view.calls.values():
        if view.last_at:
            _stop_clock(call, view.last_at)


def _stop_clock(call: CallView, at: datetime) -> None:
    if call.since:
        call.spent_s += max(0.0, (at - call.since).total_seconds())
    call.since = None


def _started(view: RunView, event: e.RunStarted, stored: Stored) -> None:
    view.started, view.started_at = event, stored.at
    view.head_commit = event.base_commit
    view.settings = event.settings


def _resumed(view: RunView, event: e.RunResumed, stored: Stored) -> None:
    killed = not (view.interrupted_by or view.ended)
    view.resumptions, view.resumed_seq, view.resumed = view.resumptions + 1, stored.seq, event
    view.interrupted_by = view.limit = ""
    view.quiet_until = None
    view.budget_usd = event.budget_usd or view.budget_usd
    view.max_iterations = event.max_iterations or view.max_iterations
    if view.settings:
        view.settings = replace(
            view.settings,
            verify=view.settings.verify if event.verify is None else event.verify,
            models={**view.settings.models, **event.models},
            questions=event.questions or view.settings.questions,
        )
    for call in view.calls.values():
        call.retries = []
        if call.end is None:  # killed in the middle: what it had cost by then is taken to be what was held
            call.spent_usd, call.held_usd = call.spent_usd + call.held_usd, 0.0
            call.killed = killed
        call.allowed_usd = 0.0
    if view.ended and (view.ended.resumable or event.retry):
        view.worked_s = 0.0
        view.delivered = view.left = view.kept = None
        _reopen(view)
    elif view.ended and event.verify:  # the finished work is looked at anew
        view.delivered = view.left = view.kept = None
    for task_id in event.retry:
        _retry(view.tasks[task_id])
    view.ended = None


def _retry(task: TaskView) -> None:
    """A task that had ended goes on where it ended: what was accepted is not built again."""
    ended, at_limit = task.stage, task.limit
    task.stage, task.reason, task.limit, task.revisions = task.before_end, "", False, 0
    task.unusable_forgiven = task.unusable_reviews
    task.retried = True
    if ended is Stage.STUCK and not at_limit and task.stage is Stage.COMMITTED:  # its review had sent it back
        task.stage = Stage.BUILDING
    elif ended is not Stage.UNVERIFIED and task.stage is Stage.BUILDING:
        task.attempt_open = False  # nothing that it left open can go on


def _reopen(view: RunView) -> None:
    """What a limit or a service that failed had ended goes on: tasks at their limit, calls that failed."""
    for task in view.tasks.values():
        if task.stage is Stage.STUCK and task.limit:
            task.stage, task.reason, task.limit = task.before_end, "", False
    newest: dict[tuple[Role, str, int, str], CallView] = {}
    for call in view.calls.values():
        newest[call.started.role, call.started.task_id, call.started.attempt, call.started.subject] = call
    for (role, task_id, *_), call in newest.items():
        over = task_id in view.tasks and view.tasks[task_id].stage in ENDED_STAGES
        if call.failed and role not in {Role.DEVELOPER, Role.JUDGE} and not over:
            call.spent_usd, call.end = call.cost_usd, None


def _limit_reached(view: RunView, event: e.LimitReached, _stored: Stored) -> None:
    view.limit = event.cause


def _interrupted(view: RunView, event: e.RunInterrupted, _stored: Stored) -> None:
    view.interrupted_by = event.by


def _ended(view: RunView, event: e.RunEnded, _stored: Stored) -> None:
    view.ended = event


def _call_started(view: RunView, event: e.CallStarted, stored: Stored) -> None:
    call = CallView(
        event,
        stored.at,
        event.session_id,
        since=stored.at,
        held_usd=event.reserved_usd,
        allowed_usd=event.allowed_usd,
    )
    view.calls[event.call_id] = call
    if event.role is Role.WORKER:
        view.left_tree = ""
        task = view.tasks[event.task_id]
        task.calls.append(event.call_id)
        task.gates, task.rebuilt = [], None
        task.history.append(Message(kind=MessageKind.PROMPT, text=event.prompt))


def _call_retried(view: RunView, event: e.CallRetried, stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.retries.append(event)
    call.spent_usd += event.cost_usd
    call.usage += event.usage
    _stop_clock(call, stored.at)
    call.since = stored.at + timedelta(seconds=event.wait_s)
    if event.end is CallEnd.API_ERROR:  # a process that died is no reason for others to wait
        until = stored.at + timedelta(seconds=event.wait_s)
        view.quiet_until = max(until, view.quiet_until or until)
    view.context.errors.append(f"{call.started.role} {call.started.task_id}: {event.end}: {event.detail}")


def _call_interrupted(view: RunView, event: e.CallInterrupted, stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.spent_usd += event.cost_usd
    call.usage += event.usage
    call.held_usd = call.allowed_usd = 0.0
    _stop_clock(call, stored.at)


def _call_resumed(view: RunView, event: e.CallResumed, stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.session_id = event.session_id
    call.resumed_at = stored.seq
    call.since = call.since or stored.at
    call.held_usd, call.allowed_usd = event.reserved_usd, event.allowed_usd
    if call.started.role is Role.WORKER:
        view.left_tree = ""
        view.tasks[call.started.task_id].session_id = event.session_id


def _message(view: RunView, event: e.MessageReceived, _stored: Stored) -> None:
    call = view.calls[event.call_id]
    if event.message.kind is MessageKind.TEXT:
        call.last_text = event.message.text
    if call.started.role is Role.WORKER:
        view.tasks[call.started.task_id].history.append(event.message)


def _signal(view: RunView, event: e.SignalReceived, _stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.report = call.report or event  # a journal of before reports ended their turns may hold more


def _call_ended(view: RunView, event: e.CallEnded, stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.end, call.held_usd, call.allowed_usd = event, 0.0, 0.0
    call.usage += event.usage
    _stop_clock(call, stored.at)
    if call.failed:
        view.context.errors.append(f"{call.started.role} {call.started.task_id}: {event.end}: {event.detail}")


def _analysis_proposed(view: RunView, event: e.AnalysisProposed, _stored: Stored) -> None:
    view.proposed_analysis, view.proposal_unusable = event.analysis, 0


def _analysis_rejected(view: RunView, event: e.AnalysisRejected, _stored: Stored) -> None:
    view.proposed_analysis = None
    view.analysis_rejections.append(event)


def _analyzed(view: RunView, event: e.RepositoryAnalyzed, _stored: Stored) -> None:
    view.analysis = event.analysis
    view.context.discoveries.extend(event.analysis.patterns)


def _baseline_started(view: RunView, event: e.BaselineStarted, stored: Stored) -> None:
    view.commands["baseline"] = CommandsView("baseline", "", event.commands, stored.at)


def _baseline_taken(view: RunView, event: e.BaselineTaken, stored: Stored) -> None:
    view.commands.pop("baseline", None)
    before = view.baseline if event.of_analysis else {}
    view.baseline = {**before, **{check.run.command: check for check in event.checks}}
    view.baseline_notes = (*(view.baseline_notes if event.of_analysis else ()), *event.notes)
    view.baseline_tree, view.baseline_seq = event.tree, stored.seq


def _proofs_taken(view: RunView, event: e.ProofsTaken, stored: Stored) -> None:
    view.proofs[event.task_id, event.tree] = event
    view.proved_at[event.task_id, event.tree] = stored.seq


def _plan_proposed(view: RunView, event: e.PlanProposed, _stored: Stored) -> None:
    view.proposed_plan = Plan(
        tasks=event.tasks, criteria=event.criteria, tests_that_change=event.tests_that_change
    )
    view.proposal_unusable = 0


def _plan_rejected(view: RunView, event: e.PlanRejected, _stored: Stored) -> None:
    view.proposed_plan = None
    view.plan_rejections.append(event)


def _plan_accepted(view: RunView, event: e.PlanAccepted, _stored: Stored) -> None:
    view.criteria = event.criteria
    view.tests_that_change, view.plan_reviewed = event.tests_that_change, event.reviewed
    view.plan_suggestions = event.suggestions
    view.tasks = {task.id: TaskView(task) for task in event.tasks}


def _task_started(view: RunView, event: e.TaskStarted, stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.begun = Stage.BUILDING, stored.seq
    task.branch, task.worktree, task.base_commit = event.branch, event.worktree, event.base_commit
    task.rebuilt, task.rebuild, task.attempt_open = task.rebuild, None, False


def _handed_over(view: RunView, event: e.HandedOver, _stored: Stored) -> None:
    view.tasks[event.task_id].hand_over = event.notes


def _attempt_started(view: RunView, event: e.AttemptStarted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage = Stage.BUILDING
    task.attempt, task.session_id = event.attempt, event.session_id
    task.attempt_open, task.last_end, task.retried = True, "", False
    task.calls, task.trees, task.errors = [], [event.tree], []
    task.gates, task.refusals, task.guidance, task.checks, task.checkpoints = [], [], [], [], []


def _measured(view: RunView, event: e.IterationMeasured, _stored: Stored) -> None:
    view.tasks[event.task_id].trees.append(event.tree)
    view.tasks[event.task_id].errors.append(event.error)


def _set_up_started(view: RunView, event: e.SetUpStarted, stored: Stored) -> None:
    begun = CommandsView("set-up", event.task_id, event.steps, stored.at)
    view.commands[f"set-up {event.folder}"] = begun


def _set_up(view: RunView, event: e.WorkspaceSetUp, _stored: Stored) -> None:
    view.commands.pop(f"set-up {event.folder}", None)


def _verification_started(view: RunView, event: e.VerificationStarted, stored: Stored) -> None:
    begun = CommandsView("verification", event.task_id, event.commands, stored.at)
    view.commands[f"verification {event.task_id}"] = begun


def _verified(view: RunView, event: e.VerificationFinished, stored: Stored) -> None:
    view.commands.pop(f"verification {event.task_id}", None)
    view.verifications[event.tree] = event
    view.verified_at[event.tree] = stored.seq


def _gate(view: RunView, event: e.GateDecided, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.gates.append(event)
    if event.verdict is not Verdict.ALLOW:
        view.context.errors.append(f"{event.task_id}: {event.gate}: {event.reason}")


def _checked(view: RunView, event: e.ChecksDecided, _stored: Stored) -> None:
    view.tasks[event.task_id].checks.append(event)


def _accepted(view: RunView, event: e.CompletionAccepted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.accepted_tree, task.refusals = Stage.ACCEPTED, event.tree, []


def _refused(view: RunView, event: e.CompletionRefused, _stored: Stored) -> None:
    view.tasks[event.task_id].refusals.append(event)


def _committed(view: RunView, event: e.TaskCommitted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.commit, task.committed_tree = Stage.COMMITTED, event.commit, event.tree
    task.attempt_open, task.unusable_reviews, task.unusable_forgiven = False, 0, 0


def _reviewed(view: RunView, event: e.ReviewRecorded, _stored: Stored) -> None:
    if not event.task_id:
        view.final_reviews.append(event)
        view.final_unusable = []
        view.final_findings, view.merged_since_review = event.findings, False
        view.resolved, view.united = [], []
        if event.passed:
            view.context.review_issues = []
        return
    if event.task_id not in view.tasks:  # a review before the build
        return
    task = view.tasks[event.task_id]
    task.issues, task.findings, task.reviewed_commit = event.issues, event.findings, event.commit
    task.rulings = event.tests
    task.suggestions = tuple(dict.fromkeys([*task.suggestions, *event.suggestions]))
    task.rounds += 1
    if event.passed:
        task.stage = Stage.APPROVED
    _keep_issues(view, event.task_id, event.issues)


def _checkpoint_reviewed(view: RunView, event: e.CheckpointReviewed, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.checkpoints.append(event)
    if event.problem:
        view.context.errors.append(f"checkpoint review of {event.task_id}: {event.problem}")
    else:
        task.findings = event.findings


def _review_unusable(view: RunView, event: e.ReviewUnusable, _stored: Stored) -> None:
    view.context.errors.append(f"review of {event.task_id or 'the whole'}: {event.problem}")
    if not event.task_id:
        view.final_unusable.append(event)
    elif event.task_id in view.tasks:
        view.tasks[event.task_id].unusable_reviews += 1
    else:
        view.proposal_unusable += 1


def _reopened(view: RunView, event: e.TaskReopened, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.issues, task.attempt_open = Stage.BUILDING, event.issues, False
    task.revisions, task.reopened_by = task.revisions + 1, event.by
    issues = f"{len(event.issues)} issue{'' if len(event.issues) == 1 else 's'}"
    task.last_end = f"sent back by {event.by} with {issues}"
    if event.base:
        task.rebuild = (event.base, event.start)
    view.final_unusable = []
    _keep_issues(view, event.task_id, event.issues)


def _merge_started(view: RunView, event: e.MergeStarted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.merge, task.merges = MergeView(event.commit, event.onto), task.merges + 1


def _merge_conflicted(view: RunView, event: e.MergeConflicted, _stored: Stored) -> None:
    _merge_of(view, event.task_id).conflict = event


def _resolution_refused(view: RunView, event: e.ResolutionRefused, _stored: Stored) -> None:
    _merge_of(view, event.task_id).refusals.append(event)


def _merge_built(view: RunView, event: e.MergeBuilt, _stored: Stored) -> None:
    _merge_of(view, event.task_id).built = event


def _merge_failed(view: RunView, event: e.MergeFailed, _stored: Stored) -> None:
    view.tasks[event.task_id].merge = None
    view.context.errors.append(f"merge of {event.task_id}: {event.reason}")


def _merge_of(view: RunView, task_id: str) -> MergeView:
    merge = view.tasks[task_id].merge
    if merge is None:
        raise JournalError(f"the journal tells of a merge of {task_id} that never began")
    return merge


def _merged(view: RunView, event: e.TaskMerged, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    if task.merge and task.merge.conflict:
        view.resolved.append(task.merge)
    if task.merge and task.merge.built and task.merge.built.united:
        view.united.append(task.merge.built)
    task.stage, task.merge, task.rounds = Stage.MERGED, None, 0
    task.merged_commit, task.merged_onto = event.commit, event.onto or task.base_commit
    view.head_commit, view.head_tree, view.merged_tree = event.commit, event.tree, event.tree
    view.merged_since_review = True
    view.final_unusable = []


def _stuck(view: RunView, event: e.TaskStuck, _stored: Stored) -> None:
    task = _end_task(view, event.task_id, Stage.STUCK, event.reason)
    task.limit = event.limit


def _failed(view: RunView, event: e.TaskFailed, _stored: Stored) -> None:
    _end_task(view, event.task_id, Stage.FAILED, event.cause)


def _unverified(view: RunView, event: e.TaskUnverified, _stored: Stored) -> None:
    _end_task(view, event.task_id, Stage.UNVERIFIED, event.reason)


def _end_task(view: RunView, task_id: str, stage: Stage, reason: str) -> TaskView:
    task = view.tasks[task_id]
    view.commands = {key: one for key, one in view.commands.items() if one.task_id != task_id}
    if task.stage not in ENDED_STAGES:
        task.before_end = task.stage
    task.stage, task.reason, task.last_end = stage, reason, f"{stage}: {reason}"
    return task


def _asked(view: RunView, event: e.QuestionsAsked, stored: Stored) -> None:
    view.asks[event.ask_id] = AskView(event, stored.seq, at=stored.at)
    for given in event.rejects:
        view.asks[given.ask_id].rejected.add(given.question)
    if event.rejects:
        view.context.decisions = [decision_line(one) for ask in view.asks.values() for one in ask.held]


def _answered(view: RunView, event: e.QuestionsAnswered, _stored: Stored) -> None:
    view.asks[event.ask_id].answered = event
    view.context.decisions.extend(map(decision_line, event.answers))


def _questions_failed(view: RunView, event: e.QuestionsFailed, _stored: Stored) -> None:
    view.asks[event.ask_id].failed = event
    view.context.errors.append(f"question: {event.cause}")


def _parked(view: RunView, event: e.QuestionsParked, _stored: Stored) -> None:
    view.asks[event.ask_id].parked = event


def _guided(view: RunView, event: e.GuidanceGiven, _stored: Stored) -> None:
    view.tasks[event.task_id].guidance.append(event)


def _users_work_kept(view: RunView, event: e.UsersWorkKept, _stored: Stored) -> None:
    view.users_work = event
    if event.base:
        view.head_commit = view.own_base = event.base


def _users_work_restored(view: RunView, event: e.UsersWorkRestored, _stored: Stored) -> None:
    view.left_tree = event.tree
    if event.task_id and view.tasks[event.task_id].trees:
        view.tasks[event.task_id].trees[-1] = event.tree


def _caught_up(view: RunView, event: e.WorkCaughtUp, _stored: Stored) -> None:
    view.head_commit, view.head_tree = event.commit, event.tree


def _delivered(view: RunView, event: e.WorkDelivered, _stored: Stored) -> None:
    view.delivered = event


def _left(view: RunView, event: e.WorkLeft, _stored: Stored) -> None:
    view.left = event


def _kept(view: RunView, event: e.WorkKept, _stored: Stored) -> None:
    view.kept = event


def _keep_issues(view: RunView, task_id: str, issues: Iterable[ReviewIssue]) -> None:
    others = [issue for issue in view.context.review_issues if issue.task_id != task_id]
    view.context.review_issues = [*others, *issues]


_APPLY: dict[type, Callable[[RunView, Any, Stored], None]] = {
    e.RunStarted: _started,
    e.RunResumed: _resumed,
    e.RunInterrupted: _interrupted,
    e.LimitReached: _limit_reached,
    e.RunEnded: _ended,
    e.CallStarted: _call_started,
    e.CallRetried: _call_retried,
    e.CallInterrupted: _call_interrupted,
    e.CallResumed: _call_resumed,
    e.MessageReceived: _message,
    e.SignalReceived: _signal,
    e.CallEnded: _call_ended,
    e.BaselineStarted: _baseline_started,
    e.BaselineTaken: _baseline_taken,
    e.ProofsTaken: _proofs_taken,
    e.AnalysisProposed: _analysis_proposed,
    e.AnalysisRejected: _analysis_rejected,
    e.RepositoryAnalyzed: _analyzed,
    e.PlanProposed: _plan_proposed,
    e.PlanRejected: _plan_rejected,
    e.PlanAccepted: _plan_accepted,
    e.TaskStarted: _task_started,
    e.HandedOver: _handed_over,
    e.AttemptStarted: _attempt_started,
    e.IterationMeasured: _measured,
    e.SetUpStarted: _set_up_started,
    e.WorkspaceSetUp: _set_up,
    e.VerificationStarted: _verification_started,
    e.VerificationFinished: _verified,
    e.GateDecided: _gate,
    e.ChecksDecided: _checked,
    e.CompletionAccepted: _accepted,
    e.CompletionRefused: _refused,
    e.TaskCommitted: _committed,
    e.ReviewRecorded: _reviewed,
    e.ReviewUnusable: _review_unusable,
    e.CheckpointReviewed: _checkpoint_reviewed,
    e.TaskReopened: _reopened,
    e.MergeStarted: _merge_started,
    e.MergeConflicted: _merge_conflicted,
    e.ResolutionRefused: _resolution_refused,
    e.MergeBuilt: _merge_built,
    e.MergeFailed: _merge_failed,
    e.TaskMerged: _merged,
    e.TaskStuck: _stuck,
    e.TaskFailed: _failed,
    e.TaskUnverified: _unverified,
    e.QuestionsAsked: _asked,
    e.QuestionsAnswered: _answered,
    e.QuestionsFailed: _questions_failed,
    e.QuestionsParked: _parked,
    e.GuidanceGiven: _guided,
    e.UsersWorkKept: _users_work_kept,
    e.UsersWorkRestored: _users_work_restored,
    e.WorkCaughtUp: _caught_up,
    e.WorkDelivered: _delivered,
    e.WorkLeft: _left,
    e.WorkKept: _kept,
}
