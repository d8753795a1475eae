"""Asks through the Anthropic API: one streamed message, its cost by the price list."""

import json
import time
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from agents.ask import MAX_ANSWER_TOKENS, Ask, Reply, late
from agents.connection import ApiAccess, Connection
from agents.results import usage_of
from state.errors import UsageError
from state.records import CallEnd

if TYPE_CHECKING:
    from ssl import SSLContext

    from anthropic.types import Message as ApiMessage
    from anthropic.types import TextBlockParam

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}  # the gateway: never by way of the user's proxy


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
        return late(ask, began)

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
