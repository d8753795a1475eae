"""Commands of a run share the machine: suites take turns, and a loaded machine ends none."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from language.scripted import Rehearse, completes, passes, plans, signals, whole_run, writes

from agents.process.containment import detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.usage import processors
from orchestrator.run.commands import ProjectCommands
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.evidence import WAITS
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun, CommandUse
from state.settings.presets import usual_settings

# A suite that is busy in as many processes as there are processors, as `pytest -n auto` is.
SUITE = """
import multiprocessing, os, sys, time

def work(_):
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass

if __name__ == "__main__":
    with open("LOG", "a") as log:
        print("begins", time.monotonic(), os.getpid(), file=log)
    with multiprocessing.Pool(WORKERS) as pool:
        pool.map(work, range(WORKERS))
    with open("LOG", "a") as log:
        print("ends", time.monotonic(), os.getpid(), file=log)
"""
# Hangs with the work: the first time only, or always.
HANGS = """
import pathlib, time

tried = pathlib.Path("TRIED")
if pathlib.Path("notes.txt").exists() and (ALWAYS or not tried.exists()):
    tried.touch()
    time.sleep(60)
"""
BUSY = "while True: pass"
TWO = "# Two\n\nA file for each task.\n"


def suite_in(repository: Path, seconds: float, workers: int) -> tuple[str, Path]:
    """Return a command that uses so many processor seconds in each worker, and the log of its runs."""
    program, log = repository.parent / "suite.py", repository.parent / "runs.log"
    text = SUITE.replace("LOG", str(log)).replace("SECONDS", str(seconds)).replace("WORKERS", str(workers))
    program.write_text(text)
    return f"{sys.executable} {program}", log


def runs_in(log: Path) -> list[tuple[float, float]]:
    """Return when each run began and ended."""
    begun: dict[str, float] = {}
    found = []
    for line in log.read_text().splitlines():
        what, at, process = line.split()
        if what == "begins":
            begun[process] = float(at)
        else:
            found.append((begun.pop(process), float(at)))
    assert not begun
    return sorted(found)


def two_tasks() -> dict[str, object]:
    return {
        "planner/analysis/1": [signals("report_analysis", spec_findings=[], project_type="words", stack=[])],
        "planner/plan/1": [plans("first", "second")],
        "worker/first/1": [writes("first.txt", "1\n"), completes()],
        "worker/second/1": [writes("second.txt", "2\n"), completes()],
        "reviewer/*": [passes()],
    }


def test_two_suites_that_use_all_processors_never_run_at_once_and_the_wait_is_recorded(
    rehearse: Rehearse, repository: Path
) -> None:
    command, log = suite_in(repository, 0.8, max(2, int(processors())))
    done = rehearse(two_tasks(), spec=TWO, verify=(command,), settings={"sandbox": "off"})
    runs = runs_in(log)
    assert len(runs) >= 5  # the baseline, two claims, two merges or the whole
    for (_, ended), (begun, _) in pairwise(runs):
        assert ended <= begun
    (check,) = done.view.baseline.checks.values()
    assert check.run.use.cpu_s is not None
    assert check.run.use.cpu_s >= 1.6
    assert check.run.use.processors is not None
    assert check.run.use.processors > processors() / 2 + 0.1
    waits = done.of(e.TurnAwaited)
    assert {one.command for one in waits} <= {command}
    assert {one.turn for one in waits} == {one.turn for one in done.of(e.TurnTaken)}
    assert {one.task_id for one in waits} <= {"first", "second"}
    assert waits


@contextmanager
def busy_machine() -> Iterator[None]:
    """Use every processor three times over by processes that have nothing to do with sq."""
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
        for _ in range(3 * int(processors()))
    ]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


@pytest.mark.late
def test_a_busy_machine_ends_no_command_that_a_time_on_the_wall_would_have_ended(
    rehearse: Rehearse, repository: Path
) -> None:
    command, _ = suite_in(repository, 1.0, 1)
    with busy_machine():
        done = rehearse(whole_run(), verify=(command,), settings={"sandbox": "off", "limits.verify_s": "1.5"})
    (check,) = done.view.baseline.checks.values()
    assert check.outcome is BaselineOutcome.PASSES
    runs = [check.run, *(one for each in done.of(e.VerificationFinished) for one in each.runs)]
    assert all(one.passed for one in runs)
    assert max(one.seconds for one in runs) > 1.5  # and not all of that is processor time
    assert not any(one.use.before for one in runs)
    assert max(one.use.cpu_s or 0.0 for one in runs) < 1.5
    assert check.run.use.processors == processors()


def hanging(repository: Path, *, always: bool) -> str:
    program, tried = repository.parent / "hangs.py", repository.parent / "tried"
    program.write_text(HANGS.replace("TRIED", str(tried)).replace("ALWAYS", str(always)))
    return f"{sys.executable} {program}"


def test_a_command_that_hangs_once_is_tried_once_more_alone_and_that_counts(
    rehearse: Rehearse, repository: Path
) -> None:
    command = hanging(repository, always=False)
    done = rehearse(whole_run(), verify=(command,), settings={"sandbox": "off", "limits.silence_s": "1"})
    runs = [one for each in done.of(e.VerificationFinished) for one in each.runs]
    assert all(one.passed for one in runs)
    (again,) = (one for one in runs if one.use.before)
    assert "was silent and idle for" in again.use.before
    assert "passed when it was tried once more alone" in done.output


def test_a_command_that_hangs_again_is_named_with_its_setting_and_its_figures(
    rehearse: Rehearse, repository: Path
) -> None:
    command = hanging(repository, always=True)
    settings = {"sandbox": "off", "limits.silence_s": "1"}
    done = rehearse(whole_run(), verify=(command,), settings=settings, ends=Outcome.UNVERIFIED)
    (run, *_) = done.of(e.VerificationFinished)[0].runs
    assert (run.timed_out, run.exit_code) == (True, None)
    assert "(its limit is 1.0 s: " in run.problem
    assert "`limits.silence_s`" in run.problem
    assert "tried twice, the second time alone" in run.problem
    assert "`limits.silence_s`" in done.output


class Journal:
    """A record in memory."""

    def __init__(self) -> None:
        self.view = RunView()
        self.events: list[e.Event] = []

    def record(self, *events: e.Event) -> None:
        for event in events:
            self.events.append(event)
            apply(self.view, Stored(len(self.events), datetime.now(UTC), event))

    @property
    def about_turns(self) -> list[e.Event]:
        return [one for one in self.events if isinstance(one, e.TurnAwaited | e.TurnTaken)]

    def for_model(self, text: str) -> str:
        return text

    def read(self) -> list[Stored]:
        return []


def commands_in(folder: Path, journal: Journal, **settings: Any) -> ProjectCommands:
    """Return the commands of a run whose machine carries two at once, without a sandbox."""
    return ProjectCommands(
        environ=os.environ,
        folder=folder,
        settings=replace(usual_settings("medium", ()), **settings),
        containment=detect_containment(),
        sandbox_policy=SandboxPolicy(
            choice=Choice(level=SandboxLevel.OFF), environ=os.environ, own_processes=False
        ),
        recorder=journal,
    )


async def test_a_command_is_ended_after_the_seconds_that_its_question_has(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        ran = await commands_in(tmp_path, Journal()).whole("echo begun; sleep 60", tmp_path, within_s=0.5)
    assert (ran.exit_code, ran.run.timed_out, ran.output) == (None, True, "begun\n")


@pytest.mark.parametrize("counts", [True, False])
async def test_a_failure_of_evidence_beside_another_command_counts_only_after_it_failed_alone(
    tmp_path: Path, *, counts: bool
) -> None:
    commands = commands_in(tmp_path, Journal())
    takes = "mkdir taken || exit 1; sleep 0.5; rmdir taken"
    found: list[int | None] = []

    async def test(*, is_evidence: bool) -> None:
        ran = await commands.whole(takes, tmp_path, brief=True, is_evidence=is_evidence)
        found.append(ran.exit_code)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as both:
            both.start_soon(partial(test, is_evidence=False))
            while not (tmp_path / "taken").exists():
                await anyio.sleep(0.01)
            both.start_soon(partial(test, is_evidence=counts))
    assert sorted(map(str, found)) == (["0", "0"] if counts else ["0", "1"])


@pytest.mark.parametrize("exclusive", [("all",), ("sleep 0.3; true",), ()])
async def test_exclusive_commands_run_with_no_other_one_beside_them(
    tmp_path: Path, exclusive: tuple[str, ...]
) -> None:
    journal, most, command = Journal(), [0], "sleep 0.3; true"
    commands = commands_in(tmp_path, journal, worktree_exclusive=exclusive)
    use = CommandUse(cpu_s=0.0, processors=0.0)
    light = CommandRun(command=command, exit_code=0, seconds=0.3, output_tail="", use=use)
    check = BaselineCheck(run=light, source="--verify", outcome=BaselineOutcome.PASSES)
    journal.view.baseline.checks[command] = check

    async def watched() -> None:
        for _ in range(30):
            most[0] = max(most[0], len(commands.turns.running))
            await anyio.sleep(0.01)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as both:
            for _ in range(2):
                both.start_soon(partial(commands.whole, command, tmp_path))
            both.start_soon(watched)
    assert most == [1 if exclusive else 2]


async def test_each_place_has_values_of_its_own_in_the_variables_that_are_set(tmp_path: Path) -> None:
    variables = ("PORT=auto", "DATABASE=test_{place}", "PLAIN=a=b")
    commands = commands_in(tmp_path / "20261128-1200-k3x9", Journal(), worktree_variables=variables)
    places = [tmp_path / name for name in ("verify.1", "notes")]
    told = []
    for place in places:
        place.mkdir()
        ran = await commands.whole('echo "$PORT $DATABASE $PLAIN"', place, brief=True)
        told.append(ran.output.split())
        assert commands.variables_of(place)["PORT"] == told[-1][0]
    assert [one[1:] for one in told] == [["test_verify_1_k3x9", "a=b"], ["test_notes_k3x9", "a=b"]]
    assert len({one[0] for one in told}) == 2


async def test_a_set_up_waits_like_a_suite_and_a_wait_that_is_given_up_is_over(tmp_path: Path) -> None:
    journal = Journal()
    commands = commands_in(tmp_path, journal)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as first:
            first.start_soon(commands.contained, "sleep 60", tmp_path)
            while not commands.turns.running:
                await anyio.sleep(0.01)
            async with anyio.create_task_group() as second:
                second.start_soon(commands.contained, "make deps", tmp_path)
                while not journal.about_turns:
                    await anyio.sleep(0.01)
                under_way = journal.view.evidence.commands.values()
                assert [one.commands for one in under_way if one.purpose == WAITS] == [("make deps",)]
                second.cancel_scope.cancel()
            first.cancel_scope.cancel()
    awaited, taken = journal.about_turns
    assert awaited == e.TurnAwaited(turn=1, task_id="", command="make deps", behind=("sleep 60",))
    assert taken == e.TurnTaken(turn=1, task_id="", command="make deps", given_up=True)
    assert not [one for one in journal.view.evidence.commands.values() if one.purpose == WAITS]
    assert commands.turns.running == []
