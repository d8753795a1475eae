"""A played Claude Code: its conversation with the model at the gateway, its turns, its tools of files and commands.

How it meets sq, two classes say: `scripted_agent` behind sq's port to agents, `scripted_claude` on the SDK's transport.
"""

import asyncio
import json
import os
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx2

from agents.claude_code.results import usage_of
from state.records.calls import Usage
from state.settings.presets import models

SERVER = "sq"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
_FILE_STATE = "(file state is current in your context — no need to Read it back)"
_COMMAND_S = 120.0


@dataclass(frozen=True, kw_only=True)
class End:
    """How a turn ended, in the words of Claude Code's results. `stop` is why the last reply ended."""

    why: str
    subtype: str = "success"
    is_error: bool = False
    result: str | None = None
    turns: int = 1
    status: int | None = None
    stop: str | None = None
    errors: tuple[str, ...] = ()


class Turns(ABC):
    """One conversation. `usage` and `requests` are those of the turn, `cost` is that of all turns."""

    def __init__(
        self,
        *,
        session_id: str,
        model: str,
        effort: str | None,
        system: str,
        tools: Sequence[str],
        max_turns: int | None,
        cap_usd: float | None,
        cwd: Path,
        env: Mapping[str, str],
    ) -> None:
        self.session_id = session_id
        self.history: list[dict[str, Any]] = []
        self.cost = 0.0
        self.usage: dict[str, int] = {}
        self.requests = 0
        self.cwd = cwd
        self.env = {**os.environ, **env}
        self._note = ""  # on the newest error of the API, as Claude Code keeps it
        self._model, self._effort, self._system = model, effort, system
        self._built_in = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
        self._max_turns, self._cap_usd = max_turns, cap_usd

    # --- how it meets sq --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def typed(self) -> list[dict[str, Any]]:
        """The typed tools of sq, as the model is offered them."""

    @abstractmethod
    async def told(self, reply: Mapping[str, Any], used: Mapping[str, int]) -> None:
        """Say a reply of the model."""

    @abstractmethod
    async def noted(self, result: dict[str, Any]) -> None:
        """Say a tool's result."""

    @abstractmethod
    async def failed(self, text: str) -> None:
        """Say an error of the API, as an assistant's message."""

    @abstractmethod
    async def run_tool(self, call: dict[str, Any]) -> tuple[str, bool, str]:
        """Run one call. Returns its text, whether it is an error, and `stop` or `abort` if the turn ends."""

    # --- turns ------------------------------------------------------------------------------------------

    async def turn(self, prompt: str) -> End:
        self.usage, self.requests = {}, 0
        run = 0  # calls of this turn: Claude Code counts its turns by them
        self.history.append({"role": "user", "content": [text_block(prompt)]})
        for _ in range(self._max_turns or 10_000):
            reply = await self._ask()
            if "error" in reply:
                return await self._error(reply, 1 + run)
            if self._cap_usd is not None and self.cost > self._cap_usd:
                return End(why="", subtype="error_max_budget_usd", is_error=True, turns=1 + run)
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            if not calls:
                said = "\n".join(block["text"] for block in reply["content"] if block["type"] == "text")
                return End(why="completed", result=said, turns=1 + run, stop=reply["stop_reason"])
            ends = await self._run_tools(calls)
            run += len(calls)
            if "abort" in ends:
                return End(
                    why="aborted_tools", subtype="error_during_execution", is_error=True, turns=2 + run
                )
            if "stop" in ends:
                return End(why="hook_stopped", turns=1 + run)
        errors = (f"Reached maximum number of turns ({self._max_turns})",)
        turns = (self._max_turns or 0) + 1
        return End(why="max_turns", subtype="error_max_turns", is_error=True, turns=turns, errors=errors)

    @property
    def tools(self) -> list[dict[str, Any]]:
        return [*self._built_in, *self.typed]

    async def _ask(self) -> dict[str, Any]:
        body = {
            "model": self._model,
            "max_tokens": 32_000,
            "system": [text_block(self._system)],
            "messages": self.history,
            "tools": self.tools,
            **({"output_config": {"effort": self._effort}} if self._effort else {}),
        }
        headers = {
            "x-claude-code-session-id": self.session_id,
            "x-api-key": self.env.get("ANTHROPIC_API_KEY", ""),
        }
        url = f"{self.env['ANTHROPIC_BASE_URL'].rstrip('/')}/v1/messages"
        try:
            async with httpx2.AsyncClient(timeout=None, trust_env=False, verify=False) as client:
                answer = await client.post(url, json=body, headers=headers)
            reply = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            return {"error": {"message": f"Connection error. {error!r}"}, "status": None}
        if answer.status_code != httpx2.codes.OK:
            return {"error": reply.get("error", reply), "status": answer.status_code}
        used = {key: count for key, count in reply["usage"].items() if isinstance(count, int)}
        self.cost += _cost(self._model, usage_of(used))
        self.requests += 1
        for key, count in used.items():
            self.usage[key] = self.usage.get(key, 0) + count
        await self.told(reply, used)
        self.history.append({"role": "assistant", "content": reply["content"]})
        self.keep()
        return reply

    async def _error(self, reply: dict[str, Any], turns: int) -> End:
        status, told = reply["status"], reply["error"]["message"]
        said = f"API Error: {status} {told}" if status else f"API Error: {told}"
        await self.failed(said)
        if code := reply["error"].get("details", {}).get("error_code"):
            self._note = json.dumps({"type": "assistant", "isApiErrorMessage": True, "apiErrorCode": code})
        return End(why="api_error", is_error=True, result=said, status=status, turns=turns)

    async def _run_tools(self, calls: list[dict[str, Any]]) -> set[str]:
        """Run the calls of one reply, questions side by side. Returns how they end the turn."""
        ends = set()
        results: list[dict[str, Any]] = []
        self.history.append({"role": "user", "content": results})
        questions = [call for call in calls if call["name"] == "AskUserQuestion"]
        asked = {call["id"]: asyncio.create_task(self.run_tool(call)) for call in questions}
        try:
            for call in calls:
                done = asked.get(call["id"]) or asyncio.create_task(self.run_tool(call))
                text, is_error, end = await done
                ends.add(end)
                result = {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": text,
                    "is_error": is_error,
                }
                results.append(result)
                await self.noted(result)
        finally:
            for task in asked.values():
                task.cancel()
        self.keep()
        return ends

    # --- the transcript ---------------------------------------------------------------------------------

    @property
    def transcript(self) -> Path:
        config = Path(self.env.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        return config / "projects" / "scripted" / f"{self.session_id}.jsonl"

    def keep(self) -> None:
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        kept = json.dumps({"history": self.history, "cost": self.cost})
        self.transcript.write_text(f"{kept}\n{self._note}", "utf-8")

    def take_up(self) -> bool:
        """Go on with the conversation that was kept. Returns whether there is one."""
        if not self.transcript.is_file():
            return False
        kept = json.loads(self.transcript.read_text("utf-8").splitlines()[0])
        self.history, self.cost = _repaired(kept["history"]), kept["cost"]
        return True

    # --- tools ------------------------------------------------------------------------------------------

    async def done(self, name: str, arguments: Any) -> tuple[str, bool]:
        """Run a built-in tool. Returns its text, and whether that is an error."""
        if name == "Bash":
            return await self._bash(arguments["command"], arguments.get("timeout"))
        try:
            return self._with_files(name, arguments)
        except FileNotFoundError:
            return f"File does not exist. Note: your current working directory is {self.cwd}.", True
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
        folder = self.cwd
        found = [str(path.relative_to(folder)) for path in folder.glob(pattern) if path.is_file()]
        return "\n".join(sorted(found)) or "No files found"

    def _grep(self, pattern: str) -> str:
        wanted = re.compile(pattern)
        files = [path for path in self.cwd.rglob("*") if path.is_file()]
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
            cwd=self.cwd,
            env={key: value for key, value in self.env.items() if not key.startswith("ANTHROPIC_")},
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


def text_block(text: str) -> dict[str, str]:
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
