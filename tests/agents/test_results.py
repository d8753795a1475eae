"""What a CLI's result means: a real `ResultMessage`, never believed for its subtype alone (lessons 17, 28)."""

from pathlib import Path

import anthropic
import pytest
from claude_agent_sdk import ResultMessage

from agents.claude_code.results import checked, detail_of, end_of, usage_of
from state.api_errors import api_errors
from state.records.calls import CallEnd, Usage


def result(subtype="success", **more):
    facts = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "session_id": "s", "is_error": False}
    return ResultMessage(subtype=subtype, **{**facts, **more})


def test_a_turn_that_ended_by_itself_is_completed_and_needs_no_detail():
    done = result(terminal_reason="completed", stop_reason="end_turn", result="Done.")
    assert (end_of(done), detail_of(done)) == (CallEnd.COMPLETED, "")
    assert end_of(result()) is CallEnd.COMPLETED


API_ERROR = {"is_error": True, "terminal_reason": "api_error", "result": "API Error: Overloaded"}


@pytest.mark.parametrize(
    ("said", "end"),
    [
        (result(**API_ERROR, api_error_status=529), CallEnd.API_ERROR),
        (result(**API_ERROR), CallEnd.API_ERROR),
        (result(api_error_status=400), CallEnd.API_ERROR),
        (result(is_error=True), CallEnd.API_ERROR),
        (
            result(is_error=True, terminal_reason="prompt_too_long", api_error_status=400),
            CallEnd.SESSION_FULL,
        ),
        (result("error_max_turns", is_error=True, terminal_reason="max_turns"), CallEnd.MAX_TURNS),
        (result("error_max_turns"), CallEnd.MAX_TURNS),
        (result("error_max_turns", terminal_reason="max_turns"), CallEnd.MAX_TURNS),
        (result("error_max_budget_usd", is_error=True), CallEnd.BUDGET),
        (result("error_max_budget_usd"), CallEnd.BUDGET),
        (
            result(
                "error_during_execution",
                is_error=True,
                stop_reason="tool_use",
                terminal_reason="aborted_tools",
            ),
            CallEnd.INTERRUPTED,
        ),
        (
            result("error_during_execution", is_error=True, terminal_reason="aborted_streaming"),
            CallEnd.INTERRUPTED,
        ),
        (result("error_max_structured_output_retries", is_error=True), CallEnd.UNUSABLE),
        (
            result(terminal_reason="structured_output_retry_exhausted", is_error=True),
            CallEnd.UNUSABLE,
        ),
        (result(is_error=True, stop_reason="refusal"), CallEnd.REFUSED),
        (result(is_error=True, stop_reason="max_tokens"), CallEnd.TRUNCATED),
        (result(terminal_reason="stop_hook_prevented"), CallEnd.INTERRUPTED),
    ],
)
def test_a_result_with_anything_against_it_is_no_success_and_says_what(said, end):
    assert end_of(said) is end
    assert detail_of(said)


@pytest.mark.parametrize("subtype", ["error_during_execution", "error_of_tomorrow"])
@pytest.mark.parametrize("is_error", [True, False])
def test_an_error_that_nobody_knows_yet_is_no_success(subtype, is_error):
    said = result(subtype, is_error=is_error)
    assert end_of(said) is not CallEnd.COMPLETED
    assert detail_of(said)


def test_a_turn_that_a_hook_stopped_is_completed_only_if_a_report_was_recorded_in_it():
    stopped = result(terminal_reason="hook_stopped", stop_reason="tool_use", result="")
    assert (end_of(stopped, reported=True), detail_of(stopped, reported=True)) == (CallEnd.COMPLETED, "")
    assert (end_of(stopped), detail_of(stopped)) == (CallEnd.INTERRUPTED, "hook_stopped")


@pytest.mark.parametrize("reason", ["something_new", "aborted_tools", "max_turns", "api_error"])
def test_a_reason_for_ending_that_is_not_completion_is_no_success(reason):
    assert end_of(result(terminal_reason=reason)) is not CallEnd.COMPLETED


def test_a_detail_holds_what_was_said_once_and_the_status():
    said = result(**API_ERROR, api_error_status=529, errors=["API Error: Overloaded", "gave up"])
    assert detail_of(said) == "API Error: Overloaded; gave up; status 529"


def test_tokens_are_read_by_the_apis_names_and_absent_ones_are_none():
    counts = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
    }
    assert usage_of(counts) == Usage(
        input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4
    )
    assert usage_of(None) == usage_of({}) == usage_of({"input_tokens": None}) == Usage()


def test_each_error_that_sq_knows_by_its_code_is_one_of_the_client():
    shared = Path(anthropic.__file__).parent / "types" / "shared"
    for code, row in api_errors().items():
        assert f'error_code: Literal["{code}"]' in (shared / row.source).read_text("utf-8")


@pytest.mark.parametrize(
    "more",
    [
        {"total_cost_usd": float("nan")}, {"total_cost_usd": float("inf")}, {"total_cost_usd": -1.0}, {"total_cost_usd": "1"},
        {"num_turns": "many"}, {"api_error_status": [529]}, {"usage": {"input_tokens": -1}}, {"usage": {"output_tokens": 10**30}},
        {"usage": ["x"]}, {"result": {"a": 1}}, {"errors": [1]}, {"errors": "x"}, {"terminal_reason": 3},
    ],
)  # fmt: skip
def test_a_result_whose_numbers_or_texts_are_none_is_refused(more):
    """Any process of a session can write one, and NaN in a stored event makes the journal unreadable."""
    assert checked(result(total_cost_usd=0.5, usage={"input_tokens": 3}, errors=None)).total_cost_usd == 0.5
    with pytest.raises(ValueError, match="whose numbers or texts"):
        checked(result(**more))
