"""build: one attempt at a task in one Worker session, iteration by iteration, until its claim stands.

What comes next follows from the view alone (`next_step`), so that a resumed run goes on where it was.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import prompts
from agents.signals import ITERATION_DONE, TASK_COMPLETE, TASK_STUCK
from agents.worker import signal_in_text, worker_session
from orchestrator.run.calls import Conversation, failure_of
from orchestrator.run.completion import check_completion
from orchestrator.run.progress import last_error, refused_too_often, same_error, standing_still
from orchestrator.run.questions import QuestionBus
from orchestrator.run.record import Run
from orchestrator.run.verification import commands_for
from state.events import AttemptStarted, IterationMeasured, TaskFailed, TaskStarted, TaskStuck
from state.ids import new_session_id
from state.records import CallEnd, ReviewIssue, Role, Task
from state.view import CallView, RunView, Stage, TaskView


@dataclass(frozen=True, slots=True)
class Say:
    """Send this prompt as the next iteration; the open call, if there is one, goes on instead."""

    prompt: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Look at what the iteration left in the workspace."""


@dataclass(frozen=True, slots=True)
class CheckClaim:
    """The Worker claims completion: ask the gates."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The attempt ends here, with this event."""

    event: TaskStuck | TaskFailed


Step = Say | Measure | CheckClaim | GiveUp


def build_prompt_with_feedback(
    task: Task,
    review_issues: Sequence[ReviewIssue],
    iteration: int,
    max_iterations: int,
    spec: str = "",
    verification: Sequence[str] = (),
) -> str:
    """The Worker's prompt for a task (seed 002): what never changes first, this task's issues only."""
    return prompts.render(
        "build",
        task=task,
        spec=spec,
        verification=verification,
        issues=[issue for issue in review_issues if issue.task_id == task.id],
        iteration=iteration,
        max_iterations=max_iterations,
    )


async def build(run: Run, task_id: str) -> None:
    """Bring a task from where it is to an accepted claim, or to the event that says why not."""
    task = run.task(task_id)
    await _prepare(run, task)
    with TemporaryDirectory(prefix="sq-", ignore_cleanup_errors=True) as temporary:
        spec_for = partial(
            worker_session,
            run.platform,
            task_id=task_id,
            attempt=task.attempt,
            workspace=Path(task.worktree),
            temporary=Path(temporary),
        )
        async with Conversation(
            run,
            role=Role.WORKER,
            task_id=task_id,
            attempt=task.attempt,
            spec_for=spec_for,
            session_id=task.session_id,
            questions=QuestionBus(run, task_id).callback,
        ) as talk:
            await _attempt(run, task, talk)


async def _attempt(run: Run, task: TaskView, talk: Conversation) -> None:
    task_id = task.task.id
    while task.stage is Stage.BUILDING:
        match next_step(run.view, task, run):
            case Say(prompt):
                await talk.ask(prompt, iteration=task.iteration + 1)
            case Measure():
                measured = IterationMeasured(
                    task_id=task_id,
                    attempt=task.attempt,
                    iteration=task.iteration,
                    tree=await run.workspaces.snapshot(Path(task.worktree)),
                    error=last_error(task.history),
                )
                run.record(measured)
            case CheckClaim():
                await check_completion(run, task)
            case GiveUp(event):
                run.record(event)


async def _prepare(run: Run, task: TaskView) -> None:
    """A place on the newest merged work, and an open attempt."""
    task_id = task.task.id
    if task.stage is Stage.WAITING or (task.merged_commit and not task.attempt_open):
        place = await run.workspaces.begin(run.view, task)
        started = TaskStarted(
            task_id=task_id,
            branch=place.branch,
            worktree=str(place.folder),
            base_commit=place.base_commit,
        )
        run.record(*([place.rescued] if place.rescued else []), started)
    else:  # after a crash the folder may have been removed
        await run.workspaces.ensure(task, task.base_commit)
    if not task.attempt_open:
        tree = await run.workspaces.snapshot(Path(task.worktree))
        run.record(
            AttemptStarted(task_id=task_id, attempt=task.attempt + 1, session_id=new_session_id(), tree=tree)
        )


def next_step(view: RunView, task: TaskView, run: Run) -> Step:
    """What the attempt needs next; reads the view and decides, nothing else."""
    if not task.calls:
        return Say(_first_prompt(run, task))
    last = view.calls[task.calls[-1]]
    if last.end is None:
        return Say(last.started.prompt)
    if failure := failure_of(last):
        return GiveUp(_failed(view, task, last, failure))
    if len(task.trees) <= task.iteration:
        return Measure()
    name, payload = signal_of(last)
    if name == TASK_STUCK:
        return GiveUp(TaskStuck(task_id=task.task.id, reason=f"the Worker says: {payload['reason']}"))
    refused = bool(task.refusals) and task.refusals[-1].iteration == task.iteration
    if name == TASK_COMPLETE and not refused:
        return CheckClaim()
    if stuck := _stuck(task, run):
        return GiveUp(stuck)
    following = {"iteration": task.iteration + 1, "max_iterations": run.max_iterations}
    if refused:
        return Say(prompts.render("refused", reasons=task.refusals[-1].feedback, **following))
    announced = payload.get("next_step", "") if name == ITERATION_DONE else ""
    return Say(prompts.render("continue", next_step=announced, **following))


def _stuck(task: TaskView, run: Run) -> TaskStuck | None:
    """Whether there is no point in another iteration, and why."""
    limit, threshold = run.max_iterations, run.effort.stuck_threshold
    if why := refused_too_often([refusal.fingerprint for refusal in task.refusals]):
        return TaskStuck(task_id=task.task.id, reason=f"{why}: {task.refusals[-1].feedback}")
    if error := same_error(task.errors, threshold):
        reason = f"the last {threshold} iterations ended with the same error: {error}"
        return TaskStuck(task_id=task.task.id, reason=reason)
    if standing_still(task.trees, threshold):
        reason = f"nothing has changed in the workspace for {threshold} iterations"
        return TaskStuck(task_id=task.task.id, reason=reason)
    if task.iteration >= limit:
        reason = f"the limit of {limit} iterations is used up"
        return TaskStuck(task_id=task.task.id, reason=reason, limit=True)
    return None


def signal_of(call: CallView) -> tuple[str, dict[str, str]]:
    """The signal a Worker ended its turn with: the typed one, else the text's last line, else none."""
    if call.signals:
        return call.signals[-1].name, json.loads(call.signals[-1].payload)
    name, payload = signal_in_text(call.last_text) or ("", "{}")
    return name, json.loads(payload)


def _failed(view: RunView, task: TaskView, call: CallView, failure: str) -> TaskStuck | TaskFailed:
    if call.end and call.end.end in {CallEnd.BUDGET, CallEnd.MAX_TURNS}:
        return TaskStuck(task_id=task.task.id, reason=failure, limit=True)
    if call.end and call.end.end is CallEnd.SILENT:
        return TaskStuck(task_id=task.task.id, reason=failure)
    unanswered = [
        ask.failed.cause
        for ask in view.asks.values()
        if ask.failed and ask.failed.final and ask.asked.call_id == call.started.call_id
    ]
    cause = f"a question could not be answered: {unanswered[-1]}" if unanswered else failure
    return TaskFailed(task_id=task.task.id, cause=cause)


def _first_prompt(run: Run, task: TaskView) -> str:
    return build_prompt_with_feedback(
        task.task,
        task.issues,
        1,
        run.max_iterations,
        run.started.spec_text,
        commands_for(run, Path(task.worktree)),
    )
