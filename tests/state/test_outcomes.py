"""Outcomes: their exit codes, and which counts where several hold."""

from itertools import combinations, permutations

import pytest

from state.outcome import EXIT_CODES, MEANINGS, Outcome, worst

# Product section 1: the first of 130, 2, 1, 4, 3, 5 is the code.
BY_CODE = (130, 2, 1, 4, 3, 5)


@pytest.mark.parametrize("size", range(1, len(Outcome) + 1))
def test_of_any_combination_the_first_of_the_products_order_counts(size):
    for together in combinations(Outcome, size):
        codes = {outcome.exit_code for outcome in together}
        expected = next((code for code in BY_CODE if code in codes), 0)
        assert worst(together).exit_code == expected


def test_neither_order_nor_repetition_matters():
    some = (Outcome.UNVERIFIED, Outcome.STUCK, Outcome.LIMIT)
    assert {worst(each * 2) for each in permutations(some)} == {Outcome.LIMIT}


def test_nothing_wrong_is_complete():
    assert worst([]) is worst([Outcome.COMPLETE]) is Outcome.COMPLETE


def test_every_outcome_has_a_code_of_its_own_and_a_meaning():
    codes = {outcome.value: outcome.exit_code for outcome in Outcome}
    assert codes == {
        "complete": 0,
        "failed": 1,
        "usage": 2,
        "stuck": 3,
        "limit": 4,
        "unverified": 5,
        "interrupted": 130,
    }
    assert set(EXIT_CODES) == set(MEANINGS) == set(Outcome)
