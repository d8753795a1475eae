"""A test that expects another result: which values are altered in which languages, and which never are."""

import difflib

import pytest
from language.tables import rows, table

from orchestrator.project.functions.expectations import comparing_nothing, with_other_results


def changed_lines(before: str, after: str) -> list[str]:
    diff = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line[2:].strip() for line in diff if line.startswith("+ ")]


@pytest.mark.parametrize(*rows(__file__, "altered"))
def test_the_expected_value_of_a_test_is_another_one(test: str, text: str, now: str) -> None:
    altered = with_other_results(text, [test])
    assert changed_lines(text, altered.text) == [now]
    assert altered.tests == [test]


@pytest.mark.parametrize("line", table(__file__, "stays"))
def test_a_line_that_may_hold_with_another_value_stays(line: str) -> None:
    text = f"def test_a():\n    {line}\n"
    altered = with_other_results(text, ["t.py::test_a"])
    assert (altered.text, altered.tests) == (text, [])


def test_only_the_tests_that_are_named_are_altered() -> None:
    text = "def test_a():\n    assert f(2) == 6\n\n\ndef test_b():\n    assert g(2) == 6\n"
    altered = with_other_results(text, ["t.py::test_a"], ["t.py::test_b"])
    assert altered.text == text.replace("f(2) == 6", "f(2) == 5")


def test_a_title_that_another_test_has_too_is_left_out() -> None:
    text = "describe('a', () => {\n  it('adds', () => { expect(f(2)).toBe(6); });\n});\n"
    assert with_other_results(text, ["a adds"], ["b adds"]).text == text


def test_a_test_with_parameters_has_one_text_for_all_of_them() -> None:
    text = "def test_a(n):\n    assert f(n) == 6\n"
    names = ["t.py::test_a[1]", "t.py::test_a[2]"]
    assert with_other_results(text, names).titles == {"test_a": tuple(names)}


@pytest.mark.parametrize(*rows(__file__, "comparing_nothing"))
def test_a_test_that_only_asks_whether_there_is_a_result_compares_nothing(test: str, text: str) -> None:
    assert comparing_nothing(text, [test]) == [test]


@pytest.mark.parametrize("lines", table(__file__, "other_lines"))
def test_a_test_that_asks_more_compares_something(lines: str) -> None:
    assert comparing_nothing(f"def test_a():\n{lines}", ["t.py::test_a"]) == []


def test_a_test_that_looks_for_an_element_of_a_page_compares_something() -> None:
    text = "it('shows it', () => {\n  expect(screen.getByText('Send')).toBeDefined();\n});\n"
    assert comparing_nothing(text, ["shows it"]) == []
