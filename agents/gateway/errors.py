"""Errors in the form of the Messages API, and requests that the forwarding gateway refuses with one."""

from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from state.errors import SqError

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


def error_body(text: str, status: int = 400) -> dict[str, JsonValue]:
    """Return the body of an error with this status. The usual one is for a fault of the caller."""
    usual = "api_error" if status >= _SERVER_ERRORS else "invalid_request_error"
    return {"type": "error", "error": {"type": _KINDS.get(status, usual), "message": text}}


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
