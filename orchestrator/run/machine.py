"""The run itself: what the view says comes next, done, until there is an outcome.

`next_phase` is a plain function of the view; everything that happens is stored before the next look, so a
run that is killed anywhere goes on from its journal.
"""

from enum import StrEnum

import anyio
import structlog

from agents.concurrency import task_group
from orchestrator.git.workspace import ensure_branch, ensure_worktree, run_branch
from orchestrator.run import finish
from orchestrator.run.analyze import analyze
from orchestrator.run.build import build
from orchestrator.run.plan import plan
from orchestrator.run.record import Run
from orchestrator.run.review import MAX_UNUSABLE, review_task, review_whole
from orchestrator.run.scheduler import next_task
from state.errors import JournalError, SqError
from state.events import CallEnded, RunEnded, RunInterrupted, TaskFailed
from state.fold import RunView, Stage
from state.outcome import Outcome
from state.records import CallEnd, Role

log = structlog.get_logger(__name__)


class Phase(StrEnum):
    """What a run does next."""

    ANALYZE = "analyze"
    PLAN = "plan"
    BUILD = "build"
    COMMIT = "commit"
    REVIEW = "review"
    MERGE = "merge"
    FINAL_REVIEW = "final review"
    BRING_HOME = "bring home"
    END = "end"


_BY_STAGE = {
    Stage.WAITING: Phase.BUILD,
    Stage.BUILDING: Phase.BUILD,
    Stage.ACCEPTED: Phase.COMMIT,
    Stage.COMMITTED: Phase.REVIEW,
    Stage.APPROVED: Phase.MERGE,
}


def next_phase(view: RunView) -> tuple[Phase, str]:
    """What comes next, and for which task ("" for the run as a whole)."""
    if view.analysis is None:
        return Phase.ANALYZE, ""
    if not view.tasks:
        return Phase.PLAN, ""
    if (task_id := next_task(view.tasks)) is not None:
        return _BY_STAGE[view.tasks[task_id].stage], task_id
    if all(task.stage is Stage.MERGED for task in view.tasks.values()) and not _whole_is_judged(view):
        return Phase.FINAL_REVIEW, ""
    if view.delivered is None and view.kept is None:
        return Phase.BRING_HOME, ""
    return Phase.END, ""


def _whole_is_judged(view: RunView) -> bool:
    reviewed = bool(view.final_reviews) and view.final_reviews[-1].commit == view.head_commit
    return reviewed or len(view.final_unusable) >= MAX_UNUSABLE


async def work(run: Run) -> Outcome:
    """Go on with a run until it has an outcome.

    Raises:
        JournalError: nothing can be stored any more; the run stops where it is.
    """
    await _prepare(run)
    while run.view.ended is None:
        phase, task_id = next_phase(run.view)
        log.info("phase.start", phase=phase, task_id=task_id)
        try:
            await _do(run, phase, task_id)
        except JournalError:
            raise
        except SqError as error:
            _give_up(run, task_id, str(error))
        except Exception as error:
            log.exception("phase.failed", phase=phase, task_id=task_id)
            _give_up(run, task_id, f"an error inside sq, in phase {phase}: {error!r}")
    return run.view.ended.outcome


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


async def _prepare(run: Run) -> None:
    """What every process of a run needs first: its branch, its reading room, no calls left hanging."""
    await ensure_branch(run.repository, run_branch(run.started.run_id), run.started.base_commit)
    await ensure_worktree(run.repository, run.reading_room, branch=None, commit=run.view.head_commit)
    lost = [
        CallEnded(call_id=id_, end=CallEnd.INTERRUPTED, detail="the process ended before the answer came")
        for id_, call in run.view.calls.items()
        if call.end is None and call.started.role is Role.DEVELOPER
    ]
    if lost:
        run.record(*lost)


async def _do(run: Run, phase: Phase, task_id: str) -> None:
    match phase:
        case Phase.ANALYZE:
            await analyze(run)
        case Phase.PLAN:
            await plan(run)
        case Phase.BUILD:
            await build(run, task_id)
        case Phase.COMMIT:
            await finish.commit(run, task_id)
        case Phase.REVIEW:
            await review_task(run, task_id)
        case Phase.MERGE:
            await finish.merge(run, task_id)
        case Phase.FINAL_REVIEW:
            await review_whole(run)
        case Phase.BRING_HOME:
            await finish.bring_home(run)
        case Phase.END:
            await finish.end(run)


def _give_up(run: Run, task_id: str, cause: str) -> None:
    """The attempt's boundary: an error ends the task it happened in, or else the run."""
    if task_id:
        run.record(TaskFailed(task_id=task_id, cause=cause))
    else:
        run.record(RunEnded(outcome=Outcome.FAILED, cause=cause))
