"""Every outcome is reached by a run, and of several the one that counts."""

import gc
from collections.abc import Mapping
from typing import Any

import pytest
from language.scripted import Rehearse, completes, finds, issue, plans, signals, whole_run, writes

from state.outcome import Outcome

STUCK = [signals("task_stuck", reason="no way")]
FAILED = [{**writes("a.txt", "x"), "misbehave": {"status": 400}}]
SILENT = [{"text": "Fine."}, {"text": "Really."}]
DONE = {"done": "", "test_status": "", "next_step": "", "blockers": []}
LIMIT = [
    writes("a.txt", "1"),
    signals("iteration_done", **DONE),
    writes("a.txt", "2"),
    signals("iteration_done", **DONE),
]
REVIEWED = {"reviewer/unverified/1": SILENT}
WORK = [writes("u.txt", "x"), completes()]
TASKS = {"stuck": STUCK, "failed": FAILED, "unverified": WORK, "limit": LIMIT}

COMBINATIONS = {
    ("stuck", "unverified"): Outcome.STUCK,
    ("limit", "stuck", "unverified"): Outcome.LIMIT,
    ("failed", "limit", "stuck", "unverified"): Outcome.FAILED,
}


def callers_with(*kinds: str) -> Mapping[str, Any]:
    """A plan with these tasks, independent of each other, and one that goes well."""
    return whole_run(
        planner=[plans(*kinds, "notes")], **{f"worker/{kind}/1": TASKS[kind] for kind in kinds}, **REVIEWED
    )


@pytest.mark.late
@pytest.mark.parametrize(
    "kinds",
    [pytest.param(kinds, marks=() if "failed" in kinds else pytest.mark.slow) for kinds in COMBINATIONS],
    ids="+".join,
)
def test_of_several_outcomes_the_first_of_the_order_counts_and_all_causes_are_told(
    rehearse: Rehearse, kinds: tuple[str, ...]
) -> None:
    done = rehearse(callers_with(*kinds), verify=("true",), settings={"max_iterations": "2"}, ends=None)
    assert done.outcome is COMBINATIONS[kinds]
    assert all(f"task {kind}" in done.output for kind in kinds)
    assert done.view.tasks["notes"].merged_commit


@pytest.mark.parametrize(
    ("kinds", "outcome", "code"),
    [
        ((), Outcome.COMPLETE, 0),
        (("failed",), Outcome.FAILED, 1),
        (("stuck",), Outcome.STUCK, 3),
        (("limit",), Outcome.LIMIT, 4),
        (("unverified",), Outcome.UNVERIFIED, 5),
    ],
    ids=["complete", "failed", "stuck", "limit", "unverified"],
)
def test_a_run_ends_with_the_code_of_its_outcome(
    rehearse: Rehearse, kinds: tuple[str, ...], outcome: Outcome, code: int
) -> None:
    done = rehearse(callers_with(*kinds), verify=("true",), settings={"max_iterations": "2"}, ends=None)
    assert (done.outcome, done.outcome.exit_code) == (outcome, code)
    assert f"{outcome} (exit code {code})" in done.output


@pytest.mark.slow
def test_editing_the_same_uncommitted_file_again_is_progress(rehearse: Rehearse) -> None:
    """Progress is measured on content: `git status` would look the same after each of these."""
    worker = [
        reply
        for number in range(7)
        for reply in (writes("notes.txt", f"{number}\n"), signals("iteration_done", **DONE))
    ]
    rehearse(whole_run(worker=[*worker, completes()]), verify=("true",), effort="max")


def test_iterations_that_end_with_the_same_error_are_stuck_although_the_files_change(
    rehearse: Rehearse,
) -> None:
    def tries(number: int) -> list[dict[str, Any]]:
        command = f"echo {number} > notes.txt; echo 'line {number}: no such module' >&2; exit 1"
        bash = {"tools": [{"name": "Bash", "input": {"command": command}}]}
        return [bash, signals("iteration_done", **DONE)]

    worker = [reply for number in range(6) for reply in tries(number)]
    done = rehearse(whole_run(worker=worker), verify=("true",), ends=Outcome.STUCK)
    assert "ended with the same error" in done.view.tasks["notes"].end.reason
    assert done.view.tasks["notes"].iteration == 4


@pytest.mark.slow
def test_a_plan_that_asks_for_more_than_revisions_allow_is_stuck(rehearse: Rehearse) -> None:
    finding = finds(issue("notes.txt", 1, "wrong", "right", kind="incorrect-behavior"))
    again = {
        f"worker/notes/{number}": [writes("notes.txt", f"{number}"), completes()] for number in (1, 2, 3)
    }
    done = rehearse(
        whole_run(**{**again, "reviewer/notes/*": [finding]}),
        verify=("true",),
        effort="low",
        ends=Outcome.STUCK,
    )
    assert "2 revisions are used up" in done.output


def test_a_run_collects_garbage_although_the_start_of_sq_does_not(rehearse: Rehearse) -> None:
    gc.disable()
    try:
        rehearse(whole_run(), ends=Outcome.UNVERIFIED)
        assert gc.isenabled()
    finally:
        gc.unfreeze()
        gc.enable()
