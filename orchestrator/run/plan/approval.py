"""The approval of a plan: with `--approve` nothing is built until a person says so from another terminal.

The word of the person is a file in the run's folder, so that it also counts if no process works on the run.
"""

import getpass
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio

from orchestrator.run.record import Run
from state.atomic_files import replace_file
from state.journal.events import ApprovalAwaited, PlanApproved, RunEnded
from state.outcome import Outcome

_FILE = "approved.json"  # in the run's folder
_LOOK_S = 0.5


def approve(run_folder: Path) -> None:
    """Leave the word of this user that the plan of a run may be built."""
    replace_file(run_folder / _FILE, json.dumps({"by": _user()}).encode(), sync=True)


async def await_approval(run: Run) -> RunEnded | None:
    """Wait for the approval of the plan, and record it. Return the end of the run if nobody gives it."""
    awaited = run.view.plan.before.awaited
    if awaited is None or awaited.until <= datetime.now(UTC):  # a resumed run waits anew
        until = datetime.now(UTC) + timedelta(seconds=run.settings.approve_wait_s)
        limit = run.limits.deadline
        run.record(ApprovalAwaited(until=min(until, datetime.fromisoformat(limit)) if limit else until))
        awaited = run.view.plan.before.awaited
    assert awaited is not None  # noqa: S101  it was just recorded
    while (by := _approved_by(run.folder)) is None:
        if datetime.now(UTC) >= awaited.until:
            name = run.started.run_id
            cause = f"nobody approved the plan in time: sq approve {name}, then sq resume {name}"
            return RunEnded(outcome=Outcome.STUCK, cause=cause, resumable=True)
        await anyio.sleep(_LOOK_S)
    run.record(PlanApproved(by=by))
    return None


def _approved_by(run_folder: Path) -> str | None:
    try:
        return str(json.loads((run_folder / _FILE).read_text("utf-8"))["by"])
    except FileNotFoundError:
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this number
        return f"user {os.getuid()}"
