"""The forwarding gateway: each request of a session goes on to the real API with the user's key.

It is served on a loopback port for as long as a run lasts.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from agents.gateway.call import Call, Refusal, wrong_path
from agents.gateway.forward.callers import Callers, CallerSession
from agents.gateway.forward.fields import read_request
from agents.gateway.forward.meter import Meter, Tokens, usd
from agents.gateway.forward.passing import Passing, Sent
from agents.gateway.forward.prefixes import SharedPrefixes
from agents.gateway.forward.upstream import Upstream, client_for, to_upstream
from agents.gateway.listeners import Listeners, listening
from agents.gateway.server import app_of
from state.records.calls import Usage
from state.settings.records import CHARACTERS_PER_TOKEN, Model

if TYPE_CHECKING:
    from httpx2 import AsyncClient


class ForwardGateway:
    """The server for its users: passes for sessions, and sockets to listen on."""

    def __init__(self, listeners: Listeners, callers: Callers) -> None:
        self._listeners = listeners
        self._callers = callers

    @property
    def port(self) -> int:
        """The loopback port of all callers."""
        return self._listeners.port

    def admit(
        self,
        caller: tuple[str, str, str],
        model: Model,
        tools: tuple[str, ...] = (),
        cap_usd: float | None = None,
    ) -> AbstractContextManager[CallerSession]:
        """Provide a pass for one session, good while the block runs (as `Callers.opened`)."""
        return self._callers.opened(self._listeners.base_url, caller, model, tools, cap_usd)

    def listen_on(self, socket: Path) -> None:
        """Listen on a unix socket too, for sessions without a network. The token is the check there too."""
        self._listeners.unix(socket)


@asynccontextmanager
async def serve_forward(upstream: Upstream, *, run_id: str) -> AsyncIterator[ForwardGateway]:
    """Pass on the requests of the run `run_id` to `upstream` while the block runs.

    An exception from the body is raised as it is, not in a group.
    """
    callers = Callers(run_id, traces=upstream.traces is not None)
    async with (
        client_for(upstream) as client,
        listening(app_of(Forward(upstream, client, callers))) as listeners,
    ):
        yield ForwardGateway(listeners, callers)


class Forward:
    """Passes on what an open session of `callers` asks, and refuses everything else."""

    def __init__(self, upstream: Upstream, client: Callable[[], "AsyncClient"], callers: Callers) -> None:
        self._upstream = upstream
        self._client = client
        self._callers = callers
        self._prefixes = SharedPrefixes()

    async def answer(self, call: Call) -> Response:
        """As `Mode`: the API's answer as it comes, or an error that says why the call was not made."""
        try:
            session = self._callers.session_of(call)
            asked = read_request(call)
            session.allow(call, asked.model, asked.offered)
        except Refusal as error:
            return error.response()
        meter = Meter(call.body, most=asked.max_tokens, stream=asked.stream)
        hold = _most_usd(call.body, asked.max_tokens, session.model)
        turn = self._prefixes.turn(asked.prefix)
        return Passing(session, replace(self._sent(call), meter=meter, hold_usd=hold, turn=turn))

    async def count(self, call: Call) -> Response:
        """As `Mode`: the API counts tokens free of charge."""
        try:
            session = self._callers.session_of(call)
            session.allow_model(read_request(call).model)
        except Refusal as error:
            return error.response()
        return Passing(session, self._sent(call))

    async def traces(self, call: Call) -> Response:
        """As `Mode`: telemetry goes to its receiver, if it is on."""
        try:
            session = self._callers.session_of(call)
        except Refusal as error:
            return error.response()
        traces = self._upstream.traces
        if traces is None:
            return wrong_path(f"/{call.caller}/v1/traces").response()
        headers = to_upstream(call.headers, traces.headers)
        return Passing(session, Sent(client=self._client(), url=traces.url, headers=headers, body=call.body))

    def stray(self, path: str) -> Response:
        """As `Mode`: HTTP 404."""
        return wrong_path(path).response()

    def _sent(self, call: Call) -> Sent:
        return Sent(
            client=self._client(),
            url=self._upstream.url(call.endpoint, call.query),
            headers=to_upstream(call.headers, self._upstream.headers),
            body=call.body,
        )


def _most_usd(body: bytes, most: int, model: Model) -> float:
    """Return about the most that a call may cost: its input written to the cache, and its longest answer."""
    usage = Usage(cache_write_tokens=len(body) // CHARACTERS_PER_TOKEN, output_tokens=most)
    return usd(Tokens(usage=usage), model)
