"""Which commands may run beside each other, in which order, and at which limits one is ended."""

from dataclasses import replace

import pytest

from orchestrator.run.command_limits import exceeded, share_of
from orchestrator.run.purpose import PROOFS
from orchestrator.run.turns import ALONE, Turn, Turns, distance
from state.journal.events import CommandStarted
from state.journal.events.tasks import Stage, TaskView
from state.journal.view import RunView
from state.records.commands import CommandRun, CommandUse
from state.records.plan import Task
from state.settings.records import Limits

PROCESSORS = 2.0

COMMAND = CommandStarted(number=0, command="", purpose="command")


def turn(name: str, share: float = PROCESSORS, rank: int = 0) -> Turn:
    return Turn(share=share, command=name, rank=lambda: rank)


def running(turns: Turns) -> list[str]:
    return [one.command for one in turns.running]


def asked(*wanted: Turn) -> Turns:
    turns = Turns(PROCESSORS)
    for one in wanted:
        turns.ask(one)
    return turns


def test_two_suites_that_use_all_processors_take_turns() -> None:
    first, second = turn("first", 1.8), turn("second", 1.8)
    turns = asked(first, second)
    assert running(turns) == ["first"]
    assert not second.came.is_set()
    turns.leave(first)
    assert running(turns) == ["second"]
    assert second.came.is_set()
    assert not first.beside


def test_two_suites_of_one_thread_each_run_side_by_side_and_know_it() -> None:
    first, second, third = turn("first", 1.02), turn("second", 1.03), turn("third", 1.0)
    turns = asked(first, second, third)
    assert running(turns) == ["first", "second"]
    assert first.beside
    assert second.beside
    assert not third.beside


def test_one_command_always_runs_whatever_it_wants() -> None:
    assert running(asked(turn("many threads", 64.0))) == ["many threads"]


def test_who_is_nearest_to_being_merged_is_next_and_others_come_as_they_arrived() -> None:
    now = turn("now")
    late = [turn("set-up", rank=3), turn("claim", rank=2), turn("claim too", rank=2), turn("merge", rank=0)]
    turns = asked(now, *late)
    order = []
    while turns.running:
        order += running(turns)
        turns.leave(turns.running[0])
    assert order == ["now", "merge", "claim", "claim too", "set-up"]


def test_a_claim_whose_verification_is_over_is_nearer_than_one_that_waits_for_its_own() -> None:
    def far(stage: Stage, purpose: str = "verification", *, calls: bool = True) -> int:
        task = TaskView(Task(id="one", title="", description=""), stage=stage)
        task.open.calls = ["a"] if calls else []
        return distance(RunView(tasks={"one": task}), replace(COMMAND, task_id="one", purpose=purpose))

    assert far(Stage.APPROVED) < far(Stage.COMMITTED) < far(Stage.BUILDING, PROOFS)
    assert far(Stage.BUILDING, PROOFS) < far(Stage.BUILDING) < far(Stage.BUILDING, "set-up", calls=False)
    assert distance(RunView(), COMMAND) == 0


def test_nobody_overtakes_the_first_one_who_waits_but_a_command_that_is_over_at_once() -> None:
    now, large, small, brief = turn("now", 1.0), turn("large"), turn("small", 1.0), turn("brief", 0.0)
    turns = asked(now, large, small, brief)
    assert running(turns) == ["now", "brief"]
    turns.leave(now)
    assert running(turns) == ["brief", "large"]


def test_nothing_runs_beside_a_command_that_is_tried_alone() -> None:
    now, alone, brief = turn("now", 0.0), turn("alone", ALONE), turn("brief", 0.0)
    turns = asked(now, alone)
    assert running(turns) == ["now"]
    turns.leave(now)
    turns.ask(brief)
    assert running(turns) == ["alone"]
    turns.leave(alone)
    assert running(turns) == ["brief"]


def test_who_waits_no_longer_lets_the_next_one_pass() -> None:
    now, gone, small = turn("now", 1.0), turn("gone"), turn("small", 1.0)
    turns = asked(now, gone, small)
    turns.leave(gone)
    assert running(turns) == ["now", "small"]


def at_the_base(seconds: float = 100.0, **figures: float | None) -> CommandRun:
    use = CommandUse(**{"cpu_s": 180.0, "silence_s": 5.0, "processors": 1.8} | figures)  # type: ignore[arg-type]
    return CommandRun(command="pytest", exit_code=0, seconds=seconds, output_tail="", use=use)


@pytest.mark.parametrize(
    ("base", "share"),
    [
        (at_the_base(), 1.8),
        (at_the_base(processors=12.0), PROCESSORS),
        (at_the_base(cpu_s=0.4), 0.0),
        (at_the_base(cpu_s=None, processors=None), PROCESSORS),
        (None, PROCESSORS),
    ],
)
def test_a_command_counts_the_processors_of_the_base_and_all_if_it_is_unknown(
    base: CommandRun | None, share: float
) -> None:
    assert share_of(base, PROCESSORS) == share


def used(seconds: float, cpu_s: float | None, silent_s: float = 0.0, *, crowded: bool = False) -> CommandUse:
    return CommandUse(seconds=seconds, cpu_s=cpu_s, silent_s=silent_s, is_crowded=crowded)


BASE = at_the_base()
NO_PROCESSOR_TIME = at_the_base(cpu_s=None, silence_s=0.0)


@pytest.mark.parametrize(
    ("base", "usage", "words"),
    [
        # seven times as long on a loaded machine, with the processor time that it needs
        (BASE, used(700, 190), ""),
        (
            BASE,
            used(700, 901),
            "used processors for 901.0 s (its limit is 900.0 s: 5 times the 180.0 s",
        ),
        (
            BASE,
            used(1001, 190),
            "did not end within 1001.0 s (its limit is 1000.0 s: 10 times the 100.0 s at the base",
        ),
        (BASE, used(100, 20, 59), ""),
        (BASE, used(100, 20, 61), "for 61.0 s (its limit is 60.0 s: 2 times the 5.0 s at the base"),
        (at_the_base(silence_s=50.0), used(200, 20, 99), ""),
        (at_the_base(silence_s=50.0), used(200, 20, 101), "`limits.silence_s`"),
        # a suite of a moment may become one of minutes
        (at_the_base(seconds=0.2, cpu_s=0.2), used(599, 599), ""),
        (at_the_base(seconds=0.2, cpu_s=0.2), used(601, 599), "`limits.verify_s`"),
        # without processor time only the time on the wall counts
        (NO_PROCESSOR_TIME, used(999, None, 300), ""),
        (NO_PROCESSOR_TIME, used(1001, None), "did not end within 1001.0 s"),
        (BASE, used(999, None, 300), ""),
        # nothing is known of it: its time, unless it had to wait for processors
        (None, used(599, 1000), ""),
        (None, used(601, 1000), "did not end within 600 s (`limits.verify_s`)"),
        (None, used(601, 300, crowded=True), ""),
        (None, used(601, 300, 2.0, crowded=True), "did not end within 600 s"),
        (None, used(1500, 601, crowded=True), ""),
        (None, used(1500, 1201, crowded=True), "did not end within 600 s"),
        (None, used(3001, 300, crowded=True), "within 3000 s on a busy machine (`limits.verify_s`)"),
        (None, used(601, None), "did not end within 600 s"),
    ],
)
def test_a_command_is_ended_by_what_it_did_at_the_base(
    base: CommandRun | None, usage: CommandUse, words: str
) -> None:
    said = exceeded(Limits(), base, PROCESSORS, usage)
    assert words in said
    assert bool(said) is bool(words)
