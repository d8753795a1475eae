"""A run as plain lines: the lines that each event adds to the story, for a pipe, a log or a terminal."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from orchestrator.git.unfinished import holds_work
from orchestrator.views.run.spending import spending_lines, spending_of
from state.alike import alike, checks_named, without_ids
from state.journal import events as e
from state.journal.phase import saw_the_whole
from state.journal.store import Stored
from state.journal.view import UNMERGED_ENDS, CallView, RunView, Stage, TaskView
from state.outcome import MEANINGS
from state.records import (
    Answer,
    Basis,
    CallEnd,
    CommandRun,
    Finding,
    FindingState,
    Message,
    MessageKind,
    ReviewIssue,
    Task,
)
from state.roles import ROLES, Role
from state.verdicts import CheckResult, Source
from state.words import baseline_words, count_words, decision_line, listed

_SUBJECTS = {"": "the whole", "plan": "the plan", "analysis": "the analysis"}
_MINUTE_S = 60
_FEEDBACK_SHOWN = 6  # lines of a gate's feedback, which is whole in the journal
REHEARSAL = "The model is a script: this is a rehearsal."
_SHORT = 100
_SQS_OWN = "sq's own worktree"
_QUIET_TOOLS = {"AskUserQuestion"}  # shown as questions


def lines_of(view: RunView, stored: Stored) -> list[str]:
    """The lines that an event adds. `view` already includes it."""
    lines = _LINES.get(type(stored.event))
    return lines(view, stored.event) if lines else []


def short(text: str, limit: int = _SHORT) -> str:
    """A text's first line, cut if it is long."""
    first = text.strip().split("\n", 1)[0]
    return first if len(first) <= limit else f"{first[: limit - 1]}…"


def said(done: CommandRun) -> str:
    """The result of a verification command in words."""
    return "passed" if done.passed else done.problem or f"failed, exit code {done.exit_code}"


def issue_lines(issue: ReviewIssue) -> list[str]:
    """A finding and how to fix it."""
    return [f"    {issue.location} ({issue.type}): {issue.description}", f"        Fix: {issue.suggestion}"]


def where_lines(view: RunView) -> list[str]:
    """Lines that name the place of a run's work."""
    if not view.started:
        return []
    where = []
    if view.checkout.delivered:
        where.append(
            f"where the work is: branch {view.checkout.delivered.branch} of {view.started.repository}"
        )
    elif view.checkout.left:
        where.append(f"where the work is: the checkout {view.started.repository}, uncommitted")
    elif view.checkout.kept and view.whole.tree:
        where.append(f"where the work is: branch {view.checkout.kept.branch} of {view.started.repository}")
    unfinished = [
        f"unfinished work of {id_} is in {task.place.worktree}"
        for id_, task in view.tasks.items()
        if task.place.worktree and task.stage is not Stage.MERGED and _has_work(view, task)
    ]
    return where + unfinished


def _has_work(view: RunView, task: TaskView) -> bool:
    """Whether a task's folder has work of it. In the checkout that is work of the last task begun."""
    later = any(
        one.place.worktree == task.place.worktree and one.place.begun > task.place.begun
        for one in view.tasks.values()
    )
    return not later and holds_work(Path(task.place.worktree), task.place.base_commit)


def retry_command(view: RunView) -> str:
    """The command that retries the tasks that ended unmerged for good, or "" if there are none."""
    if not view.started:
        return ""
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS and not task.end.at_limit]
    retries = " ".join(f"--retry {id_}" for id_ in ended)
    return f"sq resume {view.started.run_id} {retries}" if ended else ""


def cost_line(view: RunView) -> str:
    """The cost of the run. For a rehearsal it says that nothing was charged."""
    settings = view.started.settings if view.started else None
    budget = view.process.budget_usd or (settings.budget_run_usd if settings else None)
    of = f" of ${budget:.2f}" if budget else ""
    cost = f"cost: ${view.cost_usd:.4f}{of} in {len(view.calls)} calls"
    if view.started and view.started.rehearsal:
        return f"{cost} at list prices for the script's token counts, but nothing was charged"
    return cost


def _started(_view: RunView, event: e.RunStarted) -> list[str]:
    if event.rehearsal:
        model = f"{REHEARSAL} Claude Code is real, no model is asked and nothing is charged."
    else:
        model = f"The model is real, reached by {event.credentials}."
    branch = event.base_branch or "a detached HEAD"
    where = f"on {branch} at {event.base_commit[:10]}"
    how = f"effort {event.effort}, contained by {event.containment}"
    about = f"run {event.run_id}: {event.spec_name} in {event.repository} ({where}, {how})"
    return [model, about, *(f"note: {note}" for note in event.notes)]


def _resumed(view: RunView, event: e.RunResumed) -> list[str]:
    started = view.started
    again = f", and tries again: {', '.join(event.retry)}" if event.retry else ""
    goes_on = f"run {started.run_id if started else ''} goes on where it was{again}"
    return [REHEARSAL, goes_on] if started and started.rehearsal else [goes_on]


def _interrupted(view: RunView, event: e.RunInterrupted) -> list[str]:
    run_id = view.started.run_id if view.started else ""
    return [f"interrupted ({event.by}): the state is saved. Go on with: sq resume {run_id}"]


def _limit_reached(_view: RunView, event: e.LimitReached) -> list[str]:
    return [f"limit: {event.cause}"]


def _call_retried(view: RunView, event: e.CallRetried) -> list[str]:
    call = view.calls[event.call_id]
    role, tries = call.started.role, len(call.retries)
    if any(
        _is_same(event, one.retries[tries - 1]) for one in _beside(view, call) if len(one.retries) >= tries
    ):
        return []
    return [f"{role}: {event.end} ({short(event.detail)}), again in {_wait(event.wait_s)}"]


def _wait(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return f"{seconds / _MINUTE_S:.0f} min, at {at.astimezone():%H:%M}"


def _call_started(_view: RunView, event: e.CallStarted) -> list[str]:
    begins = ROLES[event.role].begins
    if not begins:
        return []
    subject = event.task_id
    match event.role:
        case Role.WORKER:
            again = "" if event.iteration == 1 else f", iteration {event.iteration}"
            begins += f", attempt {event.attempt}{again}"
        case Role.REVIEWER:
            subject = subject_of(event.task_id)
            begins = "reviewed at a checkpoint" if event.subject else begins
        case _:
            pass
    return [f"{subject}: {begins} ({event.model})"]


def _message(view: RunView, event: e.MessageReceived) -> list[str]:
    call = view.calls[event.call_id].started
    message = event.message
    if message.kind is MessageKind.TOOL_CALL and message.tool not in _QUIET_TOOLS:
        return [f"    {_who(view, call)}: {tool_call(view, message)}"]
    if message.kind is MessageKind.TOOL_RESULT and message.is_error:
        return [f"    {_who(view, call)}: → {short(message.text)}"]
    return []


def _who(view: RunView, call: e.CallStarted) -> str:
    """The role of a session, with its task if there are several, since they run in parallel."""
    several = len(view.tasks) > 1 and call.task_id in view.tasks
    return f"{call.task_id}: {call.role}" if several else str(call.role)


def subject_of(task_id: str) -> str:
    """The subject of a call: a task, or a name for a subject that is not a task."""
    return _SUBJECTS.get(task_id, task_id)


def tool_call(view: RunView, message: Message) -> str:
    """A tool call in short: the tool and its file, command or pattern."""
    try:
        arguments = json.loads(message.text)
    except ValueError:
        arguments = {}
    arguments = arguments if isinstance(arguments, dict) else {}
    value = next(
        (arguments[key] for key in ("file_path", "command", "pattern", "path") if key in arguments), ""
    )
    if view.started:
        value = str(value).replace(f"{view.started.worktrees or view.started.repository}/", "…/")
    return short(f"{message.tool} {value}".strip())


def _refused(view: RunView, event: e.ActionRefused) -> list[str]:
    who = _who(view, view.calls[event.call_id].started)
    return [f"    {who}: refused: {event.tool}: {short(event.reason)}"]


def _call_ended(view: RunView, event: e.CallEnded) -> list[str]:
    if event.end in {CallEnd.COMPLETED, CallEnd.SIGNALLED}:
        return []
    call = view.calls[event.call_id]
    if any(one.end and _is_same(event, one.end) for one in _beside(view, call)):
        return []
    about = call.started
    return [f"{about.task_id or 'the whole'}: {about.role}: {event.end}: {short(event.detail, 400)}"]


def _beside(view: RunView, call: CallView) -> list[CallView]:
    """The other requests to the judge about the same claim, since one line can show a common error."""
    mine = call.started
    if mine.role is not Role.JUDGE:
        return []
    calls = view.calls_of(Role.JUDGE, mine.task_id, mine.attempt)
    return [one for one in calls if one is not call and one.started.iteration == mine.iteration]


def _is_same(one: e.CallEnded | e.CallRetried, other: e.CallEnded | e.CallRetried) -> bool:
    return (one.end, without_ids(one.detail)) == (other.end, without_ids(other.detail))


def _baseline_started(_view: RunView, event: e.BaselineStarted) -> list[str]:
    return [f"baseline: {', '.join(f'`{command}`' for command in event.commands)} on the untouched commit"]


def _baseline_taken(_view: RunView, event: e.BaselineTaken) -> list[str]:
    checks = [f"baseline: {baseline_words(check)}" for check in event.checks]
    return [*checks, *(f"baseline: {note}" for note in event.notes)]


def _proofs_taken(_view: RunView, event: e.ProofsTaken) -> list[str]:
    subject = event.task_id or "the merged work"
    lines = []
    for change in event.changes:
        by = "announced by the spec or the plan" if change.expected_by else "not announced"
        lines.append(f"{subject}: the test {change.name} {change.kind} ({by})")
    lines += [f"{subject}: {one}" for one in event.untold]
    lines += [
        f"{subject}: `{one.command}` passes although a test fails (a failing one was added in {one.path})"
        for one in event.canaries
        if one.caught is False
    ]
    lines += [
        f"{subject}: `{one}` passes here and not on a clean copy of the files" for one in event.only_here
    ]
    if event.unproven:
        lines.append(f"{subject}: these tests pass without the change too: {listed(event.unproven)}")
    return lines


def _analyzed(_view: RunView, event: e.RepositoryAnalyzed) -> list[str]:
    if event.skipped:
        return [f"analysis: skipped, {event.skipped}"]
    return [f"analysis: {event.analysis.project_type} ({', '.join(event.analysis.stack)})"]


def _plan_rejected(_view: RunView, event: e.PlanRejected) -> list[str]:
    problems = [f"    {problem}" for problem in event.problems]
    return ["plan: sent back to the planner", *problems, *_suggested(event.suggestions)]


def _analysis_rejected(_view: RunView, event: e.AnalysisRejected) -> list[str]:
    return ["the analysis goes back to the planner:", *(f"    {problem}" for problem in event.problems)]


def _plan_accepted(_view: RunView, event: e.PlanAccepted) -> list[str]:
    counted = f"plan: {len(event.tasks)} task(s), {len(event.criteria)} criteria covered"
    return [counted, *plan_lines(event.tasks), *_suggested(event.suggestions)]


def _suggested(suggestions: Iterable[str]) -> list[str]:
    return [f"    suggestion: {suggestion}" for suggestion in suggestions]


def plan_lines(tasks: Iterable[Task]) -> list[str]:
    """The tasks of a plan, each with its dependencies."""
    lines = []
    for task in tasks:
        after = f" (after {', '.join(task.dependencies)})" if task.dependencies else ""
        lines.append(f"    {task.id}: {task.title}{after}")
    return lines


def _asked(_view: RunView, event: e.QuestionsAsked) -> list[str]:
    lines = []
    for question in event.questions:
        options = " / ".join(option.label for option in question.options)
        once_more = "question, asked again" if question.text in event.again else "question"
        lines.append(f"{event.task_id}: {once_more}: {question.text}" + (f" [{options}]" if options else ""))
    return lines


def _answered(view: RunView, event: e.QuestionsAnswered) -> list[str]:
    task_id = view.asks[event.ask_id].asked.task_id
    again = ", as before the interruption" if event.reused else ""
    again = ", as the same question before" if event.reused_from else again
    lines = []
    for answer in event.answers:
        why = f" ({answer.reason})" if answer.reason else ""
        lines.append(f"{task_id}: answer by the Developer ({event.model}{again}): {answer.marked}{why}")
    return lines


def _questions_parked(view: RunView, event: e.QuestionsParked) -> list[str]:
    would = "; ".join(answer.text for answer in event.answers)
    task_id = view.asks[event.ask_id].asked.task_id
    asked = f"question parked for a person: {event.question}"
    return [f"{task_id}: {asked} (the Developer would have said: {would})"]


def _guidance_given(_view: RunView, event: e.GuidanceGiven) -> list[str]:
    if event.problem:
        return [f"{event.task_id}: no guidance at this checkpoint: {short(event.problem)}"]
    return [f"{event.task_id}: guidance by the Developer: {event.guidance}"] if event.guidance else []


def _questions_failed(_view: RunView, event: e.QuestionsFailed) -> list[str]:
    return [f"question not answered: {event.cause}"]


def _verified(_view: RunView, event: e.VerificationFinished) -> list[str]:
    subject = event.task_id or "the merged work"
    if not event.runs:
        return [f"{subject}: nothing to verify with"]
    return [
        *(
            f"{subject}: sq ran `{done.command}`: {said(done)}, {count_words(done.count)} "
            f"({done.seconds:.1f} s)"
            for done in event.runs
        ),
        *(f"{subject}: flaky: {name} failed and passed" for name in event.flaky),
    ]


def _checks_decided(_view: RunView, event: e.ChecksDecided) -> list[str]:
    unmet = [result for result in event.results if not result.satisfied]
    open_ = sum(result.source is Source.NOT_CHECKED for result in event.results)
    counts = f"{len(event.results)} checks, {len(unmet)} not met, {open_} not checked"
    unmet_alike = alike(unmet, lambda one: (one.blocker, without_ids(one.reason)))
    not_made = (one for one in event.results if one.source is Source.NOT_CHECKED)
    for_one_reason = [
        group for group in alike(not_made, lambda one: without_ids(one.reason)) if len(group) > 1
    ]
    return [
        f"{event.task_id}: power steering: {counts}",
        *(f"    {_severity(group[0])} {_for_one_reason(group)}" for group in unmet_alike),
        *(f"    not checked: {_for_one_reason(group)}" for group in for_one_reason),
    ]


def _for_one_reason(group: list[CheckResult]) -> str:
    return f"{checks_named(one.consideration_id for one in group)}: {group[0].reason}"


def _severity(result: CheckResult) -> str:
    return "blocker" if result.blocker else "warning"


def _completion_refused(_view: RunView, event: e.CompletionRefused) -> list[str]:
    lines = [line for line in event.feedback.splitlines() if line.strip()]
    shown = [f"    {short(line)}" for line in lines[1:] if not line.startswith("```")]
    is_output = "```" in event.feedback  # whose end shows the error
    return [
        f"{event.task_id}: completion not accepted: {short(event.feedback, 200)}",
        *(shown[-_FEEDBACK_SHOWN:] if is_output else shown[:_FEEDBACK_SHOWN]),
    ]


def _committed(_view: RunView, event: e.TaskCommitted) -> list[str]:
    return [f"{event.task_id}: committed as {event.commit[:10]}"]


def _reviewed(_view: RunView, event: e.ReviewRecorded) -> list[str]:
    subject = event.task_id or "the whole"
    verdict = "passes" if event.passed else f"fails with {len(event.issues)} issue(s)"
    return [
        f"{subject}: the review {verdict}",
        *(line for issue in event.issues for line in issue_lines(issue)),
        *(f"    disputed: {_disputed(one)}" for one in event.findings if one.state is FindingState.DISPUTED),
        *_suggested(event.suggestions),
    ]


def _disputed(finding: Finding) -> str:
    return f"{finding.issue.location}: {finding.issue.description} (the worker: {short(finding.note)})"


def _review_unusable(_view: RunView, event: e.ReviewUnusable) -> list[str]:
    return [f"{event.task_id or 'the whole'}: no usable review: {short(event.problem, 300)}"]


def _checkpoint_reviewed(_view: RunView, event: e.CheckpointReviewed) -> list[str]:
    if event.problem:
        return [f"{event.task_id}: no usable review at this checkpoint: {short(event.problem)}"]
    return [
        f"{event.task_id}: reviewed at a checkpoint, {len(event.issues)} issue(s)",
        *(line for issue in event.issues for line in issue_lines(issue)),
    ]


def _set_up_started(_view: RunView, event: e.SetUpStarted) -> list[str]:
    return [f"{event.task_id or _SQS_OWN}: set-up begins: {'; '.join(event.steps)}"]


def _set_up(view: RunView, event: e.WorkspaceSetUp) -> list[str]:
    subject = event.task_id or _SQS_OWN
    copied = [f"{subject}: its worktree got {len(event.copied)} ignored file(s)"] if event.copied else []
    again = [f"{subject}: set-up: {', '.join(event.again)} copied from the first one"] if event.again else []
    settings = view.started.settings if view.started else None
    by_itself = bool(settings and not settings.worktree_setup)
    told = [(one.command, _set_up_said(one, by_itself=by_itself)) for one in event.runs]
    return [*copied, *again, *(f"{subject}: set-up `{command}`: {said_}" for command, said_ in told)]


def _set_up_said(done: CommandRun, *, by_itself: bool) -> str:
    if done.passed or not by_itself:
        return f"{said(done)} ({done.seconds:.1f} s)"
    lines = done.output_tail.strip().splitlines()
    why = done.problem or (short(lines[-1]) if lines else f"exit code {done.exit_code}")
    return f"failed: {why}. The baseline shows whether the commands can run"


def _reopened(_view: RunView, event: e.TaskReopened) -> list[str]:
    return [f"{event.task_id}: reopened by {event.by}"]


def _merge_conflicted(_view: RunView, event: e.MergeConflicted) -> list[str]:
    return [f"{event.task_id}: the merge conflicts in {', '.join(event.paths)}"]


def _resolution_refused(_view: RunView, event: e.ResolutionRefused) -> list[str]:
    return [f"{event.task_id}: the resolution does not hold: {short(event.reason, 300)}"]


def _merge_built(_view: RunView, event: e.MergeBuilt) -> list[str]:
    return [f"{event.task_id}: merged two additions at one place in {path}" for path in event.united]


def _merge_failed(_view: RunView, event: e.MergeFailed) -> list[str]:
    return [f"{event.task_id}: not merged: {short(event.reason, 300)}"]


def _merged(_view: RunView, event: e.TaskMerged) -> list[str]:
    return [f"{event.task_id}: merged"]


def _stuck(_view: RunView, event: e.TaskStuck) -> list[str]:
    return [f"{event.task_id}: stuck: {short(event.reason, 300)}"]


def _failed(_view: RunView, event: e.TaskFailed) -> list[str]:
    return [f"{event.task_id}: failed: {short(event.cause, 300)}"]


def _unverified(_view: RunView, event: e.TaskUnverified) -> list[str]:
    return [f"{event.task_id}: could not be verified: {short(event.reason, 300)}"]


def _caught_up(_view: RunView, event: e.WorkCaughtUp) -> list[str]:
    return [f"the finished work is merged with your new commits ({event.onto[:10]})"]


def _delivery_started(_view: RunView, event: e.DeliveryStarted) -> list[str]:
    return [f"the last step: {event.branch} moves to {event.commit[:10]} if the checkout allows it"]


def _delivered(_view: RunView, event: e.WorkDelivered) -> list[str]:
    return [f"{event.branch} was moved forward to {event.commit[:10]}, which is the finished work"]


def _rescued(_view: RunView, event: e.WorkRescued) -> list[str]:
    return [f"{event.task_id}: its unfinished work is taken out of the checkout and kept as {event.ref}"]


def _users_work_kept(view: RunView, event: e.UsersWorkKept) -> list[str]:
    lines = []
    if event.paths and not (view.started and view.started.edit_dirty):
        lines.append(f"{len(event.paths)} uncommitted path(s) of yours are copied, kept as {event.ref}")
    if event.not_kept:
        lines.append(f"{event.not_kept}: agents' file tools leave them alone, nothing else is checked")
    return lines


def _users_work_restored(_view: RunView, event: e.UsersWorkRestored) -> list[str]:
    lines = []
    if event.paths:
        lines.append(f"put back as you had it: {', '.join(event.paths)}")
    if event.overwritten:
        lines.append(f"    the run's version of {', '.join(event.overwritten)} is kept as {event.ref}")
    if event.heads:
        lines.append(
            f"an agent had moved HEAD: it is where you had it, and its commits are kept as {event.ref}"
        )
    if event.indexes:
        lines.append(f"the index is as you had it, and later staged changes are kept as {event.ref}")
    if event.elsewhere:
        lines.append(
            f"HEAD was moved in {', '.join(event.elsewhere)}, by no agent: it stays, and the index too"
        )
    if event.ignored:
        lines.append(
            f"ignored files put back: {', '.join(event.ignored)}, the run's version of them: {event.replaced}"
        )
    if event.problem:
        lines.append(f"your uncommitted work could not be put back: {event.problem}")
    return lines


def _left(view: RunView, event: e.WorkLeft) -> list[str]:
    where = view.started.repository if view.started else "the checkout"
    return [f"the finished work is in {where}, neither staged nor committed, and kept too as {event.ref}"]


def _kept(view: RunView, event: e.WorkKept) -> list[str]:
    if view.started and event.commit == view.started.base_commit:
        return []
    take = f"Take it: git merge {event.branch}"
    return [f"the work is on branch {event.branch} ({event.commit[:10]}): {event.reason}. {take}"]


def _ended(view: RunView, event: e.RunEnded) -> list[str]:
    why = event.cause or MEANINGS[event.outcome]
    return [
        f"{event.outcome} (exit code {event.outcome.exit_code}): {why}",
        *(["reviewed once: the review of the only task saw the whole"] if saw_the_whole(view) else []),
        *_assumptions(view),
        *where_lines(view),
        *_again(view),
        cost_line(view),
        *spending_lines(spending_of(view)),
    ]


def _again(view: RunView) -> list[str]:
    """The command that retries tasks that ended unmerged. A plain resume would end the same."""
    command = retry_command(view)
    return [f"once the obstacle is gone: {command}"] if command else []


def _assumptions(view: RunView) -> list[str]:
    answers = list(dict.fromkeys(answer for _, answer in view.decided()))
    if not answers:
        return []
    return ["assumptions made:", *(f"    {_assumption(answer)}" for answer in answers)]


def _assumption(answer: Answer) -> str:
    """A decision in one line, with the reasons to look at it again."""
    doubts = [] if answer.reversible else ["not easy to undo"]
    doubts += ["on its own judgement"] if answer.basis is Basis.JUDGEMENT else []
    return decision_line(answer) + (f" ({', '.join(doubts)})" if doubts else "")


_LINES: dict[type, Callable[[RunView, Any], list[str]]] = {
    e.RunStarted: _started,
    e.RunResumed: _resumed,
    e.RunInterrupted: _interrupted,
    e.LimitReached: _limit_reached,
    e.CallStarted: _call_started,
    e.CallRetried: _call_retried,
    e.MessageReceived: _message,
    e.ActionRefused: _refused,
    e.CallEnded: _call_ended,
    e.RepositoryAnalyzed: _analyzed,
    e.BaselineStarted: _baseline_started,
    e.BaselineTaken: _baseline_taken,
    e.ProofsTaken: _proofs_taken,
    e.AnalysisRejected: _analysis_rejected,
    e.PlanRejected: _plan_rejected,
    e.PlanAccepted: _plan_accepted,
    e.QuestionsAsked: _asked,
    e.QuestionsAnswered: _answered,
    e.QuestionsFailed: _questions_failed,
    e.QuestionsParked: _questions_parked,
    e.GuidanceGiven: _guidance_given,
    e.VerificationFinished: _verified,
    e.ChecksDecided: _checks_decided,
    e.CompletionRefused: _completion_refused,
    e.TaskCommitted: _committed,
    e.ReviewRecorded: _reviewed,
    e.ReviewUnusable: _review_unusable,
    e.CheckpointReviewed: _checkpoint_reviewed,
    e.SetUpStarted: _set_up_started,
    e.WorkspaceSetUp: _set_up,
    e.TaskReopened: _reopened,
    e.MergeConflicted: _merge_conflicted,
    e.ResolutionRefused: _resolution_refused,
    e.MergeBuilt: _merge_built,
    e.MergeFailed: _merge_failed,
    e.TaskMerged: _merged,
    e.TaskStuck: _stuck,
    e.TaskFailed: _failed,
    e.TaskUnverified: _unverified,
    e.WorkCaughtUp: _caught_up,
    e.DeliveryStarted: _delivery_started,
    e.WorkDelivered: _delivered,
    e.WorkRescued: _rescued,
    e.UsersWorkKept: _users_work_kept,
    e.UsersWorkRestored: _users_work_restored,
    e.WorkLeft: _left,
    e.WorkKept: _kept,
    e.RunEnded: _ended,
}
