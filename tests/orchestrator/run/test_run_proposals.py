"""Before the build: plans that do not hold go back, reviews come first where the effort asks for them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import (
    Rehearse,
    analyzes,
    finds,
    issue,
    passes,
    plans,
    signals,
    whole_run,
)

from state.journal import events as e
from state.outcome import Outcome

OBJECTION = issue("spec.md", 1, "The plan leaves the second line out.", "Add it to task notes.")
PLAIN = {"verify": ("true",)}


@pytest.mark.late
def test_a_plan_that_fails_its_review_goes_back_and_is_never_built(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(
            planner=[
                plans("wrong"),
                {
                    **plans("notes"),
                    "expect": {
                        "prompt_contains": ["leaves the second line out", "Add it"],
                        "prompt_lacks": ["Create notes.txt with a line of text"],  # it has the spec
                    },
                },
            ],
            **{
                "reviewer/plan/1": [finds(OBJECTION)],
                "reviewer/plan/2": [
                    passes(prompt_contains=["Task notes", "notes is done", "leaves the second line out"])
                ],
            },
        ),
        plan_review=True,
        **PLAIN,
    )
    assert list(done.view.tasks) == ["notes"]
    assert not [line for line in done.ledger if line.caller.startswith("worker/wrong")]
    kinds = [type(stored.event) for stored in done.stored]
    assert kinds.index(e.PlanProposed) < kinds.index(e.PlanRejected) < kinds.index(e.PlanAccepted)


@pytest.mark.slow
def test_a_plan_that_keeps_failing_its_review_ends_with_code_2_and_the_list(rehearse: Rehearse) -> None:
    done = rehearse(
        {
            "planner/plan/1": [plans("notes"), plans("notes"), plans("notes")],
            "reviewer/plan/*": [finds(OBJECTION)],
        },
        plan_review=True,
        ends=Outcome.USAGE,
    )
    assert "leaves the second line out" in done.output
    assert done.of(e.TaskStarted) == []
    assert len(done.of(e.PlanRejected)) == 3


def test_a_plan_whose_reviewer_is_silent_twice_is_unverified_and_not_built(rehearse: Rehearse) -> None:
    done = rehearse(
        {
            "planner/plan/1": [plans("notes")],
            "reviewer/plan/1": [{"text": "Looks fine."}, {"text": "Really."}],
        },
        plan_review=True,
        ends=Outcome.UNVERIFIED,
    )
    assert "plan could not be reviewed" in done.output
    assert done.of(e.TaskStarted) == []


def test_low_effort_has_no_plan_reviewed(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), plan_review=True, effort="low", **PLAIN)
    assert done.of(e.PlanProposed) == []


@pytest.mark.slow
def test_at_max_effort_an_analysis_is_reviewed_and_a_failed_one_is_made_anew(
    rehearse: Rehearse, repository: Path, shell: Callable[..., str]
) -> None:
    (repository / "main.py").write_text("print(1)\n")
    shell(repository, "git", "add", "-A")
    shell(repository, "git", "commit", "-qm", "code")
    wrong = issue("main.py", 1, "There is no Makefile.", "Say that nothing is tested.")
    done = rehearse(
        whole_run(
            **{
                "planner/analysis/1": [
                    analyzes(),
                    {**analyzes(), "expect": {"prompt_contains": ["There is no Makefile"]}},
                ],
                "reviewer/analysis/1": [finds(wrong)],
                "reviewer/analysis/2": [passes(prompt_contains=["Project: notes"])],
                "reviewer/plan/1": [passes()],
            }
        ),
        plan_review=True,
        effort="max",
        **PLAIN,
    )
    assert len(done.of(e.AnalysisRejected)) == 1


BAD_PLANS = {
    "a cycle": (plans("a", "b", a=["b"], b=["a"]), "form a cycle"),
    "an unknown dependency": (plans("a", a=["ghost"]), "'ghost', which is no task"),
    "a duplicate id": (plans("a", "a"), "used 2 times"),
    "an uncovered criterion": (
        signals(
            "submit_plan",
            tasks=[{"id": "a", "title": "A", "description": "Do a."}],
            criteria=[{"text": "it sings", "task_ids": []}],
        ),
        "no task covers the criterion 'it sings'",
    ),
}


@pytest.mark.parametrize("problem", BAD_PLANS)
def test_a_plan_that_does_not_hold_goes_back_twice_and_then_ends_with_code_2_and_the_list(
    rehearse: Rehearse, problem: str
) -> None:
    reply, words = BAD_PLANS[problem]
    again = {**reply, "expect": {"prompt_contains": [words]}}
    done = rehearse({"planner/plan/1": [reply, again, again]}, ends=Outcome.USAGE)
    assert words in done.view.ended.cause  # type: ignore[union-attr]
    assert len(done.of(e.PlanRejected)) == 3
    assert done.of(e.TaskStarted) == []


def test_a_dry_run_ends_with_the_tasks_and_their_order_and_builds_nothing(
    rehearse: Rehearse, repository: Path, shell: Callable[..., str]
) -> None:
    callers = {"planner/plan/1": [plans("base", "top", top=["base"])]}
    done = rehearse(callers, dry_run=True)
    assert "top: Task top (after base)" in done.output
    assert "nothing was built" in done.output
    assert done.of(e.TaskStarted) == []
    assert shell(repository, "git", "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_plan_that_comes_without_its_tool_goes_back(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(planner=[{"text": "One task: write notes."}, plans("notes")]), **PLAIN)
    assert "submit_plan" in done.of(e.PlanRejected)[0].problems[0]
