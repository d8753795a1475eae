"""Serves the Messages API on a loopback port inside the running event loop, for as long as a run lasts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.gateway.call import (
    COUNT_TOKENS,
    MESSAGES,
    TRACES,
    Call,
    GatewayMode,
    caller_path,
    error_body,
    read_address,
)
from agents.gateway.listeners import Listeners, listening

if TYPE_CHECKING:
    from agents.gateway.rehearsal import Rehearsal
    from agents.gateway.script import Scenario, Values

_LONGEST = 32_000_000  # bytes of a request, as at the API
_TOO_LONG = f"sq gateway: the request is longer than {_LONGEST:,} bytes. Send a shorter one"
_BODY_S = 60.0
_TOO_SLOW = f"sq gateway: the request was not there within {_BODY_S:.0f} seconds"
_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]
_ONLY_POST = "sq gateway: only POST is served, to v1/messages and v1/messages/count_tokens of a caller"
_NO_VALUES: "Values" = MappingProxyType({})


class Gateway:
    """The server for its users: the address of each caller, and the problems."""

    def __init__(self, listeners: Listeners, run_id: str, rehearsal: "Rehearsal") -> None:
        self._listeners = listeners
        self._base_urls: dict[str, str] = {}
        self._run_id = run_id
        self._rehearsal = rehearsal

    @property
    def problems(self) -> list[str]:
        """Each failed expectation and unexpected request, once, for people. It is empty if all went well."""
        return self._rehearsal.problems

    def caller_url(self, role: str, task: str, attempt: int | str, values: "Values" = _NO_VALUES) -> str:
        """Return the base URL for one session: `http://127.0.0.1:PORT/RUN/ROLE/TASK/ATTEMPT`.

        `values` fill `{name}` in the replies of this caller, e.g. `{"workspace": "/abs/path"}`.
        """
        caller = (role, task, str(attempt))
        self._rehearsal.register("/".join(caller), values)
        return self._base_url("/".join(caller)) + caller_path(self._run_id, caller)

    def listen_on(self, socket: Path) -> None:
        """Listen on a unix socket too, for sessions without a network."""
        self._listeners.unix(socket)

    @property
    def port(self) -> int:
        """The port of the callers' addresses."""
        return self._listeners.port

    def _base_url(self, caller: str) -> str:
        """Return the port that all callers share, or an own one if this caller's are to be refused."""
        if caller not in self._base_urls:
            seconds = self._rehearsal.refuses(caller)
            shared = self._listeners.base_url
            self._base_urls[caller] = self._listeners.refusing(seconds) if seconds else shared
        return self._base_urls[caller]


@asynccontextmanager
async def serve_scenario(scenario: "Scenario", *, run_id: str, ledger: Path) -> AsyncIterator[Gateway]:
    """Play `scenario` for the run `run_id` and add each answered request to the file `ledger`.

    An exception from the body is raised as it is, not in a group.
    """
    from agents.gateway.ledger import Ledger
    from agents.gateway.rehearsal import Rehearsal

    with Ledger(ledger) as lines:
        rehearsal = Rehearsal(scenario, run_id=run_id, ledger=lines)
        async with listening(app_of(rehearsal)) as listeners:
            yield Gateway(listeners, run_id, rehearsal)


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield the parts of a body. An `OverflowError` says that it is too long."""
    length = 0
    async for piece in request.stream():
        length += len(piece)
        if length > _LONGEST:
            raise OverflowError
        yield piece


def app_of(mode: GatewayMode) -> Starlette:
    """Return the server that answers in this mode."""

    async def endpoint(request: Request) -> Response:
        address = read_address(request.scope["raw_path"])
        if request.method != "POST":
            return JSONResponse(error_body(_ONLY_POST, 404), status_code=404)
        try:
            with anyio.fail_after(_BODY_S):
                body = b"".join([piece async for piece in _pieces(request)])
        except TimeoutError:
            return JSONResponse(error_body(_TOO_SLOW, 408), status_code=408, headers={"connection": "close"})
        except ClientDisconnect:  # the client was killed while it was asking
            return Response(status_code=400)
        except OverflowError:
            return JSONResponse(error_body(_TOO_LONG, 413), status_code=413, headers={"connection": "close"})
        answers = {MESSAGES: mode.answer, COUNT_TOKENS: mode.count, TRACES: mode.traces}
        if address is None or address.endpoint not in answers:
            return mode.stray(request.url.path)
        call = Call(
            run_id=address.run_id,
            caller=address.caller,
            body=body,
            endpoint=address.endpoint,
            query=request.scope["query_string"],
            headers=tuple(request.scope["headers"]),
        )
        return await answers[address.endpoint](call)

    return Starlette(routes=[Route("/{path:path}", endpoint, methods=_METHODS)])
