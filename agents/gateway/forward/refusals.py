"""Requests that the gateway refuses: an error in the form of the Messages API that says what to do."""

from starlette.responses import JSONResponse, Response

from agents.gateway.errors import error_body
from state.errors import SqError

NOT_A_LANE = "not_found_error"
_NO_RETRY = {"x-should-retry": "false"}


class Refusal(SqError):  # noqa: N818  not an error but an answer
    """A request is not passed on. `status` and `kind` are those of the API for such an error."""

    def __init__(self, message: str, *, status: int, kind: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def response(self) -> Response:
        """Return the error for the client, which is asked not to repeat the request."""
        return JSONResponse(error_body(str(self), self.kind), status_code=self.status, headers=_NO_RETRY)


def wrong_token() -> Refusal:
    """Return the refusal of a token that was never given, or whose session has ended."""
    return Refusal(
        "sq gateway: this token is not valid. It is good for one session of an sq run and ends with it. "
        "Use your own key at the API's own address",
        status=401,
        kind="authentication_error",
    )


def wrong_path(path: str) -> Refusal:
    """Return the refusal of a path that is not the caller's, or that no caller has."""
    return Refusal(
        f"sq gateway: {path} is not served for this token. It serves POST v1/messages and "
        "v1/messages/count_tokens below the base URL that sq gave to this session. Use that base URL",
        status=404,
        kind=NOT_A_LANE,
    )


def wrong_model(asked: str, allowed: str) -> Refusal:
    """Return the refusal of a model that is not the caller's."""
    return Refusal(
        f"sq gateway: this session may use the model {allowed}, and the request names {asked or 'none'}. "
        f"Ask {allowed}, or choose another model for the role (`sq run --model`)",
        status=403,
        kind="permission_error",
    )


def not_a_request(why: str) -> Refusal:
    """Return the refusal of a body that is no request for a model."""
    return Refusal(
        f"sq gateway: not a Messages API request: {why}. Send a JSON object with a model",
        status=400,
        kind="invalid_request_error",
    )


def tools_missing(names: list[str]) -> Refusal:
    """Return the refusal of a first request without the typed tools of its role."""
    return Refusal(
        f"sq gateway: the first request of this session does not offer its model {', '.join(names)}. "
        "sq ends this session and starts it again",
        status=403,
        kind="permission_error",
    )


def used_up(spent_usd: float, cap_usd: float) -> Refusal:
    """Return the refusal of a call for which its budget has no room. Claude Code does not repeat it."""
    return Refusal(
        f"sq gateway: this session's share of the budget, ${cap_usd:.2f}, is used up "
        f"(${spent_usd:.2f} spent). Give the run a larger one (`sq resume RUN --budget USD`)",
        status=402,
        kind="billing_error",
    )


def unreachable(address: str, why: str) -> Refusal:
    """Return the error for an API that cannot be reached. sq tries again."""
    return Refusal(
        f"sq gateway: {address} cannot be reached: {why}. Check the network and ANTHROPIC_BASE_URL",
        status=502,
        kind="api_error",
    )


def sent_elsewhere(address: str, where: str) -> Refusal:
    """Return the error for an API that answers with a redirect, which would carry the key elsewhere."""
    return Refusal(
        f"sq gateway: {address} redirects to {where[:200] or 'nowhere'}, and sq does not send the key there. "
        "Set ANTHROPIC_BASE_URL to the final address",
        status=400,
        kind="invalid_request_error",
    )
