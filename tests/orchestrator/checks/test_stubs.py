"""When a function has to do something."""

from pathlib import Path

import pytest

from orchestrator.checks.change import Change
from orchestrator.checks.of_files.stubs import wants
from state.records.plan import Criterion, CriterionKind, Reading, ReadingKind

HALF = Criterion(text="half(n) returns the half of n", quote="`half(n)`")
EMPTY = Reading(kind=ReadingKind.EMPTY, line="half stays a stub", names=("half",))


def change(*criteria: Criterion, readings: tuple[Reading, ...] = ()) -> Change:
    return Change(repository=Path(), base="b", tree="t", criteria=criteria, readings=readings)


@pytest.mark.parametrize(
    ("criterion", "wanted"),
    [
        (HALF, True),
        (Criterion(text="it rounds up", quote="half must round up"), True),
        (Criterion(text="half(n) returns the half of n", stays=True), False),
        (Criterion(text="half(n) keeps its name", kind=CriterionKind.CONSTRAINT), False),
        (Criterion(text="third(n) is like halves(n)"), False),
    ],
)
def test_a_function_that_was_there_is_wanted_if_a_criterion_of_behaviour_names_it(criterion, wanted):
    assert wants(change(criterion), "half", is_new=False) is wanted


def test_a_new_function_is_wanted_and_none_that_the_plan_reads_as_empty():
    assert wants(change(), "half", is_new=True)
    assert not wants(change(HALF, readings=(EMPTY,)), "half", is_new=True)
    assert not wants(change(HALF, readings=(EMPTY,)), "half", is_new=False)
