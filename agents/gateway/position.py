"""Finds the reply that is due from the conversation alone, so that a restarted server answers the same.

The words used here:

* given: a reply that the conversation shows the model has said. Tool calls carry its number in their ids
  (`toolu_sq_<reply>_<tool>_<repeat>`). Text is recognised if it equals the text that was due or came before.
* exchange: one instruction and everything until its answer ends. A prompt that holds the whole instruction
  (a resumption: preamble and instruction), or that begins as sq's own prompt for one, continues the exchange,
  and text that was cut off or may never have arrived is said again. The bare instruction once more, after its
  answer ended, is a new exchange. An answer ends with words, or with tool calls after whose results a hook
  stopped the turn. Claude Code does not ask for the closing words (`then`) then, and they are left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from agents.gateway.conversation import Entry, Prompt, Result, Said
from agents.gateway.script import ScriptReply

_OUR_ID = re.compile(r"toolu_sq_(\d+)_(\d+)_(\d+)")
# Texts in place of a call's result that a crash took: the CLI's repair when it resumes, and the CLI's own
# texts between the end of its parent and its own end.
_INTERRUPTED = re.compile(
    r"\[Tool call interrupted|The user doesn't want to|"
    r"Tool permission request failed|.*Stream closed|.*Connection closed"
)
_CONTINUATIONS = (  # sent by the CLI inside an exchange: newest prompt, but not an instruction of its own
    "Stop hook feedback:",
    "[structured-output-enforce]",
    "Output token limit hit",
)
_ASKED_AGAIN = (  # sent by the CLI when an answer broke off or was empty: the prompt before it still applies
    "Your response above was cut off mid-stream",
    "[Your previous response had no visible output",
)


_RESUMED = "# The session was interrupted and goes on"  # prompts/resumed.md.j2 without the instruction


class ReplyPart(StrEnum):
    """The part of a reply that is said: the reply itself, or the words that close it."""

    REPLY = "reply"
    THEN = "then"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The answer to a request: `part` of reply `number` (from 1), said `repeat` times before.

    `results` are the texts of the tool results that it answers.
    """

    number: int
    part: ReplyPart = ReplyPart.REPLY
    repeat: int = 0
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The state of a conversation. `due` is None if no remaining reply fits the newest `prompt`.

    `last` is the number of the reply given last, 0 before the first. `results` came since then.
    """

    due: Due | None
    last: int
    prompt: str
    results: tuple[str, ...]


def position(replies: Sequence[ScriptReply], entries: Iterable[Entry]) -> Position:
    """Return the position of the conversation `entries` among `replies` (placeholders already filled)."""
    walk = _Walk(replies)
    for entry in entries:
        match entry:
            case Prompt():
                walk.heard(entry.text)
            case Result():
                walk.returned(entry)
            case Said():
                walk.said(entry)
            case _:
                assert_never(entry)
    last = walk.given.due.number if walk.given else 0
    return Position(due=walk.due(), last=last, prompt=walk.prompt, results=tuple(walk.fed))


def tool_id(due: Due, tool: int) -> str:
    """Return the id of call number `tool` (from 1) of the due reply. It is unique in its conversation."""
    return f"toolu_sq_{due.number}_{tool}_{due.repeat}"


def structured_words(reply: ScriptReply) -> str | None:
    """Return the structured answer of `reply` as text, for a request that offers no tool for it."""
    return None if reply.structured is None else json.dumps(reply.structured, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A reply found in the conversation, the exchange it belongs to, and the numbers of its `tools` seen."""

    due: Due
    exchange: int
    tools: frozenset[int]


class _Walk:
    """Goes through a conversation once, entry by entry. `due()` may be called at every point."""

    def __init__(self, replies: Sequence[ScriptReply]) -> None:
        self.replies = replies
        self.given: _Given | None = None
        self.prompt = ""  # the newest one
        self.fed: list[str] = []  # texts of the tool results since the last reply
        self._asked = False  # a prompt came since the last reply
        self._resumed = False  # and repeats the instruction of its exchange
        self._instruction = ""  # of the current exchange, in its first form
        self._exchange = 0
        self._results: dict[str, str] = {}  # all of them, by tool id
        self._times: Counter[tuple[int, ReplyPart]] = Counter()

    def heard(self, text: str) -> None:
        if text.startswith(_ASKED_AGAIN):
            if not self._asked:  # the last reply broke off, so it is said again
                self._asked = self._resumed = True
            return
        self.prompt = text
        self._asked = True
        if text.startswith(_CONTINUATIONS):
            return
        self._resumed = bool(self._instruction) and (self._instruction in text or text.startswith(_RESUMED))
        if self._resumed and self._instruction not in text:  # the instruction stands above, and still applies
            self.prompt = f"{text}\n\n{self._instruction}"
        if not self._resumed or (text == self._instruction and self._over_here()):
            self._resumed = False
            self._instruction = text
            self._exchange += 1

    def returned(self, result: Result) -> None:
        self._results[result.tool_id] = result.text
        self.fed.append(result.text)

    def said(self, said: Said) -> None:
        ids = [tuple(map(int, found.groups())) for found in map(_OUR_ID.fullmatch, said.tool_ids) if found]
        ours = [(number, tool, repeat) for number, tool, repeat in ids if 0 < number <= len(self.replies)]
        if not ours:
            if (recognised := self._recognise(said)) is not None:
                self._give(recognised, frozenset())
            return
        # One message is one reply, and more than one only if something between them was lost.
        for number, repeat in dict.fromkeys((number, repeat) for number, _, repeat in ours):
            tools = frozenset(tool for other, tool, again in ours if (other, again) == (number, repeat))
            self._give(Due(number=number, repeat=repeat), tools)

    def due(self) -> Due | None:
        """Return the due part, by the first case: nothing given, no newer prompt, a resumption, a new one."""
        given = self.given
        if given is None:
            return self._next(0)
        closing = ReplyPart.THEN if self._reply(given).then is not None else None
        if not self._asked:
            returned = self.fed and given.due.part is ReplyPart.REPLY
            return self._part(given, closing) if closing and returned else self._next(given.due.number)
        if self._resumed and given.exchange == self._exchange:
            if self._ended(given) or not self._complete(given):
                return self._part(given, given.due.part, results=given.due.results)
            if closing:
                return self._part(given, closing)
        return self._next(given.due.number)

    def _next(self, after: int) -> Due | None:
        for number in range(after + 1, len(self.replies) + 1):
            if all(words in self.prompt for words in self.replies[number - 1].when):
                return Due(
                    number=number, repeat=self._times[number, ReplyPart.REPLY], results=tuple(self.fed)
                )
        return None

    def _part(self, given: _Given, part: ReplyPart, results: tuple[str, ...] | None = None) -> Due:
        number = given.due.number
        fed = tuple(self.fed) if results is None else results
        return Due(number=number, part=part, repeat=self._times[number, part], results=fed)

    def _give(self, due: Due, tools: frozenset[int]) -> None:
        given = self.given
        if given and tools and (given.due.number, given.due.repeat) == (due.number, due.repeat):
            self.given = replace(given, tools=given.tools | tools)  # one answer in two messages
            return
        expected = self.due()
        same = expected and (expected.number, expected.part) == (due.number, due.part)
        results = expected.results if expected and same else tuple(self.fed)
        key = due.number, due.part
        self._times[key] = max(self._times[key], due.repeat) + 1
        fed = Due(number=due.number, part=due.part, repeat=due.repeat, results=results)
        self.given = _Given(due=fed, exchange=self._exchange, tools=tools)
        self.fed = []
        self._asked = self._resumed = False

    def _recognise(self, said: Said) -> Due | None:
        """Return the text-only answer that `said` is: the one that is due, or a part of the reply before."""
        candidates = [self.due()]
        if self.given:
            candidates += [self._part(self.given, ReplyPart.THEN), self._part(self.given, ReplyPart.REPLY)]
        heard = {text.strip() for text in (*said.texts, "".join(said.texts), "\n".join(said.texts))}
        return next((due for due in candidates if due and (heard & self._words(due)) - {""}), None)

    def _words(self, due: Due) -> set[str]:
        reply = self.replies[due.number - 1]
        words = (reply.then,) if due.part is ReplyPart.THEN else (reply.text, structured_words(reply))
        return {text.strip() for text in words if text is not None}

    def _reply(self, given: _Given) -> ScriptReply:
        return self.replies[given.due.number - 1]

    def _over_here(self) -> bool:
        """Whether the newest reply belongs to the current exchange and is complete."""
        given = self.given
        if given is None or given.exchange != self._exchange:
            return False
        return self._ended(given) or self._complete(given)

    def _ended(self, given: _Given) -> bool:
        """Whether `given` ended its turn: words without calls, or a structured answer (the last call)."""
        tools = len(self._reply(given).tools)
        return given.due.part is ReplyPart.THEN or not tools or tools + 1 in given.tools

    def _complete(self, given: _Given) -> bool:
        """Whether every call of `given` has a result that was not lost in a crash."""
        ids = [tool_id(given.due, tool) for tool in range(1, len(self._reply(given).tools) + 1)]
        return all(each in self._results and not _INTERRUPTED.match(self._results[each]) for each in ids)
