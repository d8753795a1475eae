"""Reads the meaning of a CLI result from `is_error`, `terminal_reason` and `api_error_status`.

The subtype alone is not enough: an API error arrives as `subtype: "success"`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from state.records.calls import CallEnd, Usage

if TYPE_CHECKING:
    from claude_agent_sdk import ResultMessage

_BY_TERMINAL_REASON = {
    "aborted_streaming": CallEnd.INTERRUPTED,
    "aborted_tools": CallEnd.INTERRUPTED,
    "max_turns": CallEnd.MAX_TURNS,
    "api_error": CallEnd.API_ERROR,
    "prompt_too_long": CallEnd.API_ERROR,
    "structured_output_retry_exhausted": CallEnd.UNUSABLE,
}
_STOPPED = "hook_stopped"
_ABORTED = {reason for reason, end in _BY_TERMINAL_REASON.items() if end is CallEnd.INTERRUPTED}
_BY_SUBTYPE = {
    "error_max_turns": CallEnd.MAX_TURNS,
    "error_max_budget_usd": CallEnd.BUDGET,
    "error_max_structured_output_retries": CallEnd.UNUSABLE,
}
_BY_STOP_REASON = {"refusal": CallEnd.REFUSED, "max_tokens": CallEnd.TRUNCATED}


def end_of(result: "ResultMessage", *, reported: bool = False) -> CallEnd:
    """Return how the exchange ended. It is completed only if every field agrees.

    `reported`: a typed tool was recorded in it. Only then does a turn that a hook stopped count as completed.
    """
    # An older CLI, as PATH may hold, reports `error_max_turns` with `is_error` false.
    if not result.is_error and result.api_error_status is None and result.subtype == "success":
        reason = result.terminal_reason
        if reason in {None, "completed"} or (reported and reason == _STOPPED):
            return CallEnd.COMPLETED
        return _BY_TERMINAL_REASON.get(reason or "", CallEnd.INTERRUPTED)
    return (
        _BY_SUBTYPE.get(result.subtype)
        or _BY_STOP_REASON.get(result.stop_reason or "")
        or _BY_TERMINAL_REASON.get(result.terminal_reason or "")
        or CallEnd.API_ERROR
    )


def detail_of(result: "ResultMessage", *, reported: bool = False) -> str:
    """Return the CLI's explanation, for people, or "" if the exchange was completed (as `end_of`)."""
    if end_of(result, reported=reported) is CallEnd.COMPLETED:
        return ""
    if result.terminal_reason in _ABORTED:  # its own text is useless then
        return "Claude Code was interrupted in the middle of its turn"
    said = [result.result or "", *(result.errors or [])]
    status = f"status {result.api_error_status}" if result.api_error_status else ""
    parts = [part.strip() for part in (*said, status) if part and part.strip()]
    return "; ".join(dict.fromkeys(parts)) or result.terminal_reason or result.subtype


def reset_named_in(message: object) -> float | None:
    """Return when the usage limit that this SDK message reports ends, in seconds since 1970, or None."""
    from claude_agent_sdk import RateLimitEvent

    if isinstance(message, RateLimitEvent) and message.rate_limit_info.status == "rejected":
        return message.rate_limit_info.resets_at
    return None


def usage_of(usage: Mapping[str, Any] | None) -> Usage:
    """Return the tokens of a turn, from the snake_case totals of the CLI or the API."""
    counts = usage or {}
    return Usage(
        input_tokens=int(counts.get("input_tokens") or 0),
        output_tokens=int(counts.get("output_tokens") or 0),
        cache_read_tokens=int(counts.get("cache_read_input_tokens") or 0),
        cache_write_tokens=int(counts.get("cache_creation_input_tokens") or 0),
    )
