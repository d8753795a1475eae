"""Asks through a Claude Code process without tools. The CLI reports the cost."""

import math
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from agents.access import Connection
from agents.ask.port import Ask, Reply, late
from agents.claude_code.executable import connect
from agents.claude_code.results import checked, detail_of, end_of, reset_named_in, usage_of
from agents.process.containment import LastWords
from state.records.calls import CallEnd

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage


class CliAsker:
    """Asks through a Claude Code process without tools. `starts` is held while a process starts."""

    def __init__(
        self,
        connection: Connection,
        *,
        launcher: Path,
        workspace: Path,
        starts: anyio.CapacityLimiter | None = None,
    ) -> None:
        self._starts = starts or nullcontext()
        self._connection = connection
        self._launcher = launcher
        self._workspace = workspace

    async def ask(self, ask: Ask) -> Reply:
        began = time.monotonic()
        if ask.on_begun:  # nothing is cached from one process to the next
            ask.on_begun()
        with anyio.move_on_after(ask.deadline_s):
            return await self._asked(ask, began)
        return late(ask, began)

    async def _asked(self, ask: Ask, began: float) -> Reply:
        from claude_agent_sdk import ClaudeSDKClient, ResultMessage

        words = LastWords()
        client = ClaudeSDKClient(self._options(ask, words))
        result: ResultMessage | None = None
        resets_at: float | None = None
        try:
            async with self._starts:
                why = await connect(client, words, limit_s=math.inf)  # the ask's deadline holds
            if why:
                return Reply(end=CallEnd.DIED, detail=why, seconds=time.monotonic() - began)
            await client.query(f"{ask.shared}\n\n{ask.prompt}" if ask.shared else ask.prompt)
            try:
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        result = checked(message)
                    resets_at = reset_named_in(message) or resets_at
            except BaseException:
                with anyio.CancelScope(shield=True), anyio.move_on_after(2):
                    await client.interrupt()
                raise
        except Exception as error:  # noqa: BLE001  the SDK raises bare exceptions where the process fails
            return Reply(end=CallEnd.DIED, detail=f"{error}{words}", seconds=time.monotonic() - began)
        finally:
            await client.disconnect()  # also when the deadline cancels us in here: the SDK shields it
        if result is None:
            detail = f"Claude Code ended without a result{words}"
            return Reply(end=CallEnd.DIED, detail=detail, seconds=time.monotonic() - began)
        return _read_cli(result, resets_at, time.monotonic() - began)

    def _options(self, ask: Ask, words: LastWords) -> "ClaudeAgentOptions":
        from claude_agent_sdk import ClaudeAgentOptions

        return ClaudeAgentOptions(
            cwd=self._workspace,
            cli_path=self._launcher,
            model=ask.model.id,
            effort=ask.model.effort,
            system_prompt=ask.system,
            tools=[],
            permission_mode="dontAsk",
            strict_mcp_config=True,
            setting_sources=[],
            skills=[],
            verbatim_prompts=True,
            output_format={"type": "json_schema", "schema": dict(ask.schema)},
            extra_args={"no-session-persistence": None},
            env=self._connection.session_environment(ask.caller),
            stderr=words.hear,
        )


def _read_cli(result: "ResultMessage", resets_at: float | None, seconds: float) -> Reply:
    end = end_of(result)
    answer = result.structured_output if isinstance(result.structured_output, dict) else None
    if end is CallEnd.COMPLETED and answer is None:  # text only is reported as a success
        end = CallEnd.UNUSABLE
    return Reply(
        end=end,
        answer=answer if end is CallEnd.COMPLETED else None,
        text=(result.result or "") if end is CallEnd.UNUSABLE else "",
        detail=detail_of(result) or ("" if answer else f"the model said: {(result.result or '')[:500]}"),
        api_status=result.api_error_status,
        retry_after_s=max(0.0, resets_at - time.time()) if resets_at else None,
        cost_usd=result.total_cost_usd or 0.0,
        usage=usage_of(result.usage),
        seconds=seconds,
    )
