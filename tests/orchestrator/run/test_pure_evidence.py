"""What a result says beside the baseline, and what a change does to the tests: plain functions."""

from dataclasses import replace
from pathlib import Path

import pytest
from language.tables import rows

from orchestrator.checks.objecting import changed
from orchestrator.run.evidence.changes import files_of, is_of, leaf_of, lost_tests, with_expectations
from orchestrator.run.evidence.facts import computed
from orchestrator.run.evidence.verdict import CommandVerdict, judged, met_a_limit, suspects, usable
from orchestrator.run.plan.rules import lines_not_in
from orchestrator.run.review.revise import rulings_on
from prompts.marking import line
from state.records.commands import (
    BaselineCheck,
    BaselineOutcome,
    CommandRun,
    CommandUse,
    Complaint,
    TestCount,
    TestState,
)
from state.records.plan import ConstraintKind, Criterion, CriterionKind, Plan, TestThatChanges
from state.records.reviews import TestChange, TestChangeKind, TestRuling
from state.records.work import WorkFacts

PASSED, FAILED, SKIPPED = TestState.PASSED, TestState.FAILED, TestState.SKIPPED


def ran(exit_code: int | None = 0, output: str = "", **more: object) -> CommandRun:
    tests = more.pop("tests", {})
    count = TestCount(
        tests=tests,
        passed=sum(state is PASSED for state in tests.values()) if tests else None,
        failed=sum(state is FAILED for state in tests.values()) if tests else None,
        says_none=bool(more.pop("says_none", False)),
    )
    command = str(more.pop("command", "make test"))
    return CommandRun(
        command=command, exit_code=exit_code, seconds=1.0, output_tail=output, count=count, **more
    )


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


# --- tests that are gone -----------------------------------------------------------------------------------


def lost(before: dict[str, TestState], after: dict[str, TestState]) -> list[tuple[str, TestChangeKind]]:
    return [(change.test, change.kind) for change in lost_tests(before, after)]


def test_a_test_that_is_not_there_is_gone_and_one_that_is_skipped_is_named() -> None:
    assert lost({"t::a": PASSED, "t::b": PASSED}, {"t::b": SKIPPED}) == [
        ("t::b", TestChangeKind.SKIPPED),
        ("t::a", TestChangeKind.GONE),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"tests/a.py::test_x": PASSED}, {"tests/unit/a.py::test_x": PASSED}),
        ({"tests/a.py::test_x": PASSED}, {"tests/a.py::test_better_name": PASSED}),
        ({"a.test.js > math > adds": PASSED}, {"math.test.js > adds": PASSED}),
        ({"test_a.T.test_x": PASSED}, {"tests.test_a.T.test_x": PASSED}),
        ({"a::x": FAILED}, {"a::y": PASSED}),
        ({"a::x": SKIPPED}, {"a::y": PASSED}),
    ],
)
def test_a_test_under_another_name_or_path_is_not_gone(
    before: dict[str, TestState], after: dict[str, TestState]
) -> None:
    assert lost(before, after) == []


def test_one_new_test_stands_for_one_that_is_gone_and_no_more() -> None:
    assert lost({"t::a": PASSED, "t::b": PASSED}, {"t::c": PASSED}) == [("t::b", TestChangeKind.GONE)]


def test_of_renumbered_parameters_the_one_that_was_removed_is_gone() -> None:
    before = {f"t::f[args{number}-{text}]": PASSED for number, text in enumerate("abc")}
    after = {"t::f[args0-b]": PASSED, "t::f[args1-c]": PASSED}
    assert lost(before, after) == [("t::f[args0-a]", TestChangeKind.GONE)]


def test_nothing_is_said_of_tests_that_are_not_known_by_name() -> None:
    assert lost({}, {"a": PASSED}) == []


def test_if_no_test_is_left_all_are_gone() -> None:
    gone = [("a", TestChangeKind.GONE), ("b", TestChangeKind.GONE)]
    assert lost({"a": PASSED, "b": FAILED, "c": SKIPPED}, {}) == gone


@pytest.mark.parametrize(
    ("name", "leaf"),
    [
        ("tests/a.py::T::test_x[a-b.c]", "test_x[a-b.c]"),
        ("a.test.js > math > adds 1.5", "adds 1.5"),
        ("tests.test_a.T.test_x", "test_x"),
        ("example.com/m/pkg/TestX/sub", "sub"),
        ("plain", "plain"),
    ],
)
def test_the_own_name_of_a_test_is_its_last_part(name: str, leaf: str) -> None:
    assert leaf_of(name) == leaf


@pytest.mark.parametrize("name", ["tests/test_a.py::T::x", "tests.test_a.T.x", "test_a.T.x"])
def test_the_file_of_a_test_is_found_in_its_name(name: str) -> None:
    assert is_of(name, "tests/test_a.py")
    assert not is_of(name, "tests/test_b.py")
    assert files_of([name], ["tests/test_b.py", "tests/test_a.py"]) == ["tests/test_a.py"]


def test_two_files_with_the_same_ending_hold_their_own_tests():
    assert is_of("test/mul.test.js > multiplies", "test/mul.test.js")
    assert not is_of("test/calc.test.js > adds", "test/mul.test.js")


def test_a_test_that_cannot_be_placed_means_that_all_files_are_run() -> None:
    assert files_of(["test_a.x", "somewhere else"], ["test_a.py"]) == []


# --- tests that change -------------------------------------------------------------------------------------

CHANGE = TestChange(test="tests/a.py::T::test_x", path="tests/a.py", kind=TestChangeKind.FAILS)


def expected(entry: TestThatChanges) -> str:
    return with_expectations([CHANGE], [entry], lambda _: {"add", "f"})[0].expected_by


@pytest.mark.parametrize(
    "entry", ["tests/a.py::T::test_x", "tests/a.py", "./tests/a.py", "test_x", "T::test_x"]
)
def test_the_plan_announces_a_changed_test_by_name_or_file(entry: str) -> None:
    assert expected(TestThatChanges(test=entry, line="add() rounds")) == "add() rounds"


@pytest.mark.parametrize("entry", ["tests/b.py", "test_y", "x", "est_x", ""])
def test_another_test_is_not_announced_by_that(entry: str) -> None:
    assert expected(TestThatChanges(test=entry, line="add() rounds")) == ""


@pytest.mark.parametrize(*rows(__file__, "lines"))
def test_an_entry_counts_if_its_line_names_the_test_its_file_or_a_name_on_the_changed_lines(
    line: str, *, counts: bool
) -> None:
    assert expected(TestThatChanges(test="tests/a.py", line=line)) == (line if counts else "")


def test_the_line_that_asks_for_a_changed_test_has_to_stand_in_the_spec() -> None:
    spec = "# Sum\n\n- add(a, b) rounds   to two digits.\n"

    def problems(line: str) -> list[str]:
        entry = TestThatChanges(test="test_x", line=line)
        return [one.text for one in lines_not_in(spec, Plan(tasks=(), tests_that_change=(entry,)))]

    assert problems("add(a, b) rounds to two digits.") == problems("- add(a, b) rounds to two digits.") == []
    assert problems("") == []
    assert "add(a, b) truncates" in problems("add(a, b) truncates")[0]
    assert problems("Sum") == []
    assert problems("to")


def test_a_changed_test_on_which_the_reviewer_is_silent_is_marked_as_not_ruled_on() -> None:
    assert rulings_on([*changed([CHANGE])], []) == (TestRuling(test=CHANGE.test, accepted=True, ruled=False),)
    refused = TestRuling(test=CHANGE.test, accepted=False, why="it was right")
    assert rulings_on([*changed([CHANGE])], [refused]) == (refused,)


def test_a_ruling_counts_by_the_exact_name_as_printed_and_of_several_a_refusal() -> None:
    odd = TestChange(test="tests/a.py::test_x[a\tb]", kind=TestChangeKind.GONE)
    (printed,) = [line(odd.name)]
    said = [
        TestRuling(test=printed, accepted=True, why="yes"),
        TestRuling(test=printed, accepted=False, why="no"),
        TestRuling(test=printed, accepted=True, why="yes"),
        TestRuling(test=CHANGE.test.upper(), accepted=True, why="another"),
    ]
    assert rulings_on([*changed([odd, CHANGE, CHANGE])], said) == (
        TestRuling(test=odd.test, accepted=False, why="no"),
        TestRuling(test=CHANGE.test, accepted=True, ruled=False),
    )


def constraint(kind: ConstraintKind, *names: str) -> Criterion:
    return Criterion(text="It stays", kind=CriterionKind.CONSTRAINT, constraint=kind, names=names)


FACTS = WorkFacts(
    added=("left-pad",),
    locked=("deep",),
    names_removed=("a.py: gone",),
    names_added=("a.py: new", "a.py: more"),
    unread=("setup.py",),
    paths=("a.py", "docs/x.md"),
)
NOTHING, ONLY_LOCKED, UNREAD = WorkFacts(), WorkFacts(locked=("deep",)), WorkFacts(unread=("setup.py",))
MYPY = ran(0, command="uv run mypy --strict src")
K = ConstraintKind


@pytest.mark.parametrize(
    ("one", "facts", "runs", "holds", "why"),
    [
        (constraint(K.DEPENDENCIES), NOTHING, (), True, "computed"),
        (constraint(K.DEPENDENCIES), FACTS, (), False, "left-pad"),
        (constraint(K.DEPENDENCIES, "Left_Pad"), FACTS, (), None, "setup.py could not be read"),
        (constraint(K.DEPENDENCIES), ONLY_LOCKED, (), False, "deep"),
        (constraint(K.DEPENDENCIES), UNREAD, (), None, "setup.py could not be read"),
        (constraint(K.PUBLIC_NAMES), NOTHING, (), True, "computed"),
        (constraint(K.PUBLIC_NAMES), FACTS, (), False, "a.py: gone"),
        (constraint(K.PUBLIC_NAMES, "gone"), FACTS, (), True, "computed"),
        (constraint(K.NEW_NAMES, "new()"), FACTS, (), False, "a.py: more"),
        (constraint(K.NEW_NAMES, "new", "a.py: more"), FACTS, (), True, "computed"),
        (constraint(K.UNTOUCHED, "docs"), FACTS, (), False, "docs/x.md"),
        (constraint(K.UNTOUCHED, "*.go"), FACTS, (), True, "computed"),
        (constraint(K.UNTOUCHED), FACTS, (), None, "names no file"),
        (constraint(K.COMMAND, "mypy --strict"), NOTHING, (MYPY,), True, "passed"),
        (constraint(K.COMMAND, "mypy"), NOTHING, (replace(MYPY, exit_code=1),), False, "exit code 1"),
        (constraint(K.COMMAND, "pyright"), NOTHING, (MYPY,), None, "no such command"),
        (constraint(K.COMMAND), NOTHING, (MYPY,), None, "no such command"),
    ],
)
def test_a_constraint_holds_by_the_files_and_the_commands_that_sq_ran(
    tmp_path: Path,
    one: Criterion,
    facts: WorkFacts,
    runs: tuple[CommandRun, ...],
    holds: bool | None,
    why: str,
) -> None:
    found = computed(one, facts, runs, tmp_path)
    assert found
    assert found.holds is holds
    assert why in found.why


def test_a_constraint_without_a_type_is_not_computed(tmp_path: Path) -> None:
    untyped = Criterion(text="It stays", kind=CriterionKind.CONSTRAINT)
    assert computed(untyped, FACTS, (), tmp_path) is None
