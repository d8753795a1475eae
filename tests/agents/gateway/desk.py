"""A desk: sessions of the real SDK and the real Claude Code CLI, in a workspace and a home of their own."""

import os
import signal
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ProcessError,
    ResultMessage,
)

QUIET = {
    "ANTHROPIC_API_KEY": "x",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}


async def allow(name, given, context):
    return PermissionResultAllow()


class Desk:
    """A workspace, and sessions that work in it."""

    def __init__(self, folder):
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        self.workspace.mkdir()
        self.home.mkdir()

    def options(self, base_url, *, env=None, **more):
        homes = {"HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.home / "claude")}
        return ClaudeAgentOptions(
            cwd=self.workspace,
            setting_sources=[],
            strict_mcp_config=True,
            skills=[],
            tools=["Bash", "Read", "Edit", "Write"],
            system_prompt="You write small programs.",
            permission_mode="default",
            can_use_tool=allow,
            verbatim_prompts=True,
            env={**QUIET, **homes, "ANTHROPIC_BASE_URL": base_url, **(env or {})},
            **more,
        )

    def url(self, gateway):
        return gateway.caller_url("worker", "t1", 1, {"workspace": str(self.workspace)})

    async def killed_during_a_call(self, options, prompt):
        """Asks, and ends the CLI with kill -9 once the slow call says that it started."""
        others = _children()
        client = ClaudeSDKClient(options)
        await client.connect()
        try:
            await client.query(prompt)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._kill_once_started, _children() - others)
                with pytest.raises(ProcessError):
                    await drained(client)
        finally:
            await client.disconnect()

    async def _kill_once_started(self, processes):
        pipe = os.open(self.workspace / "started", os.O_RDONLY | os.O_NONBLOCK)
        try:
            await anyio.wait_readable(pipe)
        finally:
            os.close(pipe)
        for process in processes:
            os.kill(process, signal.SIGKILL)


def _children():
    """The processes that this one started."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {int(child) for child in listed.split()}


async def drained(client):
    return [message async for message in client.receive_messages()]


async def exchange(client, prompt):
    await client.query(prompt)
    async with aclosing(client.receive_response()) as messages:
        return [message async for message in messages if isinstance(message, ResultMessage)][-1]
