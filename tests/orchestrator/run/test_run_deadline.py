"""A deadline and SIGTERM: verified work is merged and handed over in time, nothing unverified is, and the run goes on later."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.clocks import NO_COMPILER, jumping_clock
from language.played_sq import PLAYED_SQ
from language.programs import ran
from language.scripted import (
    BLUE,
    COLOUR,
    SPEC,
    Done,
    Rehearse,
    analyzes,
    answers,
    asks,
    call,
    completes,
    passes,
    plans,
    reviewer,
    says,
    signals,
    whole_run,
    worker,
    writes,
)

from orchestrator.run.landing import Left, going_on, hand_over_s, landing_s, steps_left
from orchestrator.views.models.criteria import CriterionState, criteria_of
from orchestrator.views.words import local_time
from state.errors import UsageError
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.run import PaceView
from state.journal.events.tasks import Stage
from state.journal.fold.fold import fold
from state.journal.fold.pace import note_pace
from state.journal.store import JournalReader
from state.outcome import Outcome
from state.paths import StateFolder
from state.roles import Role
from state.settings.sources import user_file

Resume = Callable[..., Done]
Shell = Callable[..., str]
ONCE = "test -e done || { touch done; exec python3 -c 'import time; time.sleep(60)'; }"


def in_seconds(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def later(seconds: float) -> dict[str, Any]:
    """The model's answer comes after so many seconds."""
    return {"hang": "before-headers", "seconds": seconds}


def long_and_short() -> dict[str, Any]:
    """Two tasks side by side: `short` is merged at once, `long` sleeps for a minute in its first process."""
    return {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans("short", "long")],
        **worker("short", 1, writes("short.txt", "1\n"), completes()),
        **worker("long", 1, says(call("Bash", command=ONCE)), writes("long.txt", "1\n"), completes()),
        **reviewer("*", 1, passes()),
        "reviewer/*": [passes()],
    }


@pytest.mark.late
def test_before_the_deadline_verified_work_is_handed_over_and_the_rest_goes_on_later(
    rehearse: Rehearse, resume: Resume, repository: Path, shell: Shell
) -> None:
    at = in_seconds(25)
    said = [{"id": "c-1", "verdict": "met", "reason": "It is there."}]
    report = signals("report_review", passed=True, issues=[], suggestions=[], criteria=said)
    callers = long_and_short() | reviewer("short", 1, report)
    done = rehearse(callers, verify=("true",), settings={"deadline": at}, ends=Outcome.LIMIT)
    ended = datetime.now(UTC)
    assert (
        f"the deadline {datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}" in done.view.ended.cause
    )
    cause = done.view.ended.cause
    wanted = re.search(r"long alone needs (\d+)m \((.*)\), everything that is left about (\d+)m\.", cause)
    assert wanted, cause
    assert int(wanted[1]) == sum(map(int, re.findall(r" (\d+)m", wanted[2]))) <= int(wanted[3])
    assert f"`sq resume {done.folder.name} --deadline +{wanted[3]}m` goes on" in cause
    assert f"the deadline is {local_time(datetime.fromisoformat(at))}" in done.view.started.notes
    assert ended <= datetime.fromisoformat(at) + timedelta(seconds=5)
    assert done.of(e.LandingStarted)
    assert done.view.tasks["short"].stage is Stage.MERGED
    assert done.view.tasks["long"].stage is Stage.BUILDING
    judged, left = criteria_of(done.view)
    assert (judged.state, judged.words) == (CriterionState.CLAIMED, "It is there.")
    assert (left.state, left.note) == (CriterionState.NOT_CHECKED, "long was not finished")
    assert [one for one in done.of(e.ProofsTaken) if not one.task_id] == []
    [kept] = [stored for stored in done.stored if isinstance(stored.event, e.WorkKept)]
    assert kept.at < datetime.fromisoformat(at)
    assert shell(repository, "git", "ls-tree", "--name-only", kept.event.branch).split() == ["short.txt"]
    assert "landing" in done.output

    again = resume(done, ends=Outcome.LIMIT)  # the deadline has passed and still holds: nothing is asked
    assert len(again.of(e.CallStarted)) == len(done.of(e.CallStarted))
    with pytest.raises(UsageError, match="has passed"):
        resume(done, deadline="2020-01-01T00:00")
    last = resume(done, deadline="+1h")
    assert last.view.clock.all_s > done.view.clock.worked_s + last.view.clock.worked_s - 1
    assert {"long.txt", "short.txt"} <= {*shell(repository, "git", "ls-tree", "--name-only", "main").split()}


@pytest.mark.late
def test_a_review_under_way_at_the_landing_is_finished_and_its_task_merged(
    rehearse: Rehearse,
) -> None:
    callers = {
        **long_and_short(),
        "planner/analysis/1": [{**analyzes(), "misbehave": later(9)}],
        "reviewer/short/1": [{**passes(), "misbehave": later(13)}],
    }
    done = rehearse(callers, verify=("true",), settings={"deadline": in_seconds(34)}, ends=Outcome.LIMIT)
    [landing] = [stored for stored in done.stored if isinstance(stored.event, e.LandingStarted)]
    assert done.view.tasks["short"].stage is Stage.MERGED
    assert done.view.tasks["long"].stage is Stage.BUILDING
    begun = [stored for stored in done.stored if isinstance(stored.event, e.CallStarted)]
    assert {stored.event.task_id for stored in begun if stored.seq > landing.seq} <= {"short"}
    [review] = [stored for stored in begun if stored.event.role is Role.REVIEWER]
    assert review.seq < landing.seq, "the review was to be under way when landing begins"
    assert done.of(e.CallResumed) == [], "the review was begun anew"


@pytest.mark.late
def test_landing_begins_as_early_as_steps_took_so_far(rehearse: Rehearse) -> None:
    done = rehearse(
        long_and_short(), verify=("sleep 0.3",), settings={"deadline": in_seconds(20)}, ends=Outcome.LIMIT
    )
    [landing] = [stored for stored in done.stored if isinstance(stored.event, e.LandingStarted)]
    before = fold(stored for stored in done.stored if stored.seq < landing.seq)
    assert before.clock.pace.verify_s >= 0.3
    needed_s = landing_s(before, landing.at)
    assert needed_s >= hand_over_s(before) + before.clock.pace.verify_s  # `long` may still be accepted
    left = (landing.event.until - landing.at).total_seconds()
    assert left <= needed_s


@pytest.mark.late
def test_a_claim_that_cannot_be_verified_in_time_is_handed_over_as_that_and_resumed_with_fewer_at_once(
    rehearse: Rehearse, resume: Resume, repository: Path, shell: Shell
) -> None:
    names = ("one", "two", "three", "four", "five", "six")
    callers = {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans(*names)],
        **reviewer("*", 1, passes()),
        "reviewer/*": [passes()],
    }
    for name in names:
        callers |= worker(name, 1, writes(f"{name}.txt", "1\n"), completes())
    # a claim is checked in 4 s, and may take 6. So may a merge onto others' work, and they are one by one
    settings = {"deadline": in_seconds(38), "max_parallel": "6"}
    done = rehearse(callers, verify=("sleep 4",), settings=settings, ends=Outcome.LIMIT)
    given = {one.task_id: one.ref for one in done.of(e.WorkRescued) if one.claimed}
    stages = {id_: task.stage for id_, task in done.view.tasks.items()}
    assert stages == {id_: Stage.BUILDING if id_ in given else Stage.MERGED for id_ in names}
    assert 1 <= len(given) <= 5
    assert given.keys().isdisjoint(one.task_id for one in done.of(e.VerificationStarted)), "thrown away"
    for id_, branch in given.items():
        assert f"{id_}.txt" in shell(repository, "git", "ls-tree", "--name-only", branch)
        assert f"it was claimed and is not verified: the work is on {branch}" in done.output
    last = resume(done, deadline="none", max_parallel=1)
    assert last.view.settings.max_parallel == 1
    assert not [one for one in last.of(e.CallStarted) if one.task_id in given and one.iteration > 2]


@pytest.mark.late
def test_the_time_that_is_left_is_a_sum_of_named_steps(rehearse: Rehearse) -> None:
    callers = long_and_short() | worker("long", 1, writes("long.txt", "1\n"), completes())
    done = rehearse(callers, verify=("true",))
    at = next(one.seq for one in done.stored if isinstance(one.event, e.CompletionAccepted))
    view = fold(one for one in done.stored if one.seq <= at)
    view.clock.pace = PaceView(verify_s=100, claim_s=120, review_s=20, merge_s=5, move_s=2, exchange_s=10)
    accepted = next(task for task in view.tasks.values() if task.stage is Stage.ACCEPTED)
    other = next(task for task in view.tasks.values() if task is not accepted)
    now = datetime.now(UTC)
    steps = steps_left(view, other, now)
    assert [(one.name, one.seconds) for one in steps] == [("verification", 180), ("review", 30), ("merge", 3)]
    calls, other.open.calls = other.open.calls, []  # as before its first exchange
    assert steps_left(view, other, now)[0] == Left("work", 15)
    other.open.calls = calls
    view.clock.pace.begun[f"claim {other.task.id}"] = now - timedelta(seconds=100)
    assert [one.seconds for one in steps_left(view, other, now)] == [80, 30, 3]
    view.clock.pace.begun[f"wait {other.task.id}"] = now - timedelta(seconds=40)  # for its turn
    assert steps_left(view, other, now)[0].seconds == 120
    del view.clock.pace.begun[f"wait {other.task.id}"]
    view.whole.commit = "another"  # then the merge is verified once more
    assert [one.seconds for one in steps_left(view, accepted, now)] == [30, 153]
    assert landing_s(view, now) == pytest.approx(153 + 80 + 30 + 153 + hand_over_s(view))
    # the check goes on as long as its steps can end in the time that they took so far: 102 + 20 + 102 + 20 s
    for left, kept in ((300, [accepted, other]), (200, [accepted])):
        assert going_on(view, [other], datetime.now(UTC) + timedelta(seconds=left)) == kept


def test_with_a_deadline_it_is_said_after_the_baseline_and_after_the_plan_what_fits_and_the_planner_reads_it(
    rehearse: Rehearse,
) -> None:
    told = {"prompt_contains": ["## The time", "from its claim to its merge at the least"]}
    planner = {**plans("notes"), "expect": told}
    done = rehearse(whole_run(planner=[planner]), verify=("sleep 3",), settings={"deadline": in_seconds(60)})
    first, at_base, planned = (one.forecast.fit for one in done.of(e.ForecastMade))
    assert first is None
    assert at_base
    assert planned
    assert (at_base.tasks, planned.tasks, planned.landing) == (0, 1, 1)
    names = [type(stored.event) for stored in done.stored]
    assert names.index(e.BaselineTaken) < names.index(e.ForecastMade, names.index(e.BaselineTaken))
    assert "task(s) can be merged by then, however they are planned" in done.output
    assert "so there is time for the task" in done.output


def test_a_deadline_that_is_no_time_is_refused_with_what_fits(rehearse: Rehearse) -> None:
    with pytest.raises(UsageError, match=r"--deadline.*needs a time"):
        rehearse(long_and_short(), settings={"deadline": "soon"})


@pytest.fixture
def started(repository: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a played run of `sq` as a process of its own session. What a failing test leaves is killed."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\nreview_plan = false\n')

    def start(callers: dict[str, Any], *arguments: str, **environ: str) -> subprocess.Popen[str]:
        scenario, spec = tmp_path / "scenario.yaml", tmp_path / "spec.md"
        scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "a test", "callers": callers}))
        spec.write_text(SPEC)
        command = [*PLAYED_SQ, "run", "--spec", str(spec), "--plain", "--rehearse", str(scenario)]
        process = subprocess.Popen(
            [*command, "--verify", "true", *arguments],
            cwd=repository,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        left.append(process)
        return process

    left: list[subprocess.Popen[str]] = []
    yield start
    for process in left:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def until(repository: Path, holds: Callable[[list[Stored]], bool]) -> list[Stored]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
                if holds(found := journal.read()):
                    return found
        except UsageError:
            continue
    raise AssertionError("it never came")


@pytest.mark.late
def test_sigterm_lets_verified_work_be_merged_within_its_grace_and_ends_with_130(
    started: Callable[..., subprocess.Popen[str]], repository: Path, shell: Shell
) -> None:
    process = started({**long_and_short(), "reviewer/short/1": [{**passes(), "misbehave": later(2)}]})
    until(repository, lambda found: any(isinstance(one.event, e.TaskCommitted) for one in found))
    began = time.monotonic()
    os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=40)
    assert process.returncode == 130, output
    assert time.monotonic() - began < 30
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        view = fold(journal.read())
    assert view.ended is None
    assert view.process.interrupted_by == "SIGTERM"
    assert view.tasks["short"].stage is Stage.MERGED
    assert view.checkout.kept
    assert shell(repository, "git", "ls-tree", "--name-only", view.checkout.kept.branch) == "short.txt"
    resumed = ran([*PLAYED_SQ, "resume", "--plain"], cwd=repository, timeout=60)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert {"long.txt", "short.txt"} <= {*shell(repository, "git", "ls-tree", "--name-only", "main").split()}


@pytest.mark.late
@pytest.mark.parametrize("again", [False, True], ids=["its grace is over", "a second signal"])
def test_a_landing_that_takes_too_long_ends_with_130_too(
    started: Callable[..., subprocess.Popen[str]],
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    again: bool,
) -> None:
    monkeypatch.setenv("SQ_LIMITS_GRACE_S", "30" if again else "3")
    process = started({**long_and_short(), "reviewer/short/1": [{**passes(), "misbehave": later(60)}]})
    until(repository, lambda found: any(isinstance(one.event, e.TaskCommitted) for one in found))
    began = time.monotonic()
    os.kill(process.pid, signal.SIGTERM)
    if again:
        until(repository, lambda found: any(isinstance(one.event, e.LandingStarted) for one in found))
        os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, output
    assert time.monotonic() - began < 15
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        assert fold(journal.read()).tasks["short"].stage is Stage.COMMITTED


@pytest.mark.late
def test_a_machine_that_sleeps_an_hour_in_a_wait_and_in_an_exchange_ends_nothing(
    started: Callable[..., subprocess.Popen[str]], repository: Path, tmp_path: Path
) -> None:
    """The clock on the wall jumps, first while a limit is waited out, then while the model works."""
    clock = tmp_path / "clock"
    if not (faked := jumping_clock(clock)):
        pytest.skip(NO_COMPILER)
    slow = {**writes("notes.txt", "A line.\n"), "misbehave": later(4)}
    callers = {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans("notes")],
        **worker("notes", 1, asks(COLOUR), slow, completes()),
        "developer/notes/1": [
            {**answers(BLUE), "misbehave": {"status": 429, "retry_after": 3_000, "times": 1}}
        ],
        "reviewer/*": [passes()],
    }
    process = started(callers, SQ_RETRIES_TRIES="1", **faked)

    def waits(found: list[Stored]) -> bool:
        return any(isinstance(one.event, e.CallRetried) for one in found)

    until(repository, waits)
    clock.write_text("3600")
    until(repository, lambda found: any(isinstance(one.event, e.QuestionsAnswered) for one in found))
    time.sleep(1)
    clock.write_text("7200")
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0, output


@pytest.mark.parametrize(("verify", "left"), [(("true",), 0.0), (None, 100.0)])
def test_other_commands_at_a_resume_have_other_times(verify: tuple[str, ...] | None, left: float) -> None:
    pace = PaceView(verify_s=100, claim_s=100, merge_s=100, move_s=2, review_s=20)
    note_pace(pace, Stored(seq=9, at=datetime.now(UTC), event=e.RunResumed(verify=verify)))
    assert (pace.verify_s, pace.claim_s, pace.merge_s) == (left, left, left)
    assert (pace.move_s, pace.review_s) == (2, 20)
