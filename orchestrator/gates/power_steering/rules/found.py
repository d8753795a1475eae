"""The answer of a rule, and patterns of phrases: whole words, in any case."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from orchestrator.gates.power_steering.evidence import SessionEvidence
from state.decoding import table_beside

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """A rule's answer: `reason` says why, and `evidence` quotes the deciding fact."""

    satisfied: bool
    reason: str
    evidence: str = ""
    applies: bool = True


# None: the facts are not enough to decide, so it is not checked.
Rule = Callable[[SessionEvidence], RuleOutcome | None]


def met(reason: str, evidence: str = "") -> RuleOutcome:
    """Satisfied."""
    return RuleOutcome(satisfied=True, reason=reason, evidence=evidence)


def unmet(reason: str, evidence: str = "") -> RuleOutcome:
    """Not satisfied, on clear evidence."""
    return RuleOutcome(satisfied=False, reason=reason, evidence=evidence)


def not_applicable(reason: str) -> RuleOutcome:
    """Satisfied, because it does not apply to this session."""
    return RuleOutcome(satisfied=True, reason=reason, applies=False)


def phrases(*alternatives: str) -> re.Pattern[str]:
    """A pattern that finds one of these phrases. Each is itself a regular expression."""
    return re.compile(rf"\b(?:{any_of(alternatives)})\b", re.IGNORECASE)


def any_of(alternatives: Iterable[str]) -> str:
    """A regular expression for one of these phrases, with any white space and any apostrophe."""
    return "|".join(one.replace(" ", r"\s+").replace("'", "['\u2019]") for one in alternatives)


def words_in(file: str, form: type[T]) -> T:
    """The words of a rule, which stand in a file beside this one."""
    return msgspec.convert(table_beside(__file__, file), form)
