"""Spans on their way: the same ids each time, and a collector that is slow, dead or wrong costs a run nothing."""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from language.collector import Collector, collecting
from language.event_strategies import stored
from test_spans import BEGUN, DONE, RUN, call, ended, one_run

from orchestrator.telemetry.conventions import read_headers
from orchestrator.telemetry.live import Spans, collector_of
from orchestrator.telemetry.span_tracker import Span
from orchestrator.telemetry.spans import spans_in
from state.journal.store import Journal
from state.paths import StateFolder
from state.settings.integrations import Telemetry

HEADERS = "authorization=Bearer%20the-secret-of-the-collector,x-team=sq"


def to(collector: Collector, *, headers: str = "") -> object:
    telemetry = Telemetry(otlp=collector.url, headers="env:H" if headers else "")
    return collector_of(telemetry, {"H": headers}, "1.0")


async def test_what_arrives_is_what_the_events_say_with_the_ids_that_sq_computed() -> None:
    spans = spans_in(RUN, one_run())
    async with collecting() as collector:
        exporter = to(collector, headers=HEADERS)
        assert await to_thread.run_sync(exporter.send, spans)
        exporter.stop()
    assert [(got.name, got.span_id, got.parent_id) for got in collector.spans] == [
        (span.name, span.span_id, span.parent_id) for span in spans
    ]
    assert {got.trace_id for got in collector.spans} == {spans[0].trace_id}
    assert [dict(got.attributes) for got in collector.spans] == [dict(span.attributes) for span in spans]
    assert collector.spans[0].began == int(spans[0].began.timestamp()) * 10**9
    assert collector.spans[0].resource == {"service.name": "sq", "service.version": "1.0"}
    assert collector.paths == ["/v1/traces"]
    assert collector.headers[0]["authorization"] == "Bearer the-secret-of-the-collector"
    assert collector.headers[0]["x-team"] == "sq"


async def test_sent_again_they_are_the_same_byte_for_byte() -> None:
    async with collecting() as collector:
        for _ in range(2):
            exporter = to(collector)
            assert await to_thread.run_sync(exporter.send, spans_in(RUN, one_run()))
            exporter.stop()
    first, second = collector.bodies
    assert first == second


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", {"a": "b"}),
        ("A=b,c=d%20e", {"a": "b", "c": "d e"}),
        ("authorization=Basic dXNlcjpw==", {"authorization": "Basic dXNlcjpw=="}),
        ("", {}),
        ("a", {}),
        ("a=b%0d%0ainjected: 1", {}),
        ("=b", {}),
        ("a=ä", {}),
    ],
)
def test_headers_are_read_as_opentelemetry_writes_them(text: str, found: dict[str, str]) -> None:
    assert read_headers(text) == found


class Stuck:
    """A collector that does not answer until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.stopped = threading.Event()

    def send(self, spans: Sequence[Span]) -> bool:
        self.let_go.wait(30)
        return True

    def stop(self) -> None:
        self.stopped.set()


@pytest.mark.late
async def test_what_does_not_fit_into_the_queue_is_dropped_and_counted_and_nothing_waits() -> None:
    collector = Stuck()
    spans = Spans(RUN, collector, after=0, queued=10)
    events = stored((*BEGUN, *(one for n in range(500) for one in (call(f"c{n}"), ended(f"c{n}"))), DONE))
    began = time.monotonic()
    for one in events:
        spans.hear(one)
    assert spans.dropped >= 503 - 10 - 256  # all but the queue and the batch that waits for an answer
    line = await spans.finish()
    assert time.monotonic() - began < 25  # the collector would answer after 30 s
    assert "did not reach the collector" in line
    assert f"sq otel {RUN}" in line
    collector.let_go.set()
    assert await to_thread.run_sync(collector.stopped.wait, 10)


async def test_a_collector_that_refuses_or_is_dead_is_counted_and_raises_nothing() -> None:
    async with collecting(status=400) as collector:
        spans = Spans(RUN, to(collector), after=0)
        for one in one_run():
            spans.hear(one)
        assert "8 span(s) did not reach the collector" in await spans.finish()
    dead = Spans(RUN, to(Collector(url="http://127.0.0.1:9")), after=0)
    for one in one_run():
        dead.hear(one)
    assert "8 span(s) did not reach the collector" in await dead.finish()


async def test_what_ended_before_this_process_is_not_sent_again() -> None:
    events = one_run()
    async with collecting() as collector:
        spans = Spans(RUN, to(collector), after=events[8].seq)
        for one in events:
            spans.hear(one)
        assert await spans.finish() == ""
    every = [span.span_id for span in spans_in(RUN, events)]
    before = [span.span_id for span in spans_in(RUN, events[:9])]
    assert before
    assert {got.span_id for got in collector.spans} == set(every) - set(before)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """The state folder of a run that has ended."""
    _, folder = StateFolder(tmp_path / ".sq").new_run()
    with Journal(folder) as journal:
        journal.append(*(one.event for one in one_run()))
    return folder


async def otel(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    import os

    command = [sys.executable, "-P", "-m", "orchestrator.cli", "otel", *arguments]
    command += ["--state-dir", str(folder.parents[1])]
    return await anyio.run_process(command, env={**os.environ, **environ}, check=False, cwd=folder)


async def test_sq_otel_sends_all_spans_of_a_run_each_time_with_the_same_ids(run_folder: Path) -> None:
    async with collecting() as collector:
        environ = {
            "SQ_TELEMETRY_OTLP": collector.url,
            "SQ_TELEMETRY_HEADERS": "env:MY_HEADERS",
            "MY_HEADERS": HEADERS,
        }
        for arguments in ((run_folder.name,), (), ("--follow",)):
            done = await otel(run_folder, *arguments, **environ)
            assert done.returncode == 0, done.stderr
    ids = [got.span_id for got in collector.spans]
    assert len(ids) == 3 * 8
    assert ids[:8] == ids[8:16] == ids[16:]
    assert collector.headers[0]["authorization"].startswith("Bearer ")


@pytest.mark.late
async def test_sq_otel_says_what_is_missing_and_whether_the_collector_took_them(run_folder: Path) -> None:
    off = await otel(run_folder)
    assert (off.returncode, b"telemetry is off: set telemetry.otlp" in off.stderr) == (2, True)
    unset = await otel(run_folder, SQ_TELEMETRY_OTLP="http://127.0.0.1:9", SQ_TELEMETRY_HEADERS="env:NOT_SET")
    assert (unset.returncode, b"NOT_SET is not set" in unset.stderr) == (2, True)
    dead = await otel(run_folder, SQ_TELEMETRY_OTLP="http://127.0.0.1:9")
    assert (dead.returncode, b"did not take 8 of 8 spans" in dead.stderr) == (1, True)
    assert b"Traceback" not in dead.stderr
