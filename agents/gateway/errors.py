"""An error in the form of the Messages API."""

from pydantic import JsonValue


def error_body(text: str, kind: str = "invalid_request_error") -> dict[str, JsonValue]:
    """Return the body of an error. The default `kind` is for a fault of the caller (HTTP 400)."""
    return {"type": "error", "error": {"type": kind, "message": text}}
