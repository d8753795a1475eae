"""One run as all clients of the page follow it: one fold, and one rendering of each region."""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio

from orchestrator.views.run.story import ReadRun
from state.errors import JournalError
from state.inbox import Word, left_in
from state.journal.events import Stored
from state.journal.store import is_active
from state.journal.view import RunView

_POLL_S = 0.025  # between two looks for new events. A look costs about 12 µs
_CALM_S = 0.25  # the same for a run that no process works on
_REST_S = 0.2  # the least time between two renderings, so that a storm of events costs little
_LOOK_S = 1.0  # between two looks whether a process works on the run
_TICK = timedelta(seconds=5)  # bars of things under way grow in steps of this

Regions = dict[str, str]  # HTML by the id of its element, in the order of the page
Render = Callable[["FollowedRun"], Regions]


class FollowedRun(ReadRun):
    """The fold of one run. `current` brings it up to date, and `following` keeps it so for its clients."""

    def __init__(self, folder: Path, options: str = "", wall: Callable[[], float] = time.time) -> None:
        """Open a run's journal. Events are read with the first `current`.

        Args:
            folder: the run's folder.
            options: options for a command to find this run again, such as `--state-dir X`.
            wall: the clock, in seconds since 1970.

        Raises:
            UsageError: there is no journal in this folder.
        """
        super().__init__(folder)
        self.options = options
        self._wall = wall
        self.left: tuple[Word, ...] = ()  # by people, and not taken by the run yet
        self.heard_at: datetime | None = None
        self.changed = anyio.Event()
        self._looked_at = float("-inf")
        self._rendered: dict[object, tuple[object, Regions]] = {}

    def __repr__(self) -> str:
        return f"<Followed {self.folder.name} seq={self.seq}>"

    @property
    def view(self) -> RunView:
        """The run's state."""
        return self.story.view

    @property
    def seq(self) -> int:
        """The place of the newest event that is folded."""
        return self.newest.seq

    def add(self, events: Iterable[Stored]) -> None:
        """Fold events. Messages are present actions alone: the fold is the same with and without them."""
        new = list(events)
        super().add(new)
        self.heard_at = new[-1].at if new else self.heard_at

    @property
    def now(self) -> datetime:
        """This moment in steps, or that of the last event if no process works on the run."""
        last = self.heard_at
        if last and not self.active:
            return last
        return max(self._step(), last) if last else self._step()

    @property
    def tick(self) -> datetime:
        """The next step after this moment: bars of things under way grow seldom, and no event lies later."""
        return self.now if not self.active else max(self._step() + _TICK, self.now)

    def current(self) -> "FollowedRun":
        """Fold the events that are new, and look whether a process works on the run."""
        if self.seq == 0:
            self.add(self.reader.read(messages=False))
            self.find_present_actions(self.newest)
        self.add(self.reader.read(self.seq))
        self.left = tuple(left_in(self.folder))
        if self.view.ended:
            self.active = False
        elif time.monotonic() - self._looked_at >= _LOOK_S:
            self.active, self._looked_at = is_active(self.folder), time.monotonic()
        return self

    def regions(self, key: object, render: Render) -> Regions:
        """Return the regions of one page of this run by their ids. Clients share one rendering.

        Args:
            key: names the page.
            render: makes the regions from the run.
        """
        state = self._state()
        known = self._rendered.get(key)
        if known is None or known[0] != state:
            known = (state, render(self))
            self._rendered[key] = known
        return known[1]

    async def following(self) -> None:
        """Keep the fold current and wake the streams at news. Ends if the journal is damaged."""
        shown: object = None
        while not self.problem:
            count, started = self.reader.change_count(), time.monotonic()
            try:
                self.current()
            except JournalError as error:
                self.problem = str(error)
            if (state := self._state()) != shown:
                shown = state
                self.announce()
            await anyio.sleep(max(0.0, _REST_S - (time.monotonic() - started)))
            await self._next(count)

    def _step(self) -> datetime:
        """Return this moment, rounded down to a step."""
        seconds = _TICK.total_seconds()
        return datetime.fromtimestamp(self._wall() // seconds * seconds, UTC)

    def _state(self) -> object:
        return self.seq, self.now, self.active, self.problem, self.left

    async def _next(self, count: int) -> None:
        """Wait for new events, or for the next moment at which time alone changes the page."""
        until = time.monotonic() + _LOOK_S
        while self.reader.change_count() == count and time.monotonic() < until:  # noqa: ASYNC110  another process
            await anyio.sleep(_POLL_S if self.active else _CALM_S)

    def announce(self) -> None:
        """Wake all streams of this run."""
        before, self.changed = self.changed, anyio.Event()
        before.set()
