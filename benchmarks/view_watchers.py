"""CPU time of a rehearsed run's own process with eight watchers and without, for `benchmarks.views`."""

import http.client
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.view_processes import SQ, MadeRun, dash, environment, terminal

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
        yield terminal([*SQ, "watch", run.run_id, *place])
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
