"""What the result of a command says beside the baseline: plain functions."""

from dataclasses import replace

import pytest
from language.results import ran

from orchestrator.checks.results.verdict import CommandVerdict, judged, met_a_limit, suspects, usable
from state.records.commands import (
    BaselineCheck,
    BaselineOutcome,
    CommandRun,
    CommandUse,
    Complaint,
    TestState,
)

PASSED, FAILED = TestState.PASSED, TestState.FAILED


def base(outcome: BaselineOutcome, done: CommandRun, *, chosen: bool = False) -> BaselineCheck:
    return BaselineCheck(run=done, source="Makefile", outcome=outcome, chosen=chosen)


PASSES = base(BaselineOutcome.PASSES, ran(tests={"a": PASSED, "b": PASSED}))
FAILS_BY_NAME = base(BaselineOutcome.FAILS, ran(1, tests={"a": FAILED, "b": PASSED}))
BROKEN = base(BaselineOutcome.BROKEN, ran(3, broken="pytest: RuntimeError: no plugin", tests={"a": FAILED}))
FAILS = base(BaselineOutcome.FAILS, ran(1, "lint: 3 errors\n"))


@pytest.mark.parametrize(
    ("check", "done", "verdict"),
    [
        (None, ran(0), CommandVerdict.PASSED),
        (None, ran(1), CommandVerdict.FAILED),
        (PASSES, ran(0, tests={"a": PASSED}), CommandVerdict.PASSED),
        (PASSES, ran(1, tests={"a": FAILED}), CommandVerdict.FAILED),
        (PASSES, ran(1), CommandVerdict.FAILED),
        (FAILS_BY_NAME, ran(1, tests={"a": FAILED, "b": PASSED}), CommandVerdict.PASSED),
        (FAILS_BY_NAME, ran(1, tests={"a": FAILED, "b": FAILED}), CommandVerdict.FAILED),
        (FAILS_BY_NAME, ran(1, tests={"a": PASSED, "b": FAILED}), CommandVerdict.FAILED),
        (FAILS_BY_NAME, ran(0, tests={"a": PASSED, "b": FAILED}), CommandVerdict.FAILED),
        (FAILS, ran(1, "lint: 5 errors\n"), CommandVerdict.NO_EVIDENCE),
        (FAILS, ran(1, "lint: 3 errors\nerror: syntax in new.py\n"), CommandVerdict.FAILED),
        (FAILS, ran(2, "lint: 3 errors\n"), CommandVerdict.FAILED),
        (FAILS, ran(0), CommandVerdict.PASSED),
        (PASSES, ran(0, says_none=True), CommandVerdict.NO_EVIDENCE),
        (None, ran(5, nothing_yet="no test was collected"), CommandVerdict.NO_EVIDENCE),
        (PASSES, ran(2, missing="ruff"), CommandVerdict.FAILED),
        (None, ran(2, missing="ruff"), CommandVerdict.NO_EVIDENCE),
        (None, ran(None, problem="did not end within 600 s"), CommandVerdict.UNANSWERED),
        (BROKEN, ran(3, broken="pytest: RuntimeError: no plugin"), CommandVerdict.NO_EVIDENCE),
        (BROKEN, ran(4, broken="pytest: SyntaxError: invalid syntax"), CommandVerdict.FAILED),
        (BROKEN, ran(1, tests={"a": FAILED, "b": PASSED}), CommandVerdict.NO_EVIDENCE),
        (BROKEN, ran(0, tests={"a": PASSED}), CommandVerdict.PASSED),
        (PASSES, ran(3, broken="pytest: RuntimeError: no plugin"), CommandVerdict.FAILED),
        (None, ran(2, broken="go: ./a.go:1:1: undefined: B"), CommandVerdict.FAILED),
    ],
)
def test_a_result_counts_beside_what_the_command_said_of_the_base(
    check: BaselineCheck | None, done: CommandRun, verdict: CommandVerdict
) -> None:
    assert judged(check, done).verdict is verdict


UNUSED, LONG = (
    Complaint(file="a.py", line=line, message=said) for line, said in ((3, "unused"), (9, "long"))
)
LINT = base(BaselineOutcome.FAILS, ran(1, complaints=(UNUSED,)))


@pytest.mark.parametrize(
    ("check", "done", "verdict", "new"),
    [
        (LINT, ran(1, complaints=(replace(UNUSED, line=30),)), CommandVerdict.PASSED, ()),
        (LINT, ran(1, complaints=(UNUSED, LONG)), CommandVerdict.FAILED, (LONG,)),
        (LINT, ran(0, complaints=(LONG,)), CommandVerdict.FAILED, (LONG,)),
        (LINT, ran(2, complaints=(UNUSED,)), CommandVerdict.FAILED, ()),
        (LINT, ran(1, "it broke", complaints=()), CommandVerdict.NO_EVIDENCE, ()),
        (LINT, ran(0, complaints=()), CommandVerdict.PASSED, ()),
        (base(BaselineOutcome.PASSES, ran(complaints=())), ran(complaints=(LONG,)), CommandVerdict.PASSED, ()),
        (base(BaselineOutcome.PASSES, ran(complaints=())), ran(1, complaints=()), CommandVerdict.FAILED, ()),
        (None, ran(1, complaints=(LONG,)), CommandVerdict.NO_EVIDENCE, ()),
    ],
)  # fmt: skip
def test_a_new_complaint_of_a_check_counts_and_an_old_one_does_not(
    check: BaselineCheck | None, done: CommandRun, verdict: CommandVerdict, new: tuple[Complaint, ...]
) -> None:
    found = judged(check, done)
    assert (found.verdict, found.complaints) == (verdict, new)


def test_the_users_own_command_has_to_pass_unless_it_says_exactly_what_it_said_before() -> None:
    own = base(BaselineOutcome.FAILS, ran(1, "no notes.txt\nthe check says no\n"), chosen=True)
    assert judged(own, ran(1, "no notes.txt\nthe check says no\n")).verdict is CommandVerdict.NO_EVIDENCE
    assert judged(own, ran(1, "the check says no\n")).verdict is CommandVerdict.FAILED


def test_equal_numbers_prove_nothing_if_other_tests_fail() -> None:
    swapped = judged(FAILS_BY_NAME, ran(1, tests={"a": PASSED, "b": FAILED}))
    assert (swapped.verdict, swapped.failing, swapped.known) == (CommandVerdict.FAILED, ("b",), ())


def test_a_flaky_test_neither_blocks_nor_counts() -> None:
    found = judged(PASSES, ran(1, tests={"a": FAILED, "b": PASSED}), flaky=["a"])
    assert (found.verdict, found.flaky, found.failing) == (CommandVerdict.PASSED, ("a",), ())


def test_only_tests_that_passed_at_the_base_are_run_once_more() -> None:
    assert suspects(FAILS_BY_NAME, ran(1, tests={"a": FAILED, "b": FAILED, "new": FAILED})) == ("b",)


@pytest.mark.parametrize(
    ("output", "busy", "met"),
    [
        ("QueryInterrupted: interrupted", True, True),
        ("Error: Test timed out in 5000ms.", True, True),
        ("context deadline exceeded", True, True),
        ("expected 1000 to be less than 500: took too long", True, True),
        ("QueryInterrupted: interrupted", False, False),
        ("AssertionError: assert 1 == 2", True, False),
    ],
)
def test_a_limit_counts_as_met_on_a_busy_machine_alone(output: str, *, busy: bool, met: bool) -> None:
    done = replace(ran(1), output_tail=output, use=CommandUse(is_crowded=busy))
    assert met_a_limit(done) is met


def test_a_command_that_this_machine_cannot_run_or_not_in_time_is_not_run_again() -> None:
    told = {outcome: usable(base(outcome, ran(None))) for outcome in BaselineOutcome}
    assert [outcome for outcome, may in told.items() if not may] == [
        BaselineOutcome.MISSING,
        BaselineOutcome.TOO_LONG,
        BaselineOutcome.NEVER_ENDS,
        BaselineOutcome.UNREADABLE,
    ]
