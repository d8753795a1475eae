"""Lines of a plan that have to stand in the spec, and how a reviewer ruled on changed tests."""

from orchestrator.checks.objecting import changed
from orchestrator.run.plan.rules import lines_not_in
from orchestrator.run.review.revise import rulings_on
from prompts.marking import line
from state.records.plan import Plan, TestThatChanges
from state.records.reviews import TestChange, TestChangeKind, TestRuling

CHANGE = TestChange(test="tests/a.py::T::test_x", path="tests/a.py", kind=TestChangeKind.FAILS)


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
