"""The next step of an attempt: a plain function of the view, so that a resumed run continues from there."""

from collections.abc import Sequence
from dataclasses import dataclass

import prompts
from agents.roles.worker import plain_question, signal_of
from agents.session.tools import ITERATION_DONE, SUBMIT_IMPLEMENTATION_PLAN, TASK_STUCK
from orchestrator.gates.power_steering.rules.unfinished import announced_in
from orchestrator.run.asking.briefing import (
    conventions,
    decisions,
    minutes_of,
    not_run,
    others,
    suites_not_run,
)
from orchestrator.run.asking.people import answered_in, unheard_by
from orchestrator.run.asking.rejections import delivered_in, interrupted_at, newest_words, refuses
from orchestrator.run.evidence.summary import broken_before, failing_before
from orchestrator.run.evidence.verification import commands_on
from orchestrator.run.record import Run
from orchestrator.run.review.findings import as_findings, with_new
from orchestrator.run.review.ownership import users_paths
from orchestrator.run.tasks.hand_over import NOTHING_BEFORE, Before, before_of
from orchestrator.run.tasks.progress import (
    is_checkpoint,
    is_review_due,
    is_stalled,
    refused_too_often,
    same_error,
)
from state.journal.events import TaskFailed, TaskStuck
from state.journal.events.calls import CallView
from state.journal.events.questions import AskView
from state.journal.events.tasks import Stage, TaskView
from state.journal.view import RunView
from state.records.calls import TASK_COMPLETE, CallEnd
from state.records.plan import Criterion, Task, TestThatChanges
from state.records.questions import Question
from state.records.reviews import Finding, ReviewIssue
from state.settings.presets import RETRY_LIMITS
from state.settings.records import Workflow


@dataclass(frozen=True, slots=True)
class Say:
    """Send this prompt as the next iteration. If a call is open, continue it instead.

    `planning`: the Worker only reads, and hands over a plan.
    """

    prompt: str
    planning: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlain:
    """The turn ended with a question in plain words, which is to be answered."""

    question: Question


@dataclass(frozen=True, slots=True)
class AwaitAnswer:
    """A question of the attempt is parked: wait for a person's answer."""


@dataclass(frozen=True, slots=True)
class ReviewCheckpoint:
    """A checkpoint: let a Reviewer look at the work so far."""


@dataclass(frozen=True, slots=True)
class Guide:
    """A checkpoint: let the Developer look at the progress."""


@dataclass(frozen=True, slots=True)
class Renew:
    """The session cannot go on: begin another attempt, with a hand-over."""

    because: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Record the content of the workspace after the iteration."""


@dataclass(frozen=True, slots=True)
class CheckClaim:
    """The Worker claims completion: ask the gates."""


@dataclass(frozen=True, slots=True)
class EndStuck:
    """The Worker gives up, for this reason: check whether it is right, and end the attempt."""

    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The attempt ends here, with this event."""

    event: TaskStuck | TaskFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """A Worker's information beside its task: the run around it.

    `others` are the other tasks, `decisions` the answers that held in the run so far. `base` is the commit
    that the work is based on, if it can be compared with that. `merged`: the task was merged before and is
    sent back for a fix. `done` are the ids of the merged tasks. `broken` are the commands that could not run
    at the base, each with the reason. `criteria` are all of the spec. `not_run` are commands and
    checks that sq does not run, each with the reason. `suites` of them are tests that it runs in another
    form. `minutes` are those of all commands at the base.
    """

    others: Sequence[Task] = ()
    conventions: str = ""
    suggestions: Sequence[str] = ()
    decisions: Sequence[str] = ()
    in_worktree: bool = True
    attempt: int = 1
    base: str = ""
    merged: bool = False
    done: Sequence[str] = ()
    tests_that_change: Sequence[TestThatChanges] = ()
    broken: Sequence[tuple[str, str]] = ()
    criteria: Sequence[Criterion] = ()
    not_run: Sequence[str] = ()
    suites: Sequence[str] = ()
    minutes: int = 0


ALONE = PromptContext()
Step = (
    Say
    | AnswerPlain
    | AwaitAnswer
    | ReviewCheckpoint
    | Guide
    | Measure
    | CheckClaim
    | EndStuck
    | Renew
    | GiveUp
)


def build_prompt_with_feedback(
    task: Task,
    review_issues: Sequence[ReviewIssue | Finding],
    iteration: int,
    max_iterations: int,
    spec: str = "",
    verification: Sequence[str] = (),
    before: Before = NOTHING_BEFORE,
    failing: Sequence[tuple[str, str]] = (),
    users: Sequence[str] = (),
    place: PromptContext = ALONE,
) -> str:
    """Return the Worker's prompt for a task (seed 002): constant parts first, this task's issues only.

    An issue of a review that is known already comes as its finding, which has its id.
    """
    found = [one if isinstance(one, Finding) else as_findings(one)[0] for one in review_issues]
    own = [one for one in found if one.issue.task_id == task.id]
    ids = {one.id for one in own}
    return prompts.render(
        "build",
        task=task,
        tests=not task.without_tests,
        spec=spec,
        others=place.others,
        conventions=place.conventions,
        suggestions=place.suggestions,
        decisions=place.decisions,
        in_worktree=place.in_worktree,
        attempt=place.attempt,
        base=place.base,
        merged=place.merged,
        done=place.done,
        tests_that_change=place.tests_that_change,
        broken=place.broken,
        criteria=place.criteria,
        not_run=place.not_run,
        suites=place.suites,
        checks=[one for one in place.not_run if one not in place.suites],
        minutes=place.minutes,
        verification=verification,
        failing=failing,
        users=users,
        findings=[one for one in with_new(before.findings, own, 1) if one.id in ids],
        hand_over=before.notes,
        start=before.start,
        former=before.commit,
        iteration=iteration,
        max_iterations=max_iterations,
    )


def next_step(view: RunView, task: TaskView, run: Run) -> Step:
    """Return the next step of the attempt. It only reads the view."""
    if not task.open.calls:
        return _begin(run, task)
    if task.open.waits:
        return AwaitAnswer()
    last = view.calls[task.open.calls[-1]]
    if last.end is None:
        return Say(last.started.prompt, planning=last.started.planning)
    answered = _answered_by_person(view, last)
    if last.end.end is CallEnd.SESSION_FULL and task.open.renewed < RETRY_LIMITS.fresh_sessions:
        return Renew(last.failure)
    if (failure := last.failure) and not answered:
        return GiveUp(_failed(view, task, last, failure))
    if len(task.open.trees) <= task.iteration:
        return Measure()
    if answered:
        return _go_on(run, task, last, answered)
    asked = view.asks.get(f"text-{task.open.calls[-1]}")
    if signal_of(last)[0] == TASK_COMPLETE and not _is_refused(task) and unheard_by(view, task):
        return Say(
            prompts.render("word_first", iteration=task.iteration + 1, max_iterations=run.max_iterations)
        )
    return (
        _by_signal(run, task, last)
        or _by_question(view, task, last, asked)
        or _unless_stuck(run, task, last)
        or _go_on(run, task, last, asked)
    )


def _answered_by_person(view: RunView, last: CallView) -> AskView | None:
    """Return the parked question of the newest exchange if a person's answer to it is its next prompt."""
    asks = reversed(answered_in(view, last))
    return next((ask for ask in asks if ask.asked.ask_id not in last.answers), None)


def _by_signal(run: Run, task: TaskView, last: CallView) -> Step | None:
    name, payload = signal_of(last)
    if name == SUBMIT_IMPLEMENTATION_PLAN and last.started.planning:
        following = {"iteration": task.iteration + 1, "max_iterations": run.max_iterations}
        return Say(prompts.render("implement", own_plan=payload["plan"], **following))
    if name == TASK_STUCK:
        return EndStuck(payload["reason"])
    return CheckClaim() if name == TASK_COMPLETE and not _is_refused(task) else None


def _by_question(view: RunView, task: TaskView, last: CallView, asked: AskView | None) -> Step | None:
    """Return the step for a question in plain words at the end of the turn, if there is one.

    If a turn ends by rejecting an answer, its question is asked once more.
    """
    if asked and asked.failed and asked.failed.final:
        return GiveUp(_failed(view, task, last, "a question was not answered"))
    if asked or signal_of(last)[0]:
        return None
    before = sum(ask.asked.plain and ask.asked.call_id in task.open.calls for ask in view.asks.values())
    question = plain_question(last.last_text, before)
    if not question and refuses(newest_words(task)):
        since = interrupted_at(view, task.open.calls[-1])
        answered = delivered_in(view, task, since=since)
        question = answered[-1].asked.questions[0] if answered else None
    return AnswerPlain(question) if question else None


def _unless_stuck(run: Run, task: TaskView, last: CallView) -> Step | None:
    if stuck := _stuck(task, run):
        return GiveUp(stuck)
    if not last.started.planning and is_review_due(run.effort, task):
        return ReviewCheckpoint()
    return Guide() if is_checkpoint(run.effort, task) else None


def _go_on(run: Run, task: TaskView, last: CallView, asked: AskView | None) -> Step:
    following = {"iteration": task.iteration + 1, "max_iterations": run.max_iterations}
    if last.started.planning and not (asked and asked.parked):
        return Say(prompts.render("plan_again", **following), planning=True)
    name, payload = signal_of(last)
    if asked:
        answers = asked.answered.answers if asked.answered else ()
        problem = asked.failed.cause if asked.failed else ""
        by_person = asked.parked is not None
        said = prompts.render("answered", answers=answers, problem=problem, by_person=by_person, **following)
    elif _is_refused(task):
        said = prompts.render("refused", reasons=task.open.refusals[-1].feedback, **following)
    else:
        announced = payload.get("next_step", "") if name == ITERATION_DONE else ""
        quoted = "" if announced else next(reversed([*announced_in(last.last_text)]), "")
        said = prompts.render(
            "continue", next_step=announced, quoted=quoted, reported=bool(name), **following
        )
    return Say("\n\n".join([said, *_from_checkpoint(task)]), planning=last.started.planning)


def is_claimed(view: RunView, task: TaskView) -> bool:
    """Whether a Worker has claimed that its task is complete, and no gate has answered yet."""
    last = view.calls[task.open.calls[-1]] if task.open.calls else None
    return bool(last and last.end and signal_of(last)[0] == TASK_COMPLETE) and not _is_refused(task)


def _is_refused(task: TaskView) -> bool:
    """Whether the newest iteration's claim was refused."""
    return bool(task.open.refusals) and task.open.refusals[-1].iteration == task.iteration


def _stuck(task: TaskView, run: Run) -> TaskStuck | None:
    """Return why another iteration is pointless, or None if it is not."""
    limit, threshold = run.max_iterations, run.effort.stuck_threshold
    if why := refused_too_often([refusal.fingerprint for refusal in task.open.refusals]):
        return TaskStuck(task_id=task.task.id, reason=f"{why}: {task.open.refusals[-1].for_people}")
    if error := same_error(task.open.errors, threshold):
        reason = f"the last {threshold} iterations ended with the same error: {error}"
        return TaskStuck(task_id=task.task.id, reason=reason)
    if is_stalled(task.open.trees, threshold):
        reason = f"nothing has changed in the workspace for {threshold} iterations"
        return TaskStuck(task_id=task.task.id, reason=reason)
    if task.iteration >= limit:
        reason = f"the limit of {limit} iterations is used up"
        return TaskStuck(task_id=task.task.id, reason=reason, limit=True)
    return None


def _failed(view: RunView, task: TaskView, call: CallView, failure: str) -> TaskStuck | TaskFailed:
    if call.end and call.end.end in {CallEnd.BUDGET, CallEnd.MAX_TURNS}:
        return TaskStuck(task_id=task.task.id, reason=failure, limit=True)
    if call.end and call.end.end is CallEnd.SILENT:
        return TaskStuck(task_id=task.task.id, reason=failure)
    asks = [ask for ask in view.asks.values() if ask.asked.call_id == call.started.call_id]
    unanswered = [ask.failed.cause for ask in asks if ask.failed and ask.failed.final]
    cause = f"a question could not be answered: {unanswered[-1]}" if unanswered else failure
    return TaskFailed(task_id=task.task.id, cause=cause)


def _begin(run: Run, task: TaskView) -> Step:
    """Return the first prompt of an attempt. In some workflows the first attempt begins with a plan."""
    prompt = _first_prompt(run, task)
    if run.settings.workflow is Workflow.PLAN_THEN_IMPLEMENT and task.attempt == 1:
        return Say(prompts.render("plan_first", prompt=prompt), planning=True)
    return Say(prompt)


def _from_checkpoint(task: TaskView) -> list[str]:
    """Return the words of a Reviewer and the Developer if the newest iteration was a checkpoint."""
    looked = [one for one in task.open.checkpoints if one.iteration == task.iteration and one.issues]
    found = [[finding for finding in one.findings if finding.issue in one.issues] for one in looked]
    guidance = [
        one.guidance for one in task.open.guidance if one.iteration == task.iteration and one.guidance
    ]
    return [
        *(prompts.render("checkpoint", findings=findings) for findings in found),
        *(prompts.render("guidance", guidance=words) for words in guidance),
    ]


def _first_prompt(run: Run, task: TaskView) -> str:
    own = {f"{task.task.id}: {line}" for line in decisions(run.view, task)}
    return build_prompt_with_feedback(
        task.task,
        task.review.open,
        1,
        run.max_iterations,
        run.started.spec_text,
        commands_on(run, task),
        before_of(task),
        failing_before(run.view),
        () if run.started.edit_dirty else users_paths(run),
        PromptContext(
            others=others(run.view, task),
            conventions=conventions(run.view),
            suggestions=run.view.plan.suggestions,
            decisions=[line for line in decisions(run.view) if line not in own],
            in_worktree=run.settings.worktrees,
            attempt=task.attempt,
            base=task.place.base_commit if run.settings.worktrees else "",
            merged=task.is_in_merged_work,
            done=[id_ for id_, one in run.view.tasks.items() if one.stage is Stage.MERGED],
            tests_that_change=run.view.plan.tests_that_change,
            broken=broken_before(run.view),
            criteria=run.view.plan.criteria,
            not_run=not_run(run.view),
            suites=suites_not_run(run.view),
            minutes=minutes_of(run.view),
        ),
    )
