"""Which cases of a matrix run each time. `bin/test --slow` runs the others too."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

NIGHT = "SQ_NIGHT"  # set by `bin/test --slow`


def examples(usual: int, *, at_night: int) -> int:
    """Return how many examples a property takes. Its test is marked `night`, so that `bin/test --slow` runs it too."""
    return at_night if os.environ.get(NIGHT) else usual


def sampled(cases: Iterable[Any], *in_the_suite: Any) -> list[Any]:
    """Return the cases for `parametrize`; those that are not named as the sample are marked `slow`."""
    listed = list(cases)
    assert all(one in listed for one in in_the_suite), "a case of the sample is not in the matrix"
    return [case if case in in_the_suite else slow(case) for case in listed]


def slow(case: Any, *, single: bool = False) -> Any:
    """Return a case that is marked `slow`. A tuple is several values, unless it is a single one."""
    values = case if isinstance(case, tuple) and not single else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
