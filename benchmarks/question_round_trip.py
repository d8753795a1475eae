"""Measures how long a Worker waits for an answer, without the thinking time of the models.

    python -m benchmarks.question_round_trip

One Worker session on the real CLI asks its questions one after the other in one turn, and the Developer
answers each over the API. The path is that of a run: `Conversation`, `QuestionBus`, a journal on disk. Both
models are scripts without latency behind one gateway in this process.

A question's time begins when the gateway begins to send the Worker's call, and ends when the whole request
that carries the answer has come in. It includes: the CLI reading the call and asking sq, the policy, the
stored events, the Developer's prompt, an HTTP client and its request, the checks, and the CLI building its
next request. It excludes the gateway's own work on the Developer's request, from its last byte to the
answer's last. The gateway shares the event loop with sq, so its cost to the others is included.

The last line is JSON: the median and the 95th percentile over the questions, in milliseconds.
"""

import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click

from agents.gateway.script import Expectation, Scenario, ScriptReply, ScriptToolCall, ScriptUsage
from agents.session.sdks import import_sdks
from benchmarks.rehearsed import CallerClock, clocked_gateway, commit, git, own_home, run_of, worker_at
from state.journal.store import Journal
from state.roles import Role

if TYPE_CHECKING:
    from pydantic import JsonValue

TASK = "questions"
WORKER, DEVELOPER = f"{Role.WORKER}/{TASK}/1", f"{Role.DEVELOPER}/{TASK}/1"
LABEL = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Seconds of one question: until the Developer is asked, and from its answer on."""

    asking: float
    answering: float

    @property
    def whole(self) -> float:
        """The seconds without the gateway's work for the Developer."""
        return self.asking + self.answering


@click.command()
@click.option("--questions", default=50, show_default=True, help="Questions that the Worker asks.")
def main(questions: int) -> None:
    """Measure the time of a Worker's question."""
    import_sdks()  # before anything is measured, as a run does
    with own_home() as folder:
        round_trips = anyio.run(_measure, folder, questions)
    _report(round_trips)


async def _measure(folder: Path, questions: int) -> list[RoundTrip]:
    repository, workspace, run_folder = (folder / name for name in ("repository", "workspace", "run"))
    run_folder.mkdir()
    commit(repository)
    git(repository, "worktree", "add", "--quiet", "--detach", str(workspace))
    async with clocked_gateway(_scenario(questions), folder) as (gateway, clock):
        with Journal(run_folder) as journal:
            run = run_of(journal, run_folder, gateway, workspace, folder)
            async with worker_at(run, TASK, 1, workspace) as talk:
                call = await talk.exchange(1, "Ask which colour, often.")
            if failure := call.failure:
                sys.exit(f"the Worker's session failed: {failure}")
            answered = [one.answered for one in run.view.asks.values() if one.answered]
    if len(answered) != questions:
        sys.exit(f"{len(answered)} of {questions} questions were answered, so nothing was measured")
    return _round_trips(clock)


def _scenario(questions: int) -> Scenario:
    return Scenario(
        scenario=1,
        usage=ScriptUsage(input_tokens=1000, output_tokens=100),
        callers={
            WORKER: (
                *(
                    ScriptReply(tools=_asks(number), expect=_answered(number - 1))
                    for number in range(questions)
                ),
                ScriptReply(text="Now I know.", expect=_answered(questions - 1)),
            ),
            DEVELOPER: tuple(map(_answer, range(questions))),
        },
    )


def _answer(number: int) -> ScriptReply:
    """The Developer's reply to one of the questions."""
    answer: JsonValue = {
        "question": _question(number), "labels": [LABEL], "free_text": "", "reason": "It is warm.",
        "reversible": True,
    }  # fmt: skip
    return ScriptReply(structured={"answers": [answer]}, when=(f"## Question 1\n\n{_question(number)}\n",))


def _question(number: int) -> str:
    """A new question each time, since a repeated one would reject the answer."""
    return f"Which colour has page {number}?"


def _asks(number: int) -> tuple[ScriptToolCall, ...]:
    options: JsonValue = [{"label": label, "description": f"Take {label}"} for label in (LABEL, "blue")]
    question: JsonValue = {
        "question": _question(number), "header": "Colour", "multiSelect": False, "options": options,
    }  # fmt: skip
    return (ScriptToolCall(name="AskUserQuestion", input={"questions": [question]}),)


def _answered(number: int) -> Expectation:
    words = (f'"{_question(number)}"="{LABEL}"',) if number >= 0 else ()
    return Expectation(tool_results_contain=words)


def _round_trips(clock: CallerClock) -> list[RoundTrip]:
    """The times of each question: each request of the Worker except the last was answered with one."""
    worker, developer = clock.served[WORKER], clock.served[DEVELOPER]
    if len(worker) != len(developer) + 1:
        sys.exit(f"{len(worker)} requests of the Worker and {len(developer)} of the Developer do not fit")
    return [
        RoundTrip(asking=asked.arrived - call.answering, answering=after.arrived - asked.answered)
        for call, asked, after in zip(worker, developer, worker[1:], strict=False)
    ]


def _report(round_trips: list[RoundTrip]) -> None:
    parts = {
        "until the Developer is asked": [1000 * one.asking for one in round_trips],
        "from the answer on": [1000 * one.answering for one in round_trips],
        "the whole question": [1000 * one.whole for one in round_trips],
    }
    print(f"{'ms':<30} {'median':>8} {'95 %':>8} {'most':>8}")
    for name, spans in parts.items():
        print(f"{name:<30} {statistics.median(spans):8.1f} {_p95(spans):8.1f} {max(spans):8.1f}")
    whole = parts["the whole question"]
    result = {
        "median_ms": round(statistics.median(whole), 2),
        "p95_ms": round(_p95(whole), 2),
        "questions": len(whole),
    }
    print(json.dumps(result))


def _p95(spans: list[float]) -> float:
    return sorted(spans)[max(0, -(-len(spans) * 95 // 100) - 1)]


if __name__ == "__main__":
    main()
