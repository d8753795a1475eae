"""Announcements of the agent's own next step, in many words and languages, and what only looks like one."""

import pytest
from language.tables import table

from orchestrator.gates.power_steering.rules.unfinished import announced_in


@pytest.mark.parametrize("text", table(__file__, "announced").splitlines())
def test_an_announced_step_of_its_own_is_found(text):
    assert list(announced_in(text))


@pytest.mark.parametrize("text", table(__file__, "not_announced").splitlines())
def test_what_only_looks_like_one_is_not(text):
    assert list(announced_in(text)) == []
