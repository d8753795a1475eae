"""The records of a description: the words of an event, the words that it quotes, and their place in a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.views.words import short

SQ, COMMAND, REASON = "sq", "the command", "the reason"
DEVELOPER, JUDGE, PLANNER = "the Developer", "the Judge", "the Planner"
RESOLVER, REVIEWER, WORKER = "the Resolver", "the Reviewer", "the Worker"
PERSON = "a person"
WHOLE = "the whole"
# Kinds of statements, which are names of events in telemetry too.
AGAIN, CONFLICT, GATE, RETRY, STEERING = "again", "conflict", "gate", "retry", "power steering"


class Tone(StrEnum):
    """How a statement looks. `GOOD` is for work that sq has seen to be right."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    CALM = "calm"


class Place(StrEnum):
    """Where a quote stands in views, by the space that they have.

    `LINE`: at the end of the sentence. `BELOW`: in lines below it. `BLOCK`: only where a text can stand for
    itself. `MORE`: only where it can be opened.
    """

    LINE = "line"
    BELOW = "below"
    BLOCK = "block"
    MORE = "more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that `who` chose, or details of sq's own.

    `texts` are its parts, each of which may have several lines. `most`: its characters in a line, 0 for all.
    """

    who: str
    texts: tuple[str, ...]
    place: Place = Place.LINE
    title: str = ""
    most: int = 0

    @property
    def text(self) -> str:
        """All parts, each from a line of its own."""
        return "\n".join(self.texts)


def below(who: str, lines: Iterable[str]) -> tuple[Quote, ...]:
    """Return what `who` chose in lines below the sentence."""
    return (Quote(who=who, texts=tuple(lines), place=Place.BELOW),)


def suggested(suggestions: Iterable[str]) -> tuple[Quote, ...]:
    """Return the suggestions of a review, which do not hold up the work."""
    return below(REVIEWER, (f"suggestion: {one}" for one in suggestions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One statement about an event. `subject` is its task, or another name that goes before the text.

    `of` is the commit or tree that it is about. `until` is the time until which the run waits for it.
    `is_told`: the story of a run tells it. `is_detail`: the story indents it, below what it belongs to.
    `changes` is a commit whose changes can be shown, `call_id` a call whose messages can be.
    """

    kind: str
    text: str
    subject: str = ""
    tone: Tone = Tone.CALM
    quotes: tuple[Quote, ...] = ()
    of: str = ""
    until: datetime | None = None
    is_told: bool = True
    is_detail: bool = False
    changes: str = ""
    call_id: str = ""

    @property
    def sentence(self) -> str:
        """The text with the quotes that stand in its line."""
        quoted = [one for one in self.quotes if one.place is Place.LINE and one.text]
        return ": ".join(
            [self.text, *(short(one.text, one.most) if one.most else one.text for one in quoted)]
        )

    @property
    def line(self) -> str:
        """The sentence after its subject."""
        return f"{self.subject}: {self.sentence}" if self.subject else self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A statement with the place and time of its event, the event's name, and its task ("" for the whole)."""

    seq: int
    at: datetime
    name: str
    task_id: str
    words: Words
