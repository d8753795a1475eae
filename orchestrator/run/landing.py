"""Landing: near the end of a run's time verified work is merged and handed over, and nothing else is done.

It begins as early as merges and reviews have taken in this run so far, longest time each. The times are
read from the clock on the wall, because a deadline is one, so a machine that slept does not shift it.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import anyio

from agents.concurrency import task_group
from orchestrator.run.record import Run
from state.journal.events import LandingStarted, LimitReached
from state.journal.events.tasks import Stage
from state.journal.phase import Phase, can_land, is_under_way, phase_of
from state.journal.view import RunView

_LOOK_S = 0.25
_MORE = 1.5  # a step may take so many times as long as before
_LEAST_S = 1.0  # for the hand-over
_IN_GIT = 4  # steps of git at the hand-over, each about as long as moving a branch


def hand_over_s(view: RunView) -> float:
    """Return the seconds to keep for handing over what is merged."""
    return _LEAST_S + _IN_GIT * view.clock.pace.move_s


def landing_s(view: RunView) -> float:
    """Return how many seconds before the end of the time landing has to begin.

    A task under way may be accepted in the next moment, so there is time for its review and its merge.
    """
    pace = view.clock.pace
    tasks = [task for task in view.tasks.values() if is_under_way(task)]
    merges = len(tasks) * max(pace.merge_s, pace.verify_s + pace.move_s)
    to_review = any(task.stage is not Stage.APPROVED for task in tasks)
    review = (pace.review_s or pace.exchange_s) if to_review else 0.0
    return _MORE * (merges + review) + hand_over_s(view)


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
        if task_id not in run.view.tasks or not can_land(run.task(task_id)):
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
    view = run.view
    at = view.process.landing.until if view.process.landing else view.process.deadline
    if at is None or view.ended:
        return False
    left_s = (at - datetime.now(UTC)).total_seconds()
    goes_home = phase_of(view) in {Phase.BRING_HOME, Phase.END}
    if view.process.landing is None and not goes_home and left_s <= landing_s(view):
        begin_landing(run)
    return left_s <= hand_over_s(view)


def _time_is_over(run: Run) -> str:
    limits, process = run.limits, run.view.process
    if process.landing and process.landing.signal:
        return process.landing.signal
    deadline = datetime.fromisoformat(limits.deadline) if limits.deadline else None
    if deadline and deadline == process.deadline:
        at = f"{deadline.astimezone():%Y-%m-%d %H:%M:%S}"
        return f"the deadline {at} is too near for more. `sq resume --deadline TIME` gives the run more time"
    return f"the run's time of {limits.run_s:g} s is used up"
