"""The run itself: plan, build, review, merge and finish, until there is an outcome.

The state of a run follows from its view alone (`state.journal.phase`). Every event is stored before the next
step is chosen, so a run that is killed anywhere continues from its journal. Tasks move side by side
(`orchestrator.run.moves`).
"""

from collections.abc import Awaitable
from functools import partial

import anyio
import structlog

from agents.concurrency import task_group
from agents.sdks import SdkError
from orchestrator.run.asking.answer import close_lost_asks
from orchestrator.run.asking.budget import BudgetExhausted
from orchestrator.run.asking.retries import ResetTooLateError, ServiceError
from orchestrator.run.event_log import log_about
from orchestrator.run.evidence.baseline import take_baseline, take_baseline_of_analysis
from orchestrator.run.finish import bring_home, commit, end
from orchestrator.run.landing import begin_landing, has_landing, in_time, until_landing
from orchestrator.run.merge.merge import merge
from orchestrator.run.moves import move_tasks
from orchestrator.run.people import hear_people, take_words
from orchestrator.run.places.protection import put_back_after_a_kill, put_back_at_the_end, report_git_folder
from orchestrator.run.places.set_up import remove_scratch_worktrees
from orchestrator.run.plan.analyze import analyze
from orchestrator.run.plan.approval import await_approval
from orchestrator.run.plan.fit import say_what_fits
from orchestrator.run.plan.plan import plan
from orchestrator.run.plan.spec_check import settle
from orchestrator.run.record import Run
from orchestrator.run.review.review import review_task, review_whole
from orchestrator.run.stop import StopRequest
from orchestrator.run.tasks.attempt import build
from state.errors import JournalError, ReviewSilenceError, SqError
from state.journal.events import Event, LimitReached, RunEnded, RunInterrupted, TaskFailed, TaskStuck
from state.journal.events.tasks import Stage
from state.journal.phase import Phase, phase_of
from state.outcome import Outcome

log = structlog.get_logger(__name__)

_CUT = {Phase.BASELINE, Phase.ANALYZE, Phase.PLAN, Phase.FINAL_REVIEW}  # what a deadline does not wait for
_TIDY_S = 20.0  # the most that removing the scratch worktrees may take


async def work(run: Run) -> Outcome:
    """Go on with a run until it has an outcome.

    Raises:
        JournalError: nothing can be stored any more. The run stops where it is.
    """
    await run.integration.prepare(run.view.whole)
    close_lost_asks(run)
    take_words(run)
    await put_back_after_a_kill(run)
    try:
        await in_time(run, partial(_work, run))
        return run.view.ended.outcome if run.view.ended else Outcome.INTERRUPTED
    finally:
        with anyio.move_on_after(_TIDY_S, shield=True) as clock:
            await remove_scratch_worktrees(run)
        if clock.cancelled_caught:
            log.warning("scratch.remove.unfinished", seconds=_TIDY_S, remedy="sq clean removes the rest")


async def _work(run: Run) -> None:
    while run.view.ended is None:
        phase = phase_of(run.view)
        if phase is Phase.END and run.view.process.landing and run.view.process.landing.signal:
            return  # all that holds is handed over, and the run is interrupted
        log.info("phase.start", phase=phase)
        with until_landing(run, cut=phase in _CUT):
            ending = await _given_up(_do(run, phase), about=phase)
            await report_git_folder(run)
            if ending:
                if isinstance(ending, RunEnded):
                    await put_back_at_the_end(run)
                run.record(ending)


async def _given_up(work: Awaitable[Event | None], *, about: str, task_id: str = "") -> Event | None:
    """The attempt's boundary: do the work, and return the event to record, also if the work fails.

    Raises:
        JournalError: nothing can be recorded any more.
        SdkError: an SDK cannot be imported, so no session can be had.
    """
    try:
        return await work
    except (JournalError, SdkError):
        raise
    except SqError as error:
        return _end_for(error, task_id)
    except Exception as error:
        log.exception("phase.failed", phase=about)
        return _end_for(SqError(f"an error inside sq, in phase {about}: {error!r}"), task_id)


async def work_until_stopped(run: Run, stop: StopRequest) -> Outcome:
    """As `work`. When a stop is requested, close sessions, save the state, and end.

    A stop that leaves time lets verified work be merged first, for `limits.grace_s` seconds.
    """
    outcome = Outcome.INTERRUPTED
    async with task_group() as tasks:

        async def watch() -> None:
            await stop.wait()
            if stop.leaves_time and has_landing(run.view):
                begin_landing(run, signal=stop.reason)
                await anyio.sleep(run.limits.grace_s)
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        tasks.start_soon(hear_people, run)
        outcome = await work(run)
        tasks.cancel_scope.cancel()
    if run.view.ended is None:
        await put_back_at_the_end(run)
        run.record(RunInterrupted(by=stop.reason))
    return outcome


async def _do(run: Run, phase: Phase) -> Event | None:  # noqa: C901  one case a phase
    match phase:
        case Phase.BASELINE:
            ending = await take_baseline(run)
            if ending is None:  # a resumed run has its analysis already
                await take_baseline_of_analysis(run)
                say_what_fits(run)
            return ending
        case Phase.ANALYZE:
            await analyze(run)
            if not run.settings.check_only:
                await take_baseline_of_analysis(run)
        case Phase.QUESTIONS:
            await settle(run)
        case Phase.PLAN:
            await plan(run)
        case Phase.APPROVAL:
            return await await_approval(run)
        case Phase.TASKS:
            return await move_tasks(run, partial(_move, run))
        case Phase.FINAL_REVIEW:
            await review_whole(run)
        case Phase.BRING_HOME:
            await bring_home(run)
        case Phase.END:
            await end(run)
    return None


async def _move(run: Run, task_id: str) -> Event | None:
    """Take a task to its next stage. An error ends the task. An event that ends the run is returned."""
    task = run.task(task_id)
    with log_about(task_id, task.attempt):
        ending = await _given_up(_next_stage(run, task_id), about=task.stage, task_id=task_id)
        await report_git_folder(run)
    if not isinstance(ending, TaskStuck | TaskFailed):
        return ending
    run.record(ending)
    return None


async def _next_stage(run: Run, task_id: str) -> None:
    match run.task(task_id).stage:
        case Stage.WAITING | Stage.BUILDING:
            await build(run, task_id)
        case Stage.ACCEPTED:
            await commit(run, task_id)
        case Stage.COMMITTED:
            await review_task(run, task_id)
        case Stage.APPROVED:
            await merge(run, task_id)
        case ended:
            raise RuntimeError(f"task {task_id} is {ended}: nothing moves it")


def _end_for(error: SqError, task_id: str) -> Event:
    """Return the end of the task in which an error happened, or else of the run."""
    match error:
        case BudgetExhausted(task_id=whose) if whose:
            return TaskStuck(task_id=whose, reason=str(error), limit=True)
        case BudgetExhausted():
            return LimitReached(cause=str(error))
        case ResetTooLateError():
            return LimitReached(cause=str(error))
        case ServiceError():
            return RunEnded(outcome=Outcome.FAILED, cause=str(error), resumable=True)
        case ReviewSilenceError():
            return RunEnded(outcome=Outcome.UNVERIFIED, cause=str(error))
        case _ if task_id:
            return TaskFailed(task_id=task_id, cause=str(error))
        case _:
            return RunEnded(outcome=Outcome.FAILED, cause=str(error), resumable=True)
