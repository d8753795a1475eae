"""One conversation with one Claude Code process.

An actor task owns the `ClaudeSDKClient`: it opens it, sends prompts, interrupts and closes it. A second task
reads all the time, since a session stalls after a hundred unread messages. Other code holds a `Session` and
reaches the actor through a stream. Silence beyond the idle limit interrupts the exchange and ends the
session.
"""

import math
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import structlog
from anyio import to_thread

from agents.claude_code.callbacks import Callbacks
from agents.claude_code.early_start import sdk_imported, taking
from agents.claude_code.exchange import ClaudeSpec, Counted, SandboxAround, built
from agents.claude_code.executable import connect
from agents.claude_code.results import checked, detail_of, end_of, usage_of
from agents.concurrency import first_of, task_group
from agents.process.containment import LastWords
from agents.process.frozen import NAMES, living
from agents.session.port import Listener, Session, SessionStartError
from state.errors import AgentError
from state.records.calls import CallEnd, CallResult

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from claude_agent_sdk import ClaudeSDKClient, ResultMessage

INTERRUPT_LIMIT_S = 5.0
CLOSE_LIMIT_S = 20.0  # the SDK's own ladder: end of input, SIGTERM, SIGKILL, five seconds each
_CUT_SHORT = "max_tokens"

log = structlog.get_logger(__name__)


class ProcessSession:
    """A session with a process of Claude Code, as the port has it."""

    def __init__(self, actor: "_Actor") -> None:
        self._actor = actor

    @property
    def session_id(self) -> str:
        """As `Session`."""
        return self._actor.spec.session_id

    @property
    def is_over(self) -> bool:
        """As `Session`."""
        return self._actor.over

    @property
    def cut_off(self) -> CallResult | None:
        """As `Session`."""
        return self._actor.cut_off

    async def exchange(self, prompt: str, *, planning: bool = False) -> CallResult:
        """As `Session`."""
        request = _Request(prompt, planning=planning)
        await self._actor.requests.send(request)
        await request.answered.wait()
        if isinstance(request.outcome, CallResult):
            return request.outcome
        raise request.outcome or AgentError("the session ended before it answered")


@asynccontextmanager
async def open_session(spec: ClaudeSpec, listener: Listener) -> AsyncIterator[Session]:
    """Start a Claude Code process, and on leaving end it and everything that it started.

    Raises:
        SessionStartError: it did not start in time, or there is nothing to resume.
    """
    async with task_group() as tasks:
        actor = _Actor(spec, listener)
        await tasks.start(actor.run)
        try:
            yield ProcessSession(actor)
        finally:
            actor.scope.cancel()


@dataclass(slots=True, eq=False)
class _Request:
    prompt: str
    planning: bool = False
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    answered: anyio.Event = field(default_factory=anyio.Event)
    outcome: CallResult | Exception | None = None


class _Actor:
    """Owns the client. No other code touches it."""

    def __init__(self, spec: ClaudeSpec, listener: Listener) -> None:
        self.spec = spec
        self.over = False
        self.cut_off: CallResult | None = None
        self.scope = anyio.CancelScope()
        self.requests, self._inbox = anyio.create_memory_object_stream[_Request](1)
        self._results, self._result_inbox = anyio.create_memory_object_stream["ResultMessage"](math.inf)
        self._activity = time.monotonic()
        self._fatal = anyio.Event()
        self._callbacks = Callbacks(spec, listener, on_failure=self._fatal.set)
        self._words = LastWords()
        self._death = ""
        self._cost_seen = spec.cost_before_usd
        self._counted = Counted()
        self._listener = listener

    # --- life -------------------------------------------------------------------------------------

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with self._counted.admitted(self.spec) as environment:
            async with AsyncExitStack() as stack:
                try:
                    launcher = await stack.enter_async_context(built(self.spec.start))
                except OSError as error:
                    raise SessionStartError(f"the sandbox of the session cannot be made: {error}") from error
                named = launcher.with_name(f"{uuid.uuid4().hex}.process")
                stack.enter_context(living(self.spec.workspace, named))
                await self._live(launcher, {**environment, NAMES: str(named)}, task_status)
        if difference := self._counted.difference():
            self._listener.on_difference(difference)

    async def _live(
        self, launcher: Path, environment: dict[str, str], task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        async with sdk_imported(self.spec, launcher, environment) as early:
            from claude_agent_sdk import ClaudeSDKClient

            options = self._callbacks.options(launcher, stderr=self._words.hear, environment=environment)
            own = self.spec.start.transport
            transport = own(options) if own else taking(early, options) if early else None
            client = ClaudeSDKClient(options, transport)
            await self._serve_by(client, task_status)

    async def _serve_by(self, client: "ClaudeSDKClient", task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            if why := await connect(client, self._words, limit_s=self.spec.limits.connect_s):
                raise SessionStartError(why)
            # Only `scope` ends it, so that the reader can still see the end of an interrupted turn.
            with anyio.CancelScope(shield=True):
                async with task_group() as tasks:
                    tasks.start_soon(self._read, client)
                    if (walls := self.spec.start.walls) and not self.spec.start.transport:
                        tasks.start_soon(self._hold_to_totals, walls)
                    task_status.started()
                    with self.scope:
                        await self._serve(client, self._inbox)
                    tasks.cancel_scope.cancel()
        finally:
            self.over = True
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_LIMIT_S):
                try:
                    await client.disconnect()
                except Exception as error:  # noqa: BLE001  the process is gone either way
                    log.warning("session.close.failed", error=repr(error))
                await self._callbacks.finished()
            for stream in (self.requests, self._inbox, self._results, self._result_inbox):
                stream.close()

    async def _serve(self, client: "ClaudeSDKClient", inbox: "MemoryObjectReceiveStream[_Request]") -> None:
        async for request in inbox:
            try:
                request.outcome = await self._exchange(client, request)
                if (walls := self.spec.start.walls) and not self.spec.start.transport:
                    await to_thread.run_sync(walls.settle)
            except Exception as error:  # noqa: BLE001  raised again where the caller waits
                request.outcome = error
            except BaseException:
                await self._cut_off(client)
                raise
            finally:
                request.answered.set()
            if self.over:
                return

    async def _read(self, client: "ClaudeSDKClient") -> None:
        from claude_agent_sdk import ResultMessage

        try:
            stream = cast("AsyncGenerator[object]", client.receive_messages())
            async with aclosing(stream) as messages:
                async for message in messages:
                    self._activity = time.monotonic()
                    if isinstance(message, ResultMessage):
                        self._results.send_nowait(checked(message))
                    else:
                        self._callbacks.take(message)
            self._die("Claude Code ended without a result")
        except Exception as error:  # noqa: BLE001  ProcessError, decode errors: the stream is over
            self._die(f"{type(error).__name__}: {error}")

    async def _hold_to_totals(self, walls: SandboxAround) -> None:
        self._die(f"sq ended the session, because {await walls.exceeded()}")

    # --- one exchange -----------------------------------------------------------------------------

    async def _exchange(self, client: "ClaudeSDKClient", request: _Request) -> CallResult:
        began = time.monotonic()
        self._activity = began
        self._callbacks.begin(planning=request.planning)
        try:
            await client.query(_one_message(request))
        except Exception as error:  # noqa: BLE001  CLIConnectionError: the process is gone
            self._die(f"{type(error).__name__}: {error}")
        result = await self._result_of(request)
        if self._callbacks.failure is not None:
            await self._cut_off(client)
            raise self._callbacks.failure
        seconds = time.monotonic() - began
        if lacking := self._callbacks.lacking or self._counted.lacking:
            self.over = True
            if result is None:
                await self._interrupt(client)
            return self._aborted(CallEnd.NOT_STARTED, lacking, seconds)
        if result is not None:
            return self._judged(result, seconds)
        if self._death:
            return self._aborted(CallEnd.DIED, self._death, seconds)
        await self._interrupt(client)
        self.over = True
        detail = f"no sign of life for {self.spec.limits.idle_s:g} s"
        return self._aborted(CallEnd.SILENT, detail, seconds)

    async def _result_of(self, request: _Request) -> "ResultMessage | None":
        """Return the result that answers this prompt, or None if none will come: silence, or the end."""
        results: list[ResultMessage] = []

        async def receive() -> None:
            while not results:
                result = await self._result_inbox.receive()
                if _answers(result, request):
                    results.append(result)

        await first_of(receive, self._fatal.wait, self._watch_for_silence)
        while not results and self._result_inbox.statistics().current_buffer_used:
            result = self._result_inbox.receive_nowait()  # one that came just before the end still counts
            if _answers(result, request):
                results.append(result)
        return results[0] if results else None

    async def _watch_for_silence(self) -> None:
        limit = self.spec.limits.idle_s
        # A deadline that moves with each message: an event per message would cost more than this.
        while (left := limit - (time.monotonic() - self._activity)) > 0:
            await anyio.sleep(left)
            if self._callbacks.waiting:  # it waits for us, for example for an answer
                self._activity = time.monotonic()

    def _judged(self, result: "ResultMessage", seconds: float) -> CallResult:
        total = result.total_cost_usd or 0.0
        # The CLI adds up a conversation's cost, but starts from zero after a process that was killed.
        cost = total - self._cost_seen if total >= self._cost_seen else total
        self._cost_seen = total
        reported = bool(self._callbacks.reported)
        end = end_of(result, reported=reported)
        if end is CallEnd.INTERRUPTED and self._callbacks.unanswered:
            end = CallEnd.UNANSWERED
        if end is CallEnd.API_ERROR and self._callbacks.stop_reason == _CUT_SHORT:
            end = CallEnd.TRUNCATED  # reported like an API that failed
        end, detail = self._counted.end(end, detail_of(result, reported=reported))
        return CallResult(
            end=self._callbacks.over(end),
            detail=detail,
            text=result.result or self._callbacks.text,
            api_status=result.api_error_status,
            retry_after_s=self._retry_after(),
            cost_usd=self._counted.cost(cost),
            usage=replace(usage_of(result.usage), requests=self._callbacks.usage.requests),
            seconds=seconds,
            turns=result.num_turns,
        )

    def _aborted(self, end: CallEnd, detail: str, seconds: float) -> CallResult:
        """Return an exchange without a result. Its cost is that of the replies seen."""
        usage = self._callbacks.usage
        cost = self._counted.cost(self.spec.model.cost(usage), is_result=False)
        return CallResult(
            end=self._callbacks.over(end), detail=detail, cost_usd=cost, usage=usage, seconds=seconds
        )

    def _retry_after(self) -> float | None:
        resets_at = self._callbacks.resets_at or self._counted.resets_at
        return max(0.0, resets_at - time.time()) if resets_at else None

    async def _cut_off(self, client: "ClaudeSDKClient") -> None:
        result = await self._interrupt(client)
        self.cut_off = self._judged(result, 0.0) if result else self._aborted(CallEnd.INTERRUPTED, "", 0.0)

    async def _interrupt(self, client: "ClaudeSDKClient") -> "ResultMessage | None":
        """Interrupt the turn and return its result, if one comes. Closing it in mid-turn costs seconds."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(INTERRUPT_LIMIT_S):
            try:
                await client.interrupt()
                if not self._death:  # otherwise the end of the turn is not read
                    return await self._result_inbox.receive()
            except Exception as error:  # noqa: BLE001  there is nothing left to interrupt
                log.debug("session.interrupt.failed", error=repr(error))
        return None

    # --- the end of the process -------------------------------------------------------------------

    def _die(self, why: str) -> None:
        self._death = f"{why}{self._words}"
        self.over = True
        self._fatal.set()


async def _one_message(request: _Request) -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "uuid": request.id,
        "message": {"role": "user", "content": request.prompt},
        "parent_tool_use_id": None,
    }


def _answers(result: "ResultMessage", request: _Request) -> bool:
    """Whether this result is the answer to that prompt. Error results may name no prompt at all."""
    named = result.user_message_uuids or ([result.user_message_uuid] if result.user_message_uuid else [])
    return request.id in named if named else True
