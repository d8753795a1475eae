"""Server-sent events: the regions of a page that changed, as HTML, with the place in the journal as their id.

The first event after each connection holds all regions whole. So a client may miss events: nothing builds on
those before.
"""

import time
from collections.abc import AsyncIterator, Callable

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from orchestrator.views.page.ports import LiveRuns, Regions, Render

SIGN_S = 10  # between two signs of life. The page takes 25 s of silence for a lost connection
_SEND_S = 30.0  # a client that takes nothing for so long is dropped
_RETRY_MS = 1000
_SEP = "\n"
_LIST_S = 1.0  # between two looks at the list of runs


def run_stream(runs: LiveRuns, run_id: str, key: object, render: Render) -> Response:
    """Return the stream of one page of a run.

    Args:
        runs: the runs.
        run_id: one of them.
        key: names the page. Clients with the same key share one rendering.
        render: makes the regions of the page.
    """
    return _response(runs, _run_events(runs, run_id, key, render))


def list_stream(runs: LiveRuns, regions: Callable[[], Regions]) -> Response:
    """Return the stream of the list of runs."""
    return _response(runs, _list_events(runs, regions))


async def _run_events(
    runs: LiveRuns, run_id: str, key: object, render: Render
) -> AsyncIterator[ServerSentEvent]:
    with runs.watched(run_id) as run:
        sent: Regions = {}
        while run is not None and not runs.stopping.is_set():
            changed = run.changed  # taken before reading, so that a change in between is not missed
            regions = run.regions(key, render)
            if event := _event(regions, sent, str(run.seq)):
                yield event
            sent = regions
            await changed.wait()


async def _list_events(runs: LiveRuns, regions: Callable[[], Regions]) -> AsyncIterator[ServerSentEvent]:
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


def _response(runs: LiveRuns, events: AsyncIterator[ServerSentEvent]) -> Response:
    return EventSourceResponse(
        _counted(runs, events), ping=SIGN_S, ping_message_factory=_sign, send_timeout=_SEND_S, sep=_SEP
    )


async def _counted(runs: LiveRuns, events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    with runs.stream():
        yield _sign()
        async for event in events:
            yield event


def _sign() -> ServerSentEvent:
    """Return a sign of life with the server's time in milliseconds."""
    return ServerSentEvent(str(round(time.time() * 1000)), event="sign", sep=_SEP)
