"""A scripted judge, asked by the real clients."""

from contextlib import asynccontextmanager

import anyio
import pytest
from judged import TOKENS, Served, looking

from agents.access import RehearsalConnection
from agents.ask.api import ApiAsker
from agents.ask.cli import CliAsker
from agents.claude_code.executable import find_cli
from agents.gateway.ledger import Ledger
from agents.gateway.listeners import listening
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Scenario
from agents.gateway.server import Gateway, app_of
from agents.process.containment import detect_containment
from agents.process.launcher import write_launcher
from agents.sdks import API_SDK, import_sdks
from orchestrator.gates.power_steering.judging import judge_all


@pytest.fixture
def served(tmp_path):
    """A scripted judge: `async with served(reply, …) as (connection, what it saw, gateway)`."""

    @asynccontextmanager
    async def serve(*replies, limit_s=60, **held):
        scenario = Scenario(scenario=1, usage=TOKENS, callers={"judge/*": list(replies)})
        with anyio.fail_after(limit_s), Ledger(tmp_path / "ledger.jsonl") as lines:
            rehearsal = Rehearsal(scenario, run_id="r", ledger=lines)
            seen = Served(app=app_of(rehearsal), **held)
            async with listening(seen) as listeners:
                gateway = Gateway(listeners, "r", rehearsal)
                yield RehearsalConnection(gateway=gateway, config_dir=tmp_path / "claude"), seen, gateway

    return serve


@pytest.fixture
def judge(served):
    """Have considerations judged over the API: `results by id, what the judge saw`."""
    import_sdks(API_SDK)  # its seconds are no part of a deadline

    async def judged(asked, *replies, held=None, **look):
        async with served(*replies, **(held or {})) as (connection, seen, gateway):
            results = await judge_all(asked, looking(ApiAsker(connection).ask, **look))
            assert gateway.problems == []
        assert [one.consideration_id for one in results] == [one.id for one in asked]
        return {one.consideration_id: one for one in results}, seen

    return judged


@pytest.fixture
def cli(tmp_path):
    """Asks through the real Claude Code."""

    def asker(connection):
        launcher = write_launcher(tmp_path / "launcher", find_cli(), detect_containment({}))
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        return CliAsker(connection, launcher=launcher, workspace=workspace)

    return asker
