"""Asks through the Anthropic API: one streamed message, with its cost by the price list."""

import sys
import time
from functools import cache
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from agents.access import ApiAccess, Connection
from agents.ask.port import Ask, Reply, error_words, from_api, is_here, late, seconds_of, to_api
from agents.claude_code.results import usage_of
from agents.sdks import API_SDK, import_sdks
from state.errors import UsageError
from state.records.calls import CallEnd

if TYPE_CHECKING:
    from ssl import SSLContext


class ApiAsker:
    """Asks through the Anthropic API."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def ask(self, ask: Ask) -> Reply:
        """As `Asker`. The first question of a run imports the SDK, in a thread: it takes long."""
        if "anthropic" not in sys.modules:
            await anyio.to_thread.run_sync(import_sdks, API_SDK)
        began = time.monotonic()
        access = self._connection.api_access(ask.caller)
        if access is None:
            raise UsageError("the API backend needs an API key: set ANTHROPIC_API_KEY")
        with anyio.move_on_after(ask.deadline_s):
            return await self._asked(ask, access, began)
        return late(ask, began)

    async def _asked(self, ask: Ask, access: ApiAccess, began: float) -> Reply:
        import anthropic
        import httpx2

        try:
            direct = {"http://": None, "all://": None} if is_here(access.base_url or "") else None
            async with (
                anthropic.AsyncAnthropic(
                    api_key=access.key,
                    base_url=access.base_url,
                    max_retries=0,
                    timeout=ask.deadline_s,
                    http_client=anthropic.DefaultAsyncHttpxClient(verify=_trusted(), mounts=direct),
                ) as client,
                client.messages.stream(**to_api(ask)) as stream,
            ):
                async for _ in stream:
                    if ask.on_begun:
                        ask.on_begun()
                    break
                message = await stream.get_final_message()
            text = "".join(block.text for block in message.content if block.type == "text")
            usage = usage_of(message.usage.model_dump())
            return from_api(ask, text, message.stop_reason, usage, began=began)
        except anthropic.APIStatusError as error:
            return Reply(
                end=CallEnd.API_ERROR,
                detail=error_words(error.body) or error.message,
                api_status=error.status_code,
                api_code=error.error_code or "",
                retry_after_s=seconds_of(error.response.headers.get("retry-after")),
                seconds=time.monotonic() - began,
            )
        except (anthropic.APIError, httpx2.HTTPError) as error:  # a broken stream raises the latter
            return Reply(end=CallEnd.API_ERROR, detail=str(error), seconds=time.monotonic() - began)
        except (
            AttributeError,
            AssertionError,
            ImportError,  # a SOCKS proxy without its library
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # status 200 and no message: a proxy's page
            detail = f"the server is not the API: {error!r}"
            return Reply(end=CallEnd.API_ERROR, detail=detail, seconds=time.monotonic() - began)


@cache
def _trusted() -> "SSLContext":
    """Return the certificates to trust, read once: that takes some 25 ms, which block everything else."""
    import httpx2

    return httpx2.create_ssl_context()
