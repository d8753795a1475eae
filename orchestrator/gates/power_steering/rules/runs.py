"""Runs of tests and of other checks that failed and were not repaired."""

import re
from collections.abc import Sequence

from agents.shell import Simple, simple_commands
from agents.transcript.facts.checks import is_test_run, may_run_tests, passes_on
from agents.transcript.facts.records import Command, Edit, Outcome
from agents.transcript.facts.taken import leaves_out
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.found import Found, unmet
from orchestrator.gates.power_steering.rules.programs import is_other_check
from orchestrator.gates.power_steering.rules.said.asked import leaves_failing

_COUNTED_FAILURES = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?)\b")
_NOT_STARTED = (126, 127)  # the shell's own exit codes
_STASHES = re.compile(
    r"\bgit stash\b(?! (?:pop|apply|list|drop|show)).*\bgit stash (?:pop|apply)\b", re.DOTALL
)
_LAST_WORDS = 600  # characters
_DID_NOT_BUILD = re.compile(
    r"^(?:.*Build did NOT complete|.*BUILD FAIL|FAILURE: Build failed"
    r"|error: (?:could not compile|aborting due)|ninja: build stopped"
    r"|g?make(?:\[\d+\])?: \*\*\* |Aborted with \d+ (?:warning|error)"
    r"|.*Compilation failed|\s*\d+ errors? generated|npm (?:ERR!|error) |.*error TS\d+"
    r"|.*\([1-9]\d* errors?, \d+ warnings?\)"
    r"|Found [1-9]\d* errors?\b(?! \(\d+ fixed, 0 remaining)|.*Validation failed|Build failed"
    r"|Error: Process completed with exit code [1-9])",
    re.MULTILINE,
)


def failed_and_left(evidence: Evidence) -> Found | None:
    """Find a failed test run whose tests no later run shows to pass."""
    told = [
        run for run in evidence.facts.test_runs if ran_to_its_end(run) and run.tests is not Outcome.UNKNOWN
    ]
    if told and told[-1].tests is Outcome.FAILED:
        if _run_unread_since(evidence, told[-1]) or leaves_failing(evidence, told[-1].output):
            return None
        return unmet("the newest test run failed", result_of([told[-1]]))
    since = [run for run in evidence.facts.tests_since_edit if ran_to_its_end(run)]
    if (failed := _left_failing(since)) and not leaves_failing(evidence, failed.output):
        return unmet("tests failed, and only some of them were run again", result_of([failed]))
    if elsewhere := _failed_in_a_folder(told):
        return unmet("tests failed in one folder, and only those of others ran since", result_of([elsewhere]))
    failed = next((run for run in reversed(told) if run.tests is Outcome.FAILED), None)
    later = [run for run in told if failed and run.order > failed.order]
    if failed and later and all(map(_leaves_out, later)) and not _leaves_out(failed):
        return unmet("tests failed, and were left out of the runs after that", later[-1].line)
    return None


def _failed_in_a_folder(told: Sequence[Command]) -> Command | None:
    """A failed run that changed to a folder, if no later run goes there or names it."""
    for at, run in enumerate(told):
        folder = _folder_of(run)
        later = [one for one in told[at + 1 :] if one.tests is Outcome.PASSED]
        elsewhere = bool(later) and all(_folder_of(one) and folder not in one.line for one in later)
        if run.tests is Outcome.FAILED and folder and elsewhere:
            return run
    return None


def _folder_of(run: Command) -> str:
    """The folder that a command line changes to first, or ""."""
    first = simple_commands(run.line)[:1]
    return first[0].plain[0] if first and first[0].name in {"cd", "pushd"} and first[0].plain else ""


def failed_check(evidence: Evidence, last: Edit | None) -> Found | None:
    """Find a build, validation or lint after a change that failed and did not succeed later."""
    newest: dict[str, tuple[Command, bool]] = {}
    for command in commands_after(evidence, last) if last else ():
        every = simple_commands(command.line)
        checks = [one for one in every if is_other_check(one) and not is_test_run(one)]
        for simple in checks:
            if (failed := _failed(command, simple, alone=len(checks) == 1)) is not None:
                newest[" ".join([simple.name, *simple.plain[:1]])] = command, failed
    left = [command for command, failed in newest.values() if failed]
    if not left or leaves_failing(evidence, left[-1].output):
        return None
    return unmet("a check after the last change failed", _result_of_check(left[-1]))


def _failed(command: Command, simple: Simple, *, alone: bool) -> bool | None:
    """Whether a check failed, by its exit code, else by its last lines. None if neither shows it."""
    if command.exit_code in _NOT_STARTED:
        return None
    if simple.is_last and command.exit_code is not None:
        return command.exit_code != 0
    if simple.decides and command.exit_code == 0:
        return False
    if command.exit_code and alone and passes_on(simple_commands(command.line)):
        return True
    return True if alone and _DID_NOT_BUILD.search(command.output[-_LAST_WORDS:]) else None


def _leaves_out(run: Command) -> bool:
    """Whether an option of the test command leaves tests out."""
    every = simple_commands(run.line)
    tests = [one for one in every if is_test_run(one)] or [one for one in every if may_run_tests(one)]
    return any(leaves_out(" ".join(one.words)) for one in tests)


def _run_unread_since(evidence: Evidence, failed: Command) -> bool:
    """Whether tests with an unreadable result ran after a failed run, with their own exit code 0."""
    return any(
        run.order > failed.order
        and run.tests is Outcome.UNKNOWN
        and run.exit_code == 0
        and all(simple.decides for simple in simple_commands(run.line) if is_test_run(simple))
        for run in evidence.facts.test_runs
    )


def _left_failing(runs: Sequence[Command]) -> Command | None:
    """The newest run with failed tests, if no later run that passed covers it."""
    for at in range(len(runs) - 1, -1, -1):
        if runs[at].tests is Outcome.FAILED and _COUNTED_FAILURES.search(runs[at].output):
            later = [run for run in runs[at + 1 :] if run.tests is Outcome.PASSED]
            return None if any(_covers(run, runs[at]) for run in later) else runs[at]
    return None


def _covers(run: Command, other: Command) -> bool:
    """Whether a run names no tests, or all that the other one names. Another runner counts as covering."""
    mine, theirs = (_named_tests(one) for one in (run, other))
    if mine.keys() != theirs.keys():
        return True
    return all(not mine[name] or (theirs[name] and theirs[name] <= mine[name]) for name in mine)


def _named_tests(run: Command) -> dict[str, set[str]]:
    tests = (simple for simple in simple_commands(run.line) if is_test_run(simple))
    return {simple.name: set(simple.plain) for simple in tests}


def commands_after(evidence: Evidence, last: Edit) -> list[Command]:
    """The commands since an edit, including the edit's own."""
    return [command for command in evidence.facts.commands if command.order >= last.order]


def ran_to_its_end(run: Command) -> bool:
    """Whether a run started, was not interrupted, and saw the work, which `git stash` hides."""
    if _STASHES.search(run.line):
        return False
    return not run.is_interrupted and run.exit_code not in _NOT_STARTED


def result_of(runs: Sequence[Command]) -> str:
    """The newest run with a known result, and the last line of its output."""
    return _result_of_check(next(run for run in reversed(runs) if run.tests is not Outcome.UNKNOWN))


def _result_of_check(command: Command) -> str:
    """The command, and the last line of its output."""
    lines = [line.strip() for line in command.output.splitlines() if line.strip()]
    return f"{command.line}: {lines[-1]}" if lines else command.line
