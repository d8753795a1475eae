"""A question whose files take too much to read is named and left out, and no task ends for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.concurrency import UnreadError, aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.objecting import (
    BASE_TESTS,
    CODE_BEFORE,
    NEW_ASSERTIONS,
    PROPS,
    STUBS,
    WITHOUT_WORK,
)
from orchestrator.checks.order import CHECKS, Check, answer, or_left_out
from orchestrator.run.evidence.bench import needed_by
from state.errors import SqError
from state.records.objections import Weight
from state.settings.presets import efforts
from tests.orchestrator.checks.bench_by_hand import UNITTEST, workshop


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


async def test_a_question_that_is_needed_costs_code_0_where_it_is_left_out(
    repository: Path, tmp_path: Path
) -> None:
    async def fails(*_: object) -> Answers:
        raise UnreadError("the tests cannot be read")

    shop = workshop(repository, tmp_path / "places")
    tree = shop.commit({"test_a.py": "import unittest\n"})
    change = await shop.change(tree, tree)
    compared = await shop.compared(change, UNITTEST)
    for effort, weight in (("low", Weight.UNKNOWN), ("medium", Weight.UNVERIFIED)):
        bench = replace(shop.bench, needed=needed_by(efforts()[effort]))
        found = await answer(Check(name=PROPS, ask=fails, costs=0), change, bench, compared, Answers())
        assert [(one.check, one.weight) for one in found.objections] == [(PROPS, weight)]


async def test_a_question_that_is_needed_is_asked_whatever_the_time(repository: Path, tmp_path: Path) -> None:
    shop = workshop(repository, tmp_path / "places")
    bench = replace(shop.bench, within_s=-1.0, needed=needed_by(efforts()["medium"]))

    assert not bench.has_time
    asked = {one.name for one in CHECKS if bench.asks(one.name)}
    assert asked == {BASE_TESTS, WITHOUT_WORK, NEW_ASSERTIONS, PROPS}
    assert CODE_BEFORE not in asked
    low = replace(bench, needed=needed_by(efforts()["low"]))
    assert {one.name for one in CHECKS if low.asks(one.name)} == {BASE_TESTS, WITHOUT_WORK}
