"""A place to open real sessions for tests: a gateway whose callers are written down, and a desk before it."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import anyio
import yaml

from agents.access import QUIET, KeyConnection
from agents.api_key import ApiKey
from agents.caller import Caller
from agents.claude_code.exchange import ClaudeSpec, SessionStart
from agents.claude_code.executable import find_cli
from agents.gateway.scenario import load_scenario
from agents.gateway.server import Gateway, serve_scenario
from agents.process.containment import detect_containment
from agents.process.launcher import write_launcher
from agents.session.permissions import Policy
from agents.session.port import SessionSpec
from agents.session.tools import SIGNALS
from state.roles import ROLES, Role
from state.settings.presets import model_named

MARK = "SESSION_TEST_MARK"
USAGE = {"input_tokens": 1000, "output_tokens": 1000}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}


class Desk:
    """A place to open sessions: a workspace, a launcher, and callers that answer."""

    def __init__(self, folder: Path, gateway: Gateway | None) -> None:
        self._folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.config = folder / "config"
        self.mark = uuid.uuid4().hex
        self._gateway = gateway
        self._launcher = self.launcher_of(find_cli())

    def command(self, name: str, script: str) -> Path:
        """An executable that stands for Claude Code."""
        file = self._folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o700)
        return file

    def launcher_of(self, command: Path) -> Path:
        return write_launcher(self._folder / f"launch-{command.name}", command, detect_containment())

    def connection(self, caller: str) -> KeyConnection:
        """What reaches the model of this caller."""
        return KeyConnection(key=ApiKey(key="nothing"), config_dir=self.config, base_url=self._url(caller))

    def _url(self, caller: str) -> str:
        if self._gateway is None:
            return ""
        return self._gateway.caller_url("worker", caller, 1, {"workspace": str(self.workspace)})

    def asked(self, **changes: Any) -> SessionSpec:
        """A session of a Worker, as a run asks for it."""
        policy = Policy(
            tools=ROLES[Role.WORKER].tools, readable=(self.workspace,), writable=(self.workspace,)
        )
        spec = SessionSpec(
            caller=Caller(role=Role.WORKER, task="t1", attempt=1),
            workspace=self.workspace,
            model=model_named("haiku"),
            system="You build.",
            policy=policy,
            signals=SIGNALS[Role.WORKER],
            session_id=str(uuid.uuid4()),
        )
        return replace(spec, **changes)

    def spec(self, caller: str = "t1", base_url: str = "", **changes: Any) -> ClaudeSpec:
        environment = {
            **QUIET,
            "ANTHROPIC_BASE_URL": base_url or self._url(caller),
            "ANTHROPIC_API_KEY": "nothing",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_MAX_RETRIES": "0",
            MARK: self.mark,
        }
        asked = {one.name: getattr(self.asked(), one.name) for one in fields(SessionSpec)}
        spec = ClaudeSpec(
            **asked,
            environment=environment,
            start=SessionStart(launcher=self._launcher),
        )
        return replace(spec, **changes)

    def processes(self) -> list[int]:
        """The processes that carry this desk's mark in their environment."""
        mark = f"{MARK}={self.mark}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    async def nothing_left(self) -> None:
        with anyio.fail_after(5):
            while self.processes():
                await anyio.sleep(0.02)


@asynccontextmanager
async def desk_with(
    tmp_path: Path, callers: Mapping[str, Sequence[Mapping[str, Any]]]
) -> AsyncIterator[Desk]:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        yaml.safe_dump({"scenario": 1, "description": "a session", "usage": USAGE, "callers": dict(callers)})
    )
    async with serve_scenario(
        load_scenario(scenario), run_id="r", ledger=tmp_path / "ledger.jsonl"
    ) as gateway:
        yield Desk(tmp_path, gateway)
