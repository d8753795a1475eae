"""Sessions whose Claude Code comes up without the typed tools: started again twice, then a failure with its cause."""

import os

import pytest
from language.scripted import Rehearse, analyzes, whole_run

from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import Journal
from state.outcome import Outcome
from state.records.calls import CallEnd

pytestmark = pytest.mark.claude

LATE = "MCP_TIMEOUT"  # Claude Code gives its tool servers so many milliseconds
SETTINGS = {"retries.first_wait_s": "0.01", "retries.longest_wait_s": "0.05"}


@pytest.fixture(autouse=True)
def too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool server never answers in time."""
    monkeypatch.setenv(LATE, "1")


class InTimeAtTheThirdStart(Journal):
    """Gives the tool server time again, once two starts without it are stored."""

    failed = 0

    def append(self, *events: e.Event) -> list[Stored]:
        stored = super().append(*events)
        self.failed += sum(isinstance(event, e.CallRetried) for event in events)
        if self.failed == 2:
            os.environ.pop(LATE, None)
        return stored


@pytest.mark.late
def test_a_session_without_its_tools_is_started_again_twice_and_goes_on_if_they_are_there(
    rehearse: Rehearse,
) -> None:
    # Claude Code may have asked its model before sq stops it, on a machine with much to do.
    asked = whole_run(**{"planner/analysis/1": [analyzes()] * 3})
    done = rehearse(asked, verify=("true",), settings=SETTINGS, open_journal=InTimeAtTheThirdStart)
    assert [one.end for one in done.of(e.CallRetried)] == [CallEnd.NOT_STARTED] * 2
    heard = e.MessageReceived | e.SignalReceived | e.ActionRefused
    order = [one.event for one in done.stored if isinstance(one.event, e.CallRetried | heard)]
    assert [isinstance(event, heard) for event in order[:3]] == [False, False, True]


@pytest.mark.late
def test_a_session_that_never_has_its_tools_fails_the_run_with_the_cause(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",), settings=SETTINGS, ends=Outcome.FAILED)
    assert len(done.of(e.CallRetried)) == 2
    assert "process did not start" in done.output
    cause = "did not offer its model mcp__sq__report_analysis (tool server sq: failed)"
    assert cause in " ".join(done.output.split())
    assert done.of(e.MessageReceived) == []
