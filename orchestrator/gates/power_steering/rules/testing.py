"""Rules about runs after the last change: of tests, the project's checks, the program itself."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agents.shell import simple_commands
from agents.transcript.facts.checks import is_test_run
from agents.transcript.facts.records import Command, Edit, Outcome
from agents.transcript.facts.test_files import is_test_file
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.behaviour import (
    last_change_of_behaviour,
    shows_tests,
)
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet
from orchestrator.gates.power_steering.rules.packages import only_elsewhere
from orchestrator.gates.power_steering.rules.programs import is_no_test, is_other_check, runs_program
from orchestrator.gates.power_steering.rules.runs import (
    commands_after,
    failed_and_left,
    failed_check,
    ran_to_its_end,
    result_of,
)
from orchestrator.gates.power_steering.rules.said.asked import (
    asked_for_checks,
    asked_for_tests,
    asked_to_take_away,
    tests_are_forbidden,
)
from orchestrator.gates.power_steering.rules.said.phrases import phrases

_SPEAKS_OF_TESTS = phrases(
    "tests?", "pass(?:ed|es)?", "fail(?:ed|ures?)?", "ok", "specs?", "examples?", "assertions?"
)
_SUCCESS = phrases("pass(?:ed|es|ing)?", "ok", "green", "success(?:ful|fully)?", "succeeded", "all good")
_ENTRY_POINT = re.compile(
    r"if __name__ == ['\"]__main__['\"]|^#!|argparse\.ArgumentParser|@click\.command|\bfunc main\(\)"
    r"|\bfn main\(\)|process\.argv|public static void main",
)


def local_testing(evidence: Evidence) -> Found | None:
    """Check that the tests ran after the last change to code and passed, by exit code, else by their summary.

    It is unmet only on evidence: a test or another check failed and was not run again, tests were kept from
    failing, or code with known tests was changed after their last run.
    """
    facts = evidence.facts
    if facts.last_code_edit is None:
        return not_applicable("no code was changed")
    failed = failed_and_left(evidence) or failed_check(evidence, facts.last_code_edit)
    against = failed or _taken_without_being_asked(evidence)
    if against:
        return against
    runs = [run for run in facts.tests_since_edit if ran_to_its_end(run)]
    if elsewhere := only_elsewhere(evidence, runs):
        return elsewhere
    if runs and all(_claims_a_pass(run, evidence.facts.commands) for run in runs):
        return unmet(
            "the output of the tests was thrown away, and the command itself says that they pass",
            runs[-1].line,
        )
    if any(run.tests is Outcome.PASSED for run in runs):
        return met("the tests passed after the last change to code", result_of(runs))
    return None if runs else _untested(evidence)


def dev_workflow_complete(evidence: Evidence) -> Found | None:
    """Check that a test or another check ran after the last change to code, if project or user ask for it."""
    last = evidence.facts.last_code_edit
    if failed := failed_check(evidence, next(reversed(evidence.facts.edits), None)):
        return failed
    if last is None:
        return not_applicable("no code was changed")
    for command in commands_after(evidence, last):
        every = simple_commands(command.line)
        if command.tests is not None or any(is_test_run(one) or is_other_check(one) for one in every):
            return met("the change was checked after it was made", command.line)
    asks = asked_for_checks(evidence)
    if not asks or tests_are_forbidden(evidence):
        return None
    return unmet(f"{last.path} was changed, and no test or other check ran since, as it should", asks)


def interactive_testing(evidence: Evidence) -> Found | None:
    """Check that the program ran after the last change. It could have run if an entry point was changed."""
    last = evidence.facts.last_code_edit
    if last is None:
        return not_applicable("no code was changed")
    if not commands_after(evidence, last):
        return unmet(f"nothing ran after the last change to {last.path}")
    own = _own_names(evidence)
    for command in commands_after(evidence, last):
        every = simple_commands(command.line)
        if any(not is_test_run(one) and runs_program(one, own) for one in every):
            return met("the program was run after the last change", command.line)
    for path, lines in evidence.written_code.items():
        if any(_ENTRY_POINT.search(line) for line in lines) and not is_test_file(last.path):
            return unmet(f"{path} can be run, and was not run after the last change")
    return None


def _untested(evidence: Evidence) -> Found | None:
    """Decide for a session without a test run since the last change."""
    facts, changed = evidence.facts, last_change_of_behaviour(evidence)
    if changed is None:
        return None
    if any(run.order >= changed.order and run.tests is Outcome.PASSED for run in facts.test_runs):
        return met("the tests passed, and nothing that they could notice was changed since")
    if tests_are_forbidden(evidence) or _may_have_been_tested(evidence, changed):
        return None
    if facts.test_runs:
        return unmet(f"{changed.path} was changed after the last test run", facts.test_runs[-1].line)
    shown = shows_tests(evidence, changed) or asked_for_tests(evidence)
    return unmet(f"{changed.path} was changed and no test ran at all", shown) if shown else None


def _claims_a_pass(run: Command, commands: Sequence[Command]) -> bool:
    """Whether a run hides its tests' result, and it or a later command prints words of success."""
    hidden = run.tests is Outcome.UNKNOWN and any(
        not simple.decides for simple in simple_commands(run.line) if is_test_run(simple)
    )
    echoed = " ".join(
        " ".join(simple.words[1:])
        for one in commands
        if one.order >= run.order
        for simple in simple_commands(one.line)
        if simple.name in {"echo", "printf"}
    )
    return hidden and bool(_SUCCESS.search(echoed))


def _taken_without_being_asked(evidence: Evidence) -> Found | None:
    """Find tests that failed and were then deleted, skipped or emptied without the user's request."""
    failed = [run.order for run in evidence.facts.test_runs if run.tests is Outcome.FAILED]
    if not failed or asked_to_take_away(evidence):
        return None
    after = [one for one in evidence.facts.taken if one.order > failed[0]]
    if not after:
        return None
    return unmet(f"tests failed, and were then {after[-1].how}, in {after[-1].path}", after[-1].quote)


def _may_have_been_tested(evidence: Evidence, last: Edit) -> bool:
    """Whether an unknown program ran after the change and may have run the tests, by its output."""
    own = _own_names(evidence)
    return any(
        command.exit_code in {0, None}
        and (simple.writes or _SPEAKS_OF_TESTS.search(command.output))
        and not (is_no_test(simple) or is_test_run(simple) or simple.name.split(".")[0] in own)
        for command in commands_after(evidence, last)
        for simple in simple_commands(command.line)
    )


def _own_names(evidence: Evidence) -> set[str]:
    """The names of changed folders and files, since `python -m NAME` is parsed as NAME."""
    paths = (PurePosixPath(edit.path) for edit in evidence.facts.edits)
    return {part.split(".")[0] for path in paths for part in path.parts}
