"""The criteria of a spec through whole runs: quoted, placed, judged in a review, marked by what sq has seen."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from language.scripted import (
    Done,
    Rehearse,
    analyzes,
    call,
    completes,
    criterion,
    judges,
    met,
    passes,
    plans,
    rules,
    says,
    signals,
    whole_run,
    writes,
)

from orchestrator.views.models.criteria import CriterionRow, CriterionState, criteria_of
from state.journal import events as e
from state.outcome import Outcome
from state.records.reviews import CriterionVerdict, JudgedBy
from state.records.work import ChangeKind

SPEC = """# Notes

- The notes are *kept* in `notes.txt`.
- They can be counted.
- Nothing else is stored.
"""
TESTS = """import unittest

import notes


class NotesTest(unittest.TestCase):
    def test_kept(self):
        self.assertEqual(notes.kept(), "A line.")

    @unittest.skip("later")
    def test_counted(self):
        self.fail()
"""
CODE = 'from pathlib import Path\n\n\ndef kept():\n    return Path("notes.txt").read_text().strip()\n'
UNITTEST = "python3 -m unittest"
CRITERIA = (
    criterion("Notes are kept", "notes", quote="The notes are kept in notes.txt"),
    criterion("Notes can be counted", "notes", quote="they can be counted"),
    criterion("Only notes are stored", "notes", quote="Nothing more is ever saved", kind="constraint"),
)
KEPT = ("test", "test_notes.NotesTest.test_kept")


def work(**more: Any) -> list[Mapping[str, Any]]:
    """A Worker's attempt that writes the notes, what reads them, and their tests."""
    files = {"notes.txt": "A line.\n", "notes.py": CODE, "test_notes.py": TESTS, **more}
    return [
        says(
            *(call("Write", file_path=f"{{workspace}}/{name}", content=text) for name, text in files.items())
        ),
        completes(),
    ]


@pytest.fixture
def judged(rehearse: Rehearse) -> Callable[..., Done]:
    """A run of one task whose reviewer gives these replies, the last one again and again."""

    def run(*replies: Mapping[str, Any], **callers: Any) -> Done:
        told = {
            "planner/plan/1": [plans("notes", criteria=CRITERIA)],
            "worker/notes/1": work(),
            **{f"reviewer/notes/{number}": [reply] for number, reply in enumerate(replies, start=1)},
        }
        return rehearse(whole_run(**{**told, **callers}), spec=SPEC, verify=(UNITTEST,), ends=None)

    return run


def rows(done: Done) -> list[CriterionRow]:
    return list(criteria_of(done.view))


def states(done: Done) -> list[str]:
    return [row.state for row in rows(done)]


@pytest.mark.late
def test_the_review_of_the_only_task_judges_and_a_mark_says_what_sq_has_seen(
    judged: Callable[..., Done],
) -> None:
    """A named test that fails without the work shows it, a skipped one does not, and a missing verdict is none."""
    done = judged(
        judges(
            met("c-1", KEPT),
            met("c-2", ("test", "test_counted")),
            expect={"prompt_contains": ["c-1 (behaviour): Notes are kept", UNITTEST, KEPT[1]]},
        )
    )
    assert done.outcome is Outcome.COMPLETE, done.output
    first, second, third = rows(done)
    assert (first.state, first.place) == (CriterionState.TESTED, "spec.md:3")
    assert first.proof is not None
    assert first.proof.ref == KEPT[1]
    assert (second.state, second.place) == (CriterionState.CLAIMED, "spec.md:4")
    assert "skipped" in second.evidence[0].why
    assert (third.state, third.place) == (CriterionState.NOT_CHECKED, "")
    assert "c-3 is not in the spec in these words: Nothing more is ever saved" in done.output
    assert f"c-1 tested by the test {KEPT[1]}" in done.output
    assert "criteria of the spec: 1 tested, 1 claimed, 1 not checked" in done.output
    assert {event.tree for event in done.of(e.CriterionJudged)} == {done.view.whole.tree}


@pytest.mark.late
def test_a_test_that_does_not_exist_proves_nothing_and_the_claim_is_shown_as_one(
    judged: Callable[..., Done],
) -> None:
    """A suite that passes proves no single behaviour, and a line that is there proves no constraint."""
    done = judged(
        judges(
            met("c-1", KEPT, ("test", "test_notes.NotesTest.test_invented")),
            met("c-2", ("command", UNITTEST), ("line", "notes.txt:1")),
            met("c-3", ("line", "notes.txt:1")),
        )
    )
    assert states(done) == [CriterionState.CLAIMED] * 3
    first, second, third = rows(done)
    assert [one.holds for one in first.evidence] == [True, False]
    assert first.evidence[1].why == "sq ran no test of this name on this tree"
    assert [(one.holds, one.general) for one in second.evidence] == [(True, True), (True, False)]
    assert third.evidence[0].why == "it reads: A line."
    assert done.outcome is Outcome.COMPLETE


def test_a_review_that_passes_and_calls_a_criterion_not_met_sends_the_work_back(
    judged: Callable[..., Done],
) -> None:
    """The work is not believed complete, and the next attempt reads which criterion is missing."""
    unmet = {"id": "c-2", "verdict": "not met", "reason": "Nothing counts them."}
    again = [
        writes(
            "count.py",
            "COUNT = 1\n",
            expect={
                "prompt_contains": [
                    "the criterion c-2 is not met: Notes can be counted",
                    "Nothing counts them",
                ]
            },
        ),
        completes(),
    ]
    issue = {
        "taskId": "notes",
        "file": "the spec",
        "type": "spec-mismatch",
        "description": "the criterion c-2 is not met: Notes can be counted (Nothing counts them.)",
        "suggestion": "",
    }
    fixed = rules("fixed", issue)
    fixed["tools"][0]["input"]["criteria"] = [met("c-1", KEPT), met("c-2"), met("c-3")]
    done = judged(judges(met("c-1", KEPT), unmet), fixed, **{"worker/notes/2": again})
    assert done.outcome is Outcome.COMPLETE, done.output
    first, second = done.of(e.ReviewRecorded)[-2:]
    assert (first.passed, second.passed) == (False, True)
    assert "c-2 not met: Nothing counts them." in done.output
    assert states(done) == [CriterionState.TESTED, CriterionState.CLAIMED, CriterionState.CLAIMED]
    of_first = [event for event in done.of(e.CriterionJudged) if event.commit == first.commit]
    assert [event.verdict for event in of_first] == [CriterionVerdict.MET, CriterionVerdict.NOT_MET]


@pytest.mark.late
def test_with_several_tasks_the_final_review_judges_and_what_it_calls_not_met_goes_to_the_task_that_covers_it(
    rehearse: Rehearse,
) -> None:
    unmet = {"id": "c-2", "verdict": "not met", "reason": "It is empty."}
    issue = {
        "taskId": "two",
        "file": "the spec",
        "type": "spec-mismatch",
        "description": "the criterion c-2 is not met: two is there (It is empty.)",
        "suggestion": "",
    }
    done = rehearse(
        {
            "planner/analysis/1": [analyzes()],
            "planner/plan/1": [plans("one", "two")],
            "worker/one/1": [writes("one.txt", "1\n"), completes()],
            "worker/two/1": [writes("two.txt", "\n"), completes()],
            "worker/two/2": [writes("two.txt", "2\n2\n"), completes()],
            "reviewer/one/1": [
                passes(prompt_contains=["The criteria of the spec"], prompt_lacks=["- c-2 ("])
            ],
            "reviewer/two/1": [passes(prompt_contains=["- c-2 ("], prompt_lacks=["- c-1 ("])],
            "reviewer/two/2": [rules("fixed", issue)],
            "reviewer/final/1": [judges(met("c-1"), unmet)],
            "reviewer/final/2": [judges(met("c-1"), met("c-2", ("command", "test -s two.txt")))],
        },
        verify=("test -s two.txt || true", "python3 -c 'import os; os.stat(\"two.txt\")' || true"),
    )
    assert [event.task_id for event in done.of(e.TaskReopened)] == ["two"]
    one, two = rows(done)
    assert (one.state, two.state) == (CriterionState.CLAIMED, CriterionState.CLAIMED)
    assert two.evidence[0].why == "it is no command that sq ran on this tree"
    sizes = done.view.whole.measured
    assert [(each.added, each.removed) for each in sizes["two"]] == [(1, 0), (2, 1)]
    [whole] = sizes[""]
    assert [(each.path, each.kind, each.added) for each in whole.files] == [
        ("one.txt", ChangeKind.ADDED, 1),
        ("two.txt", ChangeKind.ADDED, 2),
    ]


def test_a_criterion_whose_task_is_stuck_is_not_checked_and_the_reason_is_said(rehearse: Rehearse) -> None:
    stuck = {"worker/notes/1": [signals("task_stuck", reason="no network")]}
    done = rehearse(whole_run(**stuck), verify=("true",), ends=Outcome.STUCK)
    assert [(row.state, row.note) for row in rows(done)] == [(CriterionState.NOT_CHECKED, "notes is stuck")]


def test_with_a_second_review_the_first_one_is_not_asked(rehearse: Rehearse) -> None:
    """From review depth `deep` on, the final review judges a single task too."""
    callers = {
        "reviewer/notes/1": [passes(prompt_lacks=["The criteria of the spec"])],
        "reviewer/final/1": [judges(met("c-1"), expect={"prompt_contains": ["The criteria of the spec"]})],
    }
    done = rehearse(whole_run(**callers), effort="high", verify=("true",))
    [judged] = done.of(e.CriterionJudged)
    assert (judged.task_id, judged.by) == ("", JudgedBy.REVIEWER)
