"""Finds the facts of a session: edits, commands and how tests ended, todos, goals, last words.

They rest on tool calls and their results, never on the assistant's own account. Calls that were refused, or
that have no result, are not evidence.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
from orchestrator.gates.power_steering.changes_made import TODO_TOOLS, edits_of, todos_of
from orchestrator.gates.power_steering.facts import (
    BackgroundTask,
    CalledTool,
    Command,
    Facts,
    Goal,
    RunOutcome,
)
from orchestrator.project.files import is_test_file
from orchestrator.project.runners.listings import general_count, numbers_of, plain
from orchestrator.project.runners.recognise import RUN_INSIDE, recognised
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import NOT_STARTED, Simple, simple_commands

_NAMES_A_WAY = 2  # words after the program
_NOWHERE = Path("/nonexistent")  # scripts of the session's project are not read
_NEVER_FAIL = frozenset({"tail", "head", "tee", "cat"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun", "composer"})
_BY_TARGET = frozenset({
    "make", "gmake", "just", "task", "rake", "invoke", "inv", "ninja", "gradle", "gradlew", "zig", "doit",
    "turbo", "nx", "dune", "moon", "pants", "please", "meltano", "mage", "ant", "waf",
})  # fmt: skip
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|php|perl|bash|sh|zsh")
_TESTS_IN_CODE = re.compile(
    r"\bPkg\.test\(|\bdevtools::(?:test|check)\(|\btestthat::test_|\bInvoke-Pester\b|\bunittest\.main\("
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")  # also of `testDebugUnit`
_ONLY_MAKES = frozenset({"assemble", "compile", "process", "clean", "lint"})
_ONLY_ASKS = frozenset({
    "--version", "--help", "-h", "--collect-only", "--co", "--no-run", "--list", "--listTests",
    "--fixtures", "--dry-run",
})  # fmt: skip


def way_of(simple: Simple) -> tuple[str, ...]:
    """Return a command without its options. Commands with the same way run the same kind of thing."""
    return (simple.name, *simple.plain[:_NAMES_A_WAY])


def passes_on(every: Sequence[Simple]) -> bool:
    """Whether a line ends in a pipe to a command that does not fail itself: its exit code is another's."""
    return len(every) > 1 and every[-1].name in _NEVER_FAIL


def may_run_tests(simple: Simple) -> bool:
    """Whether a program may run tests although it is not known to."""
    if _ONLY_ASKS.intersection(simple.words) or not simple.words:
        return False
    return recognised(simple, _NOWHERE, usual_table()).runs_tests is not False


def is_test_run(simple: Simple) -> bool:
    """Whether the command runs tests. Only asking about them, or installing a runner, does not count."""
    if _ONLY_ASKS.intersection(simple.words):
        return False
    name, plain = simple.name, simple.plain
    if name in RUN_INSIDE:  # another machine, or a container: the command comes after its name
        inner = (replace(simple, words=simple.words[at:]) for at in range(1, len(simple.words)))
        return any(is_test_run(one) for one in inner if one.name not in RUN_INSIDE)
    if any(_TESTS_IN_CODE.search(word) for word in simple.words):
        return True
    if name in _MANAGERS and plain[:1] and plain[0] in _BY_TARGET:  # `pnpm turbo run test`
        return is_test_run(replace(simple, words=simple.words[simple.words.index(plain[0]) :]))
    if name in _MANAGERS and not _is_runner(simple):
        return _npm_script(simple)
    if name in _BY_TARGET:
        return any(_names_tests(target, "check", "runtest") for target in plain)
    paths = plain[:1] if _INTERPRETERS.fullmatch(name) else [one for one in simple.words[:1] if "/" in one]
    return any(is_test_file(path) for path in paths) or _is_runner(simple)


def _is_runner(simple: Simple) -> bool:
    """Whether the table knows the command as a runner of tests."""
    known = recognised(simple, _NOWHERE, usual_table())
    return bool(known.family) and known.runs_tests is not False


def _npm_script(simple: Simple) -> bool:
    """Whether a package manager runs tests: `npm test`, `pnpm -r test`, `npm --prefix web run test`."""
    values = {
        simple.option(name) for name in ("--prefix", "-w", "--workspace", "-C", "--filter", "--cwd", "-F")
    }
    words = [word for word in simple.plain if word not in values]
    if words[:1] == ["workspace"]:
        words = words[2:]
    if words[:1] in (["run"], ["run-script"]):
        return bool(words[1:]) and (words[1] == "check" or _names_tests(words[1]))
    if not words or words[0] in {"t", "tst"} or _names_tests(words[0]):
        return bool(words)
    return _is_runner(replace(simple, words=tuple(words)))


def _names_tests(target: str, *more: str) -> bool:
    """Whether a target's name has test as a word of its own: `test:unit`, `testDebugUnitTest`, not `latest`.

    `more` are whole names of targets that run tests: `check`, not `ktlintCheck`. A target that only builds
    the tests does not count: `compileTestKotlin`.
    """
    words = [word.lower() for word in _WORD.findall(target)]
    named = target.rsplit(":", 1)[-1] in more or not {"test", "tests", "e2e"}.isdisjoint(words)
    return named and _ONLY_MAKES.isdisjoint(words)


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
