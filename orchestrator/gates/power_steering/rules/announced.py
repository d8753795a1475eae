"""The rules on work that is left: open items of the todo list, and announced steps that were not taken.

Examples: "Now I need to update the parser", "Next I'll run the tests", "remaining: the docs", not followed by
a question. A plan as the answer, an offer, a condition, a negation, others' future work and past work do not
count. The words are data: `announcements.yaml`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.rules.found import (
    RuleOutcome,
    any_of,
    met,
    not_applicable,
    phrases,
    unmet,
    words_in,
)

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_ASKS = re.compile(r"[?\uff1f][\s*_`\"')\u2019\u201d]*\Z")
_DONE = (
    r"(?:implemented|wired(?: up)?|finished|done|added|written|handled|updated|migrated|covered|fixed|tested"
    r"|ported|converted|cleaned up|removed|renamed|documented|verified|reviewed|committed|pushed|run)"
)
_ASKS_FOR_A_PLAN = phrases(
    r"(?:plan(?! (?:must|should|has|needs|shows?|file|output))|outline"
    r"|propos\w*|design|road ?map|strategy|approach|steps|estimate|how would you"
    r"|suggest\w*|next steps?)"
)
_LATER = r"(?:later|afterwards|next|tomorrow|in a (?:follow-?up|later|next|separate|second|further)\b.*)"
_TAKEN_BACK = phrases(
    "forget", "instead", "never ?mind", "leave (?:it|that|the rest)", "skip", "drop", "stop",
    "don't", "no longer", "cancel", "abandon", "put .{0,20}aside", "not needed", "changed my mind", "scrap",
    "rather",
)  # fmt: skip


class _Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `announcements.yaml`."""

    own: dict[str, tuple[str, ...]]
    unspaced: dict[str, tuple[str, ...]]
    last: tuple[str, ...]
    nothing: tuple[str, ...]
    offers: tuple[str, ...]
    others: tuple[str, ...]
    habits: tuple[str, ...]


class _Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """The same, compiled."""

    own: re.Pattern[str]
    unspaced: re.Pattern[str]
    last: re.Pattern[str]
    nothing: re.Pattern[str]
    no_announcement: re.Pattern[str]


def todos_complete(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that every item of the todo list is closed after the last call."""
    facts = evidence.facts
    if not facts.todos:
        return not_applicable("there is no todo list")
    left = facts.open_todos
    if not left:
        return met(f"all {len(facts.todos)} items of the list are closed")
    if any(goal.turn > facts.todos_turn and _TAKEN_BACK.search(goal.text) for goal in facts.goals):
        return None
    return unmet(f"{len(left)} of {len(facts.todos)} todo items are open", left[0].text)


def next_steps(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that the final message announces no unfinished work. Offers and negations do not count."""
    text = evidence.facts.final_text
    if not text.strip() or _hands_a_plan_over(evidence):
        return None
    if left := next(announced_in(text), ""):
        return unmet("the final message leaves work of its own for later", left)
    return met("the final message leaves nothing of its own for later")


def _hands_a_plan_over(evidence: SessionEvidence) -> bool:
    """Whether the user asked for a plan and nothing was changed: the announced steps are the answer."""
    facts = evidence.facts
    asked = [goal.text for goal in facts.goals if goal.turn >= evidence.goal_turn]
    changed = any(edit.turn >= evidence.goal_turn for edit in facts.edits)
    return not changed and any(_ASKS_FOR_A_PLAN.search(text) for text in asked)


def announced_in(text: str) -> Iterator[str]:
    """The sentences in which a message announces unfinished work of its own."""
    words = _patterns()
    plain = _FENCED.sub("\n", text)
    sentences = [sentence.strip() for sentence in _SENTENCE.split(plain) if sentence.strip()]
    yield from (sentence for sentence in sentences if _announces(sentence, words))
    yield from (each for each in sentences[-1:] if _announces_at_last(each, words))


def _announces(sentence: str, words: _Patterns) -> bool:
    if _ASKS.search(sentence):
        return False
    said = _QUOTED.sub("x", sentence)
    found = words.own.search(said) or words.unspaced.search(said)
    if not found or words.nothing.search(said, 0, found.end()):
        return False
    return not words.no_announcement.search(said)


def _announces_at_last(sentence: str, words: _Patterns) -> bool:
    found = words.last.search(sentence.rstrip(".!"))
    if not found or words.nothing.search(sentence, 0, found.end()):
        return False
    return not words.no_announcement.search(sentence)


@cache
def _patterns() -> _Patterns:
    words = words_in("announcements.yaml", _Words)
    unspaced = [one for each in words.unspaced.values() for one in each]
    return _Patterns(
        own=phrases(*_filled([one for each in words.own.values() for one in each])),
        unspaced=re.compile("|".join(unspaced)),
        last=re.compile(rf"(?:(?<!\w)|(?=\W))(?:{any_of(_filled(words.last))})", re.IGNORECASE),
        nothing=phrases(*words.nothing),
        no_announcement=phrases(*_filled([*words.offers, *words.others, *words.habits])),
    )


def _filled(patterns: Sequence[str]) -> list[str]:
    return [one.replace("DONE", _DONE).replace("LATER", _LATER) for one in patterns]
