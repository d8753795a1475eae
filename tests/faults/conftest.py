"""What the tests of killed runs share."""

from multiprocessing import forkserver

import pytest
from crashes import PROCESSES


@pytest.fixture(scope="session")
def processes() -> None:
    """The server that processes are forked from, with their imports made; it ends with this process."""
    PROCESSES.set_forkserver_preload(
        ["killed", "orchestrator.cli.runs.compose", "claude_agent_sdk", "anthropic"]
    )
    forkserver.ensure_running()
