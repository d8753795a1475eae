"""Claude Code without its process: the SDK's own protocol on a transport, the model asked at the gateway, the same tools.

Everything above it is real: the SDK's client, the session, the policy, the listener. It does the ordinary things:
turns, the tools of files and commands, typed tools, hooks, questions, resumed conversations, interruption, caps, API
errors. `test_scripted_claude.py` compares its journals with those of the real Claude Code, event by event.
"""

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from claude_agent_sdk import ClaudeAgentOptions, ProcessError, Transport

from agents.claude_code.agent import ClaudeCode
from agents.claude_code.exchange import OpenTransport
from agents.session.port import Agent, ChooseAgent
from language.turns import REJECTED, SERVER, End, Turns, text_block
from state.roles import Role

_INTERRUPTED = "[Request interrupted by user]"
_CLIENT = {"name": "claude-code", "version": "scripted"}


class ScriptedClaude(Transport, Turns):
    """The transport of one session. A turn runs in a task of its own and is cancelled by an interruption."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        Turns.__init__(
            self,
            session_id=str(options.resume or options.session_id or uuid.uuid4()),
            model=str(options.model),
            effort=options.effort,
            system=str(options.system_prompt),
            tools=options.tools if isinstance(options.tools, list) else [],
            max_turns=options.max_turns,
            cap_usd=options.max_budget_usd,
            cwd=Path(options.cwd or "."),
            env=options.env,
        )
        self._options = options
        self._out, self._messages = anyio.create_memory_object_stream[dict[str, Any]](1_000)
        self._pending: dict[str, asyncio.Future[Any]] = {}
        self._hooks: dict[str, list[dict[str, Any]]] = {}
        self._turns: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[None] | None = None
        self._numbers = 0
        self._typed: list[dict[str, Any]] = []

    # --- the transport ----------------------------------------------------------------------------------

    async def connect(self) -> None:
        if self._options.resume and not self.take_up():
            raise ProcessError(f"No conversation found with session ID: {self.session_id}", exit_code=1)
        self._task = asyncio.create_task(self._serve())

    async def write(self, data: str) -> None:
        message = json.loads(data)
        match message["type"]:
            case "control_response":
                response = message["response"]
                future = self._pending.pop(response["request_id"], None)
                if future and not future.done():
                    future.set_result(response)
            case "control_request":
                await self._control(message["request_id"], message["request"])
            case "user":
                self._turns.put_nowait(message)

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._messages.__aiter__()

    async def close(self) -> None:
        for task in (self._turn, self._task):
            if task:
                task.cancel()
                with anyio.move_on_after(5):
                    await asyncio.wait([task])
        self._out.close()
        self._messages.close()

    def is_ready(self) -> bool:
        return self._task is not None and not self._task.done()

    async def end_input(self) -> None:
        """Nothing waits for the end of the input."""

    async def _control(self, request_id: str, request: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {}
        if request["subtype"] == "initialize":
            self._hooks = request.get("hooks") or {}
            answer = {"commands": [], "hook_on_failure_supported": True, "hooks_applied": True}
        elif request["subtype"] == "interrupt" and self._turn:
            self._turn.cancel()
        response = {"subtype": "success", "request_id": request_id, "response": answer}
        await self._out.send({"type": "control_response", "response": response})

    async def _request(self, subtype: str, **about: Any) -> dict[str, Any]:
        """Ask the SDK something, as Claude Code does, and return its answer."""
        self._numbers += 1
        request_id = f"script_{self._numbers}"
        future = self._pending[request_id] = asyncio.get_running_loop().create_future()
        request = {"subtype": subtype, **about}
        await self._out.send({"type": "control_request", "request_id": request_id, "request": request})
        response = await future
        if response["subtype"] == "error":
            raise RuntimeError(response["error"])
        return response["response"]

    async def _rpc(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params}
        answer = await self._request("mcp_message", server_name=SERVER, message=message)
        return answer["mcp_response"]

    # --- turns ------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        while True:
            message = await self._turns.get()
            self._turn = asyncio.create_task(self._answer(message))
            await asyncio.wait([self._turn])
            if self._turn.cancelled():
                await self._say(type="user", message={"role": "user", "content": [text_block(_INTERRUPTED)]})
                await self._end(
                    message, End(why="aborted_streaming", subtype="error_during_execution", is_error=True)
                )
            elif error := self._turn.exception():
                raise error

    async def _answer(self, message: dict[str, Any]) -> None:
        if not self._typed and isinstance(self._options.mcp_servers, dict) and self._options.mcp_servers:
            await self._rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=_CLIENT)
            await self._request(
                "mcp_message",
                server_name=SERVER,
                message={"jsonrpc": "2.0", "method": "notifications/initialized"},
            )
            listed = await self._rpc("tools/list")
            self._typed = [
                {"name": f"mcp__{SERVER}__{one['name']}", "input_schema": one["inputSchema"]}
                for one in listed["result"]["tools"]
            ]
        servers = [{"name": SERVER, "status": "connected"}] if self._typed else []
        tools = [tool["name"] for tool in self.tools]
        await self._say(type="system", subtype="init", tools=tools, mcp_servers=servers)
        await self._end(message, await self.turn(message["message"]["content"]))

    @property
    def typed(self) -> list[dict[str, Any]]:
        return self._typed

    async def told(self, reply: Mapping[str, Any], used: Mapping[str, int]) -> None:
        begun = {**used, "output_tokens": 0}
        await self._say(type="stream_event", event={"type": "message_start", "message": {"usage": begun}})
        for block in reply["content"]:
            message = {"role": "assistant", "id": reply["id"], "model": reply["model"], "content": [block]}
            await self._say(type="assistant", message={**message, "usage": used})
        delta = {"type": "message_delta", "delta": {"stop_reason": reply["stop_reason"]}, "usage": used}
        await self._say(type="stream_event", event=delta)

    async def noted(self, result: dict[str, Any]) -> None:
        await self._say(type="user", message={"role": "user", "content": [result]})

    async def failed(self, text: str) -> None:
        content = {"role": "assistant", "id": str(uuid.uuid4()), "model": "<synthetic>"}
        await self._say(type="assistant", error="unknown", message={**content, "content": [text_block(text)]})

    async def _end(self, message: dict[str, Any], end: End) -> None:
        self.keep()
        await self._say(
            type="result",
            subtype=end.subtype,
            is_error=end.is_error,
            terminal_reason=end.why or None,
            result=end.result,
            errors=list(end.errors) or None,
            num_turns=end.turns,
            api_error_status=end.status,
            stop_reason=end.stop,
            duration_ms=1,
            duration_api_ms=1,
            total_cost_usd=self.cost,
            usage=self.usage,
            user_message_uuids=[message["uuid"]] if message.get("uuid") else [],
        )

    async def _say(self, **message: Any) -> None:
        await self._out.send({"session_id": self.session_id, "uuid": str(uuid.uuid4()), **message})

    # --- tools ------------------------------------------------------------------------------------------

    async def run_tool(self, call: dict[str, Any]) -> tuple[str, bool, str]:
        name, arguments = call["name"], call["input"]
        if name not in {tool["name"] for tool in self.tools}:
            return f"<tool_use_error>Error: No such tool available: {name}</tool_use_error>", True, ""
        decided, rewritten = "", None
        for answer in await self._hook("PreToolUse", name, arguments, call["id"]):
            special = answer.get("hookSpecificOutput") or {}
            decided = special.get("permissionDecision") or decided
            rewritten = special.get("updatedInput") or rewritten
            if decided == "deny":
                return f"PreToolUse:{name} hook error: {special['permissionDecisionReason']}", True, ""
        try:
            about = {"tool_name": name, "input": arguments, "tool_use_id": call["id"]}
            allowed = {"behavior": decided}
            if not decided:
                allowed = await self._request("can_use_tool", permission_suggestions=[], **about)
        except RuntimeError as error:
            return f"Tool permission request failed: Error: {error}", True, ""
        if allowed["behavior"] != "allow":
            interrupts = allowed.get("interrupt")
            return REJECTED if interrupts else allowed["message"], True, "abort" if interrupts else ""
        text, is_error = await self.done(name, allowed.get("updatedInput") or rewritten or arguments)
        if is_error:
            return text, True, ""
        after = await self._hook("PostToolUse", name, arguments, call["id"])
        return text, False, "stop" if any(one.get("continue") is False for one in after) else ""

    async def _hook(self, event: str, tool: str, arguments: Any, call_id: str) -> list[dict[str, Any]]:
        answers = []
        for matcher in self._hooks.get(event) or []:
            if matcher.get("matcher") and not re.fullmatch(matcher["matcher"], tool):
                continue
            given = {"hook_event_name": event, "tool_name": tool, "tool_input": arguments}
            for callback in matcher["hookCallbackIds"]:
                try:
                    answers.append(
                        await self._request(
                            "hook_callback", callback_id=callback, input=given, tool_use_id=call_id
                        )
                    )
                except RuntimeError as error:
                    denied = {"permissionDecision": "deny", "permissionDecisionReason": str(error)}
                    answers.append({"hookSpecificOutput": denied})
        return answers

    async def done(self, name: str, arguments: Any) -> tuple[str, bool]:
        if name.startswith(f"mcp__{SERVER}__"):
            answer = await self._rpc(
                "tools/call", name=name.removeprefix(f"mcp__{SERVER}__"), arguments=arguments
            )
            if "error" in answer:
                return str(answer["error"]["message"]), True
            result = answer["result"]
            return "\n".join(part.get("text", "") for part in result["content"]), bool(result.get("isError"))
        return await super().done(name, arguments)


def playing(transport: OpenTransport) -> ChooseAgent:
    """Let Claude Code's sessions be played through this transport."""

    def choose(_role: Role, claude: Agent) -> Agent:
        assert isinstance(claude, ClaudeCode)
        return replace(claude, transport=transport)

    return choose


played = playing(ScriptedClaude)
