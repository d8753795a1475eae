"""`sq gate usage`: how often the judge answered, how long it took, and where rules disagree."""

import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.gates.power_steering.usage import SteeringUsage, usage_in
from orchestrator.gates.session_state.diagnostics import SteeringSettings, sessions_folder
from orchestrator.gates.session_state.sessions import session_folders


def usage_of(project: Path) -> SteeringUsage:
    """The usage in a project, from the diagnostics of all its sessions."""
    return usage_in(_folders(project))


def _folders(project: Path) -> Iterator[Path]:
    settings = SteeringSettings.of(os.environ)
    if settings.diagnostic_log_dir:  # one log of all sessions
        yield settings.diagnostic_log_dir
        return
    yield from session_folders(sessions_folder(project, settings))
