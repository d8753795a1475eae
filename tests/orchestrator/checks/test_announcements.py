"""Which changed tests a line of the spec announces."""

import pytest
from language.tables import rows

from orchestrator.checks.of_tests.announced import with_expectations
from state.records.plan import TestThatChanges
from state.records.reviews import TestChange, TestChangeKind

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
