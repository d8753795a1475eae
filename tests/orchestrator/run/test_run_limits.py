"""Budgets, time and iterations: what they cost is counted for everybody, and nothing is asked beyond them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from language.scripted import (
    BLUE,
    COLOUR,
    Done,
    Rehearse,
    answers,
    asks,
    completes,
    passes,
    plans,
    signals,
    whole_run,
    writes,
)

from orchestrator.run.asking.budget import committed
from state.journal import events as e
from state.outcome import Outcome
from state.records.calls import Usage
from state.roles import Role
from state.settings.presets import models

Resume = Callable[..., Done]
USAGE = {"input_tokens": 10_000, "output_tokens": 1_000}
OPUS = models()["opus"].cost(Usage(input_tokens=10_000, output_tokens=1_000))


def with_budget(usd: float, **more: Any) -> dict[str, Any]:
    return {"verify": ("true",), "usage": USAGE, "settings": {"budget": str(usd), **more}}


def steps(count: int) -> list[dict[str, Any]]:
    """So many iterations, each with a change, then the claim."""
    done = {"done": "a line", "test_status": "", "next_step": "the next", "blockers": []}
    work = []
    for number in range(count):
        work += [writes("notes.txt", f"{number}\n"), signals("iteration_done", **done)]
    return [*work, completes()]


def test_a_budget_that_is_too_small_ends_the_run_before_the_first_call(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), **with_budget(0.001), ends=Outcome.LIMIT)
    assert done.ledger == []
    assert done.of(e.CallStarted) == []
    assert "the run's budget of $0.00 is used up" in done.output


def test_a_budget_ends_the_run_before_the_call_that_it_does_not_cover(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(worker=steps(6)), **with_budget(0.6), ends=Outcome.LIMIT)
    assert done.view.process.limit
    last = done.of(e.CallStarted)[-1]
    assert done.view.cost_usd <= 0.6 + OPUS
    assert last.reserved_usd > 0


def test_every_agent_is_counted(rehearse: Rehearse) -> None:
    callers = whole_run(
        worker=[asks(COLOUR), writes("notes.txt", "A line.\n"), completes()], developer=[answers(BLUE)]
    )
    done = rehearse(callers, plan_review=True, steering="blockers", **with_budget(5))
    ended = {one.call_id: one for one in done.of(e.CallEnded)}
    by_role = {call.role for call in done.of(e.CallStarted) if ended[call.call_id].cost_usd > 0}
    assert by_role == set(Role) - {Role.RESOLVER}
    assert done.view.cost_usd == pytest.approx(sum(one.cost_usd for one in ended.values()))


@pytest.mark.slow
@pytest.mark.claude
def test_an_aborted_call_is_counted(rehearse: Rehearse) -> None:
    cut = {
        **writes("notes.txt", "A line.\n"),
        "text": "I begin. " * 50,
        "misbehave": {"stream": "cut", "times": 1},
    }
    settings = {"retries.first_wait_s": "0.01"}
    done = rehearse(whole_run(worker=[cut, completes()]), **with_budget(5, **settings))
    (retried,) = done.of(e.CallRetried)
    assert retried.cost_usd > 0
    ended = sum(one.cost_usd for one in done.of(e.CallEnded))
    assert done.view.cost_usd == pytest.approx(ended + retried.cost_usd)


@pytest.mark.slow
def test_a_limit_that_is_large_enough_does_not_stop_a_task_after_its_first_iteration(
    rehearse: Rehearse,
) -> None:
    """The session's own cap covers the whole conversation, not each exchange anew."""
    done = rehearse(whole_run(worker=steps(4)), **with_budget(2))
    assert done.view.tasks["notes"].attempt == 1
    assert len([call for call in done.of(e.CallStarted) if call.role is Role.WORKER]) == 5


@pytest.mark.late
def test_a_tasks_budget_stops_that_task_alone(rehearse: Rehearse) -> None:
    callers = whole_run(
        planner=[plans("dear", "notes")],
        **{
            "worker/dear/1": [
                {**reply, "usage": {"input_tokens": 200_000, "output_tokens": 0}} for reply in steps(5)
            ]
        },
    )
    done = rehearse(callers, **with_budget(9, budget_task="1"), ends=Outcome.LIMIT)
    assert done.view.tasks["dear"].end.at_limit
    assert done.view.tasks["notes"].merged_commit
    assert "task dear's budget of $1.00 is used up" in done.output


@pytest.mark.late
def test_a_run_at_its_limit_goes_on_with_a_larger_one_and_pays_for_nothing_twice(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(whole_run(worker=steps(3)), **with_budget(0.5), ends=Outcome.LIMIT)
    same = resume(done, ends=Outcome.LIMIT)
    assert same.view.cost_usd == done.view.cost_usd
    again = resume(done, budget_usd=5.0)
    asked = [line.caller for line in again.ledger]
    assert asked.count("planner/plan/1") == 1


@pytest.mark.slow
def test_the_run_is_never_dearer_than_its_budget_by_more_than_it_says(rehearse: Rehearse) -> None:
    callers = whole_run(worker=steps(3))
    for budget in (0.2, 0.8):
        done = rehearse(callers, **with_budget(budget), ends=None)
        assert done.view.cost_usd <= budget + OPUS
        if done.view.cost_usd > budget:
            assert "more than it" in done.output


@pytest.mark.late
def test_the_runs_time_ends_it_whatever_it_is_doing(rehearse: Rehearse, resume: Resume) -> None:
    hanging = {**writes("notes.txt", "x"), "misbehave": {"hang": "before-headers"}}
    callers = whole_run(worker=[hanging])
    done = rehearse(callers, verify=("true",), settings={"limits.run_s": "6"}, ends=Outcome.LIMIT)
    assert "time of 6 s is used up" in done.output


@pytest.mark.late
def test_iterations_are_limited_and_a_larger_limit_lets_the_task_go_on(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(
        whole_run(worker=steps(3)),
        verify=("true",),
        settings={"max_iterations": "2"},
        ends=Outcome.LIMIT,
    )
    assert "limit of 2 iterations" in done.view.tasks["notes"].end.reason
    assert resume(done, max_iterations=9).outcome is Outcome.COMPLETE


@pytest.mark.slow
def test_without_a_budget_nothing_is_held_back(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",), usage=USAGE, settings={"budget": "none"})
    assert done.view.cost_usd > 0


@pytest.mark.late
def test_a_reviewer_that_may_not_be_paid_for_leaves_the_merged_work_on_sqs_branch_and_the_run_at_its_limit(
    rehearse: Rehearse, repository: Path, shell: Callable[..., str]
) -> None:
    dear = {"input_tokens": 100_000, "output_tokens": 1_000}
    callers = whole_run(**{"reviewer/notes/*": [{**passes(), "usage": dear}]})
    done = rehearse(callers, **with_budget(0.74, effort="high"), ends=Outcome.LIMIT)
    assert done.view.checkout.kept
    assert shell(repository, "git", "show", f"{done.view.checkout.kept.branch}:notes.txt") == "A line."
    assert shell(repository, "git", "ls-tree", "--name-only", "main") == ""
    assert committed(done.view) == done.view.cost_usd


@pytest.mark.slow
def test_tasks_side_by_side_keep_to_the_runs_budget_and_go_on_with_a_larger_one(
    rehearse: Rehearse, resume: Resume
) -> None:
    tasks = ("one", "two", "three")
    callers = {
        "planner/analysis/1": [signals("report_analysis", spec_findings=[], project_type="notes", stack=[])],
        "planner/plan/1": [plans(*tasks)],
        "reviewer/*": [passes()],
        **{f"worker/{task}/1": [writes(f"{task}.txt", "1\n"), completes()] for task in tasks},
    }
    done = rehearse(callers, **with_budget(0.4, max_parallel="3"), ends=Outcome.LIMIT)
    assert done.view.cost_usd <= 0.4 + len(tasks) * OPUS
    ended = {call.call_id for call in done.of(e.CallEnded)}
    again = resume(done, budget_usd=10.0)
    started = [call for call in again.of(e.CallStarted) if call.call_id not in ended]
    built = [(call.role, call.task_id) for call in started if call.role is Role.WORKER]
    assert len(built) == len(set(built))
    assert {call.call_id for call in again.of(e.CallStarted)} == {
        call.call_id for call in again.of(e.CallEnded)
    }


@pytest.mark.late
@pytest.mark.parametrize(
    ("limits", "command", "named"),
    [
        ({"output_mb": "1"}, "yes | head -c 9000000", "printed more than 1 MiB (sandbox.limits.output_mb)"),
        (
            {"total_mb": "100"},
            "head -c 300000000 /dev/urandom > big; sync; sleep 60",
            "wrote more than 100 MiB",
        ),
        (
            {"total_mb": "none", "files": "500"},
            "seq 2000 | xargs touch; sleep 60",
            "made more than 500 files",
        ),
    ],
    ids=["output", "bytes", "files"],
)
def test_a_command_that_exceeds_a_total_of_its_sandbox_is_ended_and_says_which(
    rehearse: Rehearse, repository: Path, limits: dict[str, str], command: str, named: str
) -> None:
    settings = {f"sandbox.limits.{key}": value for key, value in limits.items()}
    done = rehearse(whole_run(), verify=(command,), settings=settings, ends=None)
    assert done.outcome is not Outcome.COMPLETE
    assert named in done.output
    said = f"limit: sandbox.limits.{[*limits][-1]} ({[*limits.values()][-1]}) is near: 80% is used"
    assert said in done.output
    assert done.output.index(said) < done.output.index(named)
