"""Which of sq's commands runs, which of how many, since when and how long at the base: while it happens, and after an end."""

import io
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from language.played_sq import PLAYED_SQ
from language.scripted import SPEC, Rehearse, whole_run
from rich.console import Console

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.models.running import commands_words
from orchestrator.views.models.summary import activity, stage_word
from orchestrator.views.models.tasks import task_rows
from orchestrator.views.run.console import stopping_line, task_table
from orchestrator.views.run.story import RunStory
from orchestrator.views.watch.tabs import message_of
from state.journal import events as e
from state.journal.events import Event, Stored
from state.records.calls import CallEnd, Message, MessageKind
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun, Complaint
from state.records.plan import Analysis, Task
from state.roles import Role
from state.settings.sources import user_file

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
LONG = "if test -e notes.txt; then sleep 60; fi"


@pytest.fixture
def verifying(repository: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """An sq whose verification of a claim sleeps, for a minute. At the base its commands end at once."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
    scenario, spec = tmp_path / "scenario.yaml", tmp_path / "spec.md"
    callers = dict(whole_run())
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "slow", "callers": callers}))
    spec.write_text(SPEC)
    asked = ["--spec", str(spec), "--rehearse", str(scenario), "--verify", "true", "--verify", LONG]
    with subprocess.Popen(
        [*PLAYED_SQ, *asked, "--plain", "--sandbox", "off"],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def status(repository: Path) -> str:
    runs = sorted((repository / ".sq" / "runs").glob("*"))
    if not runs:
        return ""
    command = [*PLAYED_SQ, "status", runs[-1].name]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, timeout=30)
    return done.stdout


def test_the_status_names_the_command_and_ctrl_c_answers_with_it_and_what_was_cut_off_is_no_building(
    repository: Path, verifying: subprocess.Popen[str]
) -> None:
    said, due = "", time.monotonic() + 60
    while "verification 2 of 2" not in said and time.monotonic() < due:
        time.sleep(0.1)
        said = status(repository)
    at_the_base = rf"verification 2 of 2 since \d\d:\d\d:\d\d, \d s at the base: `{re.escape(LONG)}`"
    assert re.search(rf"^  notes: {at_the_base}$", said, re.MULTILINE), said
    assert re.search(rf"^state: active: notes claimed, {at_the_base}$", said, re.MULTILINE), said
    os.killpg(verifying.pid, signal.SIGINT)
    output, _ = verifying.communicate(timeout=30)
    [answer] = [line for line in output.splitlines() if line.startswith("sq: SIGINT: ")]
    assert re.search(f"ends notes: {at_the_base}. The same once more ends it at once", answer), answer
    ended = status(repository)
    assert "  notes: claimed, verification cut off\n" in ended
    assert re.search(r"^  notes +\S.* claimed +1 ", ended, re.MULTILINE), ended


def test_each_command_of_a_run_is_recorded_at_its_begin_and_its_end_with_what_it_is_for(
    rehearse: Rehearse,
) -> None:
    done = rehearse(whole_run(), verify=("true", "test -d ."))
    begun, ended = done.of(e.CommandStarted), done.of(e.CommandEnded)
    assert [one.number for one in begun] == [*range(1, len(begun) + 1)]
    assert sorted(one.number for one in ended) == [one.number for one in begun]
    assert not any(one.cut_off for one in ended)
    verified = [(one.task_id, one.command, one.nth, one.of) for one in begun if one.purpose == "verification"]
    assert verified[:2] == [("notes", "true", 1, 2), ("notes", "test -d .", 2, 2)]
    baseline = [(one.command, one.nth, one.of) for one in begun if one.purpose == "baseline"]
    assert baseline[:2] == [("true", 1, 2), ("test -d .", 2, 2)]
    assert {one.purpose for one in begun} <= {"baseline", "verification", "proofs"}
    assert done.view.evidence.commands == {}


# --- what views say, from made events ------------------------------------------------------------------------


def story_of(*events: Event) -> RunStory:
    story = RunStory()
    for number, event in enumerate(events, start=1):
        story.add(Stored(number, BEGIN + timedelta(seconds=number), event))
    return story


PLANNED = e.PlanAccepted(tasks=(Task(id="a", title="A", description=""),), criteria=())
TIMED = e.BaselineTaken(
    tree="t",
    environment="",
    checks=(
        BaselineCheck(
            run=CommandRun(command="make test", exit_code=0, seconds=135.0, output_tail=""),
            source="--verify",
            outcome=BaselineOutcome.PASSES,
        ),
    ),
)
BUILDING = (
    TIMED,
    PLANNED,
    e.TaskStarted(task_id="a", branch="b", worktree="/a", base_commit="c"),
    e.AttemptStarted(task_id="a", attempt=1, session_id="s", tree="t"),
)
VERIFYING = e.VerificationStarted(task_id="a", tree="t", commands=("make test", "make lint"))


def started(number: int = 1, **more: object) -> e.CommandStarted:
    told = {"command": "make test", "purpose": "verification", "task_id": "a", "nth": 1, "of": 2, **more}
    return e.CommandStarted(number=number, **told)  # type: ignore[arg-type]


def cut(number: int = 1, task_id: str = "a") -> e.CommandEnded:
    return e.CommandEnded(number=number, task_id=task_id, seconds=3.0, cut_off=True)


def now_of(story: RunStory, *, active: bool) -> str:
    [row] = task_rows(story, BEGIN + timedelta(seconds=60), active=active)
    return row.now


def test_a_row_of_a_task_has_its_command_and_one_that_waits_for_its_turn_has_the_command_of_the_other() -> (
    None
):
    story = story_of(*BUILDING, VERIFYING, started())
    at = f"{(BEGIN + timedelta(seconds=6)).astimezone():%H:%M:%S}"
    assert (
        now_of(story, active=True) == f"verification 1 of 2 since {at}, 2 min 15 s at the base: `make test`"
    )
    assert stage_word(story.view, "a") == "claimed"
    waits = e.TurnAwaited(turn=1, task_id="a", command="make test", behind=("make lint",))
    other = started(task_id="", purpose="baseline", nth=0, of=0)
    waiting = commands_words(story_of(*BUILDING, VERIFYING, other, waits).view, "a")
    assert re.fullmatch(
        "waits for its turn since .*: `make test`, behind baseline since .*: `make test`", waiting
    )


def test_a_command_of_a_proof_says_what_is_asked_and_one_that_ran_before_how_long_it_took() -> None:
    before = (started(1, command="make one"), e.CommandEnded(number=1, task_id="a", seconds=61.0))
    story = story_of(
        *BUILDING,
        *before,
        started(2, command="make one", purpose="proofs", about="the work taken out", of=0),
    )
    told = commands_words(story.view, "a")
    assert told.startswith("proofs (the work taken out) since ")
    assert told.endswith(", 1 min 1 s the first time: `make one`")


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([VERIFYING, started()], "claimed, verification cut off"),  # killed
        ([VERIFYING, started(), cut()], "claimed, verification cut off"),
        ([VERIFYING], "claimed, verification cut off"),  # between two commands
        (
            [
                VERIFYING,
                e.VerificationFinished(task_id="a", tree="t", runs=()),
                started(purpose="proofs"),
                cut(),
            ],
            "claimed, proofs cut off",
        ),
        ([started(purpose="set-up"), cut()], "set-up cut off"),
        ([started(), e.CommandEnded(number=1, task_id="a", seconds=1.0)], ""),
    ],
)
def test_after_an_end_a_task_is_what_it_was_and_says_what_was_cut_off(
    events: list[Event], words: str
) -> None:
    story = story_of(*BUILDING, *events)
    assert commands_words(story.view, "a", active=False) == words
    assert now_of(story, active=False).startswith(words or "no process works on it")
    assert (stage_word(story.view, "a") == "claimed") is words.startswith("claimed")
    again = story_of(*BUILDING, *events, e.RunResumed())
    assert commands_words(again.view, "a") == ""


SUITE = "pytest -n auto"


def told_of(*events: Event) -> list[str]:
    """The lines of a terminal about some events."""
    story, told = RunStory(), []
    for number, event in enumerate(events, start=1):
        story.add(stored := Stored(number, BEGIN, event))
        told += [one.words for one in describe(story.view, stored) if one.words.is_told]
    return [f"{one.subject}: {one.text}" for one in told]


def test_a_part_of_a_suite_is_not_told_as_the_suite_and_the_whole_one_says_what_it_is_run_for() -> None:
    ran = (started(1, command=SUITE), e.CommandEnded(number=1, task_id="a", seconds=178.0))
    part = started(2, command=SUITE, part=True, purpose="proofs", about="the new tests", nth=0, of=0)
    whole = started(3, command=SUITE, purpose="proofs", about="a failing test", nth=0, of=0)
    canary = started(4, command=SUITE, task_id="", purpose="baseline", nth=0, of=0)
    assert told_of(*BUILDING, *ran, part, whole, canary)[-2:] == [
        f"a: sq runs for the proofs (a failing test): `{SUITE}`, which took 2 min 58 s before",
        f"baseline: sq runs for the baseline: `{SUITE}`, which took 2 min 58 s before",
    ]
    running = story_of(*BUILDING, *ran, part)
    assert commands_words(running.view, "a").endswith(f": some tests of `{SUITE}`")


def test_old_complaints_are_told_beside_those_before_any_change() -> None:
    old = tuple(Complaint(file="a.py", line=number) for number in range(3))
    run = CommandRun(command="ruff check", exit_code=1, seconds=0.1, output_tail="", complaints=old)
    check = BaselineCheck(run=run, source="--verify", outcome=BaselineOutcome.FAILS)
    verified = e.VerificationFinished(task_id="a", tree="t", runs=(run,))
    told = told_of(e.BaselineTaken(tree="t", environment="", checks=(check,)), verified)
    assert told[-1] == "a: sq ran `ruff check`: 3 complaints, 3 before any change (0.1 s)"


def test_a_task_whose_claim_is_checked_is_claimed_between_two_commands_too() -> None:
    story = story_of(*BUILDING, VERIFYING, e.VerificationFinished(task_id="a", tree="t", runs=()))
    assert stage_word(story.view, "a") == "claimed"


def test_before_the_tasks_the_run_says_which_command_it_runs_and_a_signal_is_answered_with_it() -> None:
    story = story_of(started(task_id="", purpose="baseline"))
    words = f"baseline 1 of 2 since {(BEGIN + timedelta(seconds=1)).astimezone():%H:%M:%S}: `make test`"
    assert activity(story.view) == f"running the tests before any change: {words}"
    assert stopping_line(story.view, "SIGTERM").startswith(
        f"sq: SIGTERM: saves its state and ends the whole: {words}."
    )


def test_a_step_of_a_set_up_is_named_in_full_once_and_then_by_the_file_that_asks_for_it() -> None:
    command = "python3 -m venv .venv && .venv/bin/python -m pip install --quiet -r requirements.txt"
    begun = e.SetUpStarted(task_id="a", folder="/a", steps=(f"{command} (requirements.txt)",))
    ran = (
        e.CommandStarted(number=1, command=command, purpose="set-up", task_id="a"),
        e.CommandEnded(number=1, task_id="a", seconds=9.0),
    )
    done = CommandRun(command=command, exit_code=0, seconds=9.0, output_tail="")
    told = []
    story = RunStory()
    events = (
        PLANNED,
        begun,
        *ran,
        e.WorkspaceSetUp(task_id="a", folder="/a", copied=(), runs=(done,)),
        begun,
    )
    for number, event in enumerate(events, start=1):
        story.add(stored := Stored(number, BEGIN, event))
        told += [one.words.text for one in describe(story.view, stored) if one.words.kind == "set-up"]
    assert told == [
        f"set-up begins: {command} (requirements.txt)",
        "set-up `python3 -m venv .venv &&…`: passed (9.0 s)",
        "set-up begins: that of requirements.txt",
    ]


# --- claims that wait -----------------------------------------------------------------------------------------


def exchange(task_id: str, report: str = "task_complete") -> tuple[Event, ...]:
    call = {"role": Role.WORKER, "task_id": task_id, "attempt": 1, "iteration": 1, "session_id": "s"}
    return (
        e.CallStarted(call_id=f"w-{task_id}", model="opus", prompt="", **call),  # type: ignore[arg-type]
        e.SignalReceived(call_id=f"w-{task_id}", name=report, payload="{}"),
        e.CallEnded(call_id=f"w-{task_id}", end=CallEnd.SIGNALLED),
    )


def two(*more: Event) -> tuple[Event, ...]:
    """Task a is verified. Task b has reported (20 s after the begin)."""
    tasks = tuple(Task(id=name, title=name, description="") for name in "ab")
    begun: list[Event] = [
        TIMED,
        e.RepositoryAnalyzed(analysis=Analysis()),
        e.PlanAccepted(tasks=tasks, criteria=()),
    ]
    for name in "ab":
        begun.append(e.TaskStarted(task_id=name, branch=name, worktree=f"/{name}", base_commit="c"))
        begun.append(e.AttemptStarted(task_id=name, attempt=1, session_id="s", tree="t"))
    return (*begun, *exchange("a"), VERIFYING, started(), *more)


def clock(second: int) -> str:
    return f"{(BEGIN + timedelta(seconds=second)).astimezone():%H:%M:%S}"


def test_a_claim_that_waits_for_the_commands_of_another_task_says_so_in_every_view_and_its_time_stays() -> (
    None
):
    claimed = two(*exchange("b"))
    at = clock(len(claimed))
    later = (
        e.CommandEnded(number=1, task_id="a", seconds=1.0),
        started(2, nth=2),
        e.CommandEnded(number=2, task_id="a", seconds=1.0),
    )
    for number in range(len(later) + 1):
        story = story_of(*claimed, *later[:number])
        row = next(one for one in task_rows(story, BEGIN + timedelta(seconds=300)) if one.id == "b")
        assert (row.word, row.now) == ("claimed", f"claimed, waits for the commands of a since {at}")
        assert f"b claimed, waits for the commands of a since {at}" in activity(story.view)
        assert commands_words(story.view, "b") == row.now
    lines = io.StringIO()
    Console(file=lines, width=140).print(task_table(story_of(*claimed), BEGIN, width=140, height=20))
    assert re.search(
        rf"^b +claimed +claimed, waits for the commands of a since {at}", lines.getvalue(), re.MULTILINE
    )


def test_a_claim_waits_no_more_once_it_is_checked_or_refused_and_no_report_but_a_claim_is_one() -> None:
    own = e.VerificationStarted(task_id="b", tree="t", commands=("make test",))
    assert commands_words(story_of(*two(*exchange("b"), own)).view, "b").startswith("verification since ")
    told = {"task_id": "b", "attempt": 1, "iteration": 1}
    refused = e.CompletionRefused(feedback="x", fingerprint="f", **told)  # type: ignore[arg-type]
    for story in (story_of(*two(*exchange("b"), refused)), story_of(*two(*exchange("b", "iteration_done")))):
        assert (stage_word(story.view, "b"), commands_words(story.view, "b")) == ("building", "")


def test_own_work_on_a_task_has_the_time_of_its_own_newest_event_whatever_others_do() -> None:
    alone = e.CommandEnded(number=1, task_id="a", seconds=1.0)
    before = two(alone, *exchange("b", "iteration_done"))
    for more in ((), (started(2, nth=2), e.CommandEnded(number=2, task_id="a", seconds=1.0))):
        rows = task_rows(story_of(*before, *more), BEGIN + timedelta(seconds=300))
        [now] = [row.now for row in rows if row.id == "b"]
        assert now == f"sq's own work on it since {clock(len(before))}"


def test_after_a_signal_nothing_is_shown_as_still_under_way() -> None:
    stopping = story_of(*two(*exchange("b"), cut()))  # sq ends, and has not ended yet
    assert commands_words(stopping.view, "a") == "verification cut off: `make test`"
    assert "since" not in activity(stopping.view).partition(";")[0]
    ended = story_of(*two(*exchange("b"), cut(), e.RunInterrupted(by="SIGINT")))
    lines = io.StringIO()
    Console(file=lines, width=140).print(task_table(ended, BEGIN, width=140, height=20))
    shown = lines.getvalue()
    assert "since" not in shown.partition("the start")[0].rpartition("\n")[0], shown
    assert re.search(
        r"^a +claimed +claimed, verification cut off; no process works on it", shown, re.MULTILINE
    )
    assert re.search(r"^b +claimed +claimed, not checked yet; no process works on it", shown, re.MULTILINE)
    again = story_of(*two(cut(), started(2), e.CommandEnded(number=2, task_id="a", seconds=1.0)))
    assert "cut off" not in commands_words(again.view, "a")


def test_the_number_of_a_command_is_that_of_whole_commands_and_a_part_has_none() -> None:
    part = started(2, command=SUITE, part=True, nth=2, about="the changed tests alone")
    assert re.fullmatch(
        rf"verification \(the changed tests alone\) since [\d:]+: some tests of `{SUITE}`",
        commands_words(story_of(*BUILDING, part).view, "a"),
    )
    [told] = describe_one(*BUILDING, part)
    assert told == f"sq runs for the verification (the changed tests alone): some tests of `{SUITE}`"


def describe_one(*events: Event) -> list[str]:
    """The words of the newest event."""
    story = story_of(*events)
    stored = Stored(len(events), BEGIN, events[-1])
    return [one.words.text for one in describe(story.view, stored)]


CODED = "\x1b[?25l\x1b[32m✓\x1b[39m passes\r\n\x1b]0;vitest\x07\x1b[2K\x1b[31m✗ fails\x1b[0m\n\x1b[1Aend"


@pytest.mark.parametrize("exit_code", [0, 1])
def test_the_codes_by_which_a_command_steers_a_terminal_are_no_part_of_its_output(exit_code: int) -> None:
    run = CommandRun(command="make test", exit_code=exit_code, seconds=1.0, output_tail=CODED)
    verified = e.VerificationFinished(task_id="a", tree="t", runs=(run,))
    story = story_of(*BUILDING, verified)
    [words] = [one.words for one in describe(story.view, Stored(9, BEGIN, verified))]
    assert [quote.text for quote in words.quotes] == ["✓ passes\n✗ fails\nend"]


def test_what_a_command_of_an_agent_printed_is_shown_without_its_codes_and_the_agents_words_with_them() -> (
    None
):
    call = exchange("a")[0]
    told: dict[MessageKind, str] = {}
    for kind in (MessageKind.TOOL_RESULT, MessageKind.TEXT):
        said = e.MessageReceived(call_id="w-a", message=Message(kind=kind, text=CODED, is_error=True))
        story = story_of(*two()[:6], call, said)
        stored = Stored(9, BEGIN, said)
        lines = [
            describe(story.view, stored)[0].words.text,
            *(one.plain for one in message_of(story.view, stored)),
        ]
        told[kind] = "\n".join(lines)
    assert "\x1b" not in told[MessageKind.TOOL_RESULT]
    assert "✓ passes" in told[MessageKind.TOOL_RESULT]
    assert "\x1b" in told[MessageKind.TEXT], "the screen makes them visible there"
