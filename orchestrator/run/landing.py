"""Landing: near the end of a run's time, what can still be verified and merged is, and nothing else is done.

What is left of a task is a sum of named steps, each as long as it took in this run so far, and some more.
Landing begins when no other task than those that can land could be finished. The times are read from the
clock on the wall, because a deadline is one, so a machine that slept does not shift it.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
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


@dataclass(frozen=True, slots=True)
class Left:
    """A step that is left of a task, and how many seconds it may take."""

    step: str
    seconds: float


def steps_left(view: RunView, task: TaskView, now: datetime) -> list[Left]:
    """Return the steps until a task is merged, from where it is now.

    A verification under way needs what is left of it, a task without a claim at least one more exchange.
    """
    pace, id_ = view.clock.pace, task.task.id
    steps: list[Left] = []
    if task.stage in {Stage.WAITING, Stage.BUILDING}:
        begun = pace.begun.get(f"claim {id_}")
        gone_s = (now - begun).total_seconds() if begun else 0.0
        check_s = _MORE * max(pace.claim_s, pace.verify_s)
        steps += [Left("verification", max(0.0, check_s - gone_s))]
        steps += [] if begun else [Left("work", _MORE * pace.exchange_s)]
    if task.stage is not Stage.APPROVED:
        steps.append(Left("review", _MORE * (pace.review_s or pace.exchange_s)))
    is_next = task.place.base_commit == view.whole.commit  # what its claim verified is what is merged
    verified_s = 0.0 if is_next else max(pace.verify_s, pace.merge_s - pace.move_s)
    return [*steps, Left("merge", _MORE * (verified_s + pace.move_s))]


def left_s(view: RunView, task: TaskView, now: datetime) -> float:
    """Return the seconds until a task may be merged, from where it is now."""
    return sum(step.seconds for step in steps_left(view, task, now))


def hand_over_s(view: RunView) -> float:
    """Return the seconds to keep for handing over what is merged."""
    return _LEAST_S + _IN_GIT * view.clock.pace.move_s


def landing_s(view: RunView, now: datetime) -> float:
    """Return how many seconds before the end of the time landing has to begin.

    Those that can land need their reviews side by side and their merges one by one. Of the others the
    quickest counts: without time for that one, none of them is worth going on with.
    """
    under_way = [task for task in view.tasks.values() if is_under_way(task) and not is_parked(task)]
    others = [left_s(view, task, now) for task in under_way if not can_land(task)]
    return landable_s(view, now) + min(others, default=0.0) + hand_over_s(view)


def landable_s(view: RunView, now: datetime) -> float:
    """Return the seconds in which everything that can land is merged."""
    steps = [steps_left(view, task, now) for task in view.tasks.values() if can_land(task)]
    merges = sum(each[-1].seconds for each in steps)
    return merges + max((step.seconds for each in steps for step in each[:-1]), default=0.0)


def has_time(view: RunView, task: TaskView, until: datetime | None) -> bool:
    """Whether a task can be merged by then, beside those that can land. None is no end."""
    now = datetime.now(UTC)
    needed = landable_s(view, now) + left_s(view, task, now) + hand_over_s(view)
    return until is None or (until - now).total_seconds() > needed


async def until_it_has_time(run: Run, task_id: str) -> None:
    """Wait before the check of a claim that cannot end in time. Landing cuts the wait."""
    while not has_time(run.view, run.task(task_id), run.view.process.deadline):  # noqa: ASYNC110  a time
        await anyio.sleep(_LOOK_S)


def has_landing(view: RunView) -> bool:
    """Whether there is verified work that is not merged yet, or merged work that is not handed over."""
    return any(map(can_land, view.tasks.values())) or bool(view.whole.tree and not view.checkout.is_home)


def begin_landing(run: Run, *, signal: str = "") -> None:
    """Record that landing begins, and stop what it does not wait for."""
    grace = datetime.now(UTC) + timedelta(seconds=run.limits.grace_s)
    until = grace if signal else (run.view.process.deadline or grace)
    if run.view.process.landing is None or signal:
        run.record(LandingStarted(cause=signal or _time_is_over(run), until=until, signal=signal))
    for task_id, scope in [*run.under_way.items()]:
        task = run.view.tasks.get(task_id)
        if not (task and (can_land(task) or _is_checked_by(run.view, task, until))):
            scope.cancel()


def _is_checked_by(view: RunView, task: TaskView, until: datetime) -> bool:
    """Whether the claim of a task is being checked, and its work can be merged by then."""
    return f"claim {task.task.id}" in view.clock.pace.begun and has_time(view, task, until)


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
    open_ = [task for task in view.tasks.values() if is_under_way(task) or task.stage is Stage.WAITING]
    each = {task.task.id: steps_left(view, task, now) for task in open_}
    sums = {id_: sum(step.seconds for step in steps) for id_, steps in each.items()}
    go_on = f"sq resume {run.started.run_id} --deadline"
    if not sums:
        return f". `{go_on} TIME` gives the run more time"
    quickest = min(sums, key=lambda id_: sums[id_])
    parts = ", ".join(f"{step.step} {_minutes(step.seconds)}" for step in each[quickest] if step.seconds)
    least, most = (_minutes(s + hand_over_s(view)) for s in (sums[quickest], sum(sums.values())))
    alone = " --max-parallel 1" if len(sums) > 1 and view.clock.pace.verify_s > _MINUTE_S else ""
    retried = (id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS)
    command = f"{go_on} +{most}{alone}{''.join(f' --retry {id_}' for id_ in retried)}"
    return (
        f": by the times of this run {quickest} alone needs {least} ({parts}), everything that is left about "
        f"{most}. `{command}` goes on"
    )


def _minutes(seconds: float) -> str:
    """Return a duration as `--deadline` takes it, in whole minutes, one at least."""
    return f"{max(1, -int(-seconds // _MINUTE_S))}m"
