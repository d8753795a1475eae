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

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
import click

from agents.gateway.script import Scenario
from agents.sdks import import_sdks
from benchmarks.figures import percentile, print_figures, print_spans
from benchmarks.rehearsed import (
    CallerClock,
    calls,
    clocked_gateway,
    commit,
    exchanged,
    git,
    own_home,
    scenario_of,
    working,
)
from state.roles import Role

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
    repository, workspace = folder / "repository", folder / "workspace"
    commit(repository)
    git(repository, "worktree", "add", "--quiet", "--detach", str(workspace))
    async with clocked_gateway(_scenario(questions), folder) as (gateway, clock):
        async with working(folder / "run", gateway, workspace, TASK, 1) as (run, talk):
            await exchanged(talk, 1, "Ask which colour, often.")
        answered = [one.answered for one in run.view.asks.values() if one.answered]
    if len(answered) != questions:
        sys.exit(f"{len(answered)} of {questions} questions were answered, so nothing was measured")
    return _round_trips(clock)


def _scenario(questions: int) -> Scenario:
    """Ask new questions, since a repeated one would reject the answer."""
    words = [f"Which colour has page {number}?" for number in range(questions)]
    options = [{"label": label, "description": f"Take {label}"} for label in (LABEL, "blue")]
    form = {"header": "Colour", "multiSelect": False, "options": options}
    answer = {"labels": [LABEL], "free_text": "", "reason": "It is warm.", "reversible": True}
    asked = [calls("AskUserQuestion", questions=[{"question": one, **form}]) for one in words]
    answered = [{"tool_results_contain": [f'"{one}"="{LABEL}"']} for one in words]
    worker = [
        {**reply, "expect": expect}
        for reply, expect in zip([*asked, {"text": "Now I know."}], [{}, *answered], strict=True)
    ]
    developer = [
        {"structured": {"answers": [{"question": one, **answer}]}, "when": [f"## Question 1\n\n{one}\n"]}
        for one in words
    ]
    return scenario_of({WORKER: worker, DEVELOPER: developer})


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
    whole = [1000 * one.whole for one in round_trips]
    print_spans(
        {
            "until the Developer is asked": [1000 * one.asking for one in round_trips],
            "from the answer on": [1000 * one.answering for one in round_trips],
            "the whole question": whole,
        }
    )
    figures = {"median_ms": round(median(whole), 2), "p95_ms": round(percentile(whole, 95), 2)}
    print_figures({**figures, "questions": len(whole)})


if __name__ == "__main__":
    main()
