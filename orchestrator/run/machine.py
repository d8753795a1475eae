"""The run itself: does the next step of the view, until there is an outcome.

The state of a run follows from its view alone (`state.journal.phase`). Every event is stored before the next
step is chosen, so a run that is killed anywhere continues from its journal.

Tasks move side by side, each by itself to its next stage (build, commit, review, merge). No task waits for a
round of others. A task holds one of the places from its start until it is merged, has ended or is sent back.
Those with the longest way to go come first.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter

import anyio
import structlog
from anyio.abc import TaskGroup

from agents.concurrency import task_group
from agents.sdks import SdkError
from orchestrator.run.asking.answer import close_lost_asks
from orchestrator.run.asking.budget import BudgetExhausted
from orchestrator.run.asking.retries import ResetTooLateError, ServiceError
from orchestrator.run.event_log import log_about
from orchestrator.run.landing import begin_landing, has_landing, has_time, in_time, until_landing
from orchestrator.run.people import hear_people, take_words
from orchestrator.run.places.protection import put_back_after_a_kill, put_back_at_the_end, report_git_folder
from orchestrator.run.plan.fit import say_what_fits
from orchestrator.run.record import Run
from state.errors import JournalError, ReviewSilenceError, SqError
from state.journal.events import Event, LimitReached, RunEnded, RunInterrupted, TaskFailed, TaskStuck
from state.journal.events.tasks import ENDED_STAGES, Stage, TaskView
from state.journal.phase import Phase, can_land, is_parked, is_under_way, may_begin, phase_of
from state.outcome import Outcome

log = structlog.get_logger(__name__)

_CUT = {Phase.BASELINE, Phase.ANALYZE, Phase.PLAN, Phase.FINAL_REVIEW}  # what a deadline does not wait for
_TIDY_S = 20.0  # the most that removing the scratch worktrees may take


OfRun = Callable[[Run], Awaitable[None]]
OfTask = Callable[[Run, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """The steps from the first task on: those of a task by its id, and those of the whole."""

    build: OfTask
    commit: OfTask
    review_task: OfTask
    merge: OfTask
    review_whole: OfRun
    bring_home: OfRun
    end: OfRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The steps that the machine chooses from. `building` imports those that come after the plan."""

    take_baseline: Callable[[Run], Awaitable[RunEnded | None]]
    take_baseline_of_analysis: OfRun
    analyze: OfRun
    settle: OfRun
    plan: OfRun
    await_approval: Callable[[Run], Awaitable[RunEnded | None]]
    remove_scratch_worktrees: OfRun
    building: Callable[[], Building]


async def work(run: Run, effects: Effects) -> Outcome:
    """Go on with a run until it has an outcome.

    Raises:
        JournalError: nothing can be stored any more. The run stops where it is.
    """
    await run.integration.prepare(run.view.whole)
    close_lost_asks(run)
    take_words(run)
    await put_back_after_a_kill(run)
    try:
        await in_time(run, partial(_work, run, effects))
        return run.view.ended.outcome if run.view.ended else Outcome.INTERRUPTED
    finally:
        with anyio.move_on_after(_TIDY_S, shield=True) as clock:
            await effects.remove_scratch_worktrees(run)
        if clock.cancelled_caught:
            log.warning("scratch.remove.unfinished", seconds=_TIDY_S, remedy="sq clean removes the rest")


async def _work(run: Run, effects: Effects) -> None:
    while run.view.ended is None:
        phase = phase_of(run.view)
        if phase is Phase.END and run.view.process.landing and run.view.process.landing.signal:
            return  # all that holds is handed over, and the run is interrupted
        log.info("phase.start", phase=phase)
        with until_landing(run, cut=phase in _CUT):
            ending = await _given_up(_do(run, effects, phase), about=phase)
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


async def work_until_stopped(run: Run, effects: Effects, stop: "StopRequest") -> Outcome:
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
        outcome = await work(run, effects)
        tasks.cancel_scope.cancel()
    if run.view.ended is None:
        await put_back_at_the_end(run)
        run.record(RunInterrupted(by=stop.reason))
    return outcome


class StopRequest:
    """Requests a run to stop. `reason` is the signal's name."""

    def __init__(self) -> None:
        self.reason = ""
        self.leaves_time = False
        self._asked = anyio.Event()

    def ask(self, reason: str, *, leaves_time: bool = False) -> None:
        """Request it, once or more often. `leaves_time`: verified work may be merged first."""
        if not self.reason:
            self.reason, self.leaves_time = reason, leaves_time
        self._asked.set()

    async def wait(self) -> None:
        """Wait until a stop is requested."""
        await self._asked.wait()


async def _do(run: Run, effects: Effects, phase: Phase) -> Event | None:  # noqa: C901  one case a phase
    match phase:
        case Phase.BASELINE:
            ending = await effects.take_baseline(run)
            if ending is None:  # a resumed run has its analysis already
                await effects.take_baseline_of_analysis(run)
                say_what_fits(run)
            return ending
        case Phase.ANALYZE:
            await effects.analyze(run)
            if not run.settings.check_only:
                await effects.take_baseline_of_analysis(run)
        case Phase.QUESTIONS:
            await effects.settle(run)
        case Phase.PLAN:
            await effects.plan(run)
        case Phase.APPROVAL:
            return await effects.await_approval(run)
        case Phase.FINAL_REVIEW:
            await effects.building().review_whole(run)
        case Phase.BRING_HOME:
            await effects.building().bring_home(run)
        case Phase.END:
            await effects.building().end(run)
        case Phase.TASKS:
            return await move_tasks(run, partial(_move, run, effects))
    return None


async def _move(run: Run, effects: Effects, task_id: str) -> Event | None:
    """Take a task to its next stage. An error ends the task. An event that ends the run is returned."""
    task = run.task(task_id)
    with log_about(task_id, task.attempt):
        ending = await _given_up(
            _next_stage(run, effects.building(), task_id), about=task.stage, task_id=task_id
        )
        await report_git_folder(run)
    if not isinstance(ending, TaskStuck | TaskFailed):
        return ending
    run.record(ending)
    return None


async def _next_stage(run: Run, steps: Building, task_id: str) -> None:
    match run.task(task_id).stage:
        case Stage.WAITING | Stage.BUILDING:
            await steps.build(run, task_id)
        case Stage.ACCEPTED:
            await steps.commit(run, task_id)
        case Stage.COMMITTED:
            await steps.review_task(run, task_id)
        case Stage.APPROVED:
            await steps.merge(run, task_id)
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


class _Moves:
    """The tasks that move side by side. `endings` end the run, and in `broken` nothing could be stored."""

    def __init__(self, run: Run, move: Callable[[str], Awaitable[Event | None]], tasks: TaskGroup) -> None:
        self._run, self._move, self._tasks = run, move, tasks
        self._busy: set[str] = set()
        self.endings: list[Event] = []
        self.broken: list[JournalError] = []

    def start(self) -> None:
        """Begin each move that can be made now. Without any, end the waits for people and then the group."""
        is_over = bool(self.broken or self.endings)
        lands = self._run.view.process.landing is not None
        chosen = next_moves(self._run.view.tasks, self._busy, _places(self._run), lands=lands)
        for task_id in [] if is_over else self._in_time(chosen):
            self._busy.add(task_id)
            self._tasks.start_soon(self._one, task_id)
        if is_over or not self._busy:
            self._tasks.cancel_scope.cancel()
        elif self._busy <= parked(self._run):  # nothing else is left, so none waits longer
            for scope in self._run.under_way.values():
                scope.cancel()

    def _in_time(self, chosen: list[str]) -> list[str]:
        """Return those that can be merged before the deadline. Without any, landing begins with the first."""
        going_on = [id_ for id_ in chosen if is_under_way(self._run.task(id_))]
        others = [id_ for id_ in chosen if id_ not in going_on]
        at = self._run.view.process.deadline
        worth = [id_ for id_ in others if has_time(self._run, self._run.task(id_), at)]
        return [*going_on, *(worth if going_on or worth or self._busy else others)]

    async def heed_people(self) -> None:
        """Begin moves whenever a task is parked, or answered. Ends with the group."""
        waiting = parked(self._run)
        while True:
            await self._run.changed.wait()
            if parked(self._run) != waiting:
                waiting = parked(self._run)
                self.start()

    async def _one(self, task_id: str) -> None:
        try:
            with until_landing(self._run, task_id):
                ending = await self._move(task_id)
                self.endings.extend([ending] if ending else [])
        except JournalError as error:  # the others meet it too
            self.broken.append(error)
        self._busy.discard(task_id)
        self.start()


async def move_tasks(run: Run, move: Callable[[str], Awaitable[Event | None]]) -> Event | None:
    """Move tasks on until nothing can be done for any, or the run as a whole has to end.

    Args:
        run: the run.
        move: takes the task of this id to its next stage. An event that it returns ends the run: the other
            tasks are stopped where they are, and the event is returned to be recorded.

    Raises:
        JournalError: nothing can be stored any more.
    """
    async with task_group() as tasks:
        moves = _Moves(run, move, tasks)
        tasks.start_soon(moves.heed_people)
        moves.start()
    if moves.broken:
        raise moves.broken[0]
    return moves.endings[0] if moves.endings else None


def parked(run: Run) -> set[str]:
    """Return the tasks that wait for a person's answer."""
    return {id_ for id_, task in run.view.tasks.items() if is_parked(task)}


def _places(run: Run) -> int:
    """Return how many tasks may go on at once. In the checkout itself none beside one that waits."""
    return 0 if parked(run) and not run.settings.worktrees else run.settings.places


def next_moves(
    tasks: Mapping[str, TaskView], busy: Collection[str], places: int, *, lands: bool = False
) -> list[str]:
    """Return the tasks that are moved on now. To be called again whenever a move has ended.

    Tasks that hold a place go on first, then tasks that were sent back, then new ones. One task is merged at
    a time. A task that waits for a person holds no place.

    Args:
        tasks: all tasks of the plan, in its order.
        busy: those whose move is under way.
        places: how many tasks may hold one at once.
        lands: the end of the run's time is near, so only accepted work goes on.
    """
    idle = [id_ for id_ in _longest_way_first(tasks) if id_ not in busy]
    idle = [id_ for id_ in idle if not is_parked(tasks[id_]) and (can_land(tasks[id_]) or not lands)]
    going_on = [id_ for id_ in idle if is_under_way(tasks[id_])]
    going_on.sort(key=lambda id_: tasks[id_].merge is None)  # a merge that was begun is finished first
    beginning = [id_ for id_ in idle if may_begin(tasks, id_)]
    beginning.sort(key=lambda id_: tasks[id_].stage is Stage.WAITING)
    taken = sum(not is_parked(tasks[id_]) for id_ in busy)
    chosen = [*going_on, *beginning][: max(0, places - taken)]
    is_merging = any(tasks[id_].stage is Stage.APPROVED for id_ in busy)
    merges = [id_ for id_ in chosen if tasks[id_].stage is Stage.APPROVED]
    held_back = merges if is_merging else merges[1:]
    return [id_ for id_ in chosen if id_ not in held_back]


def _longest_way_first(tasks: Mapping[str, TaskView]) -> list[str]:
    """Return the tasks, longest chain of dependent work first, and ties in the plan's order."""
    needed_by: dict[str, list[str]] = {id_: [] for id_ in tasks}
    for id_, task in tasks.items():
        for needed in task.task.dependencies:
            if task.stage not in ENDED_STAGES:
                needed_by[needed].append(id_)
    way: dict[str, int] = {}
    for id_ in TopologicalSorter(needed_by).static_order():
        own = max(1, tasks[id_].task.estimated_iterations)
        way[id_] = own + max((way[later] for later in needed_by[id_]), default=0)
    return sorted(tasks, key=lambda id_: -way[id_])
