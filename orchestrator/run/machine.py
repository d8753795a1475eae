"""The run itself: what the view says comes next, done, until there is an outcome.

Where a run is follows from the view alone (`state.phase`); everything that happens is stored before the next
look, so a run that is killed anywhere goes on from its journal.
"""

import math

import anyio
import structlog

from agents.concurrency import task_group
from orchestrator.run import finish
from orchestrator.run.analyze import analyze
from orchestrator.run.budget import BudgetExhausted
from orchestrator.run.build import build
from orchestrator.run.plan import plan
from orchestrator.run.record import Run
from orchestrator.run.retries import ServiceError
from orchestrator.run.review import ReviewSilenceError, review_task, review_whole
from orchestrator.run.scheduler import next_task
from state.errors import JournalError, SqError
from state.events import CallEnded, LimitReached, RunEnded, RunInterrupted, TaskFailed, TaskStuck
from state.outcome import Outcome
from state.phase import Phase, phase_of
from state.records import CallEnd, Role
from state.view import Stage

log = structlog.get_logger(__name__)


async def work(run: Run) -> Outcome:
    """Go on with a run until it has an outcome.

    Raises:
        JournalError: nothing can be stored any more; the run stops where it is.
    """
    await run.workspaces.prepare(run.view)
    _close_lost_asks(run)
    with anyio.move_on_after(_time_left(run)) as clock:
        await _work(run)
    if clock.cancelled_caught:
        run.record(LimitReached(cause=f"the run's time of {run.limits.run_s:g} s is used up"))
        await _work(run)
    assert run.view.ended is not None  # noqa: S101  that is when the loop ends
    return run.view.ended.outcome


async def _work(run: Run) -> None:
    while run.view.ended is None:
        phase = phase_of(run.view)
        task_id = next_task(run.view.tasks) or "" if phase is Phase.TASKS else ""
        log.info("phase.start", phase=phase, task_id=task_id)
        try:
            await _do(run, phase, task_id)
        except JournalError:
            raise
        except SqError as error:
            _give_up(run, task_id, error)
        except Exception as error:
            log.exception("phase.failed", phase=phase, task_id=task_id)
            _give_up(run, task_id, SqError(f"an error inside sq, in phase {phase}: {error!r}"))


def _time_left(run: Run) -> float:
    return math.inf if run.limits.run_s is None else max(0.0, run.limits.run_s - run.view.worked_s)


async def work_until_stopped(run: Run, stop: "StopRequest") -> Outcome:
    """As `work`; when a stop is asked for, sessions are closed, the state is saved, and it ends there."""
    outcome = Outcome.INTERRUPTED
    async with task_group() as tasks:

        async def watch() -> None:
            await stop.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        outcome = await work(run)
        tasks.cancel_scope.cancel()
    if run.view.ended is None:
        run.record(RunInterrupted(by=stop.reason))
    return outcome


class StopRequest:
    """Asks a run to stop; `reason` is the signal's name."""

    def __init__(self) -> None:
        self.reason = ""
        self._asked = anyio.Event()

    def ask(self, reason: str) -> None:
        """Ask, once or more often."""
        self.reason = self.reason or reason
        self._asked.set()

    async def wait(self) -> None:
        """Wait until somebody asks."""
        await self._asked.wait()


def _close_lost_asks(run: Run) -> None:
    """A question to a model that the process before this left open is lost."""
    lost = [
        CallEnded(
            call_id=id_,
            end=CallEnd.INTERRUPTED,
            detail="the process ended before the answer came",
        )
        for id_, call in run.view.calls.items()
        if call.end is None and call.started.role in {Role.DEVELOPER, Role.JUDGE}
    ]
    if lost:
        run.record(*lost)


async def _do(run: Run, phase: Phase, task_id: str) -> None:
    match phase:
        case Phase.ANALYZE:
            await analyze(run)
        case Phase.PLAN:
            await plan(run)
        case Phase.TASKS:
            await _move(run, task_id)
        case Phase.FINAL_REVIEW:
            await review_whole(run)
        case Phase.BRING_HOME:
            await finish.bring_home(run)
        case Phase.END:
            await finish.end(run)


async def _move(run: Run, task_id: str) -> None:
    """Take a task to its next stage."""
    match run.task(task_id).stage:
        case Stage.WAITING | Stage.BUILDING:
            await build(run, task_id)
        case Stage.ACCEPTED:
            await finish.commit(run, task_id)
        case Stage.COMMITTED:
            await review_task(run, task_id)
        case Stage.APPROVED:
            await finish.merge(run, task_id)
        case ended:
            raise RuntimeError(f"task {task_id} is {ended}: nothing moves it")


def _give_up(run: Run, task_id: str, error: SqError) -> None:
    """The attempt's boundary: an error ends the task it happened in, or else the run."""
    match error:
        case BudgetExhausted(task_id=whose) if whose:
            run.record(TaskStuck(task_id=whose, reason=str(error), limit=True))
        case BudgetExhausted():
            run.record(LimitReached(cause=str(error)))
        case ServiceError():
            run.record(RunEnded(outcome=Outcome.FAILED, cause=str(error), resumable=True))
        case ReviewSilenceError():
            run.record(RunEnded(outcome=Outcome.UNVERIFIED, cause=str(error)))
        case _ if task_id:
            run.record(TaskFailed(task_id=task_id, cause=str(error)))
        case _:
            run.record(RunEnded(outcome=Outcome.FAILED, cause=str(error), resumable=True))
