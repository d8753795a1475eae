"""A request for the model, the caller it belongs to, the port for objects that answer one, and errors."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, unquote

from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from state.errors import SqError

MESSAGES = ("v1", "messages")
COUNT_TOKENS = ("v1", "messages", "count_tokens")
TRACES = ("v1", "traces")
# The variables that tell Claude Code where its spans go.
TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
TRACES_HEADERS = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
_OWNER = 4  # segments before those: run, role, task, attempt
_KINDS = {  # the API's own names
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_SERVER_ERRORS = 500  # from here on the error is the server's
_NO_RETRY = {"x-should-retry": "false"}


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


def error_body(text: str, status: int = 400, code: str | None = None) -> dict[str, JsonValue]:
    """Return the body of an error with this status, usually a fault of the caller, and with its code."""
    usual = "api_error" if status >= _SERVER_ERRORS else "invalid_request_error"
    details: dict[str, JsonValue] = {"details": {"error_code": code}} if code else {}
    return {"type": "error", "error": {"type": _KINDS.get(status, usual), "message": text, **details}}


class Refusal(SqError):  # noqa: N818  not an error but an answer
    """A request is not passed on. `status` is that of the API for such an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"sq gateway: {message}")
        self.status = status

    def response(self) -> Response:
        """Return the error for the client, which is asked not to repeat the request."""
        return JSONResponse(error_body(str(self), self.status), status_code=self.status, headers=_NO_RETRY)


def wrong_path(path: str) -> Refusal:
    """Return the refusal of a path that is not the caller's, or that no caller has."""
    return Refusal(
        f"{path} is not served for this token. It serves POST v1/messages and v1/messages/count_tokens "
        "below the base URL that sq gave to this session. Use that base URL",
        404,
    )
