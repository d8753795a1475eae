"""The facts of a session: edits, commands and how tests ended, todos, goals, last words.

They rest on tool calls and their results, never on the assistant's own account. Calls that were refused, or
that have no result, are not evidence.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence

from agents.transcript.records import (
    SHELL_TOOLS,
    BackgroundEnded,
    Speaker,
    ToolCall,
    Transcript,
    Turn,
    Utterance,
    listed,
    mapping,
    string,
)
from orchestrator.gates.power_steering.facts.checks import is_test_run, may_run_tests, passes_on, way_of
from orchestrator.gates.power_steering.facts.facts import (
    BackgroundTask,
    CalledTool,
    Command,
    Facts,
    Goal,
    RunOutcome,
)
from orchestrator.gates.power_steering.facts.work import TODO_TOOLS, edits_of, todos_of
from orchestrator.project.runners.general import general_count
from orchestrator.project.runners.listings import numbers_of, plain
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import NOT_STARTED, simple_commands

PlacedCall = tuple[int, int, ToolCall]  # order, number of the turn, call
_STOPPERS = {"TaskStop": "task_id", "KillShell": "shell_id", "KillBash": "shell_id"}
_SPELLED = 4  # characters: a shorter line may stand in a command by chance
# Lines that tell the end of a run without numbers, of runners and of task runners.
_FAILING = re.compile(
    r"^(?:FAILED\b|ERROR (?:\S+::|collecting)|FAIL\b|--- FAIL|FAILURES!|ERRORS!|not ok \d|Failed!\s"
    r"|BUILD FAIL|test result: FAILED|\[(?:ERROR|INFO)\] .*BUILD FAILURE|=*[ ]?no tests ran\b"
    r"|.*Failures: [1-9]|.*Errors: [1-9]|[ \t]+\S+: FAIL\b|Result: FAIL$|.*: Some tests failed"
    r"|[ \t]*NX   (?:Running|Ran) targets? .* failed|[ \t]*Tasks:[ \t]+\d+ successful, [1-9]\d* failed"
    r"|nox > Session .* failed|npm ERR!|npm error|error: test failed|error Command failed)",
    re.MULTILINE,
)
_PASSING = re.compile(
    r"^(?:OK(?: \(.*\))?$|ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))|ok \d+\b|ok$|PASS$|Passed!\s"
    r"|test result: ok\.|All tests passed|100% tests passed|(?:\[INFO\] )?BUILD SUCCESS"
    r"|[ \t]+congratulations :\)|[ \t]*Testing \S+ tests passed|All tests successful|Result: PASS$"
    r"|\d+ of \d+ test suites .*passed|0 errors .*\| 0 warnings|.*: All tests passed"
    r"|[ \t]*NX   Successfully ran targets?\b|nox > Session .* was successful)",
    re.MULTILINE,
)


def facts_of(transcript: Transcript) -> Facts:
    """Return the facts of a session, extracted in one pass over its calls."""
    calls = tuple(placed_calls(transcript.turns))
    worked = [(order, turn, call) for order, turn, call in calls if call.result and not call.result.is_error]
    main = [call for turn in transcript.turns for call in turn.calls]  # a subagent's list is its own
    ended = {end.id: end for end in transcript.ended}
    commands = tuple(commands_of(calls, ended))
    edits = tuple(
        edit
        for order, turn, call in calls
        for edit in edits_of(call, order=order, turn=turn, project=transcript.cwd)
    )
    said = [(turn.number, said) for turn in transcript.turns for said in _users(turn)]
    return Facts(
        goals=tuple(Goal(text=said.text, turn=turn) for turn, said in said if said.opens),
        edits=edits,
        calls=tuple(CalledTool(tool=call.tool, order=order, turn=turn) for order, turn, call in worked),
        commands=commands,
        todos=todos_of(main),
        todos_turn=max((turn for _, turn, call in worked if call.tool in TODO_TOOLS), default=0),
        background=tuple(background_of(calls, ended)),
        pending_questions=tuple(_pending_questions(transcript)),
        final_text=_final_text(transcript),
    )


def _users(turn: Turn) -> Iterator[Utterance]:
    for said in (turn.opener, *turn.items):
        if isinstance(said, Utterance) and said.speaker is Speaker.USER:
            yield said


def _pending_questions(transcript: Transcript) -> Iterator[str]:
    newest = transcript.turns[-1].calls if transcript.turns else ()
    for call in newest:
        if call.tool == "AskUserQuestion" and (call.result is None or call.result.is_interrupted):
            yield from (string(mapping(each).get("question")) for each in listed(call.input.get("questions")))


def _final_text(transcript: Transcript) -> str:
    """Return the assistant's words after its last call, without text that the CLI put behind them."""
    words: list[str] = []
    for item in reversed(transcript.turns[-1].items if transcript.turns else ()):
        if isinstance(item, Utterance) and item.speaker is Speaker.ASSISTANT:
            words.append(item.text)
        elif isinstance(item, ToolCall) or words:
            break
    return "\n\n".join(reversed(words))


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
                what=string(call.input.get("command")) or string(call.input.get("description")),
                status=end.status if end else "killed" if id_ in stopped else "running",
                order=order,
                turn=turn,
            )


def outcome_of(
    command: str, exit_code: int | None, output: str, known: Container[tuple[str, ...]] = ()
) -> RunOutcome | None:
    """Return how the tests in the command line ended, or None if it runs none.

    The exit code decides unless something hides it (`| tail`, `|| true`, `; echo done`). Then the summary
    decides. A command that may run anything runs tests if its output counts them. `known`: ways (`way_of`)
    that have been seen to run tests.
    """
    every = simple_commands(command)
    runs = [simple for simple in every if is_test_run(simple) or way_of(simple) in known]
    told = _without_own_words(command, output)
    if not runs:
        counted = counted_of(told) if any(may_run_tests(simple) for simple in every) else RunOutcome.UNKNOWN
        return None if counted is RunOutcome.UNKNOWN else counted
    if exit_code in NOT_STARTED:
        return RunOutcome.UNKNOWN
    if exit_code == 0 and all(run.decides for run in runs):
        return RunOutcome.UNKNOWN if ran_none(told) else RunOutcome.PASSED
    if exit_code and len(runs) == 1 and runs[0].is_last:
        return RunOutcome.FAILED
    summary = summary_of(told)
    if summary is RunOutcome.UNKNOWN and exit_code and (all(run.decides for run in runs) or passes_on(every)):
        return RunOutcome.FAILED  # they failed, or something after them
    return summary


def _without_own_words(command: str, output: str) -> str:
    """Return the output without lines that the command itself spells out, such as those of an `echo`."""
    return "\n".join(
        line for line in output.splitlines() if len(line.strip()) < _SPELLED or line.strip() not in command
    )


def summary_of(output: str) -> RunOutcome:
    """Return the outcome in the summary lines of a test runner's output. Words elsewhere are ignored."""
    text = plain(output)
    counted = counted_of(text)
    if counted is RunOutcome.FAILED or _FAILING.search(text):
        return RunOutcome.FAILED
    if counted is RunOutcome.PASSED or _PASSING.search(text):
        return RunOutcome.PASSED
    return RunOutcome.UNKNOWN


def counted_of(output: str) -> RunOutcome:
    """Return the outcome by the counts in an output: those of the table's runners, else of any runner."""
    text = plain(output)
    numbers = (numbers_of(row.printed.numbers, text) for row in usual_table().runners.values())
    counts = [count for count in numbers if count is not None] or [general_count(text)]
    if any(count.failed for count in counts):
        return RunOutcome.FAILED
    return RunOutcome.PASSED if any(count.passed for count in counts) else RunOutcome.UNKNOWN


def ran_none(output: str) -> bool:
    """Whether an output reports that no test was run."""
    return general_count(plain(output)).says_none
