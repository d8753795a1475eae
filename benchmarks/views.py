"""Measures what watching a run costs, and how soon a reader sees what happened.

    python -m benchmarks.views

Everything is the real thing: journals on disk, `sq dash`, `sq watch` and `sq report` as processes, a headless
Chromium, and another process that writes the journal as a run does. The journals are invented: twelve tasks
in every state, and one of 100,000 events of which 19 of 20 are messages.

`overview_s` is the time from a request for a run's page, which the server has never read, until its table of
tasks is there. `commit_to_dom_p95_ms` and `commit_to_terminal_p95_ms` are from a stored event until the
browser's DOM or the terminal's output holds its line, at one event a second and at a hundred, the worse of
both. `page_kb_gz` is everything that the page loads, `report_kb_gz` the report of twelve tasks, both
compressed. `report_s` is the whole process `sq report` at 100,000 events. `dom_nodes` and `heap_growth_mb`
are of a page that was open while 100,000 events came in. `watchers_cpu_share` is the CPU time of a rehearsed
run's process with eight watchers (four pages, two terminals, two logs), divided by that without: the median
of alternating pairs. `live_equals_fresh`: after the server was killed and started again, the page is as one
that was opened just then. `hostile_texts_acting` counts things that happened in the page or in the report,
such as dialogs, requests and elements, that only one of 10,000 hostile texts can have caused.

The last line is JSON. Needs Chromium (`apt-get install chromium-headless-shell`) and the environment of the
tests.
"""

import gzip
import http.client
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import click

from benchmarks.figures import print_figures
from benchmarks.view_browser import in_browser
from benchmarks.watching import RATES, SQ, MadeRun, dash, drained, environment, live, made_run, write_report

GOALS = {
    "overview_s": 1.0,
    "commit_to_dom_p95_ms": 250,
    "commit_to_terminal_p95_ms": 150,
    "page_kb_gz": 60,
    "report_kb_gz": 300,
    "report_s": 3,
    "dom_nodes": 5000,
    "heap_growth_mb": 5,
    "watchers_cpu_share": 1.05,
    "foreign_requests": 0,
    "axe_violations": 0,
    "hostile_texts_acting": 0,
}


@click.command()
@click.option("--events", default=100_000, show_default=True, help="Events of the long run.")
@click.option("--pairs", default=15, show_default=True, help="Pairs of runs with and without watchers.")
@click.option("--texts", default=10_000, show_default=True, help="Hostile texts.")
def main(events: int, pairs: int, texts: int) -> None:
    """Measure the page, the terminal and the report."""
    with tempfile.TemporaryDirectory(prefix="sq-views-") as folder:
        place = Path(folder)
        long, twelve = made_run(place / "long", events=events), made_run(place / "twelve", ended=True)
        figures = {
            **_of_report(long, twelve),
            "commit_to_terminal_p95_ms": _in_terminal(place / "terminal"),
            **in_browser(place, long, twelve, events=events, texts=texts),
            "watchers_cpu_share": cpu_share(place / "watched", pairs),
        }
    print_figures(figures, GOALS)


def _of_report(long: MadeRun, twelve: MadeRun) -> dict[str, object]:
    """How long a report of the long run takes, and how large that of twelve tasks is."""
    began = time.perf_counter()
    write_report(long, long.state / "report.html")
    seconds = time.perf_counter() - began
    write_report(twelve, twelve.state / "report.html")
    packed = len(gzip.compress((twelve.state / "report.html").read_bytes()))
    return {"report_s": round(seconds, 2), "report_kb_gz": round(packed / 1024, 1)}


def _in_terminal(place: Path) -> float:
    """The worse p95 of `sq watch`, in milliseconds, at one event a second and at a hundred."""
    found = [live(place / str(count), count=count, pause_s=pause_s) for pause_s, count in RATES]
    return round(max(one["p95_ms"] for one in found), 1)


# Runs the demo in this process, and writes the CPU seconds of it alone: children do not count.
_RUN = """
import resource, sys
from orchestrator.cli.main import main
sys.argv = ["sq", "demo", "--plain", "--keep-in", sys.argv[1]]
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    open(sys.argv[-1] + ".cpu", "w").write(f"{used.ru_utime + used.ru_stime}")
"""
_PAGES, _TERMINALS, _LOGS = 4, 2, 2


def cpu_share(folder: Path, pairs: int) -> float:
    """The median over the pairs, which alternate which side goes first."""
    folder.mkdir()
    shares = []
    for pair in range(pairs):
        sides = [False, True] if pair % 2 else [True, False]
        used = {watched: _run(folder / f"{pair}-{watched}", watched=watched) for watched in sides}
        shares.append(used[True] / used[False])
    return round(median(shares), 3)


def _run(folder: Path, *, watched: bool) -> float:
    """CPU seconds of one run of the demo."""
    command = [sys.executable, "-c", _RUN, str(folder)]
    with ExitStack() as around:
        process = around.enter_context(
            subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        )
        if watched:
            run = _begun(folder)
            for watcher in _watchers(run):
                around.enter_context(watcher)
        if process.wait():
            sys.exit(f"the demo in {folder} ended with exit code {process.returncode}")
    return float(Path(f"{folder}.cpu").read_text("utf-8"))


def _begun(folder: Path) -> MadeRun:
    """The run, as soon as its journal is there."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for journal in (folder / ".sq" / "runs").glob("*/journal.db"):
            return MadeRun(state=folder / ".sq", run_id=journal.parent.name)
        time.sleep(0.05)
    sys.exit(f"the demo in {folder} began no run in 30 s")


def _watchers(run: MadeRun) -> Iterator[AbstractContextManager[object]]:
    yield _pages(run)
    place = ["--state-dir", str(run.state)]
    for _ in range(_TERMINALS):
        yield drained([*SQ, "watch", run.run_id, *place])
    for _ in range(_LOGS):
        yield _log([*SQ, "logs", run.run_id, "--follow", *place])


@contextmanager
def _log(command: list[str]) -> Iterator[None]:
    with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL) as process:
        yield
        process.terminate()


@contextmanager
def _pages(run: MadeRun) -> Iterator[None]:
    """One server, and clients that read its stream as four open pages do."""
    with dash(run) as (address, _):
        parts = urlsplit(address)
        place = (parts.hostname or "", parts.port or 0)
        first = http.client.HTTPConnection(*place)
        first.request("GET", f"{parts.path}?{parts.query}")
        cookie = (first.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
        first.close()
        over = threading.Event()
        readers = [
            threading.Thread(target=_read, args=(place, run.run_id, cookie, over), daemon=True)
            for _ in range(_PAGES)
        ]
        for reader in readers:
            reader.start()
        yield
        over.set()


def _read(place: tuple[str, int], run_id: str, cookie: str, over: threading.Event) -> None:
    connection = http.client.HTTPConnection(*place, timeout=60)
    connection.request("GET", f"/run/{run_id}/stream", headers={"Cookie": cookie})
    answer = connection.getresponse()
    while not over.is_set() and answer.read1(65536):
        pass
    connection.close()


if __name__ == "__main__":
    main()
