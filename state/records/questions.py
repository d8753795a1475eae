"""Questions of a Worker and their answers."""

from dataclasses import dataclass
from enum import StrEnum


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
    """The basis of an answer."""

    SPEC = "spec"
    CODE = "code"
    SESSION = "session"
    JUDGEMENT = "judgement"


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
        return self.reversible or self.basis is Basis.SPEC


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer by its place: the question's text in the call `ask_id`."""

    ask_id: str
    question: str
