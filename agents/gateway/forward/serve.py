"""Serves the forwarding gateway on a loopback port for as long as a run lasts."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

from agents.gateway.forward.forward import Forward
from agents.gateway.forward.lanes import Lanes, LaneSession, Terms
from agents.gateway.forward.upstream import Upstream, client_for
from agents.gateway.listeners import Listeners, listening
from agents.gateway.server import app_of
from state.settings.records import Model


class ForwardGateway:
    """The server for its users: passes for sessions, and sockets to listen on."""

    def __init__(self, listeners: Listeners, lanes: Lanes, upstream: Upstream) -> None:
        self._listeners = listeners
        self._lanes = lanes
        self._upstream = upstream

    def __repr__(self) -> str:
        return f"<ForwardGateway {self._listeners.base_url}>"

    @property
    def port(self) -> int:
        """The loopback port of all lanes."""
        return self._listeners.port

    def opened(self, terms: Terms) -> AbstractContextManager[LaneSession]:
        """Provide a pass for one session, good while the block runs."""
        return self._lanes.opened(terms, self._listeners.base_url)

    def admit(
        self, lane: tuple[str, str, str], model: Model, tools: tuple[str, ...], cap_usd: float | None
    ) -> AbstractContextManager[LaneSession]:
        """As `opened`."""
        return self.opened(Terms(lane=lane, model=model, tools=tools, cap_usd=cap_usd))

    def listen_on(self, socket: Path) -> None:
        """Listen on a unix socket too, for sessions without a network. The token is the check there too."""
        self._listeners.unix(socket)


@asynccontextmanager
async def serve_forward(upstream: Upstream, *, run_id: str) -> AsyncIterator[ForwardGateway]:
    """Pass on the requests of the run `run_id` to `upstream` while the block runs.

    An exception from the body is raised as it is, not in a group.
    """
    lanes = Lanes(run_id, traces=upstream.traces is not None)
    async with (
        client_for(upstream) as client,
        listening(app_of(Forward(upstream, client, lanes))) as listeners,
    ):
        yield ForwardGateway(listeners, lanes, upstream)
