"""The events with which a run and a call begin, with usual values where a test has none of its own."""

from typing import Any

from state.journal.events import CallStarted, RunStarted
from state.roles import Role
from state.settings.presets import usual_settings
from state.settings.records import Confinement


def run_started(run_id: str = "r-1", **more: Any) -> RunStarted:
    """The beginning of a run."""
    usual = {
        "spec_name": "spec.md",
        "spec_text": "# Spec",
        "repository": "/repository",
        "worktrees": "/worktrees",
        "base_commit": "c0",
        "base_branch": "main",
        "settings": usual_settings(),
        "rehearsal": None,
        "credentials": "rehearsal",
        "confined": Confinement(containment="supervisor"),
        "sq_version": "0",
    }
    return RunStarted(run_id=run_id, **(usual | more))


def call_started(
    call_id: str = "c1", role: Role = Role.WORKER, task_id: str = "t1", **more: Any
) -> CallStarted:
    """The beginning of a call."""
    usual = {"attempt": 1, "iteration": 1, "session_id": "s", "model": "haiku", "prompt": "Go."}
    return CallStarted(call_id=call_id, role=role, task_id=task_id, **(usual | more))
