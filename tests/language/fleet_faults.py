"""What goes wrong in a fleet, a row each: the fault, and what has to come of it. Real processes, a real database."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks.rehearsed import calls, git
from language.clocks import NO_COMPILER, jumping_clock
from language.fleets import FleetHere, scenario
from language.postgres import PostgresServer
from orchestrator.fleet.records import Report, Submission, UnitState
from orchestrator.fleet.transport import journal_ref
from state.outcome import Outcome

SECRET = "hunter2-" + "q7Xw9ZkLm3Tv5Rb8"
ALONE_S = 5.0
Row = Callable[[FleetHere, PostgresServer], str]
ROWS: dict[str, Row] = {}


class CannotRunError(Exception):
    """A fault that cannot be made on this machine, and why."""


def row(act: Row) -> Row:
    ROWS[act.__name__] = act
    return act


def done(fleet: FleetHere, *ids: str) -> None:
    """All are complete, each with one branch, whose commit has the work once."""
    units = fleet.until_ended(*ids)
    reports = [one.report for one in units]
    assert all(one and one.outcome is Outcome.COMPLETE for one in reports), fleet.states()
    branches = fleet.branches()
    runs = {one.run for one in reports if one}
    assert set(branches) == {f"refs/heads/sq/{run}" for run in runs}, (branches, runs)
    for name in branches:
        assert git(fleet.server, "rev-list", "--count", f"main..{name}", "--", "notes.txt") == "1"


def report(fleet: FleetHere, id_: str) -> Report:
    found = fleet.unit(id_).report
    assert found is not None
    return found


def until_run(fleet: FleetHere, id_: str) -> None:
    """Wait until a run has ended its first exchange, which is when its worker notes it."""
    fleet.until(lambda: (found := fleet.ledger.progress([id_]).get(id_)) and found.run)


@row
def worker_killed(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=4))
    first = fleet.worker("first")
    until_run(fleet, id_)
    fleet.worker("second")
    fleet.until(lambda: len(fleet.ledger.workers()) == 2)
    below = first.tree()[1:]
    first.kill()
    fleet.until(lambda: not any(one.is_running() for one in below), within_s=5)
    done(fleet, id_)
    return "another worker goes on; nothing of the killed one is left"


@row
def host_hung(fleet: FleetHere, server: PostgresServer) -> str:
    took, zombie = hung(fleet)
    assert took <= 35, took
    assert zombie == 0
    assert all(one.deaths == 0 for one in fleet.ledger.progress().values()), "a slow host is no poison"
    return f"taken over after {took:.0f} s; continued, it pushes nothing and ends"


def hung(fleet: FleetHere) -> tuple[float, int]:
    """Stop a whole host and let it go on after the takeover. Return the seconds to that, and its pushes after it."""
    id_ = fleet.submit(scenario(work_s=12))
    first = fleet.worker("first", "--checkpoint", "1")
    until_run(fleet, id_)
    fleet.worker("second")
    fleet.until(lambda: len(fleet.ledger.workers()) == 2)
    first.freeze()
    took = fleet.until_phase(id_, "fetching", "working", worker="second")
    fleet.until(lambda: any(one.worker == "second" for one in fleet.pushes(id_)))
    claimed = next(one.at for one in fleet.pushes(id_) if one.worker == "second")
    below = first.tree()[1:]
    first.thaw()
    fleet.until(
        lambda: first.process.poll() is not None and not any(one.is_running() for one in below), within_s=5
    )
    done(fleet, id_)
    return took, sum(one.worker == "first" and one.at > claimed for one in fleet.pushes())


@row
def database_away(fleet: FleetHere, server: PostgresServer) -> str:
    seconds = float(os.environ.get("FLEET_AWAY_S", "8"))
    ids = [fleet.submit(scenario(work_s=3), nonce=str(number)) for number in range(3)]
    workers = [fleet.worker("first"), fleet.worker("second")]
    until_run(fleet, ids[0])
    server.stop("immediate")
    time.sleep(seconds)
    server.start()
    done(fleet, *ids)
    assert all(one.process.poll() is None for one in workers)
    assert all(one.deaths == 0 for one in fleet.ledger.progress(ids).values())
    return f"away for {seconds:.0f} s: all runs go on, no worker ends, none is taken over"


@row
def database_away_at_the_end(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=2))
    worker = fleet.worker("only", "--drain")
    until_run(fleet, id_)
    server.stop("immediate")
    fleet.until(fleet.branches)
    time.sleep(3)
    server.start()
    done(fleet, id_)
    assert worker.process.wait(30) == 0
    assert fleet.ledger.progress([id_])[id_].claims == 1, "what is done is reported, not done again"
    return "the run ends meanwhile, and is reported when it is back"


@row
def asked_to_end_without_database(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=6))
    first = fleet.worker("first")
    until_run(fleet, id_)
    run = fleet.ledger.progress([id_])[id_].run
    server.stop("immediate")
    try:
        assert first.end(within_s=60) == 1
        assert "the database is away" in first.said
    finally:
        server.start()
    fleet.worker("second")
    done(fleet, id_)
    assert report(fleet, id_).run == run
    return "it puts its run down, pushes it and ends; another one goes on"


@row
def connection_cut(fleet: FleetHere, server: PostgresServer) -> str:
    ids = [fleet.submit(scenario(work_s=6), nonce=str(number)) for number in range(2)]
    workers = [fleet.worker("first"), fleet.worker("second")]
    for id_ in ids:
        until_run(fleet, id_)
    for _ in range(3):
        server.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        time.sleep(1)
    done(fleet, *ids)
    assert all(one.process.poll() is None for one in workers)
    assert all((one.claims, one.deaths) == (1, 0) for one in fleet.ledger.progress(ids).values())
    return "a worker connects again before it counts as dead"


@row
def git_server_away(fleet: FleetHere, server: PostgresServer) -> str:
    ids = [fleet.submit(scenario(work_s=3), nonce=str(number)) for number in range(2)]
    fleet.worker("first", "--checkpoint", "1")
    until_run(fleet, ids[0])
    away = fleet.server.with_name("away.git")
    fleet.server.rename(away)
    time.sleep(ALONE_S)
    away.rename(fleet.server)
    done(fleet, *ids)
    return "runs go on, and are pushed when it is back"


@row
def disk_full(fleet: FleetHere, server: PostgresServer) -> str:
    with small_disk(fleet.folder / "full-0", "12m") as home:
        id_ = fleet.submit(scenario())
        (home / "ballast").write_bytes(b"x" * 11 * 2**20)
        full = fleet.worker("full")
        fleet.until(lambda: full.process.poll() is not None)
        assert full.process.returncode == 1
        assert "the disk is full" in full.said, full.said
        assert fleet.unit(id_).state is UnitState.QUEUED
        fleet.worker("second")
        done(fleet, id_)
    return "the worker gives its run back, says why and ends with code 1; another one goes on"


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own with this much room."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        raise CannotRunError("a small file system can be mounted by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@row
def clock_jumps(fleet: FleetHere, server: PostgresServer) -> str:
    clock = fleet.folder / "clock"
    if not (faked := jumping_clock(clock)):
        raise CannotRunError(NO_COMPILER)
    ids = [fleet.submit(scenario(work_s=5), nonce=str(number)) for number in range(2)]
    jumping = fleet.worker("jumping", **faked)
    steady = fleet.worker("steady")
    until_run(fleet, ids[0])
    until_run(fleet, ids[1])
    clock.write_text("3600")
    time.sleep(2)
    clock.write_text("-3600")
    done(fleet, *ids)
    assert jumping.process.poll() is steady.process.poll() is None
    assert all((one.claims, one.deaths) == (1, 0) for one in fleet.ledger.progress(ids).values())
    return "an hour forward and two back on one host: nobody is taken over, no time is wrong by it"


@row
def push_cut_off(fleet: FleetHere, server: PostgresServer) -> str:
    hooks = fleet.server / "hooks"
    for name in ("pre-receive", "post-receive"):  # before the server has taken it, and after
        # The client is the parent of the program that calls this hook.
        (hooks / name).write_text(
            f"""#!/bin/sh
[ -e "$GIT_DIR/cut-{name}" ] || exit 0
rm "$GIT_DIR/cut-{name}"
kill -9 $(ps -o ppid= -p $PPID)
[ {name} = post-receive ] || exit 1
"""
        )
        (hooks / name).chmod(0o755)
    id_ = fleet.submit(scenario(work_s=2))
    fleet.worker("first")
    until_run(fleet, id_)
    for name in ("pre-receive", "post-receive"):
        (fleet.server / f"cut-{name}").touch()
    done(fleet, id_)
    assert not list(fleet.server.glob("cut-*")), "both were cut"
    return "cut before and after the server took it: pushed once"


@row
def one_name_twice(fleet: FleetHere, server: PostgresServer) -> str:
    workers = [fleet.worker("same"), fleet.worker("same")]
    fleet.until(lambda: len(fleet.ledger.workers()) == 2)
    ids = [fleet.submit(scenario(), nonce=str(number)) for number in range(4)]
    done(fleet, *ids)
    assert len({one.executor for one in fleet.ledger.workers()}) == 2
    assert all(one.claims == 1 for one in fleet.ledger.progress(ids).values())
    assert all(one.process.poll() is None for one in workers)
    return "both work, each under an id of its own"


_NEXT = """
import sys
from pathlib import Path
from orchestrator.fleet.host import WorkerPolicy
from orchestrator.fleet.worker import Worker, WorkerWish
wish = WorkerWish(policy=WorkerPolicy(repositories=("*",)), protocol="2", name="next")
Worker(sys.argv[1], Path(sys.argv[2]), wish, "next", lambda *text: print(*text, flush=True)).run()
"""


@row
def next_version(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario())
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _NEXT, fleet.url, str(fleet.folder / "next")],
        env=fleet.environment(fleet.folder / "next-home"),
        stdout=subprocess.DEVNULL,
    )
    try:
        fleet.until(fleet.ledger.workers)
        time.sleep(3)
        assert process.poll() is None
        assert fleet.unit(id_).state is UnitState.QUEUED, (
            "it takes nothing that it might understand otherwise"
        )
        fleet.worker("present")
        done(fleet, id_)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    return "it leaves the work of this version to workers of this version, which go on beside it"


@row
def poisoned(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario())
    for number in range(3):
        worker = fleet.worker(f"w{number}")
        fleet.until_phase(id_, "working", worker=f"w{number}")
        worker.kill()
    last = fleet.worker("last")
    fleet.until_ended(id_)
    found = report(fleet, id_)
    assert found.outcome is Outcome.FAILED
    assert "3 workers died" in found.problem
    assert last.process.poll() is None
    other = fleet.submit(scenario(), nonce="other")
    fleet.until_ended(other)
    assert report(fleet, other).outcome is Outcome.COMPLETE
    return "after three workers it fails by name, and the fourth lives on"


@row
def cancelled_in_the_queue(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario())
    assert fleet.engine.cancel(id_)
    fleet.worker("first")
    fleet.until(fleet.ledger.workers)
    time.sleep(2)
    assert fleet.unit(id_).state is UnitState.CANCELLED
    assert not fleet.branches()
    assert not fleet.ledger.pools()
    return "it never begins and costs nothing"


@row
def cancelled_while_it_is_fetched(fleet: FleetHere, server: PostgresServer) -> str:
    mirrors = fleet.folder / "first-0/.local/state/sq/fleet/mirrors"
    mirrors.mkdir(parents=True)
    from hashlib import sha256

    with (mirrors / f"{sha256(str(fleet.server).encode()).hexdigest()[:16]}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        id_ = fleet.submit(scenario())
        fleet.worker("first")
        fleet.until_phase(id_, "fetching")
        assert fleet.engine.cancel(id_)
    fleet.until(lambda: fleet.ledger.progress([id_])[id_].phase == "interrupted")
    assert fleet.unit(id_).state is UnitState.CANCELLED
    assert not fleet.branches()
    return "sq is not started"


@row
def cancelled_while_it_works(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=15))
    worker = fleet.worker("first")
    until_run(fleet, id_)
    assert fleet.engine.cancel(id_)
    took = fleet.until(lambda: fleet.ledger.progress([id_])[id_].phase == "interrupted", within_s=14)
    assert len(worker.tree()) == 1
    assert all(pool.reserved_usd == 0 for pool in fleet.ledger.pools())
    run = fleet.ledger.progress([id_])[id_].run
    assert fleet.engine.again(id_)
    done(fleet, id_)
    assert report(fleet, id_).run == run
    return f"put down and pushed within {took:.0f} s; tried again, it goes on where it was"


@row
def cancelled_and_tried_again_at_once(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=6))
    fleet.worker("first")
    fleet.worker("second")
    until_run(fleet, id_)
    run = fleet.ledger.progress([id_])[id_].run
    fleet.sq("cancel", id_)
    fleet.sq("retry", id_)
    done(fleet, id_)
    assert report(fleet, id_).run == run
    assert fleet.ledger.progress([id_])[id_].claims == 2
    return "it waits until it is put down, and goes on once"


@row
def cancelled_when_its_worker_is_dead(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=20))
    first = fleet.worker("first")
    until_run(fleet, id_)
    first.freeze()
    assert fleet.engine.cancel(id_)
    first.kill()
    assert "$5.00 reserved" in fleet.sq("budget", "default", "5")
    fleet.worker("second")
    fleet.until(lambda: "$0.00 reserved" in fleet.sq("budget"))
    other = fleet.submit(scenario(), nonce="other")
    done(fleet, other)
    return "what it had reserved is free for other runs"


@row
def cancelled_while_it_is_handed_in(fleet: FleetHere, server: PostgresServer) -> str:
    hook = fleet.server / "hooks" / "pre-receive"
    hook.write_text(
        '#!/bin/sh\ngrep -q refs/heads/sq/ && { touch "$GIT_DIR/handing-in"; sleep 4; }\nexit 0\n'
    )
    hook.chmod(0o755)
    id_ = fleet.submit(scenario())
    fleet.worker("first")
    fleet.until((fleet.server / "handing-in").exists)
    assert fleet.engine.cancel(id_)
    fleet.until(lambda: fleet.ledger.progress([id_])[id_].phase == "complete")
    assert fleet.unit(id_).state is UnitState.CANCELLED
    cost = sum(pool.spent_usd for pool in fleet.ledger.pools())
    assert fleet.engine.again(id_)
    done(fleet, id_)
    assert sum(pool.spent_usd for pool in fleet.ledger.pools()) == cost
    return "the finished work is pushed; tried again, it is reported and nothing is paid twice"


@row
def submitted_ten_times(fleet: FleetHere, server: PostgresServer) -> str:
    words = scenario()

    def submit(_number: int) -> Submission:
        made = fleet.submission(words)
        fleet.engine.submit(made)
        return made

    with ThreadPoolExecutor(10) as pool:
        ids = {one.id for one in pool.map(submit, range(10))}
    assert len(ids) == len(fleet.engine.units()) == 1
    fleet.worker("first")
    done(fleet, *ids)
    return "one run"


@row
def journal_moved_by_another(fleet: FleetHere, server: PostgresServer) -> str:
    id_ = fleet.submit(scenario(work_s=4))
    worker = fleet.worker("first")
    until_run(fleet, id_)
    git(fleet.server, "update-ref", journal_ref(id_), fleet.base)
    fleet.until_ended(id_, within_s=120)
    found = report(fleet, id_)
    assert found.outcome is Outcome.FAILED
    assert "Somebody else writes" in found.problem
    assert not fleet.branches()
    assert worker.process.poll() is None
    return "nothing more is pushed, and the report says so"


@row
def secret_in_the_work(fleet: FleetHere, server: PostgresServer) -> str:
    half, rest = SECRET[:9], SECRET[9:]
    leak = f"printf '%s%s\\n' '{half}' '{rest}' > notes.txt"
    words = scenario(
        **{"worker/notes/*": [calls("Bash", command=leak), *_completes()]},
    )
    id_ = fleet.submit(words)
    fleet.worker("first", MY_SERVICE_TOKEN=SECRET)
    fleet.until_ended(id_)
    found = report(fleet, id_)
    assert found.outcome is Outcome.FAILED, found
    assert "secret" in found.problem
    assert not fleet.branches()
    assert secrets_found(fleet, server) == 0
    return "nothing of it is pushed, and the report says so"


def _completes() -> list[dict[str, object]]:
    from benchmarks.rehearsed import reports

    return [reports("task_complete", summary="Done.", tests="All pass.")]


def secrets_found(fleet: FleetHere, server: PostgresServer, *more: str) -> int:
    """How often a secret or the text of a prompt or spec lies where it must not."""
    objects = subprocess.run(
        ["git", "-C", str(fleet.server), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    ).stdout.decode(errors="replace")
    dumped = server.dump(fleet.url)
    hits = sum(text.count(one) for one in (SECRET, *more) for text in (objects, dumped))
    return hits + dumped.count("Create notes.txt with a line of text")


def scrap(fleet: FleetHere) -> None:
    """Remove the folders of a fleet that is over."""
    shutil.rmtree(fleet.folder, ignore_errors=True)
