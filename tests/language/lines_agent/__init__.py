"""An agent of another family: any program that speaks JSON lines, as the command lines of other agents do.

sq writes `{"type": "prompt", "text": …, "system": …, "tools": […]}`. The program answers with lines of these types
and ends its turn with `done`:

    text    words of the agent: `text`
    call    a tool of its own that it uses: `id`, `tool`, `input`
    result  what that tool gave: `id`, `text`, `is_error`
    report  a report by a typed tool of sq: `name`, `input`. sq answers `{"type": "reported", "refused": … or null}`
    done    the end of the turn: `cost_usd`

sq cannot judge the tools of such a program before it uses them. So it works in sq's sandbox, which lets a session
without a folder of its own only read, and is refused where there is no sandbox. It keeps no conversations.
"""

import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from agents.claude_code.agent import ClaudeCode
from agents.concurrency import first_of
from agents.process.frozen import NAMES, living
from agents.process.sandbox.needs import Needs
from agents.session.port import Agent, ChooseAgent, Listener, Session, SessionSpec, SessionStartError
from agents.session.rules import SessionRules
from agents.session.sandbox import SandboxWalls
from agents.session.tools import schema_of
from state.records.calls import CallEnd, CallResult, Message, MessageKind
from state.roles import Role

_LONGEST_LINE = 2**20


class LinesSession:
    """One open session with a process."""

    def __init__(self, spec: SessionSpec, listener: Listener, process: anyio.abc.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.session_id = spec.session_id
        self.is_over = False
        self.cut_off: CallResult | None = None
        self._rules = SessionRules(spec, listener, lambda: None)
        self._spec = spec
        self._stdin, self._stdout = process.stdin, BufferedByteReceiveStream(process.stdout)
        self._began = self._active = time.monotonic()

    async def exchange(self, prompt: str, *, planning: bool = False) -> CallResult:
        self._began = self._active = time.monotonic()
        self._rules.begin(planning=planning)
        ends: list[CallResult] = []

        async def turn() -> None:
            ends.append(await self._turn(prompt))

        try:
            await first_of(turn, self._silence)
        except BaseException:
            self.is_over = True
            self.cut_off = self._ended(CallEnd.INTERRUPTED)
            raise
        if ends:
            return ends[0]
        self.is_over = True
        return self._ended(CallEnd.SILENT, f"no sign of life for {self._spec.limits.idle_s:g} s")

    async def _turn(self, prompt: str) -> CallResult:
        tools = [
            {"name": tool.name, "description": tool.description, "schema": schema_of(tool)}
            for tool in self._spec.signals
        ]
        try:
            await self._write(type="prompt", text=prompt, system=self._spec.system, tools=tools)
            while True:
                line = json.loads(await self._stdout.receive_until(b"\n", _LONGEST_LINE))
                self._active = time.monotonic()
                if line["type"] == "done":
                    return self._ended(CallEnd.COMPLETED, cost_usd=float(line.get("cost_usd", 0.0)))
                await self._take(line)
                if self._rules.reported:  # it ends the turn, and with it this process
                    self.is_over = True
                    return self._ended(CallEnd.COMPLETED)
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            self.is_over = True
            return self._ended(CallEnd.DIED, f"it ended in the middle of its turn: {type(error).__name__}")
        except (ValueError, LookupError, TypeError) as error:
            self.is_over = True
            return self._ended(CallEnd.DIED, f"it wrote a line that sq cannot read: {error!r}")

    async def _take(self, line: dict[str, Any]) -> None:
        match line["type"]:
            case "text":
                self._rules.tell(Message(kind=MessageKind.TEXT, text=str(line["text"])))
            case "call":
                text, tool = json.dumps(line["input"]), str(line["tool"])
                self._rules.tell(
                    Message(kind=MessageKind.TOOL_CALL, text=text, tool=tool, use_id=str(line["id"]))
                )
            case "result":
                kind, is_error = MessageKind.TOOL_RESULT, line.get("is_error") is True
                self._rules.tell(
                    Message(kind=kind, text=str(line["text"]), is_error=is_error, use_id=str(line["id"]))
                )
            case "report":
                refused = self._rules.report(str(line["name"]), dict(line["input"]))
                if refused:
                    await self._write(type="reported", refused=refused)

    async def _write(self, **line: Any) -> None:
        await self._stdin.send(json.dumps(line).encode() + b"\n")

    async def _silence(self) -> None:
        while (left := self._spec.limits.idle_s - (time.monotonic() - self._active)) > 0:
            await anyio.sleep(left)

    def _ended(self, end: CallEnd, detail: str = "", *, cost_usd: float = 0.0) -> CallResult:
        return CallResult(
            end=self._rules.over(end),
            detail=detail,
            text=self._rules.text,
            cost_usd=cost_usd,
            seconds=time.monotonic() - self._began,
            turns=1,
        )


@dataclass(frozen=True, kw_only=True)
class LinesAgent:
    """A program that speaks JSON lines, in the sandboxes that Claude Code has in a run."""

    program: Path
    claude: ClaudeCode
    name: str = "a program that speaks JSON lines"

    @asynccontextmanager
    async def open(self, spec: SessionSpec, listener: Listener) -> AsyncIterator[Session]:
        if spec.resume:
            raise SessionStartError(f"{self.name} keeps no conversations")
        walls = self._walls(spec)
        named = self.claude.launch.launcher.with_name(f"{uuid.uuid4().hex}.process")
        try:
            launcher = await anyio.to_thread.run_sync(walls.build)
            environment = {**self.claude.environ, **spec.variables, NAMES: str(named)}
            with living(spec.workspace, named):
                async with await anyio.open_process(
                    [str(launcher)],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    cwd=spec.workspace,
                    env=environment,
                ) as process:
                    try:
                        yield LinesSession(spec, listener, process)
                    finally:
                        if process.returncode is None:
                            process.terminate()
        except OSError as error:
            raise SessionStartError(f"{self.program} cannot be started: {error}") from error
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(walls.remove)

    def _walls(self, spec: SessionSpec) -> SandboxWalls:
        needs = Needs(
            workspace=spec.workspace,
            scratch=self.claude.launch.folder / spec.session_id,
            path="",
            writes=spec.temporary is not None,
            readable=[self.program.parent],
            writable=[spec.temporary] if spec.temporary else [],
            hidden=self.claude.hidden,
        )
        walls = self.claude.sandboxes.walls(needs) if self.claude.sandboxes else None
        if not isinstance(walls, SandboxWalls):
            raise SessionStartError(f"{self.name} works in a sandbox only, and this run has none")
        return replace(walls, cli=self.program)

    def has_transcript(self, session_id: str) -> bool:
        return False

    def has_heard(self, prompt: str, session_id: str) -> bool:
        return False

    def error_code(self, session_id: str) -> str:
        return ""


def reviewing(program: Path, others: ChooseAgent) -> ChooseAgent:
    """Let this program review, and the others do what they do."""

    def choose(role: Role, usual: Agent) -> Agent:
        assert isinstance(usual, ClaudeCode)
        if role is not Role.REVIEWER:
            return others(role, usual)
        return LinesAgent(program=program, claude=usual)

    return choose
