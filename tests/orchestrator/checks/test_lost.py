"""Which tests of the base are gone, and in which file a test is."""

import pytest

from orchestrator.checks.names_of_tests import files_of, is_of, leaf_of
from orchestrator.checks.of_tests.lost import lost_tests
from state.records.commands import TestState
from state.records.reviews import TestChangeKind

PASSED, FAILED, SKIPPED = TestState.PASSED, TestState.FAILED, TestState.SKIPPED


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
