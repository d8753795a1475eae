"""The SDK's messages as a run's history: texts, tool calls with their input, results with their output."""

import json

from agents.session.permissions import SIGNAL_PREFIX
from state.records.calls import Message, MessageKind

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
            told.append(Message(kind=MessageKind.TOOL_CALL, text=text, tool=_plain_name(block.name)))
        elif isinstance(block, ToolResultBlock):
            text = _kept(_result_text(block.content))
            told.append(Message(kind=MessageKind.TOOL_RESULT, text=text, is_error=bool(block.is_error)))
    return told


def _plain_name(tool: str) -> str:
    return tool.removeprefix(SIGNAL_PREFIX)


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
