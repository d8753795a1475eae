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
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click

from agents.access import Credentials, RehearsalConnection
from agents.gateway.call import read_address
from agents.gateway.ledger import Ledger
from agents.gateway.listeners import listening
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Expectation, Scenario, ScriptReply, ScriptToolCall, ScriptUsage
from agents.gateway.server import Gateway, app_of
from agents.make import make_platform
from agents.process.containment import detect_containment
from agents.process.sandbox.policy import no_boundary
from agents.roles.worker import worker_session
from agents.session.claude_code import find_cli
from orchestrator.cli.runs.compose import composed
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.asking.questions import QuestionBus
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.record import Run
from state.ids import new_session_id
from state.journal.events import AttemptStarted, PlanAccepted, RunStarted, TaskStarted
from state.journal.recorder import Recorder
from state.journal.store import Journal
from state.records.plan import Task
from state.roles import Role
from state.settings.presets import usual_settings
from state.settings.records import Confinement

if TYPE_CHECKING:
    from pydantic import JsonValue
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

RUN, TASK, EFFORT = "bench", "questions", "medium"
WORKER, DEVELOPER = f"{Role.WORKER}/{TASK}/1", f"{Role.DEVELOPER}/{TASK}/1"
LABEL = "red"


@dataclass(slots=True)
class Served:
    """When a request had come in, when its answer began to go out, and when it was out, in seconds."""

    arrived: float = 0.0
    answering: float = 0.0
    answered: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Seconds of one question: until the Developer is asked, and from its answer on."""

    asking: float
    answering: float

    @property
    def whole(self) -> float:
        """The seconds without the gateway's work for the Developer."""
        return self.asking + self.answering


class CallerClock:
    """Middleware of the gateway that records the times of the requests of each caller."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self.served: dict[str, list[Served]] = defaultdict(list)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        address = read_address(scope["raw_path"])
        served = Served()
        self.served[address.caller if address else ""].append(served)

        async def noted_receive() -> "Message":
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                served.arrived = time.perf_counter()
            return message

        async def noted_send(message: "Message") -> None:
            if message["type"] == "http.response.start":
                served.answering = time.perf_counter()
            await send(message)
            served.answered = time.perf_counter()

        await self._app(scope, noted_receive, noted_send)


@click.command()
@click.option("--questions", default=50, show_default=True, help="Questions that the Worker asks.")
def main(questions: int) -> None:
    """Measure the time of a Worker's question."""
    import anthropic  # noqa: F401  imported before anything is measured, as a run does
    import claude_agent_sdk  # noqa: F401

    with tempfile.TemporaryDirectory(prefix="sq-bench-") as folder:
        round_trips = anyio.run(_measure, Path(folder), questions)
    _report(round_trips)


async def _measure(folder: Path, questions: int) -> list[RoundTrip]:
    workspace, run_folder = folder / "workspace", folder / "run"
    run_folder.mkdir()
    await _make_worktree(folder / "repository", workspace)
    async with _gateway(_scenario(questions), folder / "ledger") as (gateway, clock):
        with Journal(run_folder) as journal:
            run = _run(gateway, journal, run_folder, workspace)
            await _talk(run, workspace)
            answered = [one.answered for one in run.view.asks.values() if one.answered]
        if gateway.problems:
            sys.exit(f"the script was not followed, so nothing was measured: {gateway.problems[0]}")
    if len(answered) != questions:
        sys.exit(f"{len(answered)} of {questions} questions were answered, so nothing was measured")
    return _round_trips(clock)


async def _make_worktree(repository: Path, workspace: Path) -> None:
    """Make a worktree of a new repository with one empty commit."""
    identity = ["-c", "user.name=sq", "-c", "user.email=sq@localhost"]
    at = ["git", "-C", str(repository)]
    await anyio.run_process(["git", "init", "--quiet", str(repository)])
    await anyio.run_process([*at, *identity, "commit", "--quiet", "--allow-empty", "-m", "Begin"])
    await anyio.run_process([*at, "worktree", "add", "--quiet", "--detach", str(workspace)])


@asynccontextmanager
async def _gateway(scenario: Scenario, ledger: Path) -> AsyncIterator[tuple[Gateway, CallerClock]]:
    """Like `serve_scenario`, with a clock before it."""
    with Ledger(ledger) as lines:
        rehearsal = Rehearsal(scenario, run_id=RUN, ledger=lines)
        clock = CallerClock(app_of(rehearsal))
        async with listening(clock) as listeners:
            yield Gateway(listeners, RUN, rehearsal), clock


def _run(gateway: Gateway, journal: Journal, run_folder: Path, workspace: Path) -> Run:
    """A run whose Worker is about to begin."""
    containment = detect_containment()
    started = RunStarted(
        run_id=RUN,
        spec_name="spec.md",
        spec_text="Write a page about a colour.",
        repository=str(workspace),
        worktrees=str(workspace.parent),
        base_commit="",
        base_branch="main",
        effort=EFFORT,
        verify=(),
        rehearsal="benchmark",
        credentials=Credentials.REHEARSAL,
        confined=Confinement(containment=containment),
        sq_version="benchmark",
    )
    config_dir = run_folder / "claude"
    config_dir.mkdir()
    platform = make_platform(
        RehearsalConnection(gateway=gateway, config_dir=config_dir),
        cli=find_cli(),
        run_folder=run_folder,
        containment=containment,
        settings=usual_settings(EFFORT),
        boundary=no_boundary(os.environ),
        environ=os.environ,
        hidden=(run_folder,),
    )
    workspaces = Worktrees(started=started)
    run = composed(Recorder(journal), run_folder, platform, workspaces, no_boundary(os.environ), os.environ)
    task = Task(id=TASK, title="Ask", description="Ask which colour.")
    run.record(
        started,
        PlanAccepted(tasks=(task,), criteria=()),
        TaskStarted(task_id=TASK, branch="", worktree=str(workspace), base_commit=""),
        AttemptStarted(task_id=TASK, attempt=1, session_id=new_session_id(), tree=""),
    )
    return run


async def _talk(run: Run, workspace: Path) -> None:
    """Work through the Worker's turn like `orchestrator.run.tasks.attempt`."""
    temporary = workspace.with_name("temporary")
    temporary.mkdir()
    spec_for = partial(
        worker_session, run.platform, task_id=TASK, attempt=1, workspace=workspace, temporary=temporary
    )
    bus = QuestionBus(run, TASK)
    async with Conversation(
        run, role=Role.WORKER, task_id=TASK, attempt=1, spec_for=spec_for, questions=bus.callback
    ) as talk:
        call = await talk.exchange(1, "Ask which colour, often.")
        if failure := call.failure:
            sys.exit(f"the Worker's session failed: {failure}")


def _scenario(questions: int) -> Scenario:
    return Scenario(
        scenario=1,
        usage=ScriptUsage(input_tokens=1000, output_tokens=100),
        lanes={
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
