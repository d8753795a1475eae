"""Folders of old sessions, which `sq clean --sessions` removes and `sq doctor` reports."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.gates.session_state.diagnostics import SteeringSettings, sessions_folder
from orchestrator.gates.session_state.sessions import KEPT, old_sessions, remove_sessions
from orchestrator.views.checks import DoctorCheck, warn


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRemoved:
    """One session's folder. `problem` says why it could not be removed."""

    session: str
    folder: str
    problem: str = ""


def clean_sessions() -> list[SessionRemoved]:
    """Remove the folders of this project's sessions without a write for 30 days."""
    old = old_sessions(_sessions_here(), datetime.now(UTC))
    return [
        SessionRemoved(session=folder.name, folder=str(folder), problem=problem)
        for folder, problem in remove_sessions(old)
    ]


def checks_of_sessions() -> Iterator[DoctorCheck]:
    """Warn if there are such folders. Nothing is changed."""
    sessions = _sessions_here()
    if old := old_sessions(sessions, datetime.now(UTC)):
        count = f"{len(old)} session folder{'' if len(old) == 1 else 's'}"
        found = f"{count} in {sessions} without a stop for {KEPT.days} days"
        yield warn("stop gate", found, "remove them with `sq clean --sessions`")


def _sessions_here() -> Path:
    return sessions_folder(Path.cwd(), SteeringSettings.of(os.environ))
