"""Finds the shell commands of a session: how their tests ended, which run on, and what they did in git.

The exit code of a test run decides, else the summary in its output. The counts are read as those of a run's
own verification (`project.runners`). Commits, pushes and pull requests count as far as an output shows them.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence

from agents.transcript.records import SHELL_TOOLS, BackgroundEnded, ToolCall, Turn, string
from orchestrator.gates.power_steering.facts.checks import is_test_run, may_run_tests, passes_on, way_of
from orchestrator.gates.power_steering.facts.facts import (
    BackgroundTask,
    Command,
    GitAction,
    HubAction,
    RunOutcome,
)
from orchestrator.project.runners.general import general_count
from orchestrator.project.runners.listings import numbers_of, plain
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import NOT_STARTED, Simple, simple_commands

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
_COMMITTED = re.compile(r"^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_PUSHED = re.compile(
    r"^ *[*+=\-!]? *(\[[^\]]+\]|[0-9a-f]{4,40}\.{2,3}[0-9a-f]{4,40}) +\S+ +-> +(\S+)", re.MULTILINE
)
_GIT_TAKES_A_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_BRANCH = re.compile(
    r"^(?:Switched to (?:a new )?branch '([^']+)'|On branch (\S+)|## (\S+?)(?:\.\.\.|$))", re.MULTILINE
)
_CHECK_FAILED = frozenset({"fail", "failure", "cancel", "cancelled", "timed_out", "startup_failure"})
_CHECK_PENDING = frozenset({"pending", "queued", "in_progress", "waiting"})
_CHECK_PASSED = frozenset({"pass", "success"})
_CELLS = re.compile(r"\t| {2,}")  # a terminal gets columns
_PENDING_EXIT = 8  # of `gh pr checks`


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


def git_actions_of(
    command: str, output: str, exit_code: int | None, *, order: int, turn: int, branch: str = ""
) -> Iterator[GitAction]:
    """Yield the commits and pushes of a command line. `branch` is the one it started on, if known."""
    ran = simple_commands(command)
    moves = any(_git(simple)[:1] in (["checkout"], ["switch"]) for simple in ran)
    for simple in ran:
        words = _git(simple)
        succeeded = exit_code == 0 and simple.decides
        match words[:1]:
            case ["commit"]:
                made = _COMMITTED.findall(output)
                for on, sha in made:
                    yield GitAction(kind="commit", branch=on, sha=sha, order=order, turn=turn)
                if not made and succeeded and "--dry-run" not in words:  # a quiet one
                    yield GitAction(kind="commit", branch="" if moves else branch, order=order, turn=turn)
            case ["push"]:
                told = _PUSHED.findall(output)
                for sign, to in told:
                    if "reject" not in sign and sign != "[up to date]":
                        yield GitAction(kind="push", branch=to, order=order, turn=turn)
                if not told and succeeded and "Everything up-to-date" not in output:
                    yield GitAction(kind="push", branch=_push_target(words), order=order, turn=turn)
            case _:
                pass


def branch_told(command: str, output: str) -> str:
    """Return the branch that is checked out after the command line, or "" if the output does not name it."""
    if "git" not in command or not any(_git(simple) for simple in simple_commands(command)):
        return ""
    return next((name for found in reversed(_BRANCH.findall(output)) for name in found if name), "")


def hub_actions_of(
    command: str, output: str, exit_code: int | None, *, order: int, turn: int
) -> Iterator[HubAction]:
    """Yield the `gh pr` and `gh run` calls of a command line."""
    for simple in simple_commands(command):
        kind = simple.plain[:2]
        if simple.name != "gh" or len(kind) < 2 or kind[0] not in {"pr", "run"}:  # noqa: PLR2004  pr create
            continue
        outcome, pending = _outcome(kind, output, exit_code if simple.decides or exit_code else None)
        yield HubAction(
            kind=" ".join(kind),
            exit_code=exit_code,
            output=output,
            order=order,
            turn=turn,
            outcome=outcome,
            is_pending=pending,
        )


def _outcome(kind: Sequence[str], output: str, exit_code: int | None) -> tuple[RunOutcome, bool]:
    """Return the outcome in the output, and whether it reports that checks still run."""
    if kind[0] == "pr" and kind[1] != "checks":
        return RunOutcome.UNKNOWN, False
    rows = [_CELLS.split(row.strip()) for row in output.splitlines() if _CELLS.search(row.strip())]
    if tuple(kind[:2]) == ("run", "list"):
        rows = rows[:1]  # the newest
    if tuple(kind[:2]) == ("run", "watch") and exit_code and exit_code not in NOT_STARTED:
        return RunOutcome.FAILED, False
    cells = {cell.strip().lower() for row in rows for cell in row}
    if cells & _CHECK_FAILED:
        return RunOutcome.FAILED, False
    if cells & _CHECK_PENDING or exit_code == _PENDING_EXIT:
        return RunOutcome.UNKNOWN, True
    if kind[1] == "checks" and rows and exit_code and exit_code not in NOT_STARTED:
        return RunOutcome.FAILED, False
    watched = kind[1] in {"checks", "watch"} and exit_code == 0
    return RunOutcome.PASSED if cells & _CHECK_PASSED or watched else RunOutcome.UNKNOWN, False


def _git(simple: Simple) -> list[str]:
    """Return the words from git's subcommand on, or [] for another program."""
    words = list(simple.words[1:]) if simple.name == "git" else []
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _GIT_TAKES_A_VALUE else 1 :]
    return words


def _push_target(words: Sequence[str]) -> str:
    plain = [word for word in words[1:] if not word.startswith("-")]
    return plain[1].rsplit(":", maxsplit=1)[-1].removeprefix("refs/heads/") if len(plain) > 1 else ""
