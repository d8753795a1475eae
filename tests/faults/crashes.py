"""A run that is killed at a point of its journal, looked at, resumed, and compared with one that nobody killed."""

import multiprocessing
import os
import shutil
import signal
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import killed
import pytest

from agents.gateway.ledger import read_ledger
from agents.process.containment import Containment, detect_containment
from orchestrator.cli.runs.connected import LEDGER
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder
from state.settings.sources import Flags

MARK = "CRASH_TEST_MARK"
MOST_TOLD = 5  # so many wrong ends are enough to see what is wrong
PROCESSES = multiprocessing.get_context("forkserver")
WAYS = [(containment, how) for containment in Containment for how in (killed.ALONE, killed.GROUP)]
Shell = Callable[..., str]


@dataclass(kw_only=True)
class Bench:
    """A repository with a scenario and a spec, and processes that work in it and can be found again."""

    folder: Path
    scenario: Path
    spec: Path
    environ: dict[str, str]
    flags: Flags = field(default_factory=dict)
    outcome: Outcome = Outcome.COMPLETE
    longest_s: float = 100
    played: bool = False  # without Claude Code's process

    def work(self, target: Callable[..., None], *arguments: object, **more: object) -> int | None:
        process = PROCESSES.Process(target=target, args=(self.environ, *arguments), kwargs=more)
        process.start()
        process.join(self.longest_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            return None
        return process.exitcode

    def begin(self, kill_after: int = 0, how: str = killed.ALONE) -> int | None:
        paths = (str(self.folder), str(self.scenario))
        return self.work(killed.run, *paths, kill_after, how, str(self.spec), self.flags, played=self.played)

    def resume(self) -> int | None:
        return self.work(killed.resume, str(self.run_folder), played=self.played)

    @property
    def run_folder(self) -> Path:
        return StateFolder(self.folder / ".sq").find(None)

    def view(self) -> RunView:
        with JournalReader(self.run_folder) as journal:
            return fold(journal.read())

    def asked(self) -> list[str]:
        """The caller of each request that reached the model."""
        return [line.caller for line in read_ledger(self.run_folder / LEDGER)]

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


MakeBench = Callable[[Containment], Bench]


def environment(containment: Containment) -> dict[str, str]:
    """The environment of a run that can be found again."""
    return {**os.environ, "SQ_CONTAINMENT": containment, MARK: uuid.uuid4().hex}


def crash_at(one: Bench, kill_after: int, how: str, tree: str, shell: Shell) -> str:
    """Kill, look, resume; what went wrong, or nothing."""
    code = one.begin(kill_after, how)
    if code == one.outcome.exit_code:
        return "over"
    if code != -signal.SIGKILL:
        return f"the run ended by itself with {code}"
    deadline = time.monotonic() + 1.0
    while (alive := one.alive()) and time.monotonic() < deadline:
        time.sleep(0.02)
    if alive:
        return f"still alive after a second: {alive}"
    before, asked = one.view(), one.asked()
    finished = {caller_of(before, call_id) for call_id, call in before.calls.items() if call.end}
    if unknown := finished - set(asked):
        return f"the ledger does not know the finished calls of {unknown}"
    if (code := one.resume()) != one.outcome.exit_code:
        return f"resume ended with {code}: {one.view().ended}"
    after = one.view()
    if not after.ended or after.ended.outcome is not one.outcome:
        return f"resume ended as {after.ended}"
    if (found := shell(one.folder, "git", "rev-parse", "main^{tree}")) != tree:
        return f"another tree: {found}"
    if again := [caller for caller in one.asked()[len(asked) :] if caller in finished]:
        return f"asked again although finished: {again}"
    return ""


def caller_of(view: RunView, call_id: str) -> str:
    started = view.calls[call_id].started
    return f"{started.role}/{started.task_id or 'final'}/{started.attempt}"


def crash_everywhere(
    bench: MakeBench,
    way: tuple[Containment, str],
    points: Iterable[int],
    tree: str,
    shell: Shell,
    *,
    played: bool = False,
) -> int:
    """Crash at these points, or until there are no more; returns how many there were.

    `played`: Claude Code is played, in the killed run and in the one that goes on.
    """
    containment, how = way
    if containment is Containment.NAMESPACES and detect_containment({}) is not Containment.NAMESPACES:
        pytest.skip("this system refuses namespaces")
    wrong: dict[int, str] = {}
    crashed = 0
    for kill_after in points:
        one = bench(containment)
        one.played = played
        problem = crash_at(one, kill_after, how, tree, shell)
        if problem == "over" or len(wrong) >= MOST_TOLD:
            break
        crashed += 1
        if problem:
            wrong[kill_after] = problem
        else:
            shutil.rmtree(one.folder)
    assert wrong == {}
    return crashed
