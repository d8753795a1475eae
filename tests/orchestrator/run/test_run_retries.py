"""Failures of the API and of processes: what may pass is tried again, what will not ends at once, with its cause."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
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
    says,
    whole_run,
    writes,
)
from language.scripted import call as tool

from orchestrator.cli.runs.request import SCENARIO
from orchestrator.run.asking.retries import persistently, until
from state.api_errors import named_wait
from state.journal import events as e
from state.journal.events import CallRetried, CallStarted, RunStarted
from state.journal.events.calls import CallView
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, CallResult
from state.roles import Role
from state.settings.presets import usual_settings
from state.settings.records import Retries

QUICK = {"retries.first_wait_s": "0.01", "retries.longest_wait_s": "0.05", "retries.tries": "3"}
WINDOWS = {**QUICK, "retries.longest_wait_s": "0.1", "retries.reset_slack_s": "0.2"}
PLAIN = {"verify": ("true",), "settings": QUICK}
Resume = Callable[..., Done]


def faulty(reply: dict[str, Any], **misbehave: Any) -> dict[str, Any]:
    return {**reply, "misbehave": misbehave}


def requests(done: Done, caller: str) -> int:
    return sum(line.caller == caller for line in done.ledger)


FULL = {"status": 400, "message": "prompt is too long: 214322 tokens > 200000 maximum", "times": 1}


@pytest.mark.late
@pytest.mark.parametrize("fault", [FULL, {**FULL, "status": 413, "message": "Request too large"}])
def test_a_session_that_takes_no_more_is_a_new_attempt_with_a_hand_over(
    rehearse: Rehearse, fault: dict[str, Any]
) -> None:
    first = [writes("notes.txt", "half\n"), faulty(completes(), **fault)]
    again = [writes("notes.txt", "whole\n"), completes()]
    callers = whole_run(worker=first) | {"worker/notes/2": again}
    done = rehearse(callers, **PLAIN)
    begun = done.of(e.AttemptStarted)
    assert [bool(one.because) for one in begun] == [False, True]
    assert done.of(e.HandedOver)[0].notes.ended == begun[1].because
    assert "attempt 2 begins in a fresh session" in done.output


@pytest.mark.late
def test_a_task_whose_fresh_sessions_take_no_more_either_fails_with_what_helps(rehearse: Rehearse) -> None:
    fault = {**FULL, "times": 9}
    callers = whole_run() | {f"worker/notes/{number}": [faulty(completes(), **fault)] for number in (1, 2, 3)}
    done = rehearse(callers, **PLAIN, ends=Outcome.FAILED)
    assert len(done.of(e.AttemptStarted)) == 3
    assert "split the task, or take a larger model" in done.view.ended.cause


@pytest.mark.late
def test_a_reviewer_whose_session_takes_no_more_is_asked_in_a_fresh_one(rehearse: Rehearse) -> None:
    callers = whole_run() | {"reviewer/notes/*": [faulty(passes(), **FULL)]}
    done = rehearse(callers, **PLAIN)
    assert [one.end for one in done.of(e.CallRetried)] == [CallEnd.SESSION_FULL]


def a_run(**more: Any) -> RunStarted:
    told = dict.fromkeys(
        ("run_id", "spec_name", "spec_text", "repository", "worktrees", "base_commit", "sq_version"), ""
    )
    return RunStarted(**told, base_branch=None, settings=usual_settings(), rehearsal=None, **more)


def a_call() -> CallStarted:
    return CallStarted(
        call_id="c", role=Role.WORKER, task_id="", attempt=1, iteration=1, session_id="", model="", prompt=""
    )


def repair(done: Done) -> None:
    """The model behaves from now on."""
    path = done.folder / SCENARIO
    scenario = yaml.safe_load(path.read_text())
    for replies in scenario["callers"].values():
        for reply in replies:
            reply.pop("misbehave", None)
    path.write_text(yaml.safe_dump(scenario))


@pytest.mark.claude
@pytest.mark.parametrize(
    "status", [429, *(pytest.param(status, marks=pytest.mark.slow) for status in (500, 529))]
)
def test_a_failure_that_passes_is_tried_again_in_the_same_session(rehearse: Rehearse, status: int) -> None:
    write = writes("notes.txt", "A line.\n")
    callers = whole_run(worker=[faulty(write, status=status, times=2), completes()])
    done = rehearse(callers, **PLAIN)
    retried = done.of(e.CallRetried)
    assert [(one.end, one.api_status) for one in retried] == [(CallEnd.API_ERROR, status)] * 2
    assert retried[0].wait_s < retried[1].wait_s
    assert len({call.session_id for call in done.of(e.CallStarted) if call.role == "worker"}) == 1
    assert f"status {status}" in done.output


@pytest.mark.late
def test_a_failure_in_the_middle_of_a_turn_does_not_repeat_what_was_done(
    rehearse: Rehearse, repository: Path
) -> None:
    worker = [
        writes("notes.txt", "A line.\n"),
        faulty(says(tool("Bash", command="wc -l notes.txt >> count.txt")), status=529, times=1),
        completes(),
    ]
    rehearse(whole_run(worker=worker), **PLAIN)
    assert (repository / "count.txt").read_text() == "1 notes.txt\n"


@pytest.mark.late
def test_refused_credentials_end_the_run_at_once_and_a_resume_goes_on(
    rehearse: Rehearse, resume: Resume
) -> None:
    callers = whole_run(worker=[writes("notes.txt", "A line.\n"), faulty(completes(), status=401)])
    done = rehearse(callers, **PLAIN, ends=Outcome.FAILED)
    assert "credentials" in done.output
    assert done.of(e.CallRetried) == []
    asked = requests(done, "worker/notes/1")
    repair(done)
    again = resume(done)
    assert requests(again, "planner/plan/1") == requests(done, "planner/plan/1")
    assert requests(again, "worker/notes/1") - asked == 1  # the claim


@pytest.mark.late
def test_an_api_that_stays_away_fails_the_run_with_the_cause_and_a_resume_goes_on(
    rehearse: Rehearse, resume: Resume
) -> None:
    callers = whole_run(**{"reviewer/notes/*": [faulty(passes(), status=529, message="Overloaded.")]})
    done = rehearse(callers, **PLAIN, ends=Outcome.FAILED)
    assert "Overloaded." in done.view.ended.cause  # type: ignore[union-attr]
    assert len(done.of(e.CallRetried)) == 3
    repair(done)
    again = resume(done)
    assert len([call for call in again.of(e.CallStarted) if call.role == "worker"]) == 1


def test_a_bad_request_is_not_tried_again_and_ends_its_task(rehearse: Rehearse) -> None:
    callers = whole_run(worker=[faulty(writes("notes.txt", "x"), status=400)])
    done = rehearse(callers, **PLAIN, ends=Outcome.FAILED)
    assert done.of(e.CallRetried) == []
    assert "status 400" in done.view.tasks["notes"].end.reason


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (429, "enforced_spend_limit_reached", "monthly spend cap"),
        (429, "contract_spend_limit_reached", "spend limit of the organization's contract"),
        (400, "organization_on_hold", "disabled the organization"),
        (400, "claude_code_version_too_old", "update Claude Code"),
    ],
)
def test_an_error_that_its_code_makes_final_ends_the_run_at_once_with_what_helps(
    rehearse: Rehearse, status: int, code: str, words: str
) -> None:
    worker = [writes("notes.txt", "A line.\n"), faulty(completes(), status=status, error_code=code)]
    done = rehearse(whole_run(worker=worker), **PLAIN, ends=Outcome.FAILED)
    cause = done.view.ended.cause  # type: ignore[union-attr]
    assert words in cause
    assert f"({code})" in cause
    assert "sq resume" in cause
    assert done.of(e.CallRetried) == []


def test_a_developer_meets_an_error_by_its_code_too(rehearse: Rehearse) -> None:
    asked = [asks(COLOUR), writes("notes.txt", "blue\n"), completes()]
    developer = [faulty(answers(BLUE), status=400, error_code="claude_code_key_creator_not_member")]
    done = rehearse(whole_run(worker=asked, developer=developer), **PLAIN, ends=Outcome.FAILED)
    assert "(claude_code_key_creator_not_member)" in done.view.ended.cause  # type: ignore[union-attr]


async def test_a_spend_cap_is_waited_for_until_the_month_ends_if_the_run_has_that_time() -> None:
    now = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
    assert named_wait("enforced_spend_limit_reached", now) == 1
    assert named_wait("ramp_limit_exceeded", now) is None
    assert named_wait("", now) is None


@pytest.mark.slow
def test_a_developer_that_fails_for_a_while_still_answers(rehearse: Rehearse) -> None:
    callers = whole_run(
        worker=[
            asks(COLOUR),
            writes("notes.txt", "A line.\n", expect={"tool_results_contain": ["red"]}),
            completes(),
        ],
        developer=[faulty(answers(BLUE), status=429, retry_after=1, times=1)],
    )
    done = rehearse(callers, verify=("true",), settings=WINDOWS)
    (retried,) = done.of(e.CallRetried)
    assert retried.wait_s >= 1


def test_a_reset_time_that_the_api_names_is_waited_for_told_and_not_more_often_than_was_set(
    rehearse: Rehearse,
) -> None:
    callers = whole_run(worker=[asks(COLOUR)], developer=[faulty(answers(BLUE), status=429, retry_after=1)])
    done = rehearse(
        callers, verify=("true",), settings={**WINDOWS, "retries.resets": "1"}, ends=Outcome.FAILED
    )
    assert len(done.of(e.CallRetried)) == 1
    assert "its limit ends and the run waits (reset 1), again in 1.2 s" in done.output


@pytest.mark.late
def test_three_windows_of_a_plan_in_one_run_are_waited_out_with_slack_and_it_ends_complete(
    rehearse: Rehearse,
) -> None:
    full = {"status": 429, "retry_after": 1, "times": 3}
    callers = whole_run(
        worker=[asks(COLOUR), writes("notes.txt", "A line.\n"), completes()],
        developer=[faulty(answers(BLUE), **full)],
    )
    done = rehearse(callers, verify=("true",), settings={**WINDOWS, "retries.tries": "1"})
    waited = [stored for stored in done.stored if isinstance(stored.event, e.CallRetried)]
    assert len(waited) == 3
    for stored in waited:
        assert stored.event.wait_s >= 1.2
        assert abs((stored.event.resets_at - stored.at).total_seconds() - stored.event.wait_s) < 0.5
        after = next(
            one for one in done.stored if one.seq > stored.seq and not isinstance(one.event, e.CallRetried)
        )
        assert after.at >= stored.event.resets_at
    assert len(done.of(e.CallStarted)) == len({one.call_id for one in done.of(e.CallStarted)})


@pytest.mark.late
def test_a_reset_after_the_deadline_ends_the_run_at_its_limit_with_what_is_merged(
    rehearse: Rehearse, resume: Resume
) -> None:
    week = {"status": 429, "retry_after": 600_000}
    callers = {
        **whole_run(),
        "planner/plan/1": [plans("notes", "late", late=["notes"])],
        "worker/late/1": [asks(COLOUR), writes("late.txt", "x\n"), completes()],
        "developer/late/1": [faulty(answers(BLUE), **week)],
        "reviewer/*": [passes()],
    }
    done = rehearse(callers, verify=("true",), settings={**QUICK, "deadline": "+1h"}, ends=Outcome.LIMIT)
    assert "after the run's deadline" in done.view.ended.cause
    assert done.view.tasks["notes"].merged_commit
    assert done.view.checkout.kept
    assert done.of(e.CallRetried) == []
    repair(done)
    assert resume(done).outcome is Outcome.COMPLETE


async def test_an_expired_login_is_waited_for_until_it_holds_again_and_a_refused_key_is_not() -> None:
    for credentials, tries in (("cli login", 3), ("api key", 1)):
        view = RunView(started=a_run(credentials=credentials))
        made, told = 0, list[CallRetried]()

        async def once(_number: int) -> CallResult:
            nonlocal made
            made += 1
            refused = made < 3
            return CallResult(
                end=CallEnd.API_ERROR if refused else CallEnd.COMPLETED, api_status=401 if refused else None
            )

        view.calls["c"] = CallView(a_call(), datetime.now(UTC), "")
        result = await persistently(
            once, call_id="c", view=view, retries=Retries(login_s=0.01, first_wait_s=0.01), record=told.append
        )
        assert (made, len(told)) == (tries, tries - 1)
        assert (result.end is CallEnd.COMPLETED) is (tries == 3)


async def test_a_wait_ends_by_the_clock_on_the_wall_however_long_the_machine_slept() -> None:
    before = anyio.current_time()
    await until(datetime.now(UTC) - timedelta(hours=1))  # it passed while the machine slept
    assert anyio.current_time() - before < 1


async def test_the_end_of_a_wait_is_the_one_that_was_recorded_however_long_recording_took() -> None:
    view = RunView(started=a_run(credentials="api key"))
    view.calls["c"] = CallView(a_call(), datetime.now(UTC), "")
    tries, recorded = list[float](), list[float]()

    async def once(_number: int) -> CallResult:
        tries.append(anyio.current_time())
        refused = len(tries) == 1
        return CallResult(
            end=CallEnd.API_ERROR if refused else CallEnd.COMPLETED, api_status=500 if refused else None
        )

    def record(failed: CallRetried) -> None:
        time.sleep(failed.wait_s)  # a slow disk, or a machine that sleeps just now
        recorded.append(anyio.current_time())

    await persistently(
        once, call_id="c", view=view, retries=Retries(first_wait_s=2, longest_wait_s=2), record=record
    )
    assert tries[1] - recorded[0] < 1


def test_a_reset_time_that_is_too_far_away_is_not_waited_for(rehearse: Rehearse) -> None:
    callers = whole_run(
        worker=[asks(COLOUR)], developer=[faulty(answers(BLUE), status=429, retry_after=90_000)]
    )
    done = rehearse(callers, **PLAIN, ends=Outcome.FAILED)
    assert done.of(e.CallRetried) == []


@pytest.mark.claude
@pytest.mark.late
def test_silence_ends_the_session_is_tried_once_more_and_then_the_task_is_stuck(rehearse: Rehearse) -> None:
    callers = whole_run(worker=[faulty(writes("notes.txt", "x"), hang="before-headers")])
    done = rehearse(callers, verify=("true",), settings={**QUICK, "limits.idle_s": "1"}, ends=Outcome.STUCK)
    assert "no sign of life for 1 s" in done.view.tasks["notes"].end.reason
    assert len(done.of(e.CallRetried)) == 1


@pytest.mark.slow
def test_a_connection_that_comes_back_is_used_again(rehearse: Rehearse) -> None:
    callers = whole_run()
    first, *rest = callers["planner/plan/1"]
    callers = {**callers, "planner/plan/1": [faulty(dict(first), connection="refused", seconds=3), *rest]}
    done = rehearse(
        callers,
        verify=("true",),
        settings={
            **QUICK,
            "retries.tries": "9",
            "retries.first_wait_s": "0.2",
            "retries.longest_wait_s": "1",
        },
    )
    assert done.of(e.CallRetried)


def test_all_who_ask_wait_until_the_time_that_the_newest_failure_named(
    rehearse: Rehearse,
) -> None:
    """The back-off is in the journal: the view of any process of the run holds it."""
    callers = whole_run(planner=[faulty(dict(whole_run()["planner/plan/1"][0]), status=529, times=1)])
    done = rehearse(
        callers,
        verify=("true",),
        settings={**QUICK, "retries.first_wait_s": "0.3", "retries.longest_wait_s": "0.3"},
    )
    moments = {type(stored.event): stored.at for stored in done.stored}
    waited = (
        next(stored.at for stored in done.stored if isinstance(stored.event, e.CallResumed))
        - moments[e.CallRetried]
    )
    assert waited.total_seconds() >= 0.3
    assert done.view.process.quiet_until is not None
