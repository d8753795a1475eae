"""Events of people: words to agents, answers to parked questions, pauses. `by` says who, and how.

`word_id` is the name that the word had when it was left for the run, so that none is taken twice.
"""

from dataclasses import dataclass, field

from state.records.questions import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSaid:
    """A person adds a word to the next prompt of a task, or, without one, of every conversation."""

    word_id: str
    by: str
    text: str
    task_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswered:
    """A person answered one question of a parked call."""

    word_id: str
    by: str
    ask_id: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused:
    """A person holds the run: it makes no further exchange with a model."""

    word_id: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContinued:
    """A person lets a paused run go on."""

    word_id: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRefused:
    """A word that the run could do nothing with when it came."""

    word_id: str
    by: str
    text: str
    reason: str


PeopleEvent = WordSaid | PersonAnswered | RunPaused | RunContinued | WordRefused


@dataclass(slots=True)
class PeopleView:
    """What people said to the run.

    `taken` are the ids of all their words, `late` of those said when no task could go on any more.
    """

    taken: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    said: list[WordSaid] = field(default_factory=list)
    paused: RunPaused | None = None
