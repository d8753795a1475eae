"""A resumed run may have another sandbox than before."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import Done, Rehearse, whole_run

from state.journal import events as e
from state.settings.records import Sandbox

pytestmark = pytest.mark.claude


@pytest.mark.late
def test_a_resumed_run_takes_another_sandbox_from_then_on(
    rehearse: Rehearse, resume: Callable[..., Done], tmp_path: Path
) -> None:
    mark = tmp_path / "outside"
    done = rehearse(whole_run(), verify=("true",))
    again = resume(done, sandbox="off", verify=(f"touch {mark}",))
    (resumed,) = again.of(e.RunResumed)
    assert resumed.sandbox_mode is Sandbox.OFF
    assert resumed.confined.sandbox is not None
    assert resumed.confined.sandbox.level == "off"
    assert mark.exists()  # a command in a sandbox writes nowhere else
