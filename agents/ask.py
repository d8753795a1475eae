"""One structured answer from a model: a prompt and a schema in, checked JSON out.

Two backends behind one face, held to it by one contract suite: the Anthropic API (with a key) and the Claude
CLI (with a login). Neither retries by itself and neither outlives its deadline.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import anyio

from agents.claude_code import connect
from agents.connection import ApiAccess, Connection, Lane
from agents.process import LastWords
from agents.results import detail_of, end_of, reset_named_in, usage_of
from state.errors import UsageError
from state.records import CallEnd, Usage
from state.settings import CHARACTERS_PER_TOKEN, Model

if TYPE_CHECKING:
    from ssl import SSLContext

    from anthropic.types import Message as ApiMessage
    from anthropic.types import TextBlockParam
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

MAX_ANSWER_TOKENS = 4_000
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}  # the gateway: never by way of the user's proxy


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked. `schema` is the JSON schema of the answer, an object.

    `shared` stands before the prompt, the same to the byte in several asks, so that the API caches it.
    `on_begun` is called when the model begins to answer: from then on the cache is there.
    """

    lane: Lane
    model: Model
    system: str
    prompt: str
    shared: str = ""
    on_begun: Callable[[], None] | None = None
    schema: Mapping[str, Any]
    deadline_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. `answer` is there only where `end` is completed; `text` where it is unusable.

    `retry_after_s`: the API named this time until it can be asked again.
    """

    end: CallEnd
    answer: dict[str, Any] | None = None
    text: str = ""
    detail: str = ""
    api_status: int | None = None
    retry_after_s: float | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


def room_of(model: Model) -> int:
    """The characters that a prompt for this model may have, its answer and some slack taken off."""
    return max(0, model.context * 9 // 10 - MAX_ANSWER_TOKENS) * CHARACTERS_PER_TOKEN


class Asker(Protocol):
    """Asks a model once. Never raises for what the model or the API does: that is in the reply."""

    async def ask(self, ask: Ask) -> Reply:
        """The model's answer, or why there is none."""
        ...


class ApiAsker:
    """Asks through the Anthropic API."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return f"<ApiAsker {self._connection}>"

    async def ask(self, ask: Ask) -> Reply:
        """As `Asker`."""
        began = time.monotonic()
        access = self._connection.api_access(ask.lane)
        if access is None:
            raise UsageError("the API backend needs an API key: set ANTHROPIC_API_KEY")
        with anyio.move_on_after(ask.deadline_s):
            return await self._asked(ask, access, began)
        return _late(ask, began)

    async def _asked(self, ask: Ask, access: ApiAccess, began: float) -> Reply:
        import anthropic
        import httpx2

        here = urlsplit(access.base_url or "").hostname in _LOOPBACK
        direct = {"http://": None, "all://": None} if here else None
        try:
            async with (
                anthropic.AsyncAnthropic(
                    api_key=access.key,
                    base_url=access.base_url,
                    max_retries=0,
                    timeout=ask.deadline_s,
                    http_client=anthropic.DefaultAsyncHttpxClient(verify=_trusted(), mounts=direct),
                ) as client,
                client.messages.stream(
                    model=ask.model.id,
                    max_tokens=MAX_ANSWER_TOKENS,
                    system=ask.system,
                    messages=[{"role": "user", "content": _content(ask)}],
                    output_config={"format": {"type": "json_schema", "schema": dict(ask.schema)}},
                ) as stream,
            ):
                async for _ in stream:
                    if ask.on_begun:
                        ask.on_begun()
                    break
                message = await stream.get_final_message()
            return _read_api(ask, message, time.monotonic() - began)
        except anthropic.APIStatusError as error:
            return Reply(
                end=CallEnd.API_ERROR,
                detail=error.message,
                api_status=error.status_code,
                retry_after_s=_seconds(error.response.headers.get("retry-after")),
                seconds=time.monotonic() - began,
            )
        except (anthropic.APIError, httpx2.HTTPError) as error:  # a stream that breaks off comes out raw
            return Reply(end=CallEnd.API_ERROR, detail=str(error), seconds=time.monotonic() - began)
        except (
            AttributeError,
            AssertionError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # status 200 and no message: a proxy's page
            detail = f"what answered is not the API: {error!r}"
            return Reply(end=CallEnd.API_ERROR, detail=detail, seconds=time.monotonic() - began)


def _content(ask: Ask) -> "list[TextBlockParam]":
    prompt: TextBlockParam = {"type": "text", "text": ask.prompt}
    if not ask.shared:
        return [prompt]
    return [{"type": "text", "text": ask.shared, "cache_control": {"type": "ephemeral"}}, prompt]


@cache
def _trusted() -> "SSLContext":
    """The certificates to trust, read once: it takes some 25 ms, in which everything else stands still."""
    import httpx2

    return httpx2.create_ssl_context()


def _read_api(ask: Ask, message: "ApiMessage", seconds: float) -> Reply:
    usage = usage_of(message.usage.model_dump())
    text = "".join(block.text for block in message.content if block.type == "text")
    answer = _json_object(text)
    end = CallEnd.COMPLETED
    if message.stop_reason == "refusal":
        end = CallEnd.REFUSED
    elif message.stop_reason == "max_tokens":
        end = CallEnd.TRUNCATED
    elif answer is None:
        end = CallEnd.UNUSABLE
    return Reply(
        end=end,
        answer=answer if end is CallEnd.COMPLETED else None,
        text=text if end is CallEnd.UNUSABLE else "",
        detail="" if end is CallEnd.COMPLETED else f"the model said: {text[:500]}",
        cost_usd=ask.model.cost(usage),
        usage=usage,
        seconds=seconds,
    )


class CliAsker:
    """Asks through a Claude Code process without tools."""

    def __init__(self, connection: Connection, *, launcher: Path, workspace: Path) -> None:
        self._connection = connection
        self._launcher = launcher
        self._workspace = workspace

    def __repr__(self) -> str:
        return f"<CliAsker {self._connection}>"

    async def ask(self, ask: Ask) -> Reply:
        """As `Asker`."""
        began = time.monotonic()
        with anyio.move_on_after(ask.deadline_s):
            return await self._asked(ask, began)
        return _late(ask, began)

    async def _asked(self, ask: Ask, began: float) -> Reply:
        from claude_agent_sdk import ClaudeSDKClient, ResultMessage

        words = LastWords()
        client = ClaudeSDKClient(self._options(ask, words))
        result: ResultMessage | None = None
        resets_at: float | None = None
        try:
            if why := await connect(client, words, limit_s=math.inf):  # the ask's deadline holds
                return Reply(end=CallEnd.DIED, detail=why, seconds=time.monotonic() - began)
            await client.query(f"{ask.shared}\n\n{ask.prompt}" if ask.shared else ask.prompt)
            if ask.on_begun:  # nothing is cached from one process to the next
                ask.on_begun()
            try:
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        result = message
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
            system_prompt=ask.system,
            tools=[],
            permission_mode="dontAsk",
            strict_mcp_config=True,
            setting_sources=[],
            skills=[],
            verbatim_prompts=True,
            output_format={"type": "json_schema", "schema": dict(ask.schema)},
            extra_args={"no-session-persistence": None},
            env=self._connection.session_environment(ask.lane),
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


def _late(ask: Ask, began: float) -> Reply:
    return Reply(
        end=CallEnd.TIMED_OUT,
        detail=f"no answer within {ask.deadline_s:.0f} s",
        seconds=time.monotonic() - began,
    )


def _seconds(retry_after: str | None) -> float | None:
    """The header's seconds; its other form, a date, is not used by the API."""
    try:
        return float(retry_after) if retry_after else None
    except ValueError:
        return None


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
