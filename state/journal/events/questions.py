"""Events of a Worker's questions: asked, answered, parked, failed."""

from dataclasses import dataclass, field
from datetime import datetime

from state.records.questions import Answer, GivenAnswer, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAsked:
    """A Worker asked. `ask_id` names the call and its tool call.

    `plain`: the Worker asked at the end of a turn, without the tool. `again` are the questions with which it
    rejects earlier answers, `rejects`. `tree` is the content of the workspace when the questions came.
    """

    ask_id: str
    call_id: str
    task_id: str
    questions: tuple[Question, ...]
    plain: bool = False
    again: tuple[str, ...] = ()
    rejects: tuple[GivenAnswer, ...] = ()
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAnswered:
    """Each question of one call has its own answer, made by call `by`.

    `reused`: given before a crash, or to the same question of another session (`reused_from`).
    """

    ask_id: str
    answers: tuple[Answer, ...]
    model: str
    reused: bool = False
    reused_from: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsFailed:
    """A call's questions were not answered. `final`: the exchange ends, else the Worker may ask again."""

    ask_id: str
    cause: str
    final: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsParked:
    """A question is left to a person: its subject cannot be undone, or no agent could answer it.

    `answers` are those that the Developer would have given, if it had any. The task waits.
    """

    ask_id: str
    question: str
    answers: tuple[Answer, ...]


QuestionEvent = QuestionsAsked | QuestionsAnswered | QuestionsFailed | QuestionsParked


@dataclass(slots=True)
class AskView:
    """One AskUserQuestion call and its outcome. `rejected`: the questions whose answers were rejected."""

    asked: QuestionsAsked
    seq: int
    answered: QuestionsAnswered | None = None
    failed: QuestionsFailed | None = None
    parked: QuestionsParked | None = None
    at: datetime | None = None
    rejected: set[str] = field(default_factory=set)
    given: dict[str, Answer] = field(default_factory=dict)  # by people, to questions of a parked call

    @property
    def for_people(self) -> list[Question]:
        """The questions of a parked call that only a person may answer."""
        if self.parked is None:
            return []
        covered = {answer.question for answer in self.parked.answers if answer.is_covered}
        return [question for question in self.asked.questions if question.text not in covered]

    @property
    def is_waiting(self) -> bool:
        """Whether a question of it still waits for a person."""
        return self.answered is None and any(one.text not in self.given for one in self.for_people)

    @property
    def held(self) -> tuple[Answer, ...]:
        """The answers that the Worker did not reject."""
        answers = self.answered.answers if self.answered else ()
        return tuple(answer for answer in answers if answer.question not in self.rejected)
