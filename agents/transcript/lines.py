"""Parses one line of a Claude Code transcript into pieces, and finds out whose words its text is.

The format is that of Claude Code 2.1.329. Older lines are understood too. The content of a line never raises:
a line that is no JSON object, or whose fields have other types, yields nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.transcript.records import (
    BackgroundEnded,
    CallMade,
    CallReturned,
    Piece,
    PlanMode,
    Speaker,
    Utterance,
    listed,
    mapping,
    string,
)

# Whole requests, which the CLI keeps beside the conversation: most of the bytes, no words of it.
_REQUEST_LINE = b'{"type":"api-request'
_HOOK_FEEDBACK = re.compile(r"\w+ hook feedback:")
_REMINDER = re.compile(r"<(system-reminder|ide_\w+)>.*?</\1>", re.DOTALL)
_NOTICE = re.compile(r"<task-id>([^<]*)</task-id>.*?<status>([^<]*)</status>(.*)", re.DOTALL)
_NOTICE_EXIT = re.compile(r"exit code:? (\d{1,9})")
_COMMAND = re.compile(r"<command-name>\s*/?([^<]*?)\s*</command-name>")
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_TO_THE_MODEL = "<command-message>"  # a command that is a prompt begins with this tag, a local one does not
_INJECTED = (  # beginnings of text that no user wrote, in entries without a source
    "<local-command-",
    "<task-notification>",
    "<bash-",
    "<user-memory-input>",
    "Caveat: The messages below",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)
_USERS_SOURCES = ("human", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """One line. `is_sidechain`: it belongs to a subagent."""

    pieces: tuple[Piece, ...] = ()
    uuid: str = ""
    session_id: str = ""
    cwd: str = ""
    is_sidechain: bool = False


_NOTHING = TranscriptLine()


def entry_of(line: bytes) -> TranscriptLine | None:
    """Return the line in pieces, () for a kind without words, or None if it is no JSON object with a type."""
    if line.startswith(_REQUEST_LINE):
        return _NOTHING
    try:
        found = json.loads(line.decode("utf-8", "replace"))
        if b"\\ud" in line or b"\\uD" in line:  # half a character, cut apart by the CLI, cannot be printed
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    entry = mapping(found)
    kind = string(entry.get("type"))
    if not kind:
        return None
    return TranscriptLine(
        pieces=tuple(_pieces(kind, entry)),
        uuid=string(entry.get("uuid")),
        session_id=string(entry.get("sessionId")),
        cwd=string(entry.get("cwd")),
        is_sidechain=entry.get("isSidechain") is True,
    )


def text_of(content: object) -> str:
    """Return the text of a content field: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(_block_text(mapping(block)) for block in listed(content))


def _block_text(block: Mapping[str, object]) -> str:
    kind = string(block.get("type"))
    return string(block.get("text")) if kind == "text" else f"[{kind}]"


def _pieces(kind: str, entry: Mapping[str, object]) -> Iterator[Piece]:
    match kind:
        case "user":
            yield from _from_user(entry)
        case "assistant":
            yield from _from_assistant(entry)
        case "attachment":
            yield from _from_attachment(mapping(entry.get("attachment")))
        case "queue-operation":  # a notice is queued before the model gets it
            yield from notices(string(entry.get("content")))
        case _:
            return


def _from_assistant(entry: Mapping[str, object]) -> Iterator[Piece]:
    message = mapping(entry.get("message"))
    # The CLI writes in the model's name when the API failed, and to close a turn that was cut off.
    made_up = entry.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
    content = message.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else listed(content):
        part = mapping(block)
        if part.get("type") == "text" and (text := string(part.get("text"))):
            yield Utterance(speaker=Speaker.INJECTED if made_up else Speaker.ASSISTANT, text=text)
        elif part.get("type") == "tool_use":
            name, given = string(part.get("name")), mapping(part.get("input"))
            yield CallMade(id=string(part.get("id")), tool=name, input=given)


def _from_user(entry: Mapping[str, object]) -> Iterator[Piece]:
    if mode := string(entry.get("permissionMode")):
        yield PlanMode(on=mode == "plan")
    content = mapping(entry.get("message")).get("content")
    if isinstance(content, str):
        yield from _told(content, entry)
        return
    blocks = [mapping(block) for block in listed(content)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield CallReturned(
            id=string(block.get("tool_use_id")),
            text=text_of(block.get("content")),
            is_error=block.get("is_error") is True,
            data=mapping(entry.get("toolUseResult")),
            denial=string(entry.get("toolDenialKind")),
        )
    texts = [_block_text(block) for block in blocks if block.get("type") != "tool_result"]
    if results:  # the CLI added any text beside a result
        yield from (Utterance(speaker=Speaker.INJECTED, text=text) for text in texts if text)
    elif texts:
        yield from _told("\n".join(texts), entry)


def _told(text: str, entry: Mapping[str, object]) -> Iterator[Piece]:
    """Yield the text of a user entry: the user's own, a hook's, or the CLI's."""
    source = string(entry.get("promptSource"))
    origin = string(mapping(entry.get("origin")).get("kind"))
    if entry.get("isMeta") is True or entry.get("isCompactSummary") is True:
        hook = bool(_HOOK_FEEDBACK.match(text))
        yield Utterance(speaker=Speaker.HOOK if hook else Speaker.INJECTED, text=text, opens=hook)
    elif source == "system" or (origin and origin not in _USERS_SOURCES):
        yield Utterance(speaker=Speaker.INJECTED, text=text)
        yield from notices(text)
    elif source:
        yield Utterance(speaker=Speaker.USER, text=text, opens=True)
    else:
        yield from _unsourced(text)


def _unsourced(text: str) -> Iterator[Piece]:
    """Yield pieces of text whose entry names no sender: commands, notes, prompts of older versions."""
    for reminder in _REMINDER.finditer(text):
        yield Utterance(speaker=Speaker.INJECTED, text=reminder.group())
    rest = _REMINDER.sub("", text).strip()
    if rest.startswith(("<command-name>", _TO_THE_MODEL)) and (name := _COMMAND.search(rest)):
        args = _COMMAND_ARGS.search(rest)
        typed = f"/{name[1]} {args[1].strip() if args else ''}".rstrip()
        yield Utterance(speaker=Speaker.USER, text=typed, opens=rest.startswith(_TO_THE_MODEL))
    elif _HOOK_FEEDBACK.match(rest):
        yield Utterance(speaker=Speaker.HOOK, text=rest, opens=True)
    elif rest.startswith(_INJECTED):
        yield Utterance(speaker=Speaker.INJECTED, text=rest)
        yield from notices(rest)
    elif rest:
        yield Utterance(speaker=Speaker.USER, text=rest, opens=True)


def _from_attachment(attachment: Mapping[str, object]) -> Iterator[Piece]:
    match attachment.get("type"):
        case "queued_command" if attachment.get("commandMode") == "prompt":  # typed while the model worked
            if text := text_of(attachment.get("prompt")):
                yield Utterance(speaker=Speaker.USER, text=text, opens=True)
        case "queued_command":
            text = text_of(attachment.get("prompt"))
            yield Utterance(speaker=Speaker.INJECTED, text=text)
            yield from notices(text)
        case "plan_mode":
            yield PlanMode(on=True)
        case "plan_mode_exit":
            yield PlanMode(on=False)
        case "hook_additional_context":
            said = "\n".join(string(part) for part in listed(attachment.get("content")))
            yield Utterance(
                speaker=Speaker.INJECTED, text=f"{string(attachment.get('hookName'))} hook: {said}"
            )
        case _:
            return


def notices(text: str) -> Iterator[BackgroundEnded]:
    """Yield the ends of background tasks that `text` reports."""
    for part in text.split("<task-notification>")[1:]:
        if found := _NOTICE.search(part.split("</task-notification>", maxsplit=1)[0]):
            code = _NOTICE_EXIT.search(found[3])
            yield BackgroundEnded(id=found[1], status=found[2], exit_code=int(code[1]) if code else None)
