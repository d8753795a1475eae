"""Reads a Claude Code session as turns, from its transcript or from a live session.

A turn is a prompt of the user or the feedback of a hook, and everything until the next one. No module here
imports an SDK, because a hook has to be quick.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from agents.transcript.lines import TranscriptLine, entry_of
from agents.transcript.records import (
    SHELL_TOOLS,
    BackgroundEnded,
    CallMade,
    CallReturned,
    Piece,
    PlanMode,
    Speaker,
    ToolCall,
    ToolResult,
    Transcript,
    Turn,
    Utterance,
    string,
)
from state.errors import SqError
from state.records.calls import Message, MessageKind
from state.records.commands import CommandRun

_PLANNING = {"EnterPlanMode": True, "ExitPlanMode": False}
_WIDEN = 4  # a window without conversation is read again, this many times as long
_EXIT_CODE = re.compile(r"Exit code (\d{1,9})(?:\n|$)")
_BACKGROUND = re.compile(r"(?:Command (?:running|was \w+) in background|moved to the background).*?ID: (\w+)")
_NEVER_RAN = re.compile(
    r"<tool_use_error>|PreToolUse:\S+ hook error|Tool permission request failed"
    r"|The user doesn't want to (?!.*stopped while running)",
    re.DOTALL,
)
_CUT_OFF = re.compile(r"\[Tool call interrupted|.*this call was stopped while running", re.DOTALL)
_AGENT_ID = re.compile(r"[\w-]{1,64}")
# The short fields before the cut, which can still be read from an input that was cut.
_FIELD = re.compile(r'"(command|description|file_path|notebook_path|path|skill)": ("(?:[^"\\]|\\.)*+")')


LONGEST_LINE = 16_000_000  # bytes. A longer one is passed over
_MOST_READ = 100_000_000  # bytes of a file, from its end
_READ_S = 30.0
_DEEPEST = 4  # subagents of subagents


class TranscriptError(SqError):
    """A transcript does not exist or cannot be read."""


def read_transcript(
    path: Path, *, tail_bytes: int | None = None, until: float = 0.0, depth: int = 0
) -> Transcript:
    """Return the session in the JSON Lines file `path`, with its subagents' calls from the files beside it.

    With `tail_bytes`, only the complete lines in that many bytes at the end are read, or more if those hold
    nothing of the conversation. The content of a line never raises. Size, lines and the time until `until`
    (0: half a minute) are bounded, because the file may be anything. `depth`: of subagents.

    Raises:
        TranscriptError: there is no such file, or it cannot be read.
    """
    folder = path.with_suffix("") / "subagents"
    until = until or time.monotonic() + _READ_S
    most = _MOST_READ if tail_bytes is None else tail_bytes
    while True:
        try:
            left_out, entries = _window(path, min(most, _MOST_READ), until)
        except (OSError, ValueError) as error:  # ValueError: a path with a null byte
            raise TranscriptError(
                f"cannot read the transcript {path}: {error}. Name the .jsonl file of a session"
            ) from error
        own = [entry for entry in entries if not entry.is_sidechain]
        told = own if any(entry.pieces for entry in own) else entries  # a subagent's own file
        inner = partial(_inner, folder, until, depth)
        transcript = _assembled((piece for entry in told for piece in entry.pieces), inner)
        if most >= _MOST_READ or not left_out or transcript.turns:
            return replace(
                transcript,
                session_id=next((entry.session_id for entry in told if entry.session_id), ""),
                cwd=next((entry.cwd for entry in told if entry.cwd), ""),
                left_out_bytes=left_out,
            )
        most = max(most, 1) * _WIDEN


def transcript_of(messages: Sequence[Message], *, prompt: str = "", cwd: str = "") -> Transcript:
    """Return the transcript of a live session, in which `prompt` was sent before the first of `messages`.

    A result belongs to the first open call of its id: ids are unique in one session at most.
    """
    first = [Message(kind=MessageKind.PROMPT, text=prompt)] if prompt else []
    return replace(_assembled(_from_messages([*first, *messages])), cwd=cwd)


def with_last_message(transcript: Transcript, text: str) -> Transcript:
    """Return `transcript` with the assistant's newest words, which the CLI may write after its hooks ran."""
    newest = transcript.turns[-1] if transcript.turns else Turn(number=1)
    if not text.strip() or (newest.texts and newest.texts[-1].strip() == text.strip()):
        return transcript
    told = replace(newest, items=(*newest.items, Utterance(speaker=Speaker.ASSISTANT, text=text)))
    return replace(transcript, turns=(*transcript.turns[:-1], told))


def with_command_runs(transcript: Transcript, runs: Iterable[CommandRun]) -> Transcript:
    """Return `transcript` with commands that sq itself ran on the work, before the assistant's last words."""
    newest = transcript.turns[-1] if transcript.turns else Turn(number=1)
    last = max((at for at, item in enumerate(newest.items, 1) if isinstance(item, ToolCall)), default=0)
    ran = tuple(
        ToolCall(
            id=f"sq-{number}",
            tool="Bash",
            input={"command": run.command, "description": "run by sq itself on this work, after the claim"},
            result=ToolResult(
                text=run.output_tail or run.problem, is_error=not run.passed, exit_code=run.exit_code
            ),
        )
        for number, run in enumerate(runs, 1)
    )
    told = replace(newest, items=(*newest.items[:last], *ran, *newest.items[last:]))
    return replace(transcript, turns=(*transcript.turns[:-1], told))


def _window(path: Path, tail_bytes: int, until: float) -> tuple[int, list[TranscriptLine]]:
    """Return the bytes left out, and the entries of the lines after them. Useless lines are passed over."""
    entries: list[TranscriptLine] = []
    seen: set[str] = set()
    with open(path, "rb", opener=_opened) as file:
        about = os.fstat(file.fileno())
        if not S_ISREG(about.st_mode):
            raise OSError("it is no plain file")
        lines, left_out = _lines(file, until), 0
        if (start := about.st_size - max(tail_bytes, 0)) > 0:
            file.seek(start - 1)  # from the byte before: if it ends a line, the next line is complete
            next(lines, b"")
            left_out = file.tell()
        for line in lines:
            entry = entry_of(line)
            if entry and (not entry.uuid or entry.uuid not in seen):
                seen.add(entry.uuid)
                entries.append(entry)
    return left_out, entries


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe would wait for its other end


def _lines(file: BinaryIO, until: float) -> Iterator[bytes]:
    """Yield the lines of a file, too long ones as empty. An `OSError` says that the time is up."""
    while line := file.readline(LONGEST_LINE):
        is_whole = len(line) < LONGEST_LINE or line.endswith(b"\n")
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
            _check(until)
        _check(until)
        yield line if is_whole else b""


def _check(until: float) -> None:
    if time.monotonic() > until:
        raise OSError(f"reading it took longer than {_READ_S:.0f} s")


def _assembled(
    pieces: Iterable[Piece], inner_of: Callable[[CallReturned], tuple[ToolCall, ...]] = lambda _: ()
) -> Transcript:
    """Make turns out of pieces. Results are joined to their calls, wherever those stand."""
    turns: list[tuple[Utterance | None, list[Utterance | str]]] = []
    calls: dict[str, ToolCall] = {}
    ended: list[BackgroundEnded] = []
    plan_mode = False
    for piece in pieces:
        match piece:
            case Utterance(opens=True):
                turns.append((piece, []))
            case Utterance():
                _newest(turns).append(piece)
            case CallMade() if piece.id not in calls:
                calls[piece.id] = ToolCall(id=piece.id, tool=piece.tool, input=piece.input)
                _newest(turns).append(piece.id)
            case CallReturned() if call := calls.get(piece.id):
                inner = inner_of(piece)
                calls[piece.id] = replace(call, result=_result(call.tool, piece), inner=inner)
                if call.tool in _PLANNING and not piece.is_error:
                    plan_mode = _PLANNING[call.tool]
            case BackgroundEnded():
                ended.append(piece)
            case PlanMode():
                plan_mode = piece.on
            case _:  # a call written twice, a result whose call lies before the window
                pass
    told = tuple(
        Turn(number=number, opener=opener, items=tuple(_resolved(items, calls)))
        for number, (opener, items) in enumerate(turns, start=1)
    )
    return Transcript(turns=told, ended=tuple(ended), plan_mode=plan_mode)


def _newest(turns: list[tuple[Utterance | None, list[Utterance | str]]]) -> list[Utterance | str]:
    if not turns:
        turns.append((None, []))
    return turns[-1][1]


def _resolved(
    items: Iterable[Utterance | str], calls: Mapping[str, ToolCall]
) -> Iterator[Utterance | ToolCall]:
    return (item if isinstance(item, Utterance) else calls[item] for item in items)


def _inner(subagents: Path, until: float, depth: int, piece: CallReturned) -> tuple[ToolCall, ...]:
    """Return the calls of the subagent that a call started, or () if its file no longer exists."""
    agent_id = string(piece.data.get("agentId"))
    if depth >= _DEEPEST or not _AGENT_ID.fullmatch(agent_id):
        return ()
    try:
        read = read_transcript(subagents / f"agent-{agent_id}.jsonl", until=until, depth=depth + 1)
    except TranscriptError:
        return ()
    return tuple(call for turn in read.turns for call in turn.calls)


def _result(tool: str, returned: CallReturned) -> ToolResult:
    text, data = returned.text, returned.data
    code = _EXIT_CODE.match(text) if tool in SHELL_TOOLS and returned.is_error else None
    background = _background_id(tool, returned)
    cut_off = data.get("interrupted") is True or bool(returned.is_error and _CUT_OFF.match(text))
    refused = returned.is_error and not code and not cut_off
    # A denial by a user, hook or rule: a shell command that ran and failed reports its exit code.
    refused = refused and (bool(returned.denial or _NEVER_RAN.match(text)) or tool in SHELL_TOOLS)
    # The CLI does not treat `grep` without a hit as an error: it explains the exit code without naming it.
    succeeded = not returned.is_error and not cut_off and not background
    clean = tool in SHELL_TOOLS and succeeded and "returnCodeInterpretation" not in data
    return ToolResult(
        text=text,
        is_error=returned.is_error,
        exit_code=int(code[1]) if code else 0 if clean else None,
        is_refused=refused,
        is_interrupted=cut_off,
        background_id=background,
        data=data,
    )


def _background_id(tool: str, returned: CallReturned) -> str:
    if returned.data.get("isAsync") is True:
        return string(returned.data.get("agentId"))
    told = _BACKGROUND.match(returned.text) if tool in SHELL_TOOLS and not returned.is_error else None
    return string(returned.data.get("backgroundTaskId")) or (told[1] if told else "")


def _from_messages(messages: Iterable[Message]) -> Iterator[Piece]:
    open_calls: list[tuple[str, str]] = []
    for number, message in enumerate(messages):
        own = next((one for one in open_calls if one[0] == message.use_id), None)
        match message.kind:
            case MessageKind.PROMPT:
                yield Utterance(speaker=Speaker.USER, text=message.text, opens=True)
            case MessageKind.TEXT:
                yield Utterance(speaker=Speaker.ASSISTANT, text=message.text)
            case MessageKind.TOOL_CALL:
                open_calls.append((message.use_id, f"call-{number}"))
                yield CallMade(id=open_calls[-1][1], tool=message.tool, input=_input_of(message.text))
            case MessageKind.TOOL_RESULT if own:
                open_calls.remove(own)
                yield CallReturned(id=own[1], text=message.text, is_error=message.is_error)
            case _:
                pass


def _input_of(text: str) -> Mapping[str, object]:
    try:
        given = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        given = {name: json.loads(value, strict=False) for name, value in _FIELD.findall(text)}
    return given if isinstance(given, dict) else {}
