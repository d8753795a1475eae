"""Landing: near the end of a run's time, what can still be verified and merged is, and nothing else is done.

What is left of a task is a sum of named steps, each as long as it took in this run so far, and some more.
Landing begins when no other task than those that can land could be finished. The times are read from the
clock on the wall, because a deadline is one, so a machine that slept does not shift it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import anyio

from agents.concurrency import task_group
from orchestrator.run.record import Run
from state.journal.events import LandingStarted, LimitReached
from state.journal.events.tasks import UNMERGED_ENDS, Stage, TaskView
from state.journal.phase import Phase, can_land, is_parked, is_under_way, phase_of
from state.journal.view import RunView

_LOOK_S = 0.25
_MORE = 1.5  # a step may take so many times as long as before
_LEAST_S = 1.0  # for the hand-over
_IN_GIT = 4  # steps of git at the hand-over, each about as long as moving a branch
_MINUTE_S = 60
_VERIFICATION, _MERGE = "verification", "merge"
_IN_TURN = frozenset({_VERIFICATION, _MERGE})  # commands of the project take turns


@dataclass(frozen=True, slots=True)
class Left:
    """A step that is left of a task, and how many seconds it may take."""

    name: str
    seconds: float


def steps_left(
    view: RunView, task: TaskView, now: datetime, *, is_first: bool = True, more: float = _MORE
) -> list[Left]:
    """Return the steps until a task is merged, from where it is now.

    A verification under way needs what is left of it, and a task that has not begun at least one exchange.
    One that has may be claimed in the next moment. `is_first`: no other task is merged before it, so what its
    claim verified may be what is merged. `more`: each step may take so many times as long as before.
    """
    pace, id_ = view.clock.pace, task.task.id
    steps: list[Left] = []
    if task.stage in {Stage.WAITING, Stage.BUILDING}:
        begun = pace.begun.get(f"claim {id_}")
        until = pace.begun.get(f"wait {id_}", now)
        gone_s = (until - begun).total_seconds() if begun else 0.0
        check_s = more * max(pace.claim_s, pace.verify_s)
        steps += [] if task.open.calls else [Left("work", more * pace.exchange_s)]
        steps += [Left(_VERIFICATION, max(0.0, check_s - gone_s))]
    if task.stage is not Stage.APPROVED:
        steps.append(Left("review", more * (pace.review_s or pace.exchange_s)))
    is_newest = task.stage is Stage.WAITING or task.place.base_commit == view.whole.commit
    is_known = is_first and is_newest  # a task that begins later stands on the newest work
    verified_s = 0.0 if is_known else max(pace.verify_s, pace.merge_s - pace.move_s)
    return [*steps, Left(_MERGE, more * (verified_s + pace.move_s))]


def left_s(view: RunView, tasks: Sequence[TaskView], now: datetime, *, more: float = _MORE) -> float:
    """Return the seconds until these tasks are merged, from where they are now. `more` is as in `steps_left`.

    They are verified and merged one by one, in this order, and worked on and reviewed side by side.
    """
    steps = [steps_left(view, task, now, is_first=not place, more=more) for place, task in enumerate(tasks)]
    in_turn = sum(step.seconds for each in steps for step in each if step.name in _IN_TURN)
    beside = (sum(step.seconds for step in each if step.name not in _IN_TURN) for each in steps)
    return in_turn + max(beside, default=0.0)


def hand_over_s(view: RunView) -> float:
    """Return the seconds to keep for handing over what is merged."""
    return _LEAST_S + _IN_GIT * view.clock.pace.move_s


def landing_s(view: RunView, now: datetime) -> float:
    """Return how many seconds before the end of the time landing has to begin.

    There is time for all that can land and the quickest of the others. Without time for that one, none of the
    others is worth going on with.
    """
    landing = _landing(view)
    under_way = [task for task in view.tasks.values() if is_under_way(task) and not is_parked(task)]
    others = [left_s(view, [*landing, task], now) for task in under_way if not can_land(task)]
    return min(others, default=left_s(view, landing, now)) + hand_over_s(view)


def has_time(run: Run, task: TaskView, until: datetime | None) -> bool:
    """Whether a task can be merged by then, after those that can land or are checked. None is no end."""
    if until is None:
        return True
    others = [*_landing(run.view), *(one for one in _checked(run) if one is not task)]
    return _fits(run.view, [*others, task], until)


def _fits(view: RunView, tasks: Sequence[TaskView], until: datetime, *, more: float = _MORE) -> bool:
    """Whether these tasks can be merged and handed over by then."""
    now = datetime.now(UTC)
    return (until - now).total_seconds() > left_s(view, tasks, now, more=more) + hand_over_s(view)


def going_on(view: RunView, checked: Iterable[TaskView], until: datetime) -> list[TaskView]:
    """Return the tasks that landing lets go on: those that can land, and checks that can still end in time.

    A check is begun if there is time for all steps with some more. It is stopped if there is none for the
    steps as they took so far, because that throws away what it has done.
    """
    found = _landing(view)
    for task in checked:
        found += [task] if _fits(view, [*found, task], until, more=1.0) else []
    return found


def _landing(view: RunView) -> list[TaskView]:
    """Return the tasks that can land, those first whose merge needs no verification."""
    found = [task for task in view.tasks.values() if can_land(task)]
    return sorted(found, key=lambda task: task.place.base_commit != view.whole.commit)


def _checked(run: Run) -> list[TaskView]:
    """Return the tasks whose claims are being checked."""
    return [run.task(id_) for id_ in run.checked if run.task(id_).stage is Stage.BUILDING]


@asynccontextmanager
async def in_time_for_a_claim(run: Run, task_id: str) -> AsyncIterator[None]:
    """Check a claim in the block. One that cannot be checked in time waits before it, until landing cuts."""
    while not has_time(run, run.task(task_id), run.view.process.deadline):  # noqa: ASYNC110  a time
        await anyio.sleep(_LOOK_S)
    run.checked.append(task_id)
    try:
        yield
    finally:
        run.checked.remove(task_id)


def has_landing(view: RunView) -> bool:
    """Whether there is verified work that is not merged yet, or merged work that is not handed over."""
    return any(map(can_land, view.tasks.values())) or bool(view.whole.tree and not view.checkout.is_home)


def begin_landing(run: Run, *, signal: str = "") -> None:
    """Record that landing begins, and stop what it does not wait for."""
    grace = datetime.now(UTC) + timedelta(seconds=run.limits.grace_s)
    until = grace if signal else (run.view.process.deadline or grace)
    if run.view.process.landing is None or signal:
        run.record(LandingStarted(cause=signal or _time_is_over(run), until=until, signal=signal))
    kept = {task.task.id for task in going_on(run.view, _checked(run), until)}
    for task_id, scope in [*run.under_way.items()]:
        if task_id not in kept:
            scope.cancel()


@contextmanager
def until_landing(run: Run, task_id: str = "", *, cut: bool = True) -> Iterator[None]:
    """Do a step of a task, or with `cut` of the run itself, until landing begins, unless it lands itself."""
    with anyio.CancelScope() as scope:
        if cut:
            run.under_way[task_id] = scope
        try:
            yield
        finally:
            if cut:
                del run.under_way[task_id]


async def in_time(run: Run, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work of a run until its time is over, and then only what hands it over.

    `work` returns when the run has ended, or when it has handed over for a signal. It is called again when
    the time is over before that.
    """
    cut = False

    async def watch() -> None:
        nonlocal cut
        while not _is_over(run):  # noqa: ASYNC110  a time is waited for, not an event
            await anyio.sleep(_LOOK_S)
        cut = run.view.ended is None
        tasks.cancel_scope.cancel()

    async with task_group() as tasks:
        tasks.start_soon(watch)
        await work()
        tasks.cancel_scope.cancel()
    if cut and run.view.ended is None:
        run.record(LimitReached(cause=_time_is_over(run), late=True))
        await work()


def _is_over(run: Run) -> bool:
    """Begin landing if it is time for it. Return whether no time is left but that for the hand-over."""
    view, now = run.view, datetime.now(UTC)
    at = view.process.landing.until if view.process.landing else view.process.deadline
    if at is None or view.ended:
        return False
    time_s = (at - now).total_seconds()
    goes_home = phase_of(view) in {Phase.BRING_HOME, Phase.END}
    if view.process.landing is None and not goes_home and time_s <= landing_s(view, now):
        begin_landing(run)
    return time_s <= hand_over_s(view)


def _time_is_over(run: Run) -> str:
    limits, process = run.limits, run.view.process
    if process.landing and process.landing.signal:
        return process.landing.signal
    deadline = datetime.fromisoformat(limits.deadline) if limits.deadline else None
    if deadline and deadline == process.deadline:
        at = f"{deadline.astimezone():%Y-%m-%d %H:%M:%S}"
        return f"the deadline {at} is too near for more{_wanted(run)}"
    return f"the run's time of {limits.run_s:g} s is used up"


def _wanted(run: Run) -> str:
    """Return how much time what is left wants, from this run's own times, and the command that goes on."""
    view, now = run.view, datetime.now(UTC)
    left = [task for task in view.tasks.values() if is_under_way(task) or task.stage is Stage.WAITING]
    go_on = f"sq resume {run.started.run_id} --deadline"
    if not left:
        return f". `{go_on} TIME` gives the run more time"
    quickest = min(left, key=lambda task: left_s(view, [task], now))
    steps = [step for step in steps_left(view, quickest, now) if step.seconds]
    told = ", ".join(f"{step.name} {_minutes(step.seconds)}m" for step in steps)
    least = sum(_minutes(step.seconds) for step in steps)  # as a reader adds them up
    most = max(least, _minutes(left_s(view, left, now) + hand_over_s(view)))
    alone = " --max-parallel 1" if len(left) > 1 and view.clock.pace.verify_s > _MINUTE_S else ""
    retried = (id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS)
    command = f"{go_on} +{most}m{alone}{''.join(f' --retry {id_}' for id_ in retried)}"
    return (
        f": by the times of this run {quickest.task.id} alone needs {least}m ({told}), everything that is "
        f"left about {most}m. `{command}` goes on"
    )


def _minutes(seconds: float) -> int:
    """Return a duration in whole minutes, one at least."""
    return max(1, -int(-seconds // _MINUTE_S))
