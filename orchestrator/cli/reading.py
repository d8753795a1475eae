"""A run, read for its report by a command."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.views.report.reading import RunRead


async def read_for_report(folder: Path) -> "RunRead":
    """Read a run for its report, with the git settings that it recorded, and without known secrets."""
    from orchestrator.git.pinned import recorded_git
    from orchestrator.git.pinned_config import trusting
    from orchestrator.views.report.reading import read_run
    from state.redaction.redactor import known_in_git, redactor

    redact = redactor(os.environ, known_in_git(Path.cwd())).known
    with trusting(recorded_git(folder)):
        return await read_run(folder, redact=redact)
