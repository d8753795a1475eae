"""A question whose files take too much to read is named and left out, and no task ends for it."""

import pytest

from agents.concurrency import UnreadError, aside
from orchestrator.checks.objecting import STUBS
from orchestrator.run.evidence.proof import or_left_out
from state.errors import SqError
from state.records.objections import Objection, Weight


async def test_a_question_whose_files_take_too_much_to_read_is_named_and_left_out() -> None:
    def reading() -> str:
        raise RecursionError

    untold: list[Objection] = []
    found = await or_left_out(
        untold, STUBS, "which tests check less", aside(reading, "the tests"), "all of them"
    )
    assert found == "all of them"
    why = "the tests cannot be read: make the files simpler"
    assert [one.words for one in untold] == [f"which tests check less: left out, because {why}"]
    assert [(one.check, one.weight) for one in untold] == [(STUBS, Weight.UNKNOWN)]


async def test_an_answer_is_given_and_another_error_is_no_reason_to_leave_a_question_out() -> None:
    async def fails() -> str:
        raise SqError("no such tree")

    untold: list[Objection] = []
    assert await or_left_out(untold, STUBS, "q", aside(lambda: "found", "the tests"), "") == "found"
    with pytest.raises(SqError, match="no such tree"):
        await or_left_out(untold, STUBS, "q", fails(), "")
    assert not issubclass(SqError, UnreadError)
    assert untold == []
