"""Claude Code without its process, behind sq's own port to agents: the second implementation of `agents.session.port`.

The model is asked at the gateway. The tools and turns are those of `turns`, and sq's rules for sessions are the real
ones. Whole runs about sq's decisions are played so. `test_scripted_claude.py` compares its journals with those of the
real Claude Code, event by event.
"""

import json
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import jsonschema

from agents.claude_code.agent import ClaudeCode
from agents.claude_code.exchange import Counted
from agents.claude_code.results import usage_of
from agents.concurrency import first_of
from agents.process.frozen import living
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.port import (
    Agent,
    ChooseAgent,
    Listener,
    Session,
    SessionSpec,
    SessionStartError,
    Unanswered,
)
from agents.session.rules import SessionRules
from agents.session.tools import schema_of
from language.turns import REJECTED, End, Turns
from state.records.calls import CallEnd, CallResult, Message, MessageKind, ToolServer
from state.roles import QUESTION_TOOL, Role

_INTERRUPTED = {"aborted_tools", "aborted_streaming"}
_WORDS_OF_AN_INTERRUPTION = "Claude Code was interrupted in the middle of its turn"
_TOO_LONG = ("prompt is too long", "exceed context limit", "request too large")


class ScriptedSession(Turns):
    """One open session, as the port has it."""

    def __init__(
        self, spec: SessionSpec, listener: Listener, env: Mapping[str, str], counted: Counted
    ) -> None:
        super().__init__(
            session_id=spec.session_id,
            model=spec.model.id,
            effort=spec.model.effort,
            system=spec.system,
            tools=spec.policy.tools,
            max_turns=spec.limits.max_turns,
            cap_usd=spec.max_cost_usd,
            cwd=spec.workspace,
            env=env,
        )
        self.is_over = False
        self.cut_off: CallResult | None = None
        self.rules = SessionRules(spec, listener, self._fail)
        self._spec, self._counted = spec, counted
        self._failed = anyio.Event()
        self._began = self._active = time.monotonic()
        self._cost_seen = spec.cost_before_usd
        self._stop_reason = ""

    def open(self) -> None:
        if self._spec.resume and not self.take_up():
            raise SessionStartError(f"No conversation found with session ID: {self.session_id}")

    async def exchange(self, prompt: str, *, planning: bool = False) -> CallResult:
        self._began = self._active = time.monotonic()
        self._stop_reason = ""
        self.rules.begin(planning=planning)
        ends: list[End] = []

        async def play() -> None:
            if self._spec.servers:
                missing = (ToolServer(name=name, status="missing", tools=()) for name in self._spec.servers)
                self.rules.heard(self.rules.listener.on_servers, tuple(missing))
            ends.append(await self.turn(prompt))

        try:
            await first_of(play, self._failed.wait, self._silence)
        except BaseException as error:
            self.keep()
            self.cut_off = self._result(End(why="aborted_streaming", is_error=True))
            if self.rules.failure and isinstance(error, Exception):
                raise self.rules.failure from error
            raise
        self.keep()
        if self.rules.failure:
            self.cut_off = self._result(End(why="aborted_streaming", is_error=True))
            raise self.rules.failure
        if ends:
            return self._result(ends[0])
        self.is_over = True
        silent = self._result(End(why="aborted_streaming", is_error=True))
        detail = f"no sign of life for {self._spec.limits.idle_s:g} s"
        return replace(silent, end=self.rules.over(CallEnd.SILENT), detail=detail)

    async def _silence(self) -> None:
        while (left := self._spec.limits.idle_s - (time.monotonic() - self._active)) > 0:
            await anyio.sleep(left)
            if self.rules.waiting:
                self._active = time.monotonic()

    def _fail(self) -> None:
        self._failed.set()

    # --- results ----------------------------------------------------------------------------------------

    def _result(self, end: End) -> CallResult:
        ended, detail = self._counted.end(self._ended(end), self._detail(end))
        cost = self.cost - self._cost_seen if self.cost >= self._cost_seen else self.cost
        self._cost_seen = self.cost
        return CallResult(
            end=self.rules.over(ended),
            detail=detail,
            text=end.result or self.rules.text,
            api_status=end.status,
            retry_after_s=max(0.0, at - time.time()) if (at := self._counted.resets_at) else None,
            cost_usd=self._counted.cost(cost),
            usage=replace(usage_of(self.usage), requests=self.requests),
            seconds=time.monotonic() - self._began,
            turns=end.turns,
        )

    def _ended(self, end: End) -> CallEnd:
        match end.why:
            case "completed" | "hook_stopped":
                return CallEnd.COMPLETED
            case "max_turns":
                return CallEnd.MAX_TURNS
            case "api_error" if self._is_full(end):
                return CallEnd.SESSION_FULL
            case "api_error":
                return CallEnd.TRUNCATED if self._stop_reason == "max_tokens" else CallEnd.API_ERROR
            case "":
                return CallEnd.BUDGET
        return CallEnd.UNANSWERED if self.rules.unanswered else CallEnd.INTERRUPTED

    @staticmethod
    def _is_full(end: End) -> bool:
        return end.status in {400, 413} and any(words in (end.result or "").lower() for words in _TOO_LONG)

    @staticmethod
    def _detail(end: End) -> str:
        if end.why in _INTERRUPTED:
            return _WORDS_OF_AN_INTERRUPTION
        if not end.is_error:
            return ""
        status = f"status {end.status}" if end.status else ""
        said = "; ".join(filter(None, [end.result, *end.errors, status]))
        return said or end.why or end.subtype

    # --- turns ------------------------------------------------------------------------------------------

    @property
    def typed(self) -> list[dict[str, Any]]:
        return [
            {"name": f"{SIGNAL_PREFIX}{tool.name}", "input_schema": schema_of(tool)}
            for tool in self._spec.signals
        ]

    async def told(self, reply: Mapping[str, Any], used: Mapping[str, int]) -> None:
        self._active = time.monotonic()
        self._stop_reason = reply["stop_reason"]
        for block in reply["content"]:
            if block["type"] == "text":
                self.rules.tell(Message(kind=MessageKind.TEXT, text=block["text"]))
            elif block["type"] == "tool_use":
                text = json.dumps(block["input"], ensure_ascii=False)
                tool = block["name"].removeprefix(SIGNAL_PREFIX)
                self.rules.tell(Message(kind=MessageKind.TOOL_CALL, text=text, tool=tool, use_id=block["id"]))

    async def noted(self, result: dict[str, Any]) -> None:
        self._active = time.monotonic()
        self.rules.tell(
            Message(
                kind=MessageKind.TOOL_RESULT,
                text=result["content"],
                is_error=result["is_error"],
                use_id=result["tool_use_id"],
            )
        )

    async def failed(self, text: str) -> None:
        self.rules.tell(Message(kind=MessageKind.TEXT, text=text))

    async def run_tool(self, call: dict[str, Any]) -> tuple[str, bool, str]:
        name, arguments = call["name"], call["input"]
        if name not in {tool["name"] for tool in self.tools}:
            return f"<tool_use_error>Error: No such tool available: {name}</tool_use_error>", True, ""
        if refusal := self.rules.refusal(name, arguments):
            return f"PreToolUse:{name} hook error: {refusal}", True, ""
        if name.startswith(SIGNAL_PREFIX):
            problem = self.report(name.removeprefix(SIGNAL_PREFIX), arguments)
            return problem or "Recorded.", bool(problem), "" if problem else "stop"
        if name == QUESTION_TOOL:
            answers = await self.rules.answers(call["id"], arguments)
            if isinstance(answers, Unanswered):
                return REJECTED if answers.final else answers.reason, True, "abort" if answers.final else ""
            given = {answer.question: answer.marked for answer in answers}
            reasons = {answer.question: answer.reason.strip().removesuffix(".") for answer in answers}
            notes = {question: {"notes": reason} for question, reason in reasons.items() if reason}
            arguments = {**arguments, "answers": given, "annotations": notes}
        text, is_error = await self.done(name, arguments)
        return text, is_error, ""

    def report(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """Report by a typed tool. Returns why it has to be made anew, as the server of Claude Code's tools says it."""
        tool = next(one for one in self._spec.signals if one.name == name)
        try:
            jsonschema.validate({**{one: [] for one in tool.lists}, **arguments}, schema_of(tool))
        except jsonschema.ValidationError as error:
            return f"Input validation error: {error.message}"
        return self.rules.report(name, arguments)


class ScriptedAgent:
    """Claude Code, played: with its environment and its folder of transcripts."""

    def __init__(self, claude: ClaudeCode, session: Callable[..., ScriptedSession] = ScriptedSession) -> None:
        self.name = claude.name
        self.has_transcript = claude.has_transcript
        self.has_heard = claude.has_heard
        self.error_code = claude.error_code
        self._claude, self._session = claude, session

    @asynccontextmanager
    async def open(self, spec: SessionSpec, listener: Listener) -> AsyncIterator[Session]:
        counted = Counted()
        asked = self._claude.spec_of(spec)
        named = asked.start.launcher.with_name(f"{uuid.uuid4().hex}.process")
        with counted.admitted(asked) as environment, living(spec.workspace, named):
            session = self._session(spec, listener, environment, counted)
            session.open()
            try:
                yield session
            finally:
                session.is_over = True
                with anyio.CancelScope(shield=True):
                    await session.rules.finished()
        if difference := counted.difference():
            listener.on_difference(difference)


def playing(session: Callable[..., ScriptedSession]) -> ChooseAgent:
    """Let Claude Code be played by sessions of this class."""

    def choose(_role: Role, claude: Agent) -> Agent:
        assert isinstance(claude, ClaudeCode)
        return ScriptedAgent(claude, session)

    return choose


played = playing(ScriptedSession)
