"""Which lines of a failing command's output are shown."""

from orchestrator.verify.judgement import telling_lines

OF_GO = (
    """=== RUN   TestSince
    main_test.go:15: got "b", want "a"
--- FAIL: TestSince (0.29s)
FAIL
FAIL\tm/cmd\t0.307s
"""
    + "=== RUN   TestLevel\n--- PASS: TestLevel (0.00s)\n" * 8
)
OF_PYTEST = (
    "..F\n"
    + "line\n" * 40
    + "FAILED t.py::test_since - AssertionError: assert 'b' == 'a'\n1 failed in 0.1s\n"
)


def test_the_end_is_shown_where_it_says_why() -> None:
    assert "AssertionError" in telling_lines(OF_PYTEST, ["t.py::test_since"])


def test_else_the_lines_of_the_failing_test_are_shown() -> None:
    lines = telling_lines(OF_GO, ["m/cmd/TestSince"]).splitlines()
    assert lines[1].strip() == 'main_test.go:15: got "b", want "a"'


def test_without_a_name_the_end_is_shown() -> None:
    assert telling_lines(OF_GO, []).splitlines()[-1] == "--- PASS: TestLevel (0.00s)"
