"""The user's newest words, where they go over an open list: a pause, an end, another question.

No session is held for a list that its user took from the agent. Words of a pause are known in many languages.
Beside them an answer in text alone, to a message that came after the list, is an answer to something else,
unless the message asks to go on.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from orchestrator.gates.power_steering.facts import any_of
from state.decoding import table_beside

if TYPE_CHECKING:
    from agents.transcript.records import Transcript
    from orchestrator.gates.power_steering.facts import Facts, Todo

_BEFORE = 30  # characters before words of a pause, in which a negation stands
_LEAST = 4  # letters of a word that an item of a list has for itself
_REQUEST, _AGREEMENT = 200, 60  # characters of a message that asks to go on, and of one that agrees
_LONGEST = 4_000  # characters of the user's words that are looked at, from each end
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    pause: re.Pattern[str]
    leave: re.Pattern[str]
    negation: re.Pattern[str]
    go_on: re.Pattern[str]
    approval: re.Pattern[str]
    request: re.Pattern[str]


def takes_the_list(facts: "Facts", transcript: "Transcript | None", items: "Sequence[Todo]") -> bool:
    """Whether the user's newest words end or postpone the work on the open `items` of the list.

    A pause counts once an item was done since, or if nothing was changed since.
    """
    if not facts.goals:
        return False
    newest = facts.goals[-1]
    words = f"{newest.text[:_LONGEST]}\n{newest.text[_LONGEST:][-_LONGEST:]}"
    works = facts.todos_turn >= newest.turn or any(one.turn >= newest.turn for one in facts.edits)
    before = _list_before(transcript, newest.turn)
    if pauses(words):
        return not works or _has_done_one(facts, before)
    if works or not facts.final_text.strip() or not any(one.is_open for one in before):
        return False
    return not (goes_on(words) or _names(words, items) or _announces(facts.final_text))


def pauses(text: str) -> bool:
    """Whether words ask for a pause or an end, or are a farewell that does not ask to go on."""
    words = _words()
    leaves = words.leave.search(text) and not words.go_on.search(text)
    return bool(leaves) or any(not negated for negated in _pauses(text))


def _pauses(text: str) -> Iterator[bool]:
    """Yield for each word of a pause whether it is negated, as in `don't stop`."""
    words = _words()
    for found in words.pause.finditer(text):
        before = text[max(0, found.start() - _BEFORE) : found.start()].rstrip()
        yield words.negation.search(before) is not None


def goes_on(text: str) -> bool:
    """Whether a message asks to go on with what is open, or agrees to it."""
    words, said = _words(), text.strip()
    if len(said) > _REQUEST or (_asks(said) and not words.request.match(said)):
        return False
    agrees = len(said) <= _AGREEMENT and words.approval.search(said)
    return bool(words.go_on.search(said) or agrees or any(_pauses(said)))


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f", "\u061f"))


def _list_before(transcript: "Transcript | None", turn: int) -> "tuple[Todo, ...]":
    """Return the agent's list as it was when a turn began."""
    from orchestrator.gates.power_steering.changes_made import todos_of

    turns = transcript.turns if transcript else ()
    return todos_of(call for one in turns if one.number < turn for call in one.calls)


def _has_done_one(facts: "Facts", before: "Iterable[Todo]") -> bool:
    was_done = {one.id or one.text for one in before if not one.is_open}
    return any(not one.is_open and (one.id or one.text) not in was_done for one in facts.todos)


def _names(text: str, items: "Iterable[Todo]") -> bool:
    """Whether words that are no question name an open item, by a word or a number of it."""
    if _asks(text):
        return False
    said = {word.lower() for word in _WORD.findall(text)}
    of_items = {word.lower() for one in items for word in _WORD.findall(one.text)}
    return any(len(word) >= _LEAST or word.isdecimal() for word in said & of_items)


def _announces(text: str) -> bool:
    from orchestrator.gates.power_steering.rules.unfinished import announced_in

    return any(True for _ in announced_in(text))


@cache
def _words() -> _Words:
    table = table_beside(__file__, "users_word.yaml")
    return _Words(
        pause=_pattern(table["pause"]),
        negation=re.compile(rf"(?<!\w){any_of(table['negation'])}", re.IGNORECASE),
        **{name: _pattern(table[name]) for name in ("leave", "go_on", "approval", "request")},
    )


def _pattern(by_language: dict[str, list[str]]) -> re.Pattern[str]:
    spaced = [one for name, each in by_language.items() for one in each if name != "unspaced"]
    alone = rf"(?<!\w)(?:{any_of(spaced)})(?!\w)"
    return re.compile("|".join([alone, *by_language["unspaced"]]), re.IGNORECASE)
