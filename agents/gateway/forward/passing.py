"""One call on its way: to the API, and its answer back to the client, chunk by chunk as it comes.

Nothing is buffered: a chunk is sent before the next one is read. The call ends upstream when the client
leaves or its session ends. An answer that the API cuts off is cut off for the client too.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agents.gateway.call import Refusal
from agents.gateway.forward.callers import CallerSession, refused
from agents.gateway.forward.meter import Meter
from agents.gateway.forward.upstream import Pair, to_client
from agents.gateway.listeners import client_gone, line_of

if TYPE_CHECKING:
    import httpx2
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_CLOSING_S = 2.0  # to close a connection to the API
_ELSEWHERE = range(300, 400)
_GOOD = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as it goes to the API. `hold_usd` is the most that it may cost. `meter` None: it is free."""

    client: "httpx2.AsyncClient"
    url: str
    headers: list[Pair]
    body: bytes
    meter: Meter | None = None
    hold_usd: float = 0.0
    turn: AbstractAsyncContextManager[Callable[[], None]] | None = None  # held as long as it takes


class Passing(Response):
    """The answer to one call. It has no body of its own."""

    def __init__(self, session: CallerSession, sent: Sent) -> None:
        super().__init__()
        self._session = session
        self._sent = sent
        self._began = False
        self._over = False
        self._settled = False
        self._begun: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on. Called by the server."""
        line = line_of(scope)
        with line.unattended():
            error: Refusal | _Cut | None = None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until, lambda: client_gone(receive), tasks.cancel_scope)
                tasks.start_soon(_until, self._session.ended.wait, tasks.cancel_scope)
                try:
                    await self._passed(send)
                except (Refusal, _Cut) as found:
                    error = found
                tasks.cancel_scope.cancel()
            if isinstance(error, Refusal):
                await refused(error, self._session).response()(scope, receive, send)
            elif error or (self._session.ended.is_set() and not self._over):
                line.drop()
                await client_gone(receive)

    async def _passed(self, send: Send) -> None:
        sent, account = self._sent, self._session.account
        if sent.meter is None or sent.turn is None:
            await self._stream(send)
            return
        async with sent.turn as self._begun, account.hold(sent.hold_usd):
            await self._stream(send)

    async def _stream(self, send: Send) -> None:
        """Ask the API and send its answer on.

        Raises:
            Refusal: it cannot be reached, or answers with a redirect.
            _Cut: its answer broke off.
        """
        import httpx2

        sent = self._sent
        request = sent.client.build_request("POST", sent.url, headers=sent.headers, content=sent.body)
        counted = False
        try:
            response = await sent.client.send(request, stream=True)
            counted = response.status_code in _GOOD
            try:
                await self._relay(response, send)
            finally:
                with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSING_S):
                    await response.aclose()
        except httpx2.HTTPError as error:
            if self._began:
                raise _Cut from error
            why = str(error) or repr(error)
            raise Refusal(
                f"{sent.url} cannot be reached: {why}. Check the network and ANTHROPIC_BASE_URL", 502
            ) from error
        except anyio.get_cancelled_exc_class():
            counted = counted or not self._began  # the client left, and the API may have begun
            raise
        finally:
            if counted:
                self._settle()

    async def _relay(self, response: "httpx2.Response", send: Send) -> None:
        status, meter = response.status_code, self._sent.meter
        if status in _ELSEWHERE:
            self._began = True
            where = response.headers.get("location", "")[:200] or "nowhere"
            raise Refusal(  # the key would go there too
                f"{self._sent.url} redirects to {where}, and sq does not send the key there. "
                "Set ANTHROPIC_BASE_URL to the final address",
                400,
            )
        self._session.resets_at = (
            None if status in _GOOD else reset_in(status, dict(response.headers), now=time.time())
        )
        start = {"type": "http.response.start", "status": status, "headers": to_client(response.headers.raw)}
        self._began = True
        await send(start)
        async for chunk in response.aiter_raw():
            if meter and status in _GOOD:
                self._begun()
                meter.feed(chunk)
                if meter.ended:  # before the client hears of it, who may compare
                    self._settle()
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._over = True
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _settle(self) -> None:
        """Add the cost of the call to its session, once."""
        if self._sent.meter and not self._settled:
            self._settled = True
            spend = self._sent.meter.spend()
            self._session.settle(spend.tokens, partial=spend.partial)


class _Cut(Exception):  # noqa: N818  not an error of ours
    """The API's answer broke off."""


async def _until(event: Callable[[], Awaitable[object]], scope: anyio.CancelScope) -> None:
    await event()
    scope.cancel()


_BUCKETS = ("requests", "tokens", "input-tokens", "output-tokens")
_LIMITED = 429
_PREFIX = "anthropic-ratelimit-"


def reset_in(status: int, headers: Mapping[str, str], *, now: float) -> float | None:
    """Return when a refused request may be sent again, in seconds since 1970, or None if that is not named.

    `retry-after` is the API's own word. Without it, the limits that are used up decide, and the one that
    ends last.

    Args:
        status: of the answer. A limit is looked for in that of 429 alone.
        headers: of the answer, with names in lower case.
        now: seconds since 1970.
    """
    after = headers.get("retry-after", "")
    if (named := _seconds(after)) is not None:
        return now + max(0.0, named)
    if (date := _date(after)) is not None:
        return date
    if status != _LIMITED:
        return None
    return max(_used_up(headers), default=None)


def _used_up(headers: Mapping[str, str]) -> Iterator[float]:
    for bucket in _BUCKETS:
        if _seconds(headers.get(f"{_PREFIX}{bucket}-remaining", "")) == 0:
            yield from _time(headers.get(f"{_PREFIX}{bucket}-reset", ""))
    unified = f"{_PREFIX}unified-"
    for name, value in headers.items():
        if name.startswith(unified) and name.endswith("status") and value == "rejected":
            yield from _time(headers.get(f"{name.removesuffix('status')}reset", ""))


def _time(text: str) -> Iterator[float]:
    """Yield the time in `text`, an RFC 3339 time or seconds since 1970, if it is one."""
    if (seconds := _seconds(text)) is not None:
        yield seconds
        return
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return
    yield (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _seconds(text: str) -> float | None:
    try:
        found = float(text or "nan")
    except ValueError:
        return None
    return found if 0 <= found < 1e11 else None  # noqa: PLR2004  no NaN, no infinity


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError):
        return None
