"""A request for the model, the caller it belongs to, and the port for objects that answer one."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, unquote

from starlette.responses import Response

MESSAGES = ("v1", "messages")
COUNT_TOKENS = ("v1", "messages", "count_tokens")
TRACES = ("v1", "traces")
# The variables that tell Claude Code where its spans go.
TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
TRACES_HEADERS = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
_OWNER = 4  # segments before those: run, role, task, attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The path `/RUN/ROLE/TASK/ATTEMPT/v1/messages`, taken apart. `caller` is ROLE/TASK/ATTEMPT."""

    run_id: str
    caller: str
    endpoint: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of a caller. `headers` have names in lower case, `query` is as it was sent, without `?`."""

    run_id: str
    caller: str
    body: bytes
    endpoint: tuple[str, ...] = MESSAGES
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


class GatewayMode(Protocol):
    """A way to answer the calls of a run: rehearsal, or forwarding."""

    async def answer(self, call: Call) -> Response:
        """Return the response to `call`, or an error response if there is none."""
        ...

    async def count(self, call: Call) -> Response:
        """Return the response to `call` for the number of tokens of a request."""
        ...

    async def traces(self, call: Call) -> Response:
        """Return the response to `call`, which carries telemetry of a session."""
        ...

    def stray(self, path: str) -> Response:
        """Return the response to a POST to `path` that is no call for the model."""
        ...


def caller_path(run_id: str, caller: tuple[str, str, str]) -> str:
    """Return the path of a base URL. Each segment is quoted, so that a name may hold any character."""
    return "".join(f"/{quote(segment, safe='')}" for segment in (run_id, *caller))


def read_address(path: bytes) -> Address | None:
    """Return the address in the raw `path` of a request, or None if it has no owner."""
    segments = tuple(map(unquote, path.decode("ascii", "replace").split("?")[0].split("/")[1:]))
    if len(segments) <= _OWNER:
        return None
    run_id, *caller = segments[:_OWNER]
    return Address(run_id=run_id, caller="/".join(caller), endpoint=segments[_OWNER:])
