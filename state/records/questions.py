"""Questions of a Worker and their answers, and the option that a reply means.

Models repeat an option as they read it: in other case, without the `(Recommended)` behind it, or with its
description behind a colon. Such a reply means that option if it can mean no other one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

QUESTION_NAME = re.compile(r"q\d+")  # of a question that waits for a person
_CHOICE = re.compile(r"-?\d+([\s,]+-?\d+)*[\s,.]*|[A-Za-z][.)]?")  # numbers, or a letter
_SUFFIX = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOption:
    """One choice that a question offers."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of an AskUserQuestion call. Without options, the answer is free text."""

    text: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


class Basis(StrEnum):
    """The basis of an answer. `PERSON`: a person gave it, and no agent."""

    SPEC = "spec"
    CODE = "code"
    SESSION = "session"
    JUDGEMENT = "judgement"
    PERSON = "person"


class Confidence(StrEnum):
    """The confidence in an answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The Developer's answer to one question.

    `labels` are labels of that question's options. `free_text` is used if no option fits or none was offered.
    One of the two is filled. `beside_options`: options were offered, and the answer is a free text.
    `evidence` is the part of its basis that supports it, in words or as a quote.
    """

    question: str
    labels: tuple[str, ...] = ()
    free_text: str = ""
    reason: str = ""
    basis: Basis = Basis.JUDGEMENT
    evidence: str = ""
    reversible: bool = True
    confidence: Confidence = Confidence.MEDIUM
    beside_options: bool = False

    @property
    def text(self) -> str:
        """The answer itself: its labels, or the free text."""
        return ", ".join(self.labels) if self.labels else self.free_text

    @property
    def marked(self) -> str:
        """The answer for the Worker and people, with a mark on a free text beside options."""
        return f"{self.text} (free text, none of the options)" if self.beside_options else self.text

    @property
    def is_covered(self) -> bool:
        """Whether it needs no person's consent: it follows from the spec or is easy to undo."""
        return self.reversible or self.basis in {Basis.SPEC, Basis.PERSON}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer by its place: the question's text in the call `ask_id`."""

    ask_id: str
    question: str


def label_meant(said: str, options: Sequence[QuestionOption]) -> str | None:
    """Return the label of the one option that a reply means, or None if it means none or several.

    A label exactly as it is written always means itself. Otherwise case, white space, a suffix in parentheses
    and the option's own description behind a colon make no difference.
    """
    if any(option.label == said for option in options):
        return said
    meant = [option.label for option in options if _means(said, option)]
    return meant[0] if len(meant) == 1 else None


def labels_meant(said: str, question: Question) -> tuple[str, ...]:
    """Return the labels of the options that a person's answer means, or () if it is a text of its own.

    An option is meant by its number, from 1, or its label. Where several may be chosen, commas separate them.
    """
    if label := _option_meant(said, question.options):
        return (label,)
    parts = said.split(",")
    most = sum(option.label.count(",") + 1 for option in question.options)
    if not question.multi_select or len(parts) > most:
        return ()
    return tuple(dict.fromkeys(_each_meant(parts, question.options)))


def _each_meant(parts: list[str], options: Sequence[QuestionOption]) -> tuple[str, ...]:
    """Return the option of each part, or () if one means none. A label may hold commas itself."""
    for many in range(1, len(parts) + 1):
        if label := _option_meant(",".join(parts[:many]).strip(), options):
            rest = _each_meant(parts[many:], options)
            if rest or many == len(parts):
                return (label, *rest)
    return ()


def _option_meant(said: str, options: Sequence[QuestionOption]) -> str | None:
    if said.isdecimal() and 0 < int(said) <= len(options):
        return options[int(said) - 1].label
    return label_meant(said, options)


def why_no_answer(said: str, question: Question) -> str:
    """Return why a person's words are no answer to a question, and what would be one, or ""."""
    if not said:
        return "an answer needs words"
    if labels_meant(said, question):
        return ""
    if QUESTION_NAME.fullmatch(said):
        return f"{said} is the name of a question, and the answer to it is missing"
    if not question.options or not _CHOICE.fullmatch(said):
        return ""
    options = ", ".join(f"{number} {one.label}" for number, one in enumerate(question.options, 1))
    several = "several may be chosen, such as 1,2" if question.multi_select else "one may be chosen"
    return (
        f"{said} is no option of the question. The options are: {options} ({several}). Or use your own words"
    )


def _means(said: str, option: QuestionOption) -> bool:
    words = {_plain(said)}
    if option.description:
        words |= {plain for plain in [_without_description(said, option)] if plain}
    return bool({*words, *map(_bare, words)} & {_plain(option.label), _bare(option.label)} - {""})


def _without_description(said: str, option: QuestionOption) -> str:
    """Return the reply without the option's own description behind a colon, or "" if it does not end so."""
    plain, description = _plain(said), _plain(option.description)
    head = plain.removesuffix(description).rstrip()
    return head.removesuffix(":").rstrip() if head != plain and head.endswith(":") else ""


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _bare(text: str) -> str:
    return _SUFFIX.sub("", _plain(text))
