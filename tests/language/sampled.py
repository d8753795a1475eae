"""Which cases of a matrix run each time. `bin/test --slow` runs the others too."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], *in_the_suite: Any) -> list[Any]:
    """Return the cases for `parametrize`; those that are not named as the sample are marked `slow`."""
    listed = list(cases)
    assert all(one in listed for one in in_the_suite), "a case of the sample is not in the matrix"
    return [_slow(case) if case not in in_the_suite else case for case in listed]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
