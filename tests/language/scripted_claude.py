"""Claude Code without its process: the SDK's own protocol on a transport, the model asked at the gateway, the same tools.

Everything above it is real: the SDK's client, the session, the policy, the listener. It does the ordinary things:
turns, the tools of files and commands, typed tools, hooks, questions, resumed conversations, interruption, caps, API
errors. `test_scripted_claude.py` compares its journals with those of the real Claude Code, event by event.
"""

import asyncio
import json
import os
import re
import signal
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import anyio
import httpx2
from claude_agent_sdk import ClaudeAgentOptions, ProcessError, Transport

from agents.claude_code.agent import ClaudeCode
from agents.claude_code.exchange import OpenTransport
from agents.claude_code.results import usage_of
from agents.session.port import Agent, ChooseAgent
from state.records.calls import Usage
from state.roles import Role
from state.settings.presets import models

_SERVER = "sq"
_FILE_STATE = "(file state is current in your context — no need to Read it back)"
_INTERRUPTED = "[Request interrupted by user]"
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
_COMMAND_S = 120.0


class ScriptedClaude(Transport):
    """The transport of one session. A turn runs in a task of its own and is cancelled by an interruption."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        self._options = options
        self._env = {**os.environ, **options.env}
        self._out, self._messages = anyio.create_memory_object_stream[dict[str, Any]](1_000)
        self._pending: dict[str, asyncio.Future[Any]] = {}
        self._hooks: dict[str, list[dict[str, Any]]] = {}
        self._turns: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[None] | None = None
        self._numbers = 0
        self._typed: list[dict[str, Any]] = []
        self._usage: dict[str, int] = {}
        self.session_id = str(options.resume or options.session_id or uuid.uuid4())
        self._history: list[dict[str, Any]] = []
        self._cost = 0.0
        self._note = ""  # on the newest error of the API, as Claude Code keeps it

    # --- the transport ----------------------------------------------------------------------------------

    async def connect(self) -> None:
        if self._options.resume:
            if not self._transcript.is_file():
                raise ProcessError(f"No conversation found with session ID: {self.session_id}", exit_code=1)
            kept = json.loads(self._transcript.read_text("utf-8").splitlines()[0])
            self._history, self._cost = _repaired(kept["history"]), kept["cost"]
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
        answer = await self._request("mcp_message", server_name=_SERVER, message=message)
        return answer["mcp_response"]

    # --- turns ------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        while True:
            message = await self._turns.get()
            self._turn = asyncio.create_task(self._answer(message))
            await asyncio.wait([self._turn])
            if self._turn.cancelled():
                await self._say(type="user", message={"role": "user", "content": [_text(_INTERRUPTED)]})
                await self._end(
                    message, subtype="error_during_execution", is_error=True, why="aborted_streaming"
                )
            elif error := self._turn.exception():
                raise error

    async def _answer(self, message: dict[str, Any]) -> None:
        self._usage = {}
        run = 0  # calls of this turn: Claude Code counts its turns by them
        self._history.append({"role": "user", "content": [_text(message["message"]["content"])]})
        if not self._typed and isinstance(self._options.mcp_servers, dict) and self._options.mcp_servers:
            await self._rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=_CLIENT)
            await self._request(
                "mcp_message",
                server_name=_SERVER,
                message={"jsonrpc": "2.0", "method": "notifications/initialized"},
            )
            listed = await self._rpc("tools/list")
            self._typed = [
                {"name": f"mcp__{_SERVER}__{one['name']}", "input_schema": one["inputSchema"]}
                for one in listed["result"]["tools"]
            ]
        servers = [{"name": _SERVER, "status": "connected"}] if self._typed else []
        tools = [tool["name"] for tool in self._tools]
        await self._say(type="system", subtype="init", tools=tools, mcp_servers=servers)
        for _ in range(self._options.max_turns or 10_000):
            reply = await self._ask()
            if "error" in reply:
                return await self._failed(message, reply, 1 + run)
            cap = self._options.max_budget_usd
            if cap is not None and self._cost > cap:
                return await self._end(message, subtype="error_max_budget_usd", is_error=True, turns=1 + run)
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            if not calls:
                said = "\n".join(block["text"] for block in reply["content"] if block["type"] == "text")
                return await self._end(
                    message, result=said, why="completed", turns=1 + run, stop=reply["stop_reason"]
                )
            stopped, aborted = await self._run_tools(calls)
            run += len(calls)
            if aborted:
                return await self._end(
                    message,
                    subtype="error_during_execution",
                    is_error=True,
                    why="aborted_tools",
                    turns=2 + run,
                )
            if stopped:
                return await self._end(message, why="hook_stopped", turns=1 + run)
        return await self._end(
            message,
            subtype="error_max_turns",
            is_error=True,
            why="max_turns",
            turns=(self._options.max_turns or 0) + 1,
            errors=[f"Reached maximum number of turns ({self._options.max_turns})"],
        )

    @property
    def _tools(self) -> list[dict[str, Any]]:
        names = self._options.tools if isinstance(self._options.tools, list) else []
        built_in = [{"name": name, "input_schema": {"type": "object"}} for name in names]
        return [*built_in, *self._typed]

    async def _ask(self) -> dict[str, Any]:
        body = {
            "model": self._options.model,
            "max_tokens": 32_000,
            "system": [_text(str(self._options.system_prompt))],
            "messages": self._history,
            "tools": self._tools,
            **({"output_config": {"effort": self._options.effort}} if self._options.effort else {}),
        }
        headers = {
            "x-claude-code-session-id": self.session_id,
            "x-api-key": self._env.get("ANTHROPIC_API_KEY", ""),
        }
        url = f"{self._env['ANTHROPIC_BASE_URL'].rstrip('/')}/v1/messages"
        try:
            async with httpx2.AsyncClient(timeout=None, trust_env=False, verify=False) as client:
                answer = await client.post(url, json=body, headers=headers)
            reply = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            return {"error": {"message": f"Connection error. {error!r}"}, "status": None}
        if answer.status_code != httpx2.codes.OK:
            return {"error": reply.get("error", reply), "status": answer.status_code}
        await self._heard(reply)
        return reply

    async def _heard(self, reply: dict[str, Any]) -> None:
        used = {key: count for key, count in reply["usage"].items() if isinstance(count, int)}
        self._cost += _cost(str(self._options.model), usage_of(used))
        for key, count in used.items():
            self._usage[key] = self._usage.get(key, 0) + count
        begun = {**used, "output_tokens": 0}
        await self._say(type="stream_event", event={"type": "message_start", "message": {"usage": begun}})
        for block in reply["content"]:
            message = {"role": "assistant", "id": reply["id"], "model": reply["model"], "content": [block]}
            await self._say(type="assistant", message={**message, "usage": used})
        delta = {"type": "message_delta", "delta": {"stop_reason": reply["stop_reason"]}, "usage": used}
        await self._say(type="stream_event", event=delta)
        self._history.append({"role": "assistant", "content": reply["content"]})
        self._keep()

    async def _failed(self, message: dict[str, Any], reply: dict[str, Any], turns: int) -> None:
        status, told = reply["status"], reply["error"]["message"]
        said = f"API Error: {status} {told}" if status else f"API Error: {told}"
        content = {
            "role": "assistant",
            "id": str(uuid.uuid4()),
            "model": "<synthetic>",
            "content": [_text(said)],
        }
        await self._say(type="assistant", error="unknown", message=content)
        if code := reply["error"].get("details", {}).get("error_code"):
            self._note = json.dumps({"type": "assistant", "isApiErrorMessage": True, "apiErrorCode": code})
        await self._end(message, is_error=True, why="api_error", result=said, status=status, turns=turns)

    async def _end(
        self,
        message: dict[str, Any],
        *,
        subtype: str = "success",
        is_error: bool = False,
        why: str | None = None,
        result: str | None = None,
        turns: int = 1,
        status: int | None = None,
        stop: str | None = None,
        errors: list[str] | None = None,
    ) -> None:
        self._keep()
        await self._say(
            type="result",
            subtype=subtype,
            is_error=is_error,
            terminal_reason=why,
            result=result,
            errors=errors,
            num_turns=turns,
            api_error_status=status,
            stop_reason=stop,
            duration_ms=1,
            duration_api_ms=1,
            total_cost_usd=self._cost,
            usage=self._usage,
            user_message_uuids=[message["uuid"]] if message.get("uuid") else [],
        )

    async def _say(self, **message: Any) -> None:
        await self._out.send({"session_id": self.session_id, "uuid": str(uuid.uuid4()), **message})

    @property
    def _transcript(self) -> Path:
        config = Path(self._env.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        return config / "projects" / "scripted" / f"{self.session_id}.jsonl"

    def _keep(self) -> None:
        self._transcript.parent.mkdir(parents=True, exist_ok=True)
        kept = json.dumps({"history": self._history, "cost": self._cost})
        self._transcript.write_text(f"{kept}\n{self._note}", "utf-8")

    # --- tools ------------------------------------------------------------------------------------------

    async def _run_tools(self, calls: list[dict[str, Any]]) -> tuple[bool, bool]:
        """Run the calls of one reply. Returns whether a hook stopped the turn, and whether it was aborted."""
        stopped = aborted = False
        results: list[dict[str, Any]] = []
        self._history.append({"role": "user", "content": results})
        questions = [call for call in calls if call["name"] == "AskUserQuestion"]
        asked = {call["id"]: asyncio.create_task(self._run_tool(call)) for call in questions}
        try:
            for call in calls:
                done = asked.get(call["id"]) or asyncio.create_task(self._run_tool(call))
                text, is_error, end = await done
                stopped, aborted = stopped or end == "stop", aborted or end == "abort"
                result = {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": text,
                    "is_error": is_error,
                }
                results.append(result)
                await self._say(type="user", message={"role": "user", "content": [result]})
        finally:
            for task in asked.values():
                task.cancel()
        self._keep()
        return stopped, aborted

    async def _run_tool(self, call: dict[str, Any]) -> tuple[str, bool, str]:
        """Run one call. Returns its text, whether it is an error, and `stop` or `abort` if the turn ends."""
        name, arguments = call["name"], call["input"]
        if name not in {tool["name"] for tool in self._tools}:
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
            return _REJECTED if interrupts else allowed["message"], True, "abort" if interrupts else ""
        text, is_error = await self._done(name, allowed.get("updatedInput") or rewritten or arguments)
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

    async def _done(self, name: str, arguments: Any) -> tuple[str, bool]:
        if name.startswith(f"mcp__{_SERVER}__"):
            answer = await self._rpc(
                "tools/call", name=name.removeprefix(f"mcp__{_SERVER}__"), arguments=arguments
            )
            if "error" in answer:
                return str(answer["error"]["message"]), True
            result = answer["result"]
            return "\n".join(part.get("text", "") for part in result["content"]), bool(result.get("isError"))
        if name == "Bash":
            return await self._bash(arguments["command"], arguments.get("timeout"))
        try:
            return self._with_files(name, arguments)
        except FileNotFoundError:
            return f"File does not exist. Note: your current working directory is {self._options.cwd}.", True
        except OSError as error:
            return f"{error}", True

    def _with_files(self, name: str, arguments: Any) -> tuple[str, bool]:
        match name:
            case "AskUserQuestion":
                return _answered(arguments), False
            case "Write":
                return _write(Path(arguments["file_path"]), arguments["content"]), False
            case "Edit":
                return _edit(**arguments)
            case "Read":
                return _read(Path(arguments["file_path"])), False
            case "Glob":
                return self._glob(arguments["pattern"]), False
            case "Grep":
                return self._grep(arguments["pattern"]), False
        return f"{name} is not played: mark this test `claude`", True

    def _glob(self, pattern: str) -> str:
        folder = Path(self._options.cwd or ".")
        found = [str(path.relative_to(folder)) for path in folder.glob(pattern) if path.is_file()]
        return "\n".join(sorted(found)) or "No files found"

    def _grep(self, pattern: str) -> str:
        wanted = re.compile(pattern)
        files = [path for path in Path(self._options.cwd or ".").rglob("*") if path.is_file()]
        hidden = [path for path in files if not any(fnmatch(part, ".git") for part in path.parts)]
        found = [str(path) for path in hidden if wanted.search(path.read_text("utf-8", errors="replace"))]
        return (
            f"Found {len(found)} file{'s' * (len(found) != 1)}\n" + "\n".join(found)
            if found
            else "No files found"
        )

    async def _bash(self, command: str, timeout_ms: float | None) -> tuple[str, bool]:
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command,
            cwd=self._options.cwd,
            env={key: value for key, value in self._env.items() if not key.startswith("ANTHROPIC_")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = await asyncio.wait_for(process.communicate(), (timeout_ms or _COMMAND_S * 1000) / 1000)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        text = said.decode(errors="replace").rstrip("\n")
        if process.returncode:
            return f"Exit code {process.returncode}" + (f"\n{text}" if text else ""), True
        return text or "(Bash completed with no output)", False


def playing(transport: OpenTransport) -> ChooseAgent:
    """Let Claude Code's sessions be played through this transport."""

    def choose(_role: Role, claude: Agent) -> Agent:
        assert isinstance(claude, ClaudeCode)
        return replace(claude, transport=transport)

    return choose


played = playing(ScriptedClaude)
_CLIENT = {"name": "claude-code", "version": "scripted"}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _repaired(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer the calls that were under way when the process was killed, as Claude Code does."""
    for at in range(len(history) - 1, -1, -1):
        if history[at]["role"] != "assistant":
            continue
        calls = [block["id"] for block in history[at]["content"] if block["type"] == "tool_use"]
        given = history[at + 1]["content"] if at + 1 < len(history) else []
        known = {block.get("tool_use_id") for block in given}
        lost = [
            {
                "type": "tool_result",
                "tool_use_id": call,
                "content": "[Tool call interrupted: the session ended before this call's result was recorded, so "
                "its outcome is unknown.]",
                "is_error": True,
            }
            for call in calls
            if call not in known
        ]
        if lost:
            history[at + 1 :] = [{"role": "user", "content": [*given, *lost]}, *history[at + 2 :]]
        break
    return history


def _cost(model: str, usage: Usage) -> float:
    known = next((one for one in models().values() if one.id == model), models()["opus"])
    return known.cost(usage)


def _write(path: Path, content: str) -> str:
    there = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    if there:
        return f"The file {path} has been updated successfully. {_FILE_STATE}"
    return f"File created successfully at: {path} {_FILE_STATE}"


def _edit(file_path: str, old_string: str, new_string: str, *, replace_all: bool = False) -> tuple[str, bool]:
    path = Path(file_path)
    text = path.read_text("utf-8")
    if old_string not in text:
        return (
            f"<tool_use_error>String to replace not found in file.\nString: {old_string}</tool_use_error>",
            True,
        )
    path.write_text(text.replace(old_string, new_string, -1 if replace_all else 1), "utf-8")
    return f"The file {path} has been updated successfully. {_FILE_STATE}", False


def _read(path: Path) -> str:
    lines = path.read_text("utf-8", errors="replace").split("\n")
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=1))


def _answered(arguments: dict[str, Any]) -> str:
    answers = arguments.get("answers") or {}
    notes = arguments.get("annotations") or {}
    labels = {
        question["question"]: {option["label"] for option in question.get("options") or []}
        for question in arguments["questions"]
    }
    told = ", ".join(
        f'"{question}"="{answer}"' + (f" notes: {notes[question]['notes']}" if question in notes else "")
        for question, answer in answers.items()
    )
    if not answers:
        return "The user did not answer the questions."
    if not notes and all(answer in labels.get(question, ()) for question, answer in answers.items()):
        return f"Your questions have been answered: {told}. You can now continue with these answers in mind."
    return (
        f"The user answered: {told}. Read the answers carefully — they may request clarification, changes, or that "
        "you not proceed — and follow what they actually say."
    )
