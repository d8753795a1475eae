"""build: one attempt at a task in one Worker session, iteration by iteration, until its claim stands.

The next step follows from the view alone (`orchestrator.run.tasks.steps`). This module does it. At a
checkpoint a Reviewer looks at work under way, and the Developer may guide it once (seed 004, US-002). Neither
ends anything, and the work continues if no usable review or guidance comes. If a Worker reports that it is
stuck, sq finds out whether the only cause is a check that cannot run on the untouched commit either. Then the
work is unverified.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

import prompts
from agents.concurrency import task_group
from agents.roles.developer import guidance_ask, read_guidance
from agents.roles.reviewer import get_review_prompt, reviewer_session
from agents.roles.worker import worker_session
from orchestrator.checks.results.verdict import has_failed, usable
from orchestrator.gates.power_steering.considerations import considerations_of_run
from orchestrator.git.command import door_now
from orchestrator.git.trees import diff_text
from orchestrator.git.workspace import tree_of
from orchestrator.run.asking.answer import ask_model
from orchestrator.run.asking.briefing import conventions, decisions, without_place
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.asking.questions import QuestionBus
from orchestrator.run.event_log import log_attempt
from orchestrator.run.evidence.summary import results, seen_of, summary
from orchestrator.run.evidence.verification import commands_on, verify
from orchestrator.run.landing import in_time_for_a_claim
from orchestrator.run.places.protection import put_users_work_back
from orchestrator.run.places.set_up import set_up
from orchestrator.run.places.steps import ready_environment
from orchestrator.run.ports import TaskPlace
from orchestrator.run.record import Run
from orchestrator.run.review.findings import as_findings, in_folder, undecided, with_new
from orchestrator.run.review.report import DIFF_LIMIT, read_report
from orchestrator.run.tasks.hand_over import hand_over_of
from orchestrator.run.tasks.progress import last_error
from orchestrator.run.tasks.steps import (
    AnswerPlain,
    AwaitAnswer,
    CheckClaim,
    EndStuck,
    GiveUp,
    Guide,
    Measure,
    Renew,
    ReviewCheckpoint,
    Say,
    next_step,
)
from state.errors import GitError
from state.ids import new_session_id
from state.journal.events import (
    AttemptStarted,
    CheckpointReviewed,
    GuidanceGiven,
    HandedOver,
    IterationMeasured,
    TaskStarted,
    TaskStuck,
    TaskUnverified,
)
from state.journal.events.tasks import Stage, TaskView
from state.journal.phase import is_parked
from state.paths import scratch_folder
from state.records.commands import BaselineCheck, BaselineOutcome
from state.roles import Role
from state.settings.records import Workflow
from state.words import baseline_words


@cache
def load_gates() -> Callable[[Run, TaskView], Awaitable[None]]:
    """Return the function that asks the gates about a claim.

    Their import takes as long as that of all other steps of a task, and is needed at the first claim alone.
    """
    from orchestrator.run.tasks.completion import check_completion

    return check_completion


async def build(run: Run, task_id: str) -> None:
    """Bring a task from its current stage to an accepted claim, or to the event that says why not."""
    task = run.task(task_id)
    considerations_of_run(run.repository)  # before a Worker is at work
    await _prepare(run, task)
    log_attempt(task.attempt)
    folder = Path(task.place.worktree)
    variables = await ready_environment(run, folder) if run.settings.worktrees else {}
    variables |= run.commands.variables_of(folder)
    async with scratch_folder() as temporary, task_group() as beside:
        spec_for = partial(
            worker_session,
            run.platform,
            task_id=task_id,
            attempt=task.attempt,
            workspace=Path(task.place.worktree),
            temporary=temporary,
            variables=variables,
            plans=run.settings.workflow is Workflow.PLAN_THEN_IMPLEMENT,
        )
        async with Conversation(
            run,
            role=Role.WORKER,
            task_id=task_id,
            attempt=task.attempt,
            spec_for=spec_for,
            session_id=task.open.session_id,
            questions=QuestionBus(run, task_id).callback,
        ) as talk:
            await _attempt(run, task, talk, beside)


async def _attempt(  # noqa: C901  one case a step
    run: Run, task: TaskView, talk: Conversation, beside: TaskGroup
) -> None:
    task_id, folder, tree = task.task.id, Path(task.place.worktree), ""
    while task.stage is Stage.BUILDING:
        step = next_step(run.view, task, run)
        if run.view.process.landing and not isinstance(step, CheckClaim):
            return  # the end of the time waited for the check of this claim alone
        match step:
            case Say(prompt, planning):
                tree = await say(run, talk, beside, folder, talk.ended + 1, prompt, planning=planning)
            case AnswerPlain(question):
                await QuestionBus(run, task_id).answer_plain(task.open.calls[-1], question)
            case AwaitAnswer():
                await run.until(lambda _view: not is_parked(task))
            case ReviewCheckpoint():
                await review_checkpoint(run, task)
            case Guide():
                await guide(run, task)
            case Measure():
                measured = IterationMeasured(
                    task_id=task_id,
                    attempt=task.attempt,
                    iteration=task.iteration,
                    tree=tree or await run.places.snapshot(folder),
                    error=last_error(task.history),
                )
                run.record(measured)
            case CheckClaim():
                async with in_time_for_a_claim(run, task_id):
                    await load_gates()(run, task)
            case Renew(because):
                await _renew(run, task, because)
                return
            case EndStuck(reason):
                await end_stuck(run, task, reason)
            case GiveUp(event):
                run.record(event)


async def say(
    run: Run,
    talk: Conversation,
    beside: TaskGroup,
    folder: Path,
    number: int,
    prompt: str,
    *,
    planning: bool = False,
) -> str:
    """Have a Worker's exchange of this number. Return the content of `folder` at its report, or "".

    It is read in a task of `beside` while the agent ends the turn, which takes longer. Without the door sq
    ends the session and reads afterwards.
    """
    if door_now() is None:
        await talk.exchange(number, prompt, planning=planning)
        await talk.end_session()
        return ""
    tree, has_read, reading = "", anyio.Event(), anyio.CancelScope()

    async def read() -> None:
        nonlocal tree
        with reading, suppress(GitError):  # whoever needs the content reads it again
            await talk.reported.wait()
            tree = await run.places.snapshot(folder)
        has_read.set()

    beside.start_soon(read)
    await talk.exchange(number, prompt, planning=planning)
    if not talk.reported.is_set():
        reading.cancel()
    await has_read.wait()
    return tree


async def _new_place(run: Run, task: TaskView) -> TaskPlace | None:
    """Return a place for a task that has none or moves to newer work, or None if it has its place."""
    if task.stage is Stage.WAITING:
        return await run.places.begin(run.view.tasks, run.view.whole, task)
    if task.next.rebuild:
        base, start = task.next.rebuild
        return await run.places.rebuild(run.view.tasks, run.view.whole, task, base=base, start=start)
    return None


async def _prepare(run: Run, task: TaskView) -> None:
    """Make sure of a place on the merged work that the task is built on, and of an open attempt."""
    task_id = task.task.id
    if not task.open.is_open:
        await put_users_work_back(run)
    place = await _new_place(run, task)
    if place:
        started = TaskStarted(
            task_id=task_id,
            branch=place.branch,
            worktree=str(place.folder),
            base_commit=place.base_commit,
        )
        run.record(*([place.rescued] if place.rescued else []), started)
    else:  # after a crash the folder may have been removed
        await run.places.ensure(task, task.place.base_commit)
    await set_up(run, task_id, Path(task.place.worktree))
    if not task.open.is_open:
        tree = await run.places.snapshot(Path(task.place.worktree))
        started_anew = AttemptStarted(
            task_id=task_id, attempt=task.attempt + 1, session_id=new_session_id(), tree=tree
        )
        run.record(*_handed_over(run, task), started_anew)


async def _renew(run: Run, task: TaskView, because: str) -> None:
    """Begin another attempt in a fresh session, with the former one's notes and its work."""
    id_, tree = task.task.id, await run.places.snapshot(Path(task.place.worktree))
    handed_over = [replace(one, notes=replace(one.notes, ended=because)) for one in _handed_over(run, task)]
    begun = AttemptStarted(
        task_id=id_, attempt=task.attempt + 1, session_id=new_session_id(), tree=tree, because=because
    )
    run.record(*handed_over, begun)


def _handed_over(run: Run, task: TaskView) -> list[HandedOver]:
    """Return the hand-over of the previous attempt, if there was one."""
    verified = run.view.evidence.verifications.get(task.open.trees[-1]) if task.open.trees else None
    notes = hand_over_of(run.view, task, summary(results(run, verified)) if verified else "")
    return [HandedOver(task_id=task.task.id, attempt=task.attempt, notes=notes)] if notes else []


async def review_checkpoint(run: Run, task: TaskView) -> None:
    """Have the newest iteration's work reviewed, once, and record the findings or the problem.

    Raises:
        BudgetExhausted: the budget does not allow the call.
        ServiceError: the model cannot be asked at all.
    """
    task_id, tree = task.task.id, task.open.trees[-1]
    subject = f"checkpoint-{task.iteration}"
    spec_for = partial(
        reviewer_session,
        run.platform,
        depth=run.effort.review_depth,
        task_id=task_id,
        attempt=task.attempt,
        workspace=Path(task.place.worktree),
        subject=subject,
    )
    async with Conversation(
        run,
        role=Role.REVIEWER,
        task_id=task_id,
        attempt=task.attempt,
        subject=subject,
        spec_for=spec_for,
    ) as talk:
        call = await talk.exchange(1, partial(_prompt, run, task), iteration=task.iteration)
    report = read_report(call, run.effort.review_depth)
    issues = () if isinstance(report, str) else in_folder(report.issues, task.place.worktree, task_id)
    known, number = task.review.findings, task.review.rounds + 1
    run.record(
        CheckpointReviewed(
            task_id=task_id,
            attempt=task.attempt,
            iteration=task.iteration,
            tree=tree,
            issues=tuple(issues),
            findings=with_new(known, as_findings(*issues), number, advice=True),
            problem=report if isinstance(report, str) else "",
        )
    )


async def _prompt(run: Run, task: TaskView) -> str:
    return prompts.render(
        "review_checkpoint",
        instructions=get_review_prompt(run.effort.review_depth, under_way=True),
        task=task.task,
        spec=run.started.spec_text,
        conventions=conventions(run.view),
        decisions=decisions(run.view),
        findings=undecided(task.review.findings),
        diff=await diff_text(
            Path(task.place.worktree), task.place.base_commit, task.open.trees[-1], limit=DIFF_LIMIT
        ),
    )


async def end_stuck(run: Run, task: TaskView, reason: str) -> None:
    """Record how a task ends whose Worker gives up with this reason."""
    said = f"the Worker says: {reason}"
    named = [
        check
        for check in run.view.baseline.checks.values()
        if _could_not_run(check) and is_named(check, reason)
    ]
    if named and await _holds_without(run, task):
        seen = "; ".join(map(baseline_words, named))
        unverified = f"{said}. sq looked: the commit that the run began with could not run it either: {seen}"
        run.record(TaskUnverified(task_id=task.task.id, reason=unverified))
    else:
        run.record(TaskStuck(task_id=task.task.id, reason=said))


def is_named(check: BaselineCheck, reason: str) -> bool:
    """Whether a reason names a command, the program that it lacks, or the runner that stopped."""
    words, runner = reason.casefold(), check.run.broken.partition(":")[0]
    return any(name and name.casefold() in words for name in (check.run.command, check.run.missing, runner))


def _could_not_run(check: BaselineCheck) -> bool:
    return not usable(check) or check.outcome is BaselineOutcome.BROKEN


async def _holds_without(run: Run, task: TaskView) -> bool:
    """Whether there is work, and the commands that can run do not speak against it."""
    folder = Path(task.place.worktree)
    tree = await run.places.snapshot(folder)
    if tree == await tree_of(folder, task.place.base_commit):
        return False
    finished = await verify(run, task_id=task.task.id, folder=folder, tree=tree)
    return not has_failed(results(run, finished))


_DIFF_LIMIT = 30_000  # characters of the work so far that the Developer sees


async def guide(run: Run, task: TaskView) -> None:
    """Ask for guidance, and record the guidance, or that there is none and why.

    Raises:
        BudgetExhausted: the budget does not allow the call.
        ServiceError: the model cannot be asked at all.
    """
    window = run.settings.context_window
    ask = guidance_ask(
        run.platform,
        spec=run.started.spec_text,
        task=task.task,
        attempt=task.attempt,
        changes=await diff_text(
            Path(task.place.worktree), task.place.base_commit, task.open.trees[-1], limit=_DIFF_LIMIT
        ),
        history=without_place(list(task.history)[-window:] if window else [], task),
        verification=commands_on(run, task),
        seen=seen_of(run, task),
        deadline_s=run.limits.question_s,
    )
    ended, guidance = await ask_model(run, ask, read_guidance, iteration=task.iteration)
    given = GuidanceGiven(
        task_id=task.task.id,
        attempt=task.attempt,
        iteration=task.iteration,
        guidance="" if isinstance(guidance, str) else guidance[0],
        problem=guidance if isinstance(guidance, str) else "",
    )
    run.record(ended, given)
