"""A session's messages as history: real SDK messages in, what the Developer and the views read out."""

from types import SimpleNamespace

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from agents.claude_code.results import TEXT_KEPT, messages_of
from state.records.calls import Message, MessageKind


def said(*blocks):
    return AssistantMessage(content=list(blocks), model="m")


def returned(content, **more):
    return UserMessage(content=[ToolResultBlock(tool_use_id="t", content=content, **more)])


def test_an_answer_becomes_texts_and_tool_calls_with_their_input():
    message = said(TextBlock(text="I look."), ToolUseBlock(id="t", name="Bash", input={"command": "ls ünï"}))
    assert messages_of(message) == [
        Message(kind=MessageKind.TEXT, text="I look."),
        Message(kind=MessageKind.TOOL_CALL, text='{"command": "ls ünï"}', tool="Bash", use_id="t"),
    ]


def test_sqs_own_tools_are_named_plainly():
    (message,) = messages_of(said(ToolUseBlock(id="t", name="mcp__sq__task_complete", input={})))
    assert message.tool == "task_complete"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a.py", "a.py"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "image", "source": {}}], ""),
        ([], ""),
        (None, ""),
    ],
)
def test_a_tools_output_becomes_its_text(content, text):
    assert messages_of(returned(content)) == [Message(kind=MessageKind.TOOL_RESULT, text=text, use_id="t")]


def test_a_tools_error_is_marked():
    (message,) = messages_of(returned("no such file", is_error=True))
    assert message.is_error


@pytest.mark.parametrize(
    "message",
    [
        UserMessage(content="a prompt"),
        UserMessage(content=[TextBlock(text="injected")]),
        SystemMessage(subtype="init", data={}),
        said(ThinkingBlock(thinking="hm", signature="s")),
        said(),
        SimpleNamespace(content="?"),
        None,
    ],
)
def test_what_nobody_said_is_no_history(message):
    assert messages_of(message) == []


def test_a_long_text_keeps_its_beginning_and_its_end():
    long = "a" * TEXT_KEPT + "b" * TEXT_KEPT
    (message,) = messages_of(said(TextBlock(text=long)))
    half = TEXT_KEPT // 2
    assert message.text == f"{'a' * half}\n[… {TEXT_KEPT} characters left out …]\n{'b' * half}"
    assert messages_of(said(TextBlock(text="x" * TEXT_KEPT)))[0].text == "x" * TEXT_KEPT
