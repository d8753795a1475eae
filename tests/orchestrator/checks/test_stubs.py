"""When the words of a spec want a function to do something."""

import pytest
from language.tables import rows, table

from orchestrator.checks.stubs import wants


@pytest.mark.parametrize("spec", table(__file__, "named"))
def test_a_function_that_was_there_is_wanted(spec):
    assert wants(spec, "half", is_new=False)


@pytest.mark.parametrize("spec", table(__file__, "not_named"))
def test_a_function_that_was_there_may_stay(spec):
    assert not wants(spec, "half", is_new=False)


@pytest.mark.parametrize(*rows(__file__, "wanted"))
def test_a_new_function_is_wanted_if_it_is_named_and_not_empty_by_the_spec(spec, wanted):
    assert wants(spec, "half", is_new=True) is wanted
