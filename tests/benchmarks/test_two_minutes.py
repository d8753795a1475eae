"""The five questions about a report are scored against the journal: right answers are right, others are not."""

from language.acting_runs import hostile_run
from language.large_runs import twelve_tasks

from benchmarks.two_minutes import compared, key_of
from state.journal.events import MessageReceived
from state.journal.fold.fold import fold


def key(events):
    return key_of(fold(one for one in events if not isinstance(one.event, MessageReceived)))


def test_the_key_comes_from_the_journal():
    found = key(hostile_run())
    assert found["seen"] == {"c-1": "tests/test_a.py::test_b"}
    assert found["unseen"] == ["c-2", "c-3", "c-4"]
    assert found["decided"] == ["half to even"]
    assert found["check"][1:] == ["python -m pytest -q"]


def test_right_answers_are_right_and_each_wrong_one_costs_a_point():
    right = key(hostile_run())
    answers = {**right, "check": f"git switch --detach {right['check'][0]}abc && {right['check'][1]}"}
    assert all(compared(right, answers).values())
    wrong = {
        "seen": {"c-1": "tests/other.py"},
        "decided": [],
        "unseen": ["c-2"],
        "cost_usd": right["cost_usd"] + 1,
        "check": "make test",
    }
    for name, value in wrong.items():
        result = compared(right, {**answers, name: value})
        assert [one for one, good in result.items() if not good] == [name]
    assert not any(compared(right, {}).values())


def test_a_run_in_which_nothing_is_seen_has_a_key_too():
    assert key(twelve_tasks())["seen"] == {}
