"""Spans of a run while it goes on, in this process or in another: queued, and sent by a thread of their own.

A collector that is slow, dead or wrong costs the run nothing. What does not fit into the queue is dropped and
counted. `sq otel RUN` sends everything again, with the same ids.
"""

import queue
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import structlog
from anyio import to_thread

from orchestrator.telemetry.conventions import read_headers
from orchestrator.telemetry.span_tracker import Span
from orchestrator.telemetry.spans import SpanFold
from state.journal.events import RunEnded, RunResumed, Stored
from state.journal.store import JournalReader, is_active
from state.settings.integrations import Telemetry

if TYPE_CHECKING:
    from orchestrator.telemetry.export import Exporter

log = structlog.get_logger(__name__)

QUEUED = 2_048  # spans
LAST_S = 5.0  # that the end of a run waits for its last spans
_BATCH, _GATHER_S, _LOOK_S = 256, 1.0, 0.02


class Spans:
    """The spans of one process of a run. Those that ended before the event `after` are not sent again."""

    def __init__(self, run_id: str, collector: "Exporter", *, after: int, queued: int = QUEUED) -> None:
        self._fold = SpanFold(run_id)
        self._run_id = run_id
        self._collector = collector
        self._after = after
        self._queue: queue.Queue[Span | None] = queue.Queue(queued)
        self._closing, self._given_up = threading.Event(), threading.Event()
        self.dropped = 0
        self.lost = 0  # that the collector did not take
        self._thread = threading.Thread(target=self._work, name="sq telemetry", daemon=True)
        self._thread.start()

    def hear(self, stored: Stored) -> None:
        """Take the next event. Returns at once. No error of it reaches the run."""
        try:
            spans = self._fold.apply(stored)
        except Exception:
            log.exception("telemetry.failed", seq=stored.seq)
            self.dropped += 1
            return
        for span in spans if stored.seq > self._after else ():
            try:
                self._queue.put_nowait(span)
            except queue.Full:
                self.dropped += 1

    def close(self) -> None:
        """Let the thread end once the queue is empty."""
        self._closing.set()

    async def finish(self) -> str:
        """Wait until the last spans are sent, five seconds at most. Returns a line if any were not.

        After that time no further batch is sent.
        """
        self.close()
        with anyio.move_on_after(LAST_S):
            while self._thread.is_alive():  # noqa: ASYNC110  a thread ends, which is no event here
                await anyio.sleep(_LOOK_S)
        self._given_up.set()
        missing = self.dropped + self.lost + (self._queue.qsize() if self._thread.is_alive() else 0)
        if not missing and not self._thread.is_alive():
            return ""
        again = f"send all of them again with: sq otel {self._run_id}"
        return f"telemetry: {max(missing, 1)} span(s) did not reach the collector, {again}"

    def _work(self) -> None:
        try:
            while not self._given_up.is_set() and not (self._closing.is_set() and self._queue.empty()):
                if batch := self._batch():
                    taken = self._collector.send(batch)
                    self.lost += 0 if taken else len(batch)
        finally:
            self._collector.stop()

    def _batch(self) -> list[Span]:
        """Return the spans of about a second, or at once if the run ends."""
        batch: list[Span] = []
        until = time.monotonic() + _GATHER_S
        while len(batch) < _BATCH and time.monotonic() < until:
            try:
                span = self._queue.get(timeout=_LOOK_S * 5)
            except queue.Empty:
                if self._closing.is_set():
                    break
                continue
            if span is not None:
                batch.append(span)
        return batch


def collector_of(telemetry: Telemetry, addresses: Mapping[str, str], version: str) -> "Exporter":
    """Return the collector that the settings name. `addresses` has the value of the variable with headers."""
    from orchestrator.telemetry.export import Exporter

    headers = read_headers(addresses.get(telemetry.variable, ""))
    return Exporter(telemetry.traces_url, headers, version=version)


_CHECKED_S = 1.0  # between looks whether a process still writes the run
_MOST = 256  # spans that wait to be sent


async def follow_spans(journal: JournalReader, folder: Path, collector: "Exporter") -> int:
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
        await anyio.sleep(_CHECKED_S)
    await send(fold.rest())
    return lost
