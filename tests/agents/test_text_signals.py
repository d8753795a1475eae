"""The text form of a signal counts only as the last line on its own."""

import json

import pytest
from language.tables import table

from agents.roles.worker import signal_in_text
from agents.session.tools import ITERATION_DONE, SIGNALS, TASK_STUCK
from state.records.calls import TASK_COMPLETE
from state.roles import Role


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("TASK_COMPLETE", TASK_COMPLETE),
        ("All tests pass.\n\nTASK_COMPLETE", TASK_COMPLETE),
        ("Done.\n  TASK_COMPLETE  \n\n", TASK_COMPLETE),
        ("Half of it.\r\nITERATION_DONE\r\n", ITERATION_DONE),
        ("TASK_STUCK: no network", TASK_STUCK),
        ("I tried.\nTASK_STUCK:no network", TASK_STUCK),
    ],
)
def test_a_signal_on_the_last_line_of_its_own_counts(text, name):
    assert signal_in_text(text)[0] == name


@pytest.mark.parametrize("text", table(__file__, "texts"))
def test_a_signal_that_is_only_mentioned_is_none(text):
    assert signal_in_text(text) is None


def test_a_stuck_workers_reason_arrives():
    assert json.loads(signal_in_text("TASK_STUCK: the spec: is it A or B?")[1]) == {
        "reason": "the spec: is it A or B?",
        "notes": "",
    }


@pytest.mark.parametrize("text", ["TASK_COMPLETE", "ITERATION_DONE", "TASK_STUCK: why"])
def test_what_a_text_signal_carries_fits_the_typed_tool_of_its_name(text):
    name, payload = signal_in_text(text)
    tools = {tool.name: tool for tool in SIGNALS[Role.WORKER]}
    read = tools[name].model.model_validate_json(payload)
    assert set(json.loads(payload)) == set(type(read).model_fields)
