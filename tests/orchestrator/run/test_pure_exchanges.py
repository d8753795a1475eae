"""The number of an exchange: none is skipped, and none is before the first."""

from types import SimpleNamespace

import pytest

from orchestrator.run.asking.conversation import Conversation
from state.journal.view import RunView
from state.roles import Role


@pytest.mark.parametrize("number", [-1, 0, 2])
async def test_an_exchange_that_does_not_come_next_is_refused(number):
    run = SimpleNamespace(view=RunView())
    talk = Conversation(run, role=Role.REVIEWER, task_id="a", attempt=1, spec_for=lambda **_: None)
    with pytest.raises(ValueError, match=f"exchange {number} was asked for, and the conversation holds 0"):
        await talk.exchange(number, "Look.")
