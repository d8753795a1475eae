"""Sends the spans of a run of another process as they end."""

from pathlib import Path

import anyio
from anyio import to_thread

from orchestrator.telemetry.live import Collector
from orchestrator.telemetry.span_tracker import Span
from orchestrator.telemetry.spans import SpanFold
from state.journal.events import RunEnded, RunResumed
from state.journal.store import JournalReader, is_active

_LOOK_S = 1.0  # between looks whether a process still writes the run
_MOST = 256  # spans that wait to be sent


async def follow_spans(journal: JournalReader, folder: Path, collector: Collector) -> int:
    """Send all spans of a run and then each as it ends, until the run does. Returns how many were lost."""
    fold, lost = SpanFold(folder.name), 0

    async def send(spans: list[Span]) -> None:
        nonlocal lost
        if spans and not await to_thread.run_sync(collector.send, list(spans)):
            lost += len(spans)

    waiting: list[Span] = []
    after, ended = 0, False
    while not ended:
        active = is_active(folder)  # before reading, so that nothing stored until then is missed
        for stored in journal.read(after):
            after = stored.seq
            waiting += fold.apply(stored)
            if isinstance(stored.event, RunEnded | RunResumed):
                ended = isinstance(stored.event, RunEnded)
            if len(waiting) >= _MOST:
                await send(waiting)
                waiting.clear()
        await send(waiting)
        waiting.clear()
        if not active:
            break
        await anyio.sleep(_LOOK_S)
    await send(fold.rest())
    return lost
