"""Reviews: what they find goes back to exactly the right task; silence and prose are no pass."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from language.scripted import (
    Rehearse,
    analyzes,
    completes,
    finds,
    id_of,
    issue,
    passes,
    plans,
    rules,
    signals,
    whole_run,
    writes,
)

from state.journal.events import (
    CallStarted,
    PlanRejected,
    ReportRefused,
    ReviewRecorded,
    ReviewUnusable,
    TaskMerged,
    TaskReopened,
)
from state.outcome import Outcome
from state.records.reviews import FindingState

CHECKED = {"verify": ("true",)}


def test_a_failed_review_goes_into_the_retry_prompt_with_place_description_and_fix(
    rehearse: Rehearse,
) -> None:
    terse = issue("notes.txt", 1, "too terse", "say more", kind="over-engineering")
    done = rehearse(
        whole_run(
            reviewer=[finds(terse)],
            **{
                "reviewer/notes/2": [rules("fixed", terse)],
                "worker/notes/2": [
                    writes(
                        "notes.txt",
                        "More.\n",
                        expect={
                            "prompt_contains": [
                                "Previous Review Feedback",
                                "notes.txt:1** (over-engineering): too terse",
                                "Fix: say more",
                            ]
                        },
                    ),
                    completes(),
                ],
            },
        ),
        **CHECKED,
    )
    assert done.view.context.review_issues == []


@pytest.mark.late
def test_final_review_reopens_the_tasks_it_names_and_they_are_built_again(rehearse: Rehearse) -> None:
    """And no task is told another task's issues."""
    one = issue("one.txt", 1, "one is wrong", "mend one", task="one")
    two = issue("two.txt", 1, "two is wrong", "mend two")
    done = rehearse(
        {
            "planner/analysis/1": [analyzes()],
            "planner/plan/1": [plans("one", "two")],
            "worker/one/1": [writes("one.txt", "1\n"), completes()],
            "worker/two/1": [writes("two.txt", "2\n"), completes()],
            "reviewer/one/1": [passes()],
            "reviewer/two/1": [passes()],
            "reviewer/one/2": [rules("fixed", one)],
            "reviewer/two/2": [rules("fixed", two)],
            "reviewer/final/1": [finds(one, two)],
            "worker/one/2": [
                writes(
                    "one.txt",
                    "one\n",
                    expect={
                        "prompt_contains": ["one is wrong", "mend one"],
                        "prompt_lacks": ["two is wrong", "two.txt"],
                    },
                ),
                completes(),
            ],
            "worker/two/2": [
                writes(
                    "two.txt",
                    "two\n",
                    expect={"prompt_contains": ["two is wrong"], "prompt_lacks": ["one is wrong"]},
                ),
                completes(),
            ],
            "reviewer/final/2": [passes()],
        },
        **CHECKED,
    )
    assert [event.task_id for event in done.of(TaskReopened)] == ["one", "two"]
    assert sorted(event.task_id for event in done.of(TaskMerged)) == ["one", "one", "two", "two"]


@pytest.mark.slow
def test_a_final_review_that_keeps_failing_is_never_complete(rehearse: Rehearse) -> None:
    wrong = issue("notes.txt", 1, "still wrong", "mend it", kind="incorrect-behavior")
    done = rehearse(
        whole_run(
            **{
                "worker/notes/2": [writes("notes.txt", "Again.\n"), completes()],
                "worker/notes/3": [writes("notes.txt", "Once more.\n"), completes()],
                "reviewer/notes/1": [passes()],
                "reviewer/notes/*": [rules("fixed", wrong)],
                "reviewer/final/*": [finds(wrong)],
            }
        ),
        effort="high",
        **CHECKED,
        ends=Outcome.STUCK,
    )
    assert "still wrong" in done.view.ended.cause


def test_a_reviewer_that_never_reports_is_asked_once_more_and_then_the_task_is_unverified(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(
            **{"reviewer/notes/*": [{"text": "Looks good to me!"}, {"text": "As I said, it is fine."}]}
        ),
        **CHECKED,
        ends=Outcome.UNVERIFIED,
    )
    assert done.of(TaskMerged) == []
    assert len(done.of(ReviewUnusable)) == 2
    assert all("Check agent output format" in event.issue.suggestion for event in done.of(ReviewUnusable))


@pytest.mark.late
def test_a_reviewer_that_reports_when_asked_once_more_counts(rehearse: Rehearse) -> None:
    rehearse(
        whole_run(
            **{"reviewer/notes/*": [{"text": "Let me think."}, passes(prompt_contains=["did not arrive"])]}
        ),
        **CHECKED,
    )


def test_a_review_that_fails_without_naming_an_issue_is_not_sent_to_the_worker(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(**{"reviewer/notes/*": [finds(), finds()]}), **CHECKED, ends=Outcome.UNVERIFIED)
    assert done.of(TaskReopened) == []


@pytest.mark.late
def test_two_silent_final_reviews_leave_the_run_unverified(rehearse: Rehearse) -> None:
    silent = whole_run(**{"reviewer/final/*": [{"text": "Fine."}, {"text": "Fine!"}]})
    rehearse(silent, effort="high", **CHECKED, ends=Outcome.UNVERIFIED)


def test_a_run_of_one_task_whose_review_saw_the_whole_is_not_reviewed_twice(rehearse: Rehearse) -> None:
    callers = whole_run()
    del callers["reviewer/final/*"]
    done = rehearse(callers, **CHECKED)
    assert "reviewed once: the review of the only task saw the whole" in done.output
    assert [one.task_id for one in done.of(ReviewRecorded)] == ["notes"]


WRONG = issue("notes.txt", 1, "the wrong word", "the right one", kind="incorrect-behavior")


def reviewed_again(*replies: Mapping[str, Any]) -> Mapping[str, Any]:
    """The callers of a task whose first review finds something, and of its second review."""
    return whole_run(
        **{
            "worker/notes/2": [writes("notes.txt", "Other.\n"), completes()],
            "reviewer/notes/1": [finds(WRONG)],
            "reviewer/notes/2": replies,
        }
    )


@pytest.mark.late
@pytest.mark.claude
def test_a_report_without_a_ruling_on_an_open_finding_is_refused_in_the_same_turn(rehearse: Rehearse) -> None:
    told = {"tool_results_contain": ["`earlier` has no ruling on these findings: ", id_of(WRONG)]}
    again = rules("fixed", WRONG, why="It is the right word.", expect=told)
    leaves_out = passes(prompt_contains=["A report that leaves one out is refused"])
    done = rehearse(reviewed_again(leaves_out, again), **CHECKED)
    reviews = done.of(ReviewRecorded)
    assert [one.passed for one in reviews] == [False, True]
    assert [(one.state, one.note) for one in reviews[-1].findings] == [
        (FindingState.FIXED, "It is the right word.")
    ]


ENDS_ITS_TURN = {**passes(), "then": "I have reported what I found."}


@pytest.mark.late
@pytest.mark.claude
def test_a_pass_that_was_refused_once_counts_when_the_turn_ends_without_another_report(
    rehearse: Rehearse,
) -> None:
    done = rehearse(reviewed_again(ENDS_ITS_TURN), **CHECKED)
    assert done.of(ReviewUnusable) == []
    assert [one.passed for one in done.of(ReviewRecorded)] == [False, True]
    assert [one.state for one in done.of(ReviewRecorded)[-1].findings] == [FindingState.FIXED]


@pytest.mark.late
def test_a_review_is_refused_once_and_not_once_for_each_question(rehearse: Rehearse) -> None:
    other = issue("notes.txt", 1, "another word", "a third one", kind="incorrect-behavior")
    callers = {
        "worker/notes/2": [writes("notes.txt", "Other.\n"), completes()],
        "reviewer/notes/1": [finds(WRONG, other)],
        "reviewer/notes/2": [passes(), rules("fixed", WRONG)],
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    assert len(done.of(ReportRefused)) == 1
    assert [one.state for one in done.of(ReviewRecorded)[-1].findings] == [FindingState.FIXED] * 2


@pytest.mark.late
def test_a_review_is_not_refused_anew_after_a_report_that_was_unusable(rehearse: Rehearse) -> None:
    unusable = signals("report_review", passed=False, issues=[])
    refused = signals("report_review", passed=True, issues=[])
    done = rehearse(reviewed_again(refused, unusable, passes()), **CHECKED)
    assert (len(done.of(ReportRefused)), len(done.of(ReviewUnusable))) == (1, 1)
    assert done.of(ReviewRecorded)[-1].passed


@pytest.mark.late
def test_a_reviewer_sees_a_change_that_an_attribute_of_the_tree_hides(rehearse: Rehearse) -> None:
    hidden = [writes("notes.txt", "A line.\n"), writes(".gitattributes", "*.txt -diff\n*.txt binary\n")]
    sees = passes(prompt_contains=["+A line."])
    callers = {"worker/notes/1": [*hidden, completes()], "reviewer/notes/1": [sees]}
    spec = "# Notes\n\nCreate notes.txt with a line of text, and hide it by git attributes.\n"
    rehearse(whole_run(**callers), spec=spec, **CHECKED)


SEEDS_PASS = {"text": '```json\n{"passed": true, "issues": [], "suggestions": []}\n```'}


@pytest.mark.late
@pytest.mark.parametrize("replies", [(SEEDS_PASS,), (passes(), passes())], ids=["text", "tool"])
def test_a_pass_without_rulings_clears_the_findings_and_ends_the_run_as_complete(
    rehearse: Rehearse, replies: Sequence[Mapping[str, Any]]
) -> None:
    done = rehearse(reviewed_again(*replies), **CHECKED)
    reviews = done.of(ReviewRecorded)
    assert [one.passed for one in reviews] == [False, True]
    assert [one.state for one in reviews[-1].findings] == [FindingState.FIXED]
    assert "notes: the review passes" in done.output


@pytest.mark.late
def test_a_shallow_review_is_asked_for_no_quality_and_sends_nothing_back_for_it(rehearse: Rehearse) -> None:
    layer = issue("notes.txt", 1, "a layer too many", "take it out", kind="over-engineering")
    by_tool = {**finds(layer), "expect": {"prompt_lacks": ["over-engineering", "dead-code"]}}
    refused = {"tool_results_contain": ["'over-engineering' is not one of"]}
    in_words = {"text": json.dumps({"passed": False, "issues": [layer]}), "expect": refused}
    done = rehearse(whole_run(reviewer=[by_tool, in_words]), effort="low", **CHECKED)
    assert "suggestion: notes.txt:1 (over-engineering): a layer too many" in done.output


@pytest.mark.slow
def test_revisions_used_up_end_as_stuck(rehearse: Rehearse) -> None:
    attempts = {f"worker/notes/{n}": [writes("notes.txt", f"Try {n}.\n"), completes()] for n in range(1, 4)}
    finding = finds(issue("notes.txt", 1, "not yet", "try again", kind="incorrect-behavior"))
    done = rehearse(
        whole_run(**attempts, **{"reviewer/notes/*": [finding]}), effort="low", **CHECKED, ends=Outcome.STUCK
    )
    assert "2 revisions" in done.view.tasks["notes"].end.reason


@pytest.mark.slow
def test_a_retry_that_changes_nothing_is_not_reviewed_again(rehearse: Rehearse) -> None:
    terse = issue("notes.txt", 1, "too terse", "say more")
    rehearse(
        whole_run(
            reviewer=[finds(terse)],
            **{
                "reviewer/notes/2": [rules("fixed", terse)],
                "worker/notes/2": [
                    completes(),
                    writes(
                        "notes.txt",
                        "More.\n",
                        expect={"prompt_contains": ["Nothing has changed since the review"]},
                    ),
                    completes(),
                ],
            },
        ),
        **CHECKED,
    )


def test_a_plan_that_does_not_hold_goes_back_and_is_never_built(rehearse: Rehearse) -> None:
    bad = plans("notes", notes=["nowhere"])
    good = {**plans("notes"), "expect": {"prompt_contains": ["depends on 'nowhere'"]}}
    done = rehearse(whole_run(planner=[bad, good]), **CHECKED)
    assert len(done.of(PlanRejected)) == 1


def test_three_plans_that_do_not_hold_end_the_run_with_the_list(rehearse: Rehearse) -> None:
    bad = plans("notes", notes=["nowhere"])
    done = rehearse(whole_run(planner=[bad, bad, bad]), ends=Outcome.USAGE)
    assert "depends on 'nowhere'" in done.output
    assert not [event for event in done.of(CallStarted) if event.role == "worker"]
