"""Rules about running things after the last change: tests, the project's checks, the program itself."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agents.facts import Command, Edit, Outcome
from agents.transcript_checks import is_test_run
from agents.transcript_shell import simple_commands
from orchestrator.gates.power_steering.evidence import Evidence, is_test_file
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet
from orchestrator.gates.power_steering.rules.phrases import APOSTROPHE, phrases
from orchestrator.gates.power_steering.rules.programs import is_check, is_no_test, runs_program

_USER_FORBIDS_TESTS = phrases(
    rf"(?:do not|don{APOSTROPHE}t|no need to|without|skip(?:ping)?|never)(?: \w+){{0,2}}? (?:run(?:ning)? )?"
    r"(?:the |any |all )?tests?",
)
_ASKS_FOR_CHECKS = phrases(
    r"(?:run|runs|running)\b[^.\n]{0,60}\b(?:tests?|test suite|checks?|lint\w*|make|pytest|tox|pre-commit)",
    r"(?:tests?|checks?|lint\w*|make \w+|`[^`\n]+`) (?:must|ha(?:ve|s) to|should|needs? to) (?:pass|run|be)",
    r"(?:before|after) (?:each|every|a|any|the|you) (?:commit|change|push|finish\w*)\b"
    r"[^.\n]{0,60}\b(?:run|tests?|checks?|make)",
    r"(?:make sure|ensure)\b[^.\n]{0,40}\btests?\b[^.\n]{0,20}\bpass",
)
_SPEAKS_OF_TESTS = phrases(
    "tests?", "pass(?:ed|es)?", "fail(?:ed|ures?)?", "ok", "specs?", "examples?", "assertions?"
)
_COUNTED_FAILURES = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?)\b")
_NOT_STARTED = (126, 127)  # the shell's own exit codes
_ENTRY_POINT = re.compile(
    r"if __name__ == ['\"]__main__['\"]|^#!|argparse\.ArgumentParser|@click\.command|\bfunc main\(\)"
    r"|\bfn main\(\)|process\.argv|public static void main",
)


def local_testing(evidence: Evidence) -> Found | None:
    """The tests were run after the last change to code, and passed: by exit code, else by their summary."""
    facts = evidence.facts
    last = facts.last_code_edit
    runs = [run for run in facts.tests_since_edit if _ran_to_its_end(run)]
    if last is None:
        return not_applicable("no code was changed")
    match facts.tested if runs else None:
        case Outcome.PASSED if failed := _left_failing(runs):
            return unmet("tests failed, and only some of them were run again", _result_of([failed]))
        case Outcome.PASSED:
            return met("the tests passed after the last change to code", _result_of(runs))
        case Outcome.FAILED:
            return unmet(f"the newest test run after the last change to {last.path} failed", _result_of(runs))
        case Outcome.UNKNOWN:
            return None
        case None if _something_unknown_ran(evidence, last):
            return None
        case None:
            how = "no test ran since" if facts.test_runs else "no test ran at all"
            return None if _tests_are_forbidden(evidence) else unmet(f"{last.path} was changed and {how}")


def dev_workflow_complete(evidence: Evidence) -> Found | None:
    """After the last change to code a test or another check ran, where the project or user asks for it."""
    last = evidence.facts.last_code_edit
    if last is None:
        return not_applicable("no code was changed")
    for command in _after(evidence, last):
        if command.tests is not None or any(is_check(simple) for simple in simple_commands(command.line)):
            return met("the change was checked after it was made", command.line)
    said = [*evidence.instructions, *evidence.users_words, *evidence.hooks_words]
    asks = next((found[0] for text in said if (found := _ASKS_FOR_CHECKS.search(text))), "")
    if not asks or _tests_are_forbidden(evidence):
        return None
    return unmet(f"{last.path} was changed, and no test or other check ran since, as it should", asks)


def interactive_testing(evidence: Evidence) -> Found | None:
    """The program was run after the last change; a change of an entry point shows that it could have been."""
    last = evidence.facts.last_code_edit
    if last is None:
        return not_applicable("no code was changed")
    if not _after(evidence, last):
        return unmet(f"nothing ran after the last change to {last.path}")
    own = _own_names(evidence)
    for command in _after(evidence, last):
        if any(runs_program(simple, own) for simple in simple_commands(command.line)):
            return met("the program was run after the last change", command.line)
    for path, lines in evidence.written_code.items():
        if any(_ENTRY_POINT.search(line) for line in lines) and not is_test_file(last.path):
            return unmet(f"{path} can be run, and was not run after the last change")
    return None


def _something_unknown_ran(evidence: Evidence, last: Edit) -> bool:
    """Whether a program that nobody knows ran after the last change and may have run tests, as it sounds."""
    own = _own_names(evidence)
    return any(
        (simple.writes or _SPEAKS_OF_TESTS.search(command.output))
        and not (is_no_test(simple) or is_test_run(simple) or simple.name.split(".")[0] in own)
        for command in _after(evidence, last)
        for simple in simple_commands(command.line)
    )


def _own_names(evidence: Evidence) -> set[str]:
    """The names of folders and files that were changed: `python -m NAME` comes as NAME alone."""
    paths = (PurePosixPath(edit.path) for edit in evidence.facts.edits)
    return {part.split(".")[0] for path in paths for part in path.parts}


def _after(evidence: Evidence, last: Edit) -> list[Command]:
    return [command for command in evidence.facts.commands if command.order >= last.order]


def _ran_to_its_end(run: Command) -> bool:
    return not run.is_interrupted and run.exit_code not in _NOT_STARTED


def _left_failing(runs: Sequence[Command]) -> Command | None:
    """The newest run with failed tests of which no later run that passed ran the same ones again."""
    for at in range(len(runs) - 1, -1, -1):
        if runs[at].tests is Outcome.FAILED and _COUNTED_FAILURES.search(runs[at].output):
            later = [run for run in runs[at + 1 :] if run.tests is Outcome.PASSED]
            return None if any(_covers(run, runs[at]) for run in later) else runs[at]
    return None


def _covers(run: Command, other: Command) -> bool:
    """Whether a run names no tests, or all that the other one names; another runner is believed."""
    mine, theirs = (_named_tests(one) for one in (run, other))
    if mine.keys() != theirs.keys():
        return True
    return all(not mine[name] or (theirs[name] and theirs[name] <= mine[name]) for name in mine)


def _named_tests(run: Command) -> dict[str, set[str]]:
    tests = (simple for simple in simple_commands(run.line) if is_test_run(simple))
    return {simple.name: set(simple.plain) for simple in tests}


def _tests_are_forbidden(evidence: Evidence) -> bool:
    return any(_USER_FORBIDS_TESTS.search(words) for words in evidence.users_words)


def _result_of(runs: Sequence[Command]) -> str:
    """The newest run that told something, and the last line of its output."""
    told = next(run for run in reversed(runs) if run.tests is not Outcome.UNKNOWN)
    lines = [line.strip() for line in told.output.splitlines() if line.strip()]
    return f"{told.line}: {lines[-1]}" if lines else told.line
