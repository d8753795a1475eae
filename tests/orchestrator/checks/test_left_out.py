"""A question whose files take too much to read is named and left out, and no task ends for it."""

import pytest

from agents.concurrency import UnreadError, aside
from orchestrator.checks.objecting import STUBS
from orchestrator.checks.order import or_left_out
from state.errors import SqError
from state.records.objections import Weight


async def test_a_question_whose_files_take_too_much_to_read_is_named_and_left_out() -> None:
    def reading() -> str:
        raise RecursionError

    asking = aside(reading, "the tests")
    found, untold = await or_left_out(STUBS, "which tests check less", asking, "all of them")
    assert found == "all of them"
    why = "the tests cannot be read: make the files simpler"
    told = [(one.check, one.weight, one.words) for one in untold]
    assert told == [(STUBS, Weight.UNKNOWN, f"which tests check less: left out, because {why}")]


async def test_an_answer_is_given_and_another_error_is_no_reason_to_leave_a_question_out() -> None:
    async def fails() -> str:
        raise SqError("no such tree")

    assert await or_left_out(STUBS, "q", aside(lambda: "found", "the tests"), "") == ("found", ())
    with pytest.raises(SqError, match="no such tree"):
        await or_left_out(STUBS, "q", fails(), "")
    assert not issubclass(SqError, UnreadError)
