"""A Messages API on loopback that plays a scenario to clients that name no caller in their address.

The gateway of a rehearsal knows a conversation by its path. A real API has one path for all, so here the
words of the request say which caller it belongs to.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.gateway.call import Call
from agents.gateway.conversation import read_request
from agents.gateway.ledger import Ledger
from agents.gateway.listeners import listening
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Scenario

_RUN = "live"


@dataclass(frozen=True, kw_only=True)
class Conversations:
    """The conversations of `caller`: those whose system text and messages hold all these words."""

    caller: str
    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Served:
    """The API while it is served. `problems`: requests that the scenario has no answer to."""

    base_url: str
    problems: list[str]


@asynccontextmanager
async def messages_api(
    scenario: Scenario, conversations: Sequence[Conversations], ledger: Path
) -> AsyncIterator[Served]:
    """Play `scenario` on a loopback port; the first of `conversations` that fits a request is its caller."""
    with Ledger(ledger) as lines:
        rehearsal = Rehearsal(scenario, run_id=_RUN, ledger=lines)
        async with listening(_app(rehearsal, conversations)) as listeners:
            yield Served(base_url=listeners.base_url, problems=rehearsal.problems)


def _app(rehearsal: Rehearsal, conversations: Sequence[Conversations]) -> Starlette:
    async def messages(request: Request) -> Response:
        body = await request.body()
        return await rehearsal.answer(Call(run_id=_RUN, caller=_caller_of(body, conversations), body=body))

    async def count_tokens(request: Request) -> Response:
        return JSONResponse({"input_tokens": 1 + len(await request.body()) // 4})

    return Starlette(
        routes=[
            Route("/v1/messages", messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
        ]
    )


def _caller_of(body: bytes, conversations: Sequence[Conversations]) -> str:
    everything = read_request(body).everything
    fitting = (one.caller for one in conversations if all(words in everything for words in one.words))
    return next(fitting, "none that is known")
