"""Finds the shell commands of a session and the tasks it left running, as far as results show them."""

from collections.abc import Iterator, Mapping, Sequence

from agents.transcript.records import SHELL_TOOLS, BackgroundEnded, ToolCall, Turn, string
from orchestrator.gates.power_steering.facts.checks import is_test_run, may_run_tests, way_of
from orchestrator.gates.power_steering.facts.outcomes import outcome_of
from orchestrator.gates.power_steering.facts.records import BackgroundTask, Command, RunOutcome
from orchestrator.project.shell import simple_commands

PlacedCall = tuple[int, int, ToolCall]  # order, number of the turn, call
_STOPPERS = {"TaskStop": "task_id", "KillShell": "shell_id", "KillBash": "shell_id"}


def placed_calls(turns: Sequence[Turn]) -> Iterator[PlacedCall]:
    """Return all calls with their order and the number of their turn, those of subagents after theirs."""
    calls = ((turn.number, each) for turn in turns for call in turn.calls for each in _with_inner(call))
    return ((order, turn, call) for order, (turn, call) in enumerate(calls, start=1))


def _with_inner(call: ToolCall) -> Iterator[ToolCall]:
    yield call
    for inner in call.inner:
        yield from _with_inner(inner)


def commands_of(calls: Sequence[PlacedCall], ended: Mapping[str, BackgroundEnded]) -> Iterator[Command]:
    """Yield the commands that ran. `ended` has the background tasks whose end was reported, by id."""
    ways: set[tuple[str, ...]] = set()
    for order, turn, call in calls:
        result, line = call.result, string(call.input.get("command"))
        if call.tool not in SHELL_TOOLS or result is None or result.is_refused:
            continue
        end = ended.get(result.background_id)
        code = end.exit_code if end is not None else result.exit_code
        output = "" if result.background_id else result.text
        tests = outcome_of(line, code, output, ways)
        if tests not in {None, RunOutcome.UNKNOWN}:
            ways.update(_ways_seen(line))
        yield Command(
            line=line,
            exit_code=code,
            output=output,
            order=order,
            turn=turn,
            cwd=call.cwd,
            is_background=bool(result.background_id),
            is_interrupted=result.is_interrupted,
            tests=tests,
        )


def _ways_seen(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways that ran tests in a line whose output counts them, unless a known test command did."""
    every = simple_commands(line)
    if not any(map(is_test_run, every)):
        yield from (way_of(simple) for simple in every if may_run_tests(simple))


def background_of(
    calls: Sequence[PlacedCall], ended: Mapping[str, BackgroundEnded]
) -> Iterator[BackgroundTask]:
    """Yield everything that was left running, even if it has ended since."""
    stopped = {
        string(call.input.get(_STOPPERS[call.tool]))
        for _, _, call in calls
        if call.tool in _STOPPERS and call.result is not None and not call.result.is_error
    }
    for order, turn, call in calls:
        if call.result is not None and (id_ := call.result.background_id):
            end = ended.get(id_)
            yield BackgroundTask(
                id=id_,
                what=string(call.input.get("command")) or string(call.input.get("description")),
                status=end.status if end else "killed" if id_ in stopped else "running",
                order=order,
                turn=turn,
                exit_code=end.exit_code if end else None,
            )
