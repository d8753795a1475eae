"""The judge for commands outside a run: by key, by the CLI's login, or none."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agents.access import Credentials, find_connection
from agents.api_key import read_key
from agents.asker import make_asker
from agents.process.containment import detect_containment
from agents.session.claude_code import find_cli
from agents.session.sdks import AGENT_SDK, API_SDK, import_sdks
from orchestrator.gates.power_steering.examination import Judge
from state.errors import UsageError
from state.settings.records import Model


@asynccontextmanager
async def judge_here(model: Model, environ: Mapping[str, str], *, rules_only: bool) -> AsyncIterator[Judge]:
    """Provide the judge while the block runs. There is none without credentials or if `rules_only`."""
    if rules_only:
        yield Judge(model=model, ask=None)
        return
    with tempfile.TemporaryDirectory(prefix="sq-judge-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        cli = find_cli()
        try:
            connection = find_connection(read_key(environ), environ, cli=cli, config_dir=folder / "claude")
        except UsageError:
            yield Judge(model=model, ask=None)
            return
        import_sdks(AGENT_SDK if connection.credentials is Credentials.CLI_LOGIN else API_SDK)
        _, asker = make_asker(
            connection, cli=cli, folder=folder, containment=detect_containment(environ), environ=environ
        )
        yield Judge(model=model, ask=asker.ask)
