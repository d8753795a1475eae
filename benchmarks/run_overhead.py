"""Measures the overhead of sq: the same exchanges through the bare SDK and through sq, in turn.

    python -m benchmarks.run_overhead

Both sides talk to the real CLI, whose model is the same script without latency: each exchange writes a file,
runs a command and reports through a typed tool. The bare side is a plain `ClaudeSDKClient` loop with the
same typed tools, whose turns a PostToolUse hook ends like those of sq. sq's side is an iteration of
`orchestrator.run.tasks.attempt`: a `Conversation` (launcher and containment, policy hook, typed tools,
partial messages), a journal on disk, and the tree's fingerprint, read while the turn ends.

The first exchange of a session includes its start, so it is shown apart and is not in the ratio. Pairs
alternate which side goes first. A model that takes no time makes the ratio as bad as possible. The last line
is JSON: `wall_ratio` is the median over the pairs of sq's time divided by the bare one's,
`sq_ms_per_iteration` the median time that sq adds to one exchange, `door_exchange_ratio` sq's time divided by
that of a third side, sq with git outside the door. Both sides have to make the same number of
requests, or nothing is reported. `requests_per_turn_saved` are the requests that the hook saves, compared
with one bare session without it, which is not timed.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import anyio
import click
from anyio.abc import TaskGroup

from agents.access import RehearsalConnection
from agents.caller import Caller
from agents.claude_code.executable import find_cli
from agents.claude_code.tool_server import signal_server
from agents.concurrency import task_group
from agents.gateway.ledger import read_ledger
from agents.gateway.script import Scenario
from agents.gateway.server import Gateway
from agents.process.containment import detect_containment
from agents.process.sandbox.choice import choose_sandbox
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.to_end import run_to_end
from agents.roles.worker import system_prompt
from agents.sdks import import_sdks
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.tools import ITERATION_DONE, SIGNALS
from benchmarks.figures import print_figures, print_spans
from benchmarks.rehearsed import (
    Reply,
    calls,
    clocked_gateway,
    commit,
    own_home,
    reports,
    scenario_of,
    working,
)
from orchestrator.git.command import through
from orchestrator.git.pinned import record_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.workspace import ensure_worktree
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.places.door import SandboxDoor
from orchestrator.run.record import Run
from orchestrator.run.tasks.attempt import say
from state.journal.events import IterationMeasured
from state.roles import ROLES, Role
from state.settings.presets import usual_settings
from state.settings.records import Sandbox

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultAllow

TASK = "steps"
BARE = "bare"
UNSTOPPED = "unstopped"  # the bare side without the hook
_OTHERS = 1_000  # attempts of the side with git outside
FILES = 200  # of the repository, so that its fingerprint costs as much as a small project's


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTiming:
    """Seconds of one side: the first exchange with the session's start, and all others together."""

    first: float
    others: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The pairs, each with the bare side first, and the requests of one turn by the task of its caller."""

    timings: list[tuple[SideTiming, SideTiming, SideTiming | None]]
    requests: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The input of both sides."""

    folder: Path
    repository: Path
    gateway: Gateway
    exchanges: int


@click.command()
@click.option("--exchanges", default=20, show_default=True, help="Measured exchanges of each session.")
@click.option("--pairs", default=5, show_default=True, help="Times that each side is measured.")
@click.option("--only-sq", is_flag=True, help="Without the side whose git is outside the door.")
def main(exchanges: int, pairs: int, *, only_sq: bool) -> None:
    """Compare the same exchanges through the bare SDK and through sq."""
    import_sdks()  # before anything is measured
    with own_home() as folder:
        measured = anyio.run(_measure, folder, exchanges, pairs, only_sq)
    _report(measured, exchanges)


async def _measure(folder: Path, exchanges: int, pairs: int, only_sq: bool) -> Measured:
    repository = _make_repository(folder / "repository")
    (folder / "claude").mkdir()
    timings = []
    async with clocked_gateway(_scenario(exchanges), folder) as (gateway, _):
        bench = Bench(folder=folder, repository=repository, gateway=gateway, exchanges=exchanges)
        for pair in range(pairs):
            sides: list[Callable[[Bench, int], Awaitable[SideTiming]]]
            sides = [_bare, _through_sq, *([] if only_sq else [_outside])]
            found = {side: await side(bench, pair + 1) for side in sides[:: 1 if pair % 2 == 0 else -1]}
            timings.append((found[_bare], found[_through_sq], found.get(_outside)))
        await _bare(bench, 1, task=UNSTOPPED)
    return Measured(timings=timings, requests=_requests(folder / "ledger", exchanges))


def _requests(ledger: Path, exchanges: int) -> dict[str, float]:
    """The requests of one turn by the task of its caller. All sessions of one task must make as many."""
    callers = Counter(line.caller for line in read_ledger(ledger))
    found: dict[str, set[float]] = {}
    for caller, count in callers.items():
        found.setdefault(caller.split("/")[1], set()).add(count / (exchanges + 1))
    if len(found[BARE] | found[TASK]) != 1:
        sys.exit(f"both sides have to make the same number of requests a turn, and they made {found}")
    return {task: counts.pop() for task, counts in found.items()}


async def _bare(bench: Bench, pair: int, *, task: str = BARE) -> SideTiming:
    """A plain loop over the SDK's client. Its turns end with their report unless it is `UNSTOPPED`."""
    from claude_agent_sdk import ClaudeSDKClient, ResultMessage

    workspace = await _workspace(bench, f"{task}-{pair}")
    began = time.perf_counter()
    client = ClaudeSDKClient(_options(bench, workspace, pair, task))
    await client.connect()
    try:

        async def exchange(number: int) -> None:
            await client.query(_prompt(number))
            async for message in client.receive_response():
                if isinstance(message, ResultMessage) and message.is_error:
                    sys.exit(f"the bare session failed: {message.result}")

        timing = await _timed(exchange, bench.exchanges, began)
    finally:
        await client.disconnect()
    _look(workspace, bench.exchanges)
    return timing


def _options(bench: Bench, workspace: Path, pair: int, task: str) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow

    async def allow(_tool: str, _input: dict[str, Any], _context: object) -> "PermissionResultAllow":
        return PermissionResultAllow()

    caller = Caller(role=Role.WORKER, task=task, attempt=pair, values={"workspace": str(workspace)})
    connection = RehearsalConnection(gateway=bench.gateway, config_dir=bench.folder / "claude")
    return ClaudeAgentOptions(
        cwd=workspace,
        cli_path=find_cli(),
        model=usual_settings("medium").models[Role.WORKER].alias,
        system_prompt=system_prompt(),
        tools=list(ROLES[Role.WORKER].tools),
        permission_mode="default",
        can_use_tool=allow,
        hooks={} if task == UNSTOPPED else {"PostToolUse": [_end_of_turn()]},
        mcp_servers={"sq": signal_server(SIGNALS[Role.WORKER], _take)},
        strict_mcp_config=True,
        setting_sources=[],
        skills=[],
        verbatim_prompts=True,
        env=connection.session_environment(caller),
    )


def _take(name: str, payload: str) -> None:
    del name, payload


def _end_of_turn() -> "HookMatcher":
    from claude_agent_sdk import HookMatcher

    async def stop(_event: object, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        return {"continue_": False, "stopReason": "The report is recorded."}

    return HookMatcher(matcher=f"{SIGNAL_PREFIX}.*", hooks=[stop])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outside(SandboxDoor):
    """A door that leaves git outside, for comparison."""

    async def run(
        self, place: Path, command: Sequence[str], environment: Mapping[str, str], stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command as it is."""
        del self, place
        return await run_to_end(command, stdin, environment)


async def _outside(bench: Bench, pair: int) -> SideTiming:
    return await _through_sq(bench, _OTHERS + pair, kind=_Outside)


async def _through_sq(bench: Bench, pair: int, *, kind: type[SandboxDoor] = SandboxDoor) -> SideTiming:
    """Do the work of a run in the iterations of an attempt."""
    name = f"{kind.__name__}-{pair}"
    workspace, run_folder = await _workspace(bench, name), bench.folder / f"run-{name}"
    git = bench.folder / f"git-{name}"
    git.mkdir()
    trusted = await record_git(bench.repository, git, workspace.parent)
    choice = choose_sandbox(Sandbox.OFF, containment=detect_containment(), login=False, environ=os.environ)
    policy = SandboxPolicy(choice=choice, environ=os.environ, own_processes=True)
    door = kind(trusted=trusted, sandbox_policy=policy, scratch=git / "door")
    began = time.perf_counter()
    at_work = working(run_folder, bench.gateway, workspace, TASK, pair)
    with trusting(trusted):
        async with through(door), task_group() as beside, at_work as (run, talk):
            return await _iterations(bench, pair, began, run, talk, beside, workspace)


async def _iterations(
    bench: Bench,
    pair: int,
    began: float,
    run: Run,
    talk: Conversation,
    beside: TaskGroup,
    workspace: Path,
) -> SideTiming:
    async def exchange(number: int) -> None:
        tree = await say(run, talk, beside, workspace, number + 1, _prompt(number))
        tree = tree or await run.places.snapshot(workspace)
        run.record(IterationMeasured(task_id=TASK, attempt=pair, iteration=number, tree=tree))

    timing = await _timed(exchange, bench.exchanges, began)
    _look(workspace, bench.exchanges)
    return timing


async def _timed(exchange: Callable[[int], Awaitable[None]], count: int, began: float) -> SideTiming:
    await exchange(0)
    first = time.perf_counter()
    for number in range(1, count + 1):
        await exchange(number)
    return SideTiming(first=first - began, others=time.perf_counter() - first)


def _prompt(number: int) -> str:
    return f"Do step {number:04}: write its file, then check."


def _turn(number: int) -> list[Reply]:
    """Work, then a report. The closing words follow only if no hook ends the turn."""
    file = {"file_path": f"{{workspace}}/step-{number:04}.txt", "content": f"{number}\n" * 40}
    work = [calls("Write", **file), calls("Bash", command="true", description="Check")]
    report = reports(ITERATION_DONE, done="The step is done.")
    when = {"when": [f"step {number:04}"]}
    return [
        {"tools": [tool for reply in work for tool in reply["tools"]], **when},
        {**report, "then": f"Step {number:04} is done.", **when},
    ]


def _scenario(exchanges: int) -> Scenario:
    return scenario_of(
        {f"{Role.WORKER}/*": [one for number in range(exchanges + 1) for one in _turn(number)]}
    )


def _make_repository(folder: Path) -> Path:
    for number in range(FILES):
        file = folder / f"package_{number % 10}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"VALUE = {number}\n" * 50, "utf-8")
    commit(folder)
    return folder


async def _workspace(bench: Bench, name: str) -> Path:
    """Make a worktree for each session, on both sides."""
    folder = bench.folder / "worktrees" / name
    await ensure_worktree(bench.repository, folder, branch=None, commit="HEAD")
    return folder


def _look(workspace: Path, exchanges: int) -> None:
    """Check that both sides have done the work, since otherwise their times mean nothing."""
    written = len(list(workspace.glob("step-*.txt")))
    if written != exchanges + 1:
        sys.exit(f"{workspace.name} wrote {written} files instead of {exchanges + 1}")


def _report(measured: Measured, exchanges: int) -> None:
    timings, requests = measured.timings, measured.requests
    print(f"{exchanges} exchanges a session; the first exchange includes the session's start")
    ms = {
        "bare": [1000 * bare.others / exchanges for bare, _, _ in timings],
        "sq": [1000 * sq.others / exchanges for _, sq, _ in timings],
        "bare, first": [1000 * bare.first for bare, _, _ in timings],
        "sq, first": [1000 * sq.first for _, sq, _ in timings],
    }
    print_spans(ms)
    pairs = list(zip(ms["bare"], ms["sq"], strict=True))
    doors = [sq.others / outside.others for _, sq, outside in timings if outside]
    print_figures(
        {
            "wall_ratio": round(median(sq / bare for bare, sq in pairs), 4),
            **({"door_exchange_ratio": round(median(doors), 4)} if doors else {}),
            "sq_ms_per_iteration": round(median(sq - bare for bare, sq in pairs), 2),
            "bare_ms_per_iteration": round(median(ms["bare"]), 2),
            "bare_first_ms": round(median(ms["bare, first"]), 1),
            "sq_first_ms": round(median(ms["sq, first"]), 1),
            "bare_requests_per_turn": requests[BARE],
            "sq_requests_per_turn": requests[TASK],
            "requests_per_turn_saved": round(requests[UNSTOPPED] - requests[TASK], 4),
            "exchanges": exchanges,
            "pairs": len(timings),
        }
    )


if __name__ == "__main__":
    main()
