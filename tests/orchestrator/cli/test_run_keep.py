"""`sq run --keep`: a killed process of a run is begun anew, an end of sq's own never is, and no agent is doubled."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from language.played_sq import PLAYED_SQ
from language.scripted import SPEC, passes, whole_run

from state.errors import UsageError
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.sources import user_file

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(repository: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a kept run whose review takes a while."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\nreview_plan = false\n')
    begun: list[subprocess.Popen[str]] = []

    def run(seconds: float, *arguments: str) -> subprocess.Popen[str]:
        late = {**passes(), "misbehave": {"hang": "before-headers", "seconds": seconds}}
        told = {"scenario": 1, "description": "kept", "callers": whole_run(**{"reviewer/notes/*": [late]})}
        (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(told))
        (tmp_path / "spec.md").write_text(SPEC)
        command = [
            *PLAYED_SQ,
            "run",
            "--keep",
            "--spec",
            str(tmp_path / "spec.md"),
            "--plain",
            "--verify",
            "true",
        ]
        process = subprocess.Popen(
            [*command, "--rehearse", str(tmp_path / "scenario.yaml"), *arguments],
            cwd=repository,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def events_of(repository: Path) -> list[Stored]:
    try:
        with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
            return journal.read()
    except UsageError:
        return []


def until(repository: Path, holds: Callable[[list[Stored]], bool]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if holds(events_of(repository)):
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def is_reviewing(times: int) -> Callable[[list[Stored]], bool]:
    """The review was begun, or gone on with, so many times."""

    def holds(found: list[Stored]) -> bool:
        asked = [one for one in found if isinstance(one.event, e.CallResumed)]
        begun = [one for one in found if isinstance(one.event, e.TaskCommitted)]
        started = [
            one for one in found if isinstance(one.event, e.CallStarted) and begun and one.seq > begun[0].seq
        ]
        return len(asked) + len(started) >= times

    return holds


def child_of(process: subprocess.Popen[str]) -> psutil.Process:
    [child] = psutil.Process(process.pid).children()
    return child


@pytest.mark.late
def test_a_killed_process_is_begun_anew_and_the_run_ends_as_without_the_kill(
    start: Start, repository: Path
) -> None:
    process = start(2)
    for time_ in (1, 2):
        until(repository, is_reviewing(time_))
        child_of(process).kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    resumed = [one.event for one in events_of(repository) if isinstance(one.event, e.RunResumed)]
    assert [one.kept for one in resumed] == [True, True]
    assert "was killed (SIGKILL). It is resumed" in output
    assert "2 of at most 5" in output
    assert "--keep began another" in output
    reviews = [one for one in events_of(repository) if isinstance(one.event, e.ReviewRecorded)]
    assert len(reviews) == 1
    assert (repository / "notes.txt").exists()


@pytest.mark.late
def test_a_resumed_run_is_kept_too(start: Start, repository: Path) -> None:
    first = start(3)
    until(repository, is_reviewing(1))
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    again = subprocess.Popen(
        [*PLAYED_SQ, "resume", "--keep", "--plain"],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        until(repository, is_reviewing(2))
        child_of(again).kill()
        output, _ = again.communicate(timeout=60)
    finally:
        if again.poll() is None:
            os.killpg(again.pid, signal.SIGKILL)
            again.communicate()
    assert again.returncode == 0, output
    assert "1 of at most 5" in output
    resumed = [one.event for one in events_of(repository) if isinstance(one.event, e.RunResumed)]
    assert [one.kept for one in resumed] == [False, True]


def killed_at_once(process: subprocess.Popen[str], times: int) -> None:
    """Kill the first processes of a kept run as soon as each is there."""
    for _ in range(times):
        deadline = time.monotonic() + 20
        while not (children := psutil.Process(process.pid).children()) and time.monotonic() < deadline:
            time.sleep(0.01)
        children[0].kill()
        children[0].wait(10)


@pytest.mark.late
def test_a_process_that_is_killed_before_there_is_a_run_is_begun_anew(start: Start, repository: Path) -> None:
    process = start(0.1)
    killed_at_once(process, 2)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "It is begun anew (2 of at most 5" in output
    assert len(StateFolder(repository / ".sq").run_ids()) == 1


@pytest.mark.late
def test_a_resumed_run_that_is_killed_at_once_keeps_what_it_was_given(start: Start, repository: Path) -> None:
    first = start(3)
    until(repository, is_reviewing(1))
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    with subprocess.Popen(
        [*PLAYED_SQ, "resume", "--keep", "--plain", "--budget", "7", "--verify", "test -e notes.txt"],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as again:
        killed_at_once(again, 2)
        output, _ = again.communicate(timeout=60)
    assert again.returncode == 0, output
    [resumed] = [one.event for one in events_of(repository) if isinstance(one.event, e.RunResumed)]
    assert (resumed.budget_usd, resumed.verify, resumed.kept) == (7, ("test -e notes.txt",), True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.late
def test_an_end_that_somebody_asked_for_is_not_resumed(
    start: Start, repository: Path, number: signal.Signals
) -> None:
    process = start(60, *(["--effort", "medium"]))
    until(repository, is_reviewing(1))
    if number is signal.SIGINT:
        child_of(process).send_signal(number)  # sq ends itself by it, with its own exit code
    else:
        process.send_signal(number)
        time.sleep(0.5)
        process.send_signal(number)  # the second one does not wait for verified work
    output, _ = process.communicate(timeout=40)
    assert process.returncode == 130, output
    assert not any(isinstance(one.event, e.RunResumed) for one in events_of(repository))
    assert "is resumed" not in output


@pytest.mark.late
def test_a_process_that_is_killed_again_and_again_is_given_up(start: Start, repository: Path) -> None:
    process = start(60)
    for time_ in range(1, 7):
        until(repository, is_reviewing(time_))
        child_of(process).kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    assert "killed 6 times within an hour" in output
    assert "Go on with: sq resume" in output
    assert sum(isinstance(one.event, e.RunResumed) for one in events_of(repository)) == 5


def test_without_a_kill_the_exit_code_is_that_of_the_run(start: Start) -> None:
    process = start(0.1, "--budget", "0.0001")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 4, output
