"""`kill -9` right after each stored transaction of the demo: nothing stays alive, and resume ends the same.

The whole matrix: `bin/test --crash`. A sample of it runs with every other test.
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import killed
import pytest

from agents.gateway.ledger import read_ledger
from agents.process import Containment, detect_containment
from orchestrator.cli.compose import LEDGER
from orchestrator.cli.demo import make_repository
from state.fold import fold
from state.journal import JournalReader
from state.outcome import Outcome
from state.paths import StateFolder
from state.sources import user_file
from state.view import RunView

MATERIAL = Path(str(files("orchestrator.cli") / "rehearsal"))
MARK = "CRASH_TEST_MARK"
MOST_TOLD = 5  # so many wrong ends are enough to see what is wrong
PROCESSES = multiprocessing.get_context("forkserver")
WAYS = [(containment, how) for containment in Containment for how in (killed.ALONE, killed.GROUP)]


@dataclass
class Bench:
    """A demo repository, and processes that work in it and can be found again."""

    folder: Path
    environ: dict[str, str]

    def work(self, target: Callable[..., None], *arguments: object) -> int | None:
        process = PROCESSES.Process(target=target, args=(self.environ, *arguments))
        process.start()
        process.join(100)
        return process.exitcode

    def begin(self, kill_after: int = 0, how: str = killed.ALONE) -> int | None:
        scenario = MATERIAL / "quality-test.yaml"
        return self.work(killed.run, str(self.folder), str(scenario), kill_after, how)

    def resume(self) -> int | None:
        return self.work(killed.resume, str(self.run_folder))

    @property
    def run_folder(self) -> Path:
        return StateFolder(self.folder / ".sq").find(None)

    def view(self) -> RunView:
        with JournalReader(self.run_folder) as journal:
            return fold(journal.read())

    def asked(self) -> list[str]:
        """The lane of each request that reached the model."""
        return [line.lane for line in read_ledger(self.run_folder / LEDGER)]

    def alive(self) -> list[str]:
        """The processes of this bench that are alive, by the mark in their environment."""
        mark = f"{MARK}={self.environ[MARK]}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found


@pytest.fixture
def bench(tmp_path: Path, home: Path, shell: Callable[..., str]) -> Iterator[Callable[[Containment], Bench]]:
    made: list[Bench] = []

    def make(containment: Containment) -> Bench:
        folder = tmp_path / f"demo {len(made)}"
        make_repository(MATERIAL, folder)
        # Forty-four judge's calls, each like the others, would double the points: they have a test of their own.
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
        environ = {**os.environ, "SQ_CONTAINMENT": containment, MARK: uuid.uuid4().hex}
        made.append(Bench(folder, environ))
        return made[-1]

    PROCESSES.set_forkserver_preload(["killed", "orchestrator.cli.compose", "claude_agent_sdk", "anthropic"])
    yield make
    for one in made:
        shutil.rmtree(one.folder, ignore_errors=True)


def crash_at(one: Bench, kill_after: int, how: str, tree: str, shell: Callable[..., str]) -> str:
    """Kill, look, resume; what went wrong, or nothing."""
    code = one.begin(kill_after, how)
    if code == 0:
        return "over"
    if code != -signal.SIGKILL:
        return f"the run ended by itself with {code}"
    deadline = time.monotonic() + 1.0
    while (alive := one.alive()) and time.monotonic() < deadline:
        time.sleep(0.02)
    if alive:
        return f"still alive after a second: {alive}"
    before, asked = one.view(), one.asked()
    finished = {lane_of(before, call_id) for call_id, call in before.calls.items() if call.end}
    if unknown := finished - set(asked):
        return f"the ledger does not know the finished calls of {unknown}"
    if (code := one.resume()) != 0:
        return f"resume ended with {code}: {one.view().ended}"
    after = one.view()
    if not after.ended or after.ended.outcome is not Outcome.COMPLETE:
        return f"resume ended as {after.ended}"
    if (found := shell(one.folder, "git", "rev-parse", "main^{tree}")) != tree:
        return f"another tree: {found}"
    if again := [lane for lane in one.asked()[len(asked) :] if lane in finished]:
        return f"asked again although finished: {again}"
    return ""


def lane_of(view: RunView, call_id: str) -> str:
    started = view.calls[call_id].started
    return f"{started.role}/{started.task_id or 'final'}/{started.attempt}"


def crash_everywhere(
    bench: Callable[[Containment], Bench],
    way: tuple[Containment, str],
    points: range,
    tree: str,
    shell: Callable[..., str],
) -> int:
    """Crash at these points, or until there are no more; returns how many there were."""
    containment, how = way
    if containment is Containment.NAMESPACES and detect_containment({}) is not Containment.NAMESPACES:
        pytest.skip("this system refuses namespaces")
    wrong: dict[int, str] = {}
    crashed = 0
    for kill_after in points:
        problem = crash_at(one := bench(containment), kill_after, how, tree, shell)
        if problem == "over" or len(wrong) >= MOST_TOLD:
            break
        crashed += 1
        if problem:
            wrong[kill_after] = problem
        else:
            shutil.rmtree(one.folder)
    assert wrong == {}
    return crashed


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo's work looks like when nothing is killed."""
    folder = tmp_path_factory.mktemp("reference")
    make_repository(MATERIAL, folder)
    home = tmp_path_factory.mktemp("reference-home")
    environ = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    assert Bench(folder, environ).begin() == 0
    return subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "main^{tree}"], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("way", "first"),
    [pytest.param(WAYS[0], 26, marks=pytest.mark.slow), (WAYS[3], 38)],
    ids=["namespaces-alone", "supervisor-group"],
)
def test_a_killed_demo_leaves_nothing_alive_and_resumes_to_the_same_tree(
    bench: Callable[[Containment], Bench],
    way: tuple[Containment, str],
    first: int,
    tree: str,
    shell: Callable[..., str],
) -> None:
    assert crash_everywhere(bench, way, range(first, first + 1), tree, shell) == 1


@pytest.mark.crash
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("way", WAYS, ids=[f"{containment}-{how}" for containment, how in WAYS])
def test_a_demo_killed_after_any_stored_transaction_resumes_to_the_same_tree(
    bench: Callable[[Containment], Bench], way: tuple[Containment, str], tree: str, shell: Callable[..., str]
) -> None:
    assert crash_everywhere(bench, way, range(1, 1000), tree, shell) > 60
