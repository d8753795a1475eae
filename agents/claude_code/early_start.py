"""The process of the first session, started while the SDK is imported: each takes about as long as the other.

The SDK makes the command of Claude Code itself. `command_of` says the same for the settings that a session
has. If the SDK's is another one, the process ends unused and the SDK starts its own.
"""

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.streams.text import TextReceiveStream, TextSendStream

from agents.claude_code.cli_settings import cli_settings
from agents.claude_code.exchange import ClaudeSpec
from agents.sdks import AGENT_SDK, import_sdks, is_imported, sdk_version

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

_KILL_S = 5.0


class EarlyProcess:
    """A process of Claude Code that no client has yet."""

    def __init__(self, command: list[str], process: anyio.abc.Process) -> None:
        self.command = command
        self.process = process
        self.is_taken = False


@asynccontextmanager
async def sdk_imported(
    spec: ClaudeSpec, launcher: Path, environment: Mapping[str, str]
) -> AsyncIterator[EarlyProcess | None]:
    """Import the SDK and start the session's process meanwhile. Without an import to wait for it is None.

    It kills the process if no client has taken it when the block ends.

    Raises:
        SdkError: the SDK cannot be imported.
    """
    if is_imported(AGENT_SDK) or spec.start.transport:
        yield None
        return
    early = await _started(spec, launcher, environment)
    try:
        await to_thread.run_sync(import_sdks, AGENT_SDK)
        yield early
    finally:
        if early and not early.is_taken:
            with anyio.move_on_after(_KILL_S, shield=True), suppress(ProcessLookupError):
                early.process.kill()
                await early.process.aclose()


async def _started(spec: ClaudeSpec, launcher: Path, environment: Mapping[str, str]) -> EarlyProcess | None:
    command = command_of(spec, launcher)
    try:
        process = await anyio.open_process(
            command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=spec.workspace,
            env=environment_of(spec.workspace, environment),
        )
    except OSError:
        return None  # the SDK says why
    return EarlyProcess(command, process)


def command_of(spec: ClaudeSpec, launcher: Path) -> list[str]:
    """Return the command by which the SDK starts Claude Code with the options of `Callbacks.options`."""
    start, model = spec.start, spec.model
    own = {"sq": {"type": "sdk", "name": "sq"}} if spec.signals else {}
    servers = {**spec.servers, **own}
    budget, tokens = spec.max_cost_usd, spec.task_tokens
    return [
        *(str(launcher), "--output-format", "stream-json", "--verbose"),
        *("--system-prompt", spec.system, "--tools", ",".join(spec.policy.tools)),
        *("--max-turns", str(spec.limits.max_turns)),
        *(("--max-budget-usd", str(budget)) if budget is not None else ()),
        *(("--task-budget", str(tokens)) if tokens else ()),
        *("--model", model.id, "--permission-prompt-tool", "stdio", "--permission-mode", "default"),
        f"--resume={spec.session_id}" if spec.resume else f"--session-id={spec.session_id}",
        *("--settings", cli_settings(spec.policy.hidden, start.command_sandbox)),
        *(("--mcp-config", json.dumps({"mcpServers": servers})) if servers else ()),
        *("--include-partial-messages", "--strict-mcp-config", "--setting-sources="),
        *(("--effort", model.effort) if model.effort else ()),
        *("--input-format", "stream-json"),
    ]


def environment_of(workspace: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that the SDK gives to Claude Code in this folder."""
    inherited = {name: value for name, value in os.environ.items() if name != "CLAUDECODE"}
    return {
        **inherited,
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
        **given,
        "CLAUDE_AGENT_SDK_VERSION": sdk_version(),
        "PWD": str(workspace),
    }


def taking(early: EarlyProcess, options: "ClaudeAgentOptions") -> "Transport | None":
    """Return the SDK's own transport to a process, which takes the early one if its command is the same.

    None: this SDK is built in another way, and starts its own.
    """
    try:
        from claude_agent_sdk._internal._task_compat import spawn_detached
        from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
    except ImportError:
        return None

    class Taking(SubprocessCLITransport):
        async def connect(self) -> None:
            process = early.process
            if self._build_command() == early.command and process.stdin and process.stdout and process.stderr:
                self._process = process
                self._stdin_stream = TextSendStream(process.stdin)
                self._stdout_stream = TextReceiveStream(process.stdout)
                self._stderr_stream = TextReceiveStream(process.stderr)
                self._stderr_task = spawn_detached(self._handle_stderr())
                self._ready = True
            await super().connect()  # starts nothing if there is a process
            early.is_taken = self._process is process

    async def no_prompts() -> AsyncIterator[dict[str, object]]:
        return
        yield

    # As the client does it for `can_use_tool`, if it makes its transport itself.
    return Taking(no_prompts(), replace(options, permission_prompt_tool_name="stdio"))
