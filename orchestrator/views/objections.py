"""Objections as people see them, in every view: their sentences and how urgent they are."""

from collections.abc import Sequence
from enum import IntEnum

from orchestrator.checks.objecting import BASE_TESTS
from state.records.objections import STRENGTH, Objection, Weight
from state.words import sentence_of


class Urgency(IntEnum):
    """The order of points: a decision of the user's first, then gaps in the proof, then things to know."""

    DECIDE = 1
    UNPROVEN = 2
    KNOW = 3


def urgency_of(one: Objection) -> Urgency:
    """Return whether a person has to decide, or a proof is missing, or it is only good to know."""
    if one.because or one.check == STRENGTH:
        return Urgency.KNOW
    if one.against:
        return Urgency.DECIDE
    return Urgency.UNPROVEN


def kind_of(one: Objection) -> str:
    """Return the name under which a view counts it: its check, or that it has no answer."""
    return "could not be checked" if one.weight is Weight.UNKNOWN else one.check


def told(alike: Sequence[Objection]) -> str:
    """Return equal objections in a sentence without its end."""
    words = sentence_of(alike)
    if alike[0].weight is Weight.UNKNOWN:
        return f"sq could not check {words}"
    return (
        f"{words} ({'announced' if alike[0].because else 'not announced'})"
        if _is_changed(alike[0])
        else words
    )


def _is_changed(one: Objection) -> bool:
    """Whether it is about a test of the base that changed."""
    return one.check == BASE_TESTS and one.weight is not Weight.UNKNOWN
