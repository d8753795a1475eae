"""A run's answered requests, in a file that outlives the server and its process."""

import json
from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass


class Answered(StrEnum):
    """The kind of answer: a reply, the words that close one, an error, or a scripted fault."""

    REPLY = "reply"
    THEN = "then"
    PROBLEM = "problem"
    MISBEHAVED = "misbehaved"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One answered request.

    `reply` counts from 1, and is None for a problem when no reply was due. `repeat` counts from 0. `messages`
    is the length of the request's list. `digest` is equal for the same conversation sent again. `misbehaved`
    names the scripted fault (`status 429`). `size` is that of the request's body, in bytes. A caller that
    refuses connections has one line for each server that does so. As no request arrives, it has no messages.
    """

    caller: str
    reply: int | None
    part: Answered
    repeat: int
    stream: bool
    messages: int
    digest: str
    misbehaved: str | None = None
    size: int = 0


class Ledger:
    """Appends lines to a file, each flushed before the answer goes out. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _drop_half_line(path)
        self._misbehaved = Counter(filter(None, map(_fault, read_ledger(path))))
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, line: LedgerLine) -> None:
        """Add `line`. It survives the end of this process."""
        self._file.write(json.dumps(asdict(line)) + "\n")
        self._file.flush()
        if fault := _fault(line):
            self._misbehaved[fault] += 1

    def misbehaved(self, caller: str, reply: int) -> int:
        """Return how often `reply` of `caller` went wrong on purpose, in this process and in earlier ones."""
        return self._misbehaved[caller, reply]


def read_ledger(path: Path) -> list[LedgerLine]:
    """Return all lines of the ledger at `path`, oldest first, or [] if there is no such file.

    A last line that a crash cut in half is left out.
    """
    if not path.exists():
        return []
    whole = path.read_bytes().rpartition(b"\n")[0]
    return [_LINE.validate_json(line) for line in whole.splitlines()]


def _fault(line: LedgerLine) -> tuple[str, int] | None:
    """Return the caller and reply whose faults `line` counts for, or None if it is no scripted fault."""
    if line.part is not Answered.MISBEHAVED or line.reply is None:
        return None
    return line.caller, line.reply


def _drop_half_line(path: Path) -> None:
    if path.exists():
        data = path.read_bytes()
        whole = data.rpartition(b"\n")
        if whole[2]:
            with path.open("r+b") as file:
                file.truncate(len(whole[0]) + len(whole[1]))


_LINE = TypeAdapter(LedgerLine)
