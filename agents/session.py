"""One conversation with one Claude Code process.

An actor task owns the `ClaudeSDKClient`: it opens it, asks, interrupts and closes it; a second task reads
always, since a session whose messages nobody reads stalls (sdk-facts 8.8). Others hold a `Session` and talk
to the actor through a stream. Silence beyond the idle limit interrupts the exchange and ends the session.
"""

import math
import time
import uuid
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import structlog

from agents.concurrency import first_of, task_group
from agents.messages import messages_of
from agents.permissions import Policy
from agents.results import detail_of, end_of, usage_of
from agents.signals import SignalTool, signal_server
from state.errors import AgentError, SqError
from state.records import Answer, CallEnd, Message, MessageKind, Role, Usage

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        ClaudeSDKClient,
        PermissionResult,
        ResultMessage,
        ToolPermissionContext,
    )

IDLE_LIMIT_S = 300.0  # product section 3: silence of the stream beyond this ends the process group
CONNECT_LIMIT_S = 60.0
INTERRUPT_LIMIT_S = 5.0
CLOSE_LIMIT_S = 20.0  # the SDK's own ladder: end of input, SIGTERM, SIGKILL, five seconds each
MAX_LINE_BYTES = (
    64 * 2**20
)  # an Edit of a big file carries it whole; the SDK's default of 1 MiB kills the session
STDERR_LINES_KEPT = 20

QUESTION_TOOL = "AskUserQuestion"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a call's questions got no answers. `final`: the exchange ends; else the agent may ask better."""

    reason: str
    final: bool


OnQuestions = Callable[[str, Mapping[str, Any]], Awaitable[tuple[Answer, ...] | Unanswered]]


def _ignore_message(message: Message) -> None:
    del message


def _ignore_signal(name: str, payload: str) -> None:
    del name, payload


def _ignore_refusal(tool: str, reason: str) -> None:
    del tool, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who hears what happens in a session, at once and in order.

    `on_question_callback(tool call id, input)` returns one answer per question, or why there is none. Without
    it, questions are refused.
    """

    on_message: Callable[[Message], None] = _ignore_message
    on_signal: Callable[[str, str], None] = _ignore_signal
    on_refusal: Callable[[str, str], None] = _ignore_refusal
    on_question_callback: OnQuestions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """Everything a session is started with. `resume`: the conversation of `session_id` goes on."""

    role: Role
    workspace: Path
    model: str
    system: str
    policy: Policy
    signals: tuple[SignalTool, ...]
    session_id: str
    resume: bool = False
    cost_before_usd: float = 0.0
    environment: Mapping[str, str] = field(default_factory=dict)
    launcher: Path
    idle_limit_s: float = IDLE_LIMIT_S
    connect_limit_s: float = CONNECT_LIMIT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What became of one prompt. `cost_usd` is this exchange's alone."""

    end: CallEnd
    detail: str = ""
    text: str = ""
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    turns: int = 0


class SessionStartError(AgentError):
    """The Claude Code process did not start, or the conversation to resume is not there."""


class Session:
    """The handle of an open session."""

    def __init__(self, actor: "_Actor") -> None:
        self._actor = actor

    def __repr__(self) -> str:
        return f"<Session {self._actor.spec.role} {self.session_id} {'over' if self.is_over else 'open'}>"

    @property
    def session_id(self) -> str:
        """The conversation's id."""
        return self._actor.spec.session_id

    @property
    def is_over(self) -> bool:
        """Whether no further exchange is possible: the process died or was ended for silence."""
        return self._actor.over

    async def exchange(self, prompt: str) -> Exchange:
        """Send a prompt and wait until the agent has ended its turn, however it ends.

        Raises:
            SqError: what a listener raised while it was told something; the exchange was interrupted.
        """
        request = _Request(prompt)
        await self._actor.requests.send(request)
        await request.answered.wait()
        if isinstance(request.outcome, Exchange):
            return request.outcome
        raise request.outcome or AgentError("the session ended before it answered")


@asynccontextmanager
async def open_session(spec: SessionSpec, listener: Listener) -> AsyncIterator[Session]:
    """Start a Claude Code process, and end it and everything it started on the way out.

    Raises:
        SessionStartError: it did not start in time, or there is nothing to resume.
    """
    async with task_group() as tasks:
        actor = _Actor(spec, listener)
        await tasks.start(actor.run)
        try:
            yield Session(actor)
        finally:
            actor.scope.cancel()


@dataclass(slots=True, eq=False)
class _Request:
    prompt: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    answered: anyio.Event = field(default_factory=anyio.Event)
    outcome: Exchange | Exception | None = None


class _Actor:
    """Owns the client. Nobody else touches it."""

    def __init__(self, spec: SessionSpec, listener: Listener) -> None:
        self.spec = spec
        self.listener = listener
        self.over = False
        self.scope = anyio.CancelScope()
        self.requests, self._inbox = anyio.create_memory_object_stream[_Request](1)
        self._results, self._result_inbox = anyio.create_memory_object_stream["ResultMessage"](math.inf)
        self._activity = time.monotonic()
        self._waiting_for_us = 0  # callbacks under way: their time is not the session's silence
        self._failure: Exception | None = None
        self._fatal = anyio.Event()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES_KEPT)
        self._death = ""
        self._text = ""
        self._cost_seen = spec.cost_before_usd

    # --- life -------------------------------------------------------------------------------------

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        from claude_agent_sdk import ClaudeSDKClient

        client = ClaudeSDKClient(self._options())
        try:
            with self.scope:
                await self._connect(client)
                task_status.started()
                async with task_group() as tasks:
                    tasks.start_soon(self._read, client)
                    await self._serve(client, self._inbox)
        finally:
            self.over = True
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_LIMIT_S):
                try:
                    await client.disconnect()
                except Exception as error:  # noqa: BLE001  the process is gone either way
                    log.warning("session.close.failed", error=repr(error))
            for stream in (self.requests, self._inbox, self._results, self._result_inbox):
                stream.close()

    async def _connect(self, client: "ClaudeSDKClient") -> None:
        try:
            with anyio.fail_after(self.spec.connect_limit_s):
                await client.connect()
        except TimeoutError as error:
            raise SessionStartError(
                f"Claude Code did not answer within {self.spec.connect_limit_s:.0f} s{self._said()}"
            ) from error
        except SqError:
            raise
        except Exception as error:  # the SDK raises bare exceptions, ProcessError and ResultError here
            raise SessionStartError(f"Claude Code did not start: {error}{self._said()}") from error

    async def _serve(self, client: "ClaudeSDKClient", inbox: "MemoryObjectReceiveStream[_Request]") -> None:
        async for request in inbox:
            try:
                request.outcome = await self._exchange(client, request)
            except Exception as error:  # noqa: BLE001  raised again where the caller waits
                request.outcome = error
            except BaseException:
                await self._interrupt(client)
                raise
            finally:
                request.answered.set()

    async def _read(self, client: "ClaudeSDKClient") -> None:
        from claude_agent_sdk import ResultMessage

        try:
            stream = cast("AsyncGenerator[object]", client.receive_messages())
            async with aclosing(stream) as messages:
                async for message in messages:
                    self._activity = time.monotonic()
                    if isinstance(message, ResultMessage):
                        self._results.send_nowait(message)
                    else:
                        self._tell(message)
            self._die("Claude Code ended without a result")
        except Exception as error:  # noqa: BLE001  ProcessError, decode errors: the stream is over
            self._die(f"{type(error).__name__}: {error}")

    # --- one exchange -----------------------------------------------------------------------------

    async def _exchange(self, client: "ClaudeSDKClient", request: _Request) -> Exchange:
        began = time.monotonic()
        self._activity = began
        self._text = ""
        try:
            await client.query(_one_message(request))
        except Exception as error:  # noqa: BLE001  CLIConnectionError: the process is gone
            self._die(f"{type(error).__name__}: {error}")
        result = await self._result_of(request)
        if self._failure is not None:
            await self._interrupt(client)
            raise self._failure
        seconds = time.monotonic() - began
        if result is not None:
            return self._judged(result, seconds)
        if self._death:
            return Exchange(end=CallEnd.DIED, detail=self._death, seconds=seconds)
        await self._interrupt(client)
        self.over = True
        detail = f"no sign of life for {self.spec.idle_limit_s:.0f} s"
        return Exchange(end=CallEnd.SILENT, detail=detail, seconds=seconds)

    async def _result_of(self, request: _Request) -> "ResultMessage | None":
        """The result that answers this prompt; None when there will be none: silence, or the end."""
        results: list[ResultMessage] = []

        async def receive() -> None:
            while not results:
                result = await self._result_inbox.receive()
                if _answers(result, request):
                    results.append(result)

        await first_of(receive, self._fatal.wait, self._watch_for_silence)
        if not results and self._result_inbox.statistics().current_buffer_used:
            await receive()  # a result that came just before the end is still the answer
        return results[0] if results else None

    async def _watch_for_silence(self) -> None:
        limit = self.spec.idle_limit_s
        # A deadline that moves with each message: an event per message would cost more than this.
        while (left := limit - self._quiet_s()) > 0:  # noqa: ASYNC110
            await anyio.sleep(left)

    def _quiet_s(self) -> float:
        return 0.0 if self._waiting_for_us else time.monotonic() - self._activity

    def _judged(self, result: "ResultMessage", seconds: float) -> Exchange:
        total = result.total_cost_usd or 0.0
        cost, self._cost_seen = max(0.0, total - self._cost_seen), max(total, self._cost_seen)
        return Exchange(
            end=end_of(result),
            detail=detail_of(result),
            text=result.result or self._text,
            api_status=result.api_error_status,
            cost_usd=cost,
            usage=usage_of(result.usage),
            seconds=seconds,
            turns=result.num_turns,
        )

    async def _interrupt(self, client: "ClaudeSDKClient") -> None:
        """Interrupt before anything else ends the session: closing in mid-turn costs seconds otherwise."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(INTERRUPT_LIMIT_S):
            try:
                await client.interrupt()
                await self._result_inbox.receive()
            except Exception as error:  # noqa: BLE001  there is nothing left to interrupt
                log.debug("session.interrupt.failed", error=repr(error))

    # --- what the process tells us ----------------------------------------------------------------

    def _die(self, why: str) -> None:
        self._death = f"{why}{self._said()}"
        self.over = True
        self._fatal.set()

    def _said(self) -> str:
        return f" (it said: {' | '.join(self._stderr)})" if self._stderr else ""

    def _tell(self, message: object) -> None:
        for told in messages_of(message):
            if told.kind is MessageKind.TEXT:
                self._text = told.text
            self._guarded(lambda told=told: self.listener.on_message(told))  # type: ignore[misc]

    def _guarded(self, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Exception as error:  # a listener that fails (the journal cannot be written) ends the exchange
            self._failure = self._failure or error
            self._fatal.set()
            raise

    # --- options ----------------------------------------------------------------------------------

    def _options(self) -> "ClaudeAgentOptions":
        from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

        spec = self.spec
        return ClaudeAgentOptions(
            cwd=spec.workspace,
            cli_path=spec.launcher,
            model=spec.model,
            system_prompt=spec.system,
            tools=list(spec.policy.tools),
            permission_mode="default",
            can_use_tool=self._may_use,
            hooks={"PreToolUse": [HookMatcher(hooks=[self._before_tool], on_failure="block")]},
            mcp_servers={"sq": signal_server(spec.signals, self._on_signal)} if spec.signals else {},
            strict_mcp_config=True,
            setting_sources=[],
            skills=[],
            session_id=None if spec.resume else spec.session_id,
            resume=spec.session_id if spec.resume else None,
            verbatim_prompts=True,
            include_partial_messages=True,
            max_buffer_size=MAX_LINE_BYTES,
            env=dict(spec.environment),
            stderr=self._stderr.append,
        )

    def _on_signal(self, name: str, payload: str) -> None:
        self._guarded(lambda: self.listener.on_signal(name, payload))

    async def _before_tool(self, event: Any, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        refusal = self.spec.policy.judge(event["tool_name"], event["tool_input"])
        if refusal is None:
            return {}
        self._guarded(lambda: self.listener.on_refusal(event["tool_name"], refusal))
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": refusal,
            }
        }

    async def _may_use(
        self, tool: str, arguments: dict[str, Any], context: "ToolPermissionContext"
    ) -> "PermissionResult":
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        if refusal := self.spec.policy.judge(tool, arguments):
            return PermissionResultDeny(message=refusal)
        if tool != QUESTION_TOOL:
            return PermissionResultAllow()
        if self.listener.on_question_callback is None:
            return PermissionResultDeny(message="nobody answers questions in this session")
        self._waiting_for_us += 1
        try:
            answers = await self.listener.on_question_callback(context.tool_use_id or "", arguments)
        except Exception as error:
            self._failure = self._failure or error
            self._fatal.set()
            raise
        finally:
            self._waiting_for_us -= 1
            self._activity = time.monotonic()
        if isinstance(answers, Unanswered):
            return PermissionResultDeny(message=answers.reason, interrupt=answers.final)
        told = {answer.question: answer.text for answer in answers}
        return PermissionResultAllow(updated_input={**arguments, "answers": told})


async def _one_message(request: _Request) -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "uuid": request.id,
        "message": {"role": "user", "content": request.prompt},
        "parent_tool_use_id": None,
    }


def _answers(result: "ResultMessage", request: _Request) -> bool:
    """Whether this result is the answer to that prompt; error results may name no prompt at all."""
    named = result.user_message_uuids or ([result.user_message_uuid] if result.user_message_uuid else [])
    return request.id in named if named else True
