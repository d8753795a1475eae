"""All runs of a state folder for the page, opened when a client looks at them, and streams of their changes.

A stream has the regions that changed, as HTML. Its first event after each connection holds all regions whole.
So a client may miss events: nothing builds on those before.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from agents.concurrency import task_group
from orchestrator.views.models.summary import RunSummary
from orchestrator.views.page.followed import FollowedRun, Regions, Render
from orchestrator.views.run.details import RunList
from state.paths import StateFolder

_KEPT = 4  # opened runs without a client
_LISTED = 100  # runs of the list, the newest ones
MOST_STREAMS = 16


@dataclass(slots=True)
class _Open:
    """An opened run, and the task that keeps it current while it has clients."""

    run: FollowedRun
    clients: int = 0
    scope: anyio.CancelScope | None = None


@dataclass(slots=True)
class Runs:
    """The runs of a state folder. `stopping` is set when the server ends, `streams` counts open streams."""

    state: StateFolder
    options: str
    tasks: TaskGroup
    stopping: anyio.Event = field(default_factory=anyio.Event)
    streams: int = 0
    _open: dict[str, _Open] = field(default_factory=dict)
    _list: RunList = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no run read."""
        self._list = RunList(self.state, self.options)

    @property
    def place(self) -> str:
        """The path of the state folder."""
        return str(self.state.root)

    def get(self, run_id: str) -> FollowedRun | None:
        """Return a run, up to date, or None if there is none with exactly this id.

        Raises:
            JournalError: its journal cannot be read.
        """
        return one.run.current() if (one := self._opened(run_id)) else None

    @contextmanager
    def watched(self, run_id: str) -> Iterator[FollowedRun | None]:
        """Keep a run current while the block runs."""
        if (one := self._opened(run_id)) is None:
            yield None
            return
        one.run.current()
        one.clients += 1
        if one.scope is None:
            one.scope = anyio.CancelScope()
            self.tasks.start_soon(_follow, one.run, one.scope)
        try:
            yield one.run
        finally:
            one.clients -= 1
            if not one.clients and one.scope:
                one.scope.cancel()
                one.scope = None

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count a stream while the block runs."""
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    @property
    def is_full(self) -> bool:
        """Whether there are as many streams as there may be."""
        return self.streams >= MOST_STREAMS

    def summaries(self) -> tuple[list[RunSummary], int]:
        """Return the newest runs in short, newest first, and the number of older ones."""
        ids = self.state.run_ids()[::-1]
        return [*map(self._list.summary, ids[:_LISTED])], len(ids[_LISTED:])

    def stop(self) -> None:
        """End all streams."""
        self.stopping.set()
        for one in self._open.values():
            one.run.announce()

    def close(self) -> None:
        """Close all journals."""
        for one in self._open.values():
            one.run.close()
        self._open.clear()

    def _opened(self, run_id: str) -> _Open | None:
        if run_id not in self._open:
            if run_id not in self.state.run_ids():
                return None
            self._open[run_id] = _Open(FollowedRun(self.state.runs / run_id, self.options))
        one = self._open[run_id] = self._open.pop(run_id)  # the newest is the last
        idle = [key for key, other in self._open.items() if not other.clients and other is not one]
        for key in idle[: max(0, len(idle) - _KEPT)]:
            self._open.pop(key).run.close()
        return one


@asynccontextmanager
async def runs_of(state: StateFolder, options: str) -> AsyncIterator[Runs]:
    """Provide the runs of a state folder. All journals are closed at the end of the block."""
    async with task_group() as tasks:
        runs = Runs(state, options, tasks)
        try:
            yield runs
        finally:
            tasks.cancel_scope.cancel()
            runs.close()


async def _follow(run: FollowedRun, scope: anyio.CancelScope) -> None:
    with scope:
        await run.following()


SIGN_S = 10  # between two signs of life. The page takes 25 s of silence for a lost connection
_SEND_S = 30.0  # a client that takes nothing for so long is dropped
_RETRY_MS = 1000
_SEP = "\n"
_LIST_S = 1.0  # between two looks at the list of runs


def run_stream(runs: Runs, run_id: str, key: object, render: Render) -> Response:
    """Return the stream of one page of a run.

    Args:
        key: names the page. Clients with the same key share one rendering.
        render: makes the regions of the page.
    """
    return _response(runs, _run_events(runs, run_id, key, render))


def list_stream(runs: Runs, regions: Callable[[], Regions]) -> Response:
    return _response(runs, _list_events(runs, regions))


async def _run_events(runs: Runs, run_id: str, key: object, render: Render) -> AsyncIterator[ServerSentEvent]:
    with runs.watched(run_id) as run:
        sent: Regions = {}
        while run is not None and not runs.stopping.is_set():
            changed = run.changed  # taken before reading, so that a change in between is not missed
            regions = run.regions(key, render)
            if event := _event(regions, sent, str(run.seq)):
                yield event
            sent = regions
            await changed.wait()


async def _list_events(runs: Runs, regions: Callable[[], Regions]) -> AsyncIterator[ServerSentEvent]:
    sent: Regions = {}
    while not runs.stopping.is_set():
        now = regions()
        if event := _event(now, sent, "0"):
            yield event
        sent = now
        with anyio.move_on_after(_LIST_S):
            await runs.stopping.wait()


def _event(regions: Regions, sent: Regions, id_: str) -> ServerSentEvent | None:
    """Return an event with the regions whose bytes differ from those sent before, or None without any."""
    fresh = [html for name, html in regions.items() if sent.get(name) != html]
    return (
        ServerSentEvent("".join(fresh), event="regions", id=id_, retry=_RETRY_MS, sep=_SEP) if fresh else None
    )


def _response(runs: Runs, events: AsyncIterator[ServerSentEvent]) -> Response:
    return EventSourceResponse(
        _counted(runs, events), ping=SIGN_S, ping_message_factory=_sign, send_timeout=_SEND_S, sep=_SEP
    )


async def _counted(runs: Runs, events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    with runs.stream():
        yield _sign()
        async for event in events:
            yield event


def _sign() -> ServerSentEvent:
    """Return a sign of life with the server's time in milliseconds."""
    return ServerSentEvent(str(round(time.time() * 1000)), event="sign", sep=_SEP)
