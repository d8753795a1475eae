"""The SDK's messages: the results of an exchange, the history of a run, and the tools that a process offers.

Under load Claude Code may send its first request before its tool servers are connected. The model then
answers without the tools through which it should report, and the init message says so.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agents.session.permissions import SIGNAL_PREFIX, server_prefix
from state.records.calls import CallEnd, Message, MessageKind, ToolServer, Usage

if TYPE_CHECKING:
    from claude_agent_sdk import ResultMessage

    from agents.session.tools import SignalTool

_BY_TERMINAL_REASON = {
    "aborted_streaming": CallEnd.INTERRUPTED,
    "aborted_tools": CallEnd.INTERRUPTED,
    "max_turns": CallEnd.MAX_TURNS,
    "api_error": CallEnd.API_ERROR,
    "prompt_too_long": CallEnd.SESSION_FULL,
    "structured_output_retry_exhausted": CallEnd.UNUSABLE,
}
# Words of an API (Claude, Bedrock, Vertex) about a conversation that is longer than it takes.
_FULL = re.compile(
    r"(?:prompt|input) is too long|too large for|exceed(?:s|ed)? (?:the |your )?(?:context|maximum|model's)"
    r"|context (?:window|length|limit)|request_too_large|request (?:entity )?too large"
    r"|too many (?:images|documents)|image dimensions exceed|maximum (?:context|number of) ",
    re.IGNORECASE,
)
_FULL_STATUS = {400, 413}
_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MOST = 2**53  # of tokens, dollars or seconds since 1970
_STOPPED = "hook_stopped"
_ABORTED = {reason for reason, end in _BY_TERMINAL_REASON.items() if end is CallEnd.INTERRUPTED}
_BY_SUBTYPE = {
    "error_max_turns": CallEnd.MAX_TURNS,
    "error_max_budget_usd": CallEnd.BUDGET,
    "error_max_structured_output_retries": CallEnd.UNUSABLE,
}
_BY_STOP_REASON = {"refusal": CallEnd.REFUSED, "max_tokens": CallEnd.TRUNCATED}


def checked(result: "ResultMessage") -> "ResultMessage":
    """Return the result as it is. Any process of a session can write one to Claude Code's output.

    Raises:
        ValueError: a field that sq stores or adds up is of another kind than it is said to be.
    """
    counts = result.usage or {}
    numbers = [result.total_cost_usd, result.num_turns, result.api_error_status]
    numbers += [counts.get(name) for name in _COUNTED] if isinstance(counts, dict) else [""]
    errors = result.errors or []
    texts = [result.subtype, result.stop_reason, result.result, result.terminal_reason]
    texts += errors if isinstance(errors, list) else [0]
    if not all(map(_is_count, numbers)) or not all(isinstance(one, str | None) for one in texts):
        raise ValueError("a result whose numbers or texts are none")
    return result


def _is_count(said: object) -> bool:
    """Whether it is missing, or a number that can be added up: NaN is not."""
    return said is None or (isinstance(said, int | float) and 0 <= said < _MOST)


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
        or _of_api_error(result)
    )


def _of_api_error(result: "ResultMessage") -> CallEnd:
    end = _BY_TERMINAL_REASON.get(result.terminal_reason or "", CallEnd.API_ERROR)
    said = " ".join([result.result or "", *(result.errors or [])])
    is_full = result.api_error_status in _FULL_STATUS and _FULL.search(said)
    return CallEnd.SESSION_FULL if end is CallEnd.API_ERROR and is_full else end


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
        at = message.rate_limit_info.resets_at
        return at if _is_count(at) else None
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


TEXT_KEPT = 20_000  # characters of one message that are kept


def messages_of(message: object) -> list[Message]:
    """Return an SDK message as history: texts, tool calls with input, tool results with output."""
    from claude_agent_sdk import AssistantMessage, TextBlock, ToolResultBlock, ToolUseBlock, UserMessage

    told: list[Message] = []
    content = message.content if isinstance(message, AssistantMessage | UserMessage) else []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, TextBlock) and isinstance(message, AssistantMessage):
            told.append(Message(kind=MessageKind.TEXT, text=_kept(block.text)))
        elif isinstance(block, ToolUseBlock):
            text = _kept(json.dumps(block.input, ensure_ascii=False))
            tool = block.name.removeprefix(SIGNAL_PREFIX)
            told.append(Message(kind=MessageKind.TOOL_CALL, text=text, tool=tool, use_id=block.id))
        elif isinstance(block, ToolResultBlock):
            text, failed = _kept(_result_text(block.content)), bool(block.is_error)
            result = MessageKind.TOOL_RESULT
            told.append(Message(kind=result, text=text, is_error=failed, use_id=block.tool_use_id))
    return told


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _kept(text: str) -> str:
    if len(text) <= TEXT_KEPT:
        return text
    half = TEXT_KEPT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def lack_in(message: object, signals: "tuple[SignalTool, ...]") -> str:
    """Return a sentence that names the typed tools that this message lacks, for people.

    Returns:
        "" if it lacks none, or is no init message.
    """
    data = _init_in(message)
    if data is None:
        return ""
    offered = set(data.get("tools") or ())
    wanted = [f"{SIGNAL_PREFIX}{signal.name}" for signal in signals]
    missing = [name for name in wanted if name not in offered]
    if not missing:
        return ""
    return f"Claude Code did not offer its model {', '.join(missing)} (tool server sq: {_status(data, 'sq')})"


def servers_in(message: object, names: Iterable[str]) -> tuple[ToolServer, ...]:
    """Return the state of these servers as an init message has it, nothing for another message."""
    data = _init_in(message)
    if data is None:
        return ()
    found = []
    for name in names:
        prefix = server_prefix(name)
        own = tuple(one.removeprefix(prefix) for one in data.get("tools") or () if one.startswith(prefix))
        found.append(ToolServer(name=name, status=_status(data, name), tools=own))
    return tuple(found)


def _init_in(message: object) -> dict[str, Any] | None:
    from claude_agent_sdk import SystemMessage

    return message.data if isinstance(message, SystemMessage) and message.subtype == "init" else None


def _status(data: dict[str, Any], name: str) -> str:
    servers = [server for server in data.get("mcp_servers") or () if isinstance(server, dict)]
    return next((str(server.get("status")) for server in servers if server.get("name") == name), "missing")
