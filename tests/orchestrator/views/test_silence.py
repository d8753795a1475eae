"""While a run gives no sign, lines say what it waits for: after 30 s, then less and less often."""

from datetime import UTC, datetime, timedelta

import anyio
import pytest
from anyio.lowlevel import checkpoint
from language.beginnings import call_started

from orchestrator.views.run.console import next_notice, present, silence_line
from orchestrator.views.run.look import Detail, Look, LookMode
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, Message, MessageKind
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun
from state.records.plan import Analysis, Task
from state.roles import Role

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
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
ENDED = e.RunEnded(outcome=Outcome.FAILED, cause="x")


def call(call_id="w", role=Role.WORKER, task_id="a"):
    return call_started(call_id, role, task_id, model="opus")


def at(seconds):
    return BEGIN + timedelta(seconds=seconds)


def said(second):
    return f"{at(second).astimezone():%H:%M:%S}"


class FakeClock:
    """A clock that goes on as it is slept on, and stores events when their second has come."""

    def __init__(self, *timed):
        self.time, self.timed, self.stored, self.grown = BEGIN, list(timed), [], anyio.Event()

    def now(self):
        return self.time

    async def sleep(self, seconds):
        until = self.time + timedelta(seconds=seconds)
        while self.timed and at(self.timed[0][0]) <= until:
            second, event = self.timed.pop(0)
            self.time = at(second)
            self.stored.append(Stored(len(self.stored) + 1, self.time, event))
            self.grown.set()
            while self.grown.is_set():  # until who follows has taken it
                await checkpoint()
        self.time = until
        await checkpoint()

    async def follow(self, after=0):
        while True:
            for stored in self.stored[after:]:
                yield stored
            after = len(self.stored)
            self.grown = anyio.Event()
            await self.grown.wait()


async def shown(capsys, *timed, look=None):
    clock = FakeClock(*timed)
    with anyio.fail_after(30):
        await present(clock, look or Look(mode=LookMode.PLAIN), clock=clock)
    return [line for line in capsys.readouterr().out.splitlines() if "no sign" in line]


def waiting(quiet, since=0):
    return f"no sign for {quiet}, waiting for the worker on a (opus), since {said(since)}"


async def test_a_silence_is_told_after_30_seconds_and_then_less_and_less_often(capsys):
    lines = await shown(capsys, (0, PLANNED), (0, call()), (500, ENDED))
    assert lines == [
        waiting("30 s"),
        waiting("1 min 0 s"),
        waiting("2 min 0 s"),
        waiting("4 min 0 s"),
        waiting("8 min 0 s"),
    ]


async def test_each_event_begins_the_silence_anew(capsys):
    refused = e.ActionRefused(call_id="w", tool="Bash", reason="no")
    timed = [(second, refused) for second in (25, 50, 75)]
    assert await shown(capsys, (0, PLANNED), (0, call()), *timed, (104, ENDED)) == []
    assert await shown(capsys, (0, PLANNED), (0, call()), *timed, (107, ENDED)) == [waiting("30 s")]


@pytest.mark.parametrize(
    ("look", "count"),
    [
        (Look(mode=LookMode.LIVE), 1),
        (Look(mode=LookMode.PLAIN, detail=Detail.ALL), 1),
        (Look(mode=LookMode.PLAIN, detail=Detail.END), 0),
        (Look(mode=LookMode.JSON), 0),
    ],
)
async def test_the_live_display_tells_it_too_and_quiet_and_json_do_not(capsys, look, count):
    assert len(await shown(capsys, (0, PLANNED), (0, call()), (45, ENDED), look=look)) == count


def test_lines_come_ever_more_rarely_and_at_least_every_ten_minutes():
    due = [0.0]
    while due[-1] < 3600:
        due.append(next_notice(due[-1]))
    assert due[1:8] == [30, 60, 120, 240, 480, 960, 1560]


@pytest.mark.parametrize(
    ("events", "waits"),
    [
        ([], "sq's own work (running the tests before any change)"),
        ([e.BaselineTaken(tree="t", environment="", checks=()), e.RepositoryAnalyzed(analysis=Analysis()), PLANNED],
         "sq's own work (between tasks)"),
        ([e.BaselineStarted(tree="t", commands=("make test", "make lint"))],
         f"the whole: baseline since {said(1)}: `make test`, `make lint`"),
        ([e.VerificationStarted(task_id="a", tree="t", commands=("make test",))],
         f"a: verification since {said(1)}: `make test`"),
        ([PLANNED, TIMED, e.VerificationStarted(task_id="a", tree="t", commands=("make test", "make lint")),
          e.CommandStarted(number=9, command="make test", purpose="verification", task_id="a", nth=1, of=2),
          e.VerificationStarted(task_id="b", tree="u", commands=("make test",))],
         (f"a: verification 1 of 2 since {said(4)}, 2 min 15 s at the base: `make test`; "
         f"b: verification since {said(5)}: `make test`")),
        ([PLANNED, TIMED, e.CommandStarted(number=9, command="make test", purpose="verification", task_id="a"),
          e.TurnAwaited(turn=1, task_id="b", command="make test", behind=("make test",)),
          e.TurnAwaited(turn=2, task_id="c", command="make test", behind=("make test",))],
         (f"a: verification since {said(3)}, 2 min 15 s at the base: `make test`; "
         f"b since {said(4)}, c since {said(5)} for a turn")),
        ([e.CommandStarted(number=1, command="make test", purpose="verification", task_id="a"),
          e.CommandEnded(number=1, task_id="a", seconds=3)],
         "sq's own work (running the tests before any change)"),
        ([e.VerificationStarted(task_id="a", tree="t", commands=("make test",)),
          e.VerificationFinished(task_id="a", tree="t", runs=()), call("p", Role.PLANNER, "plan")],
         f"the planner on the plan (opus), since {said(3)}"),
        ([e.SetUpStarted(task_id="a", folder="/a", steps=("npm ci (package-lock.json)",))],
         f"a: set-up since {said(1)}: `npm ci (package-lock.json)`"),
        ([PLANNED, call(), call("r", Role.REVIEWER, ""), e.CallEnded(call_id="w", end=CallEnd.COMPLETED)],
         f"the reviewer on the whole (opus), since {said(3)}"),
        ([PLANNED, call(), e.CallRetried(call_id="w", end=CallEnd.API_ERROR, detail="", wait_s=600)],
         f"the worker on a (opus), which is asked again at {said(603)} after: api error"),
        ([PLANNED, call(), e.MessageReceived(
            call_id="w", message=Message(kind=MessageKind.TOOL_CALL, tool="Bash", text='{"command": "npm test"}'))],
         f"the worker on a (opus), since {said(2)}, in Bash npm test"),
    ],
)  # fmt: skip
def test_what_is_waited_for_are_calls_and_commands_without_an_end(events, waits):
    view = RunView()
    for number, event in enumerate(events, start=1):
        apply(view, Stored(number, at(number), event))
    assert silence_line(view, at(60), 30) == f"no sign for 30 s, waiting for {waits}"


def test_a_usage_limit_is_named_and_a_run_that_waits_for_a_person_says_so():
    limit = e.CallRetried(call_id="w", end=CallEnd.API_ERROR, detail="", wait_s=600, resets_at=at(600))
    view = RunView()
    for number, event in enumerate([PLANNED, call(), limit], start=1):
        apply(view, Stored(number, at(number), event))
    assert silence_line(view, at(60), 30).endswith("after: a usage limit is reached")
    apply(view, Stored(4, at(4), e.RunPaused(word_id="1", by="ann@host")))
    view.calls.clear()
    assert silence_line(view, at(60), 30) == "no sign for 30 s: paused by ann@host: sq continue"
