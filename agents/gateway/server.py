"""Serves the Messages API on a loopback port inside the running event loop, for as long as a run lasts."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import MappingProxyType

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.gateway.call import COUNT_TOKENS, MESSAGES, Call, Mode, lane_path, read_address
from agents.gateway.ledger import Ledger
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Scenario, Values

_HOST = "127.0.0.1"
_GRACE = 1  # seconds that requests under way get when the server ends
_LIMIT = 3  # seconds after which the server is dropped, whatever it does
_BYTES_PER_TOKEN = 4  # a usual estimate; nothing depends on it
_NO_VALUES: Values = MappingProxyType({})


class Gateway:
    """The server as its users see it: where each lane is, and what went wrong."""

    def __init__(self, base_url: str, run_id: str, rehearsal: Rehearsal) -> None:
        self._base_url = base_url
        self._run_id = run_id
        self._rehearsal = rehearsal

    def __repr__(self) -> str:
        return f"<Gateway {self._base_url} run={self._run_id} problems={len(self.problems)}>"

    @property
    def problems(self) -> list[str]:
        """Each failed expectation and unexpected request, once, for people; empty if all went well."""
        return self._rehearsal.problems

    def lane_url(self, role: str, task: str, attempt: int | str, values: Values = _NO_VALUES) -> str:
        """The base URL for one session: `http://127.0.0.1:PORT/RUN/ROLE/TASK/ATTEMPT`.

        `values` are what `{name}` stands for in the replies of this lane, e.g. `{"workspace": "/abs/path"}`.
        """
        lane = (role, task, str(attempt))
        self._rehearsal.register("/".join(lane), values)
        return self._base_url + lane_path(self._run_id, lane)


@asynccontextmanager
async def serve_scenario(scenario: Scenario, *, run_id: str, ledger: Path) -> AsyncIterator[Gateway]:
    """Plays `scenario` for the run `run_id` and adds each answered request to the file `ledger`.

    An exception from the body comes out as it is, not in a group.
    """
    with Ledger(ledger) as lines:
        rehearsal = Rehearsal(scenario, run_id=run_id, ledger=lines)
        async with _serve(rehearsal) as base_url:
            yield Gateway(base_url, run_id, rehearsal)


@asynccontextmanager
async def _serve(mode: Mode) -> AsyncIterator[str]:
    listener = socket.create_server((_HOST, 0))  # it queues connections from here on: the URL is good at once
    server = _Server(_config(_app(mode)))
    serving = anyio.CancelScope(shield=True)  # a cancelled run still ends its server in order
    failure: BaseException | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_run, server, listener, serving)
            try:
                yield f"http://{_HOST}:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True
                serving.deadline = anyio.current_time() + _LIMIT
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        failure = group.exceptions[0]
    finally:
        listener.close()
    if failure is not None:
        raise failure


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: Ctrl-C belongs to the run."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _run(server: _Server, listener: socket.socket, scope: anyio.CancelScope) -> None:
    with scope:
        await server.serve(sockets=[listener])


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
    )


def _app(mode: Mode) -> Starlette:
    async def endpoint(request: Request) -> Response:
        address = read_address(request.scope["raw_path"])
        if request.method != "POST":
            return Response(status_code=404)
        try:
            body = await request.body()
        except ClientDisconnect:  # killed while it was asking; nobody is left to answer
            return Response(status_code=400)
        if address and address.endpoint == MESSAGES:
            return await mode.answer(Call(run_id=address.run_id, lane=address.lane, body=body))
        if address and address.endpoint == COUNT_TOKENS:
            return JSONResponse({"input_tokens": 1 + len(body) // _BYTES_PER_TOKEN})
        return mode.stray(request.url.path)

    return Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "HEAD", "POST"])])
