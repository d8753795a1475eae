"""Whether a question rejects the answers before it (seed 004), as a plain function of the view.

A Worker rejects an answer if it asks the same question again, or says that it does not accept the answer,
while nothing has changed: not the workspace, and the run was not resumed in between.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from state.journal.events.questions import AskView
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.records.questions import Answer, GivenAnswer, Question
from state.words import question_key

_REFUSAL = re.compile(
    r"\bI\s+(?:do\s+not|don['\u2019]t|cannot|can['\u2019]t|can\s+not|will\s+not|won['\u2019]t)\s+(?:accept|agree\s+with)\s+"
    r"(?:that|this|it|(?:the|your|that|this)\s+(?:answer|decision|choice|reply))\b"
    r"|\bI\s+reject\s+(?:that|this|it|(?:the|your|that|this)\s+(?:answer|decision|choice|reply))\b",
    re.IGNORECASE,
)


Given = tuple[GivenAnswer, Answer]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rejected answers, oldest first, by the text of the question that asks for them again."""

    by_question: Mapping[str, Sequence[Given]] = field(default_factory=dict)

    @property
    def answers(self) -> list[Given]:
        """All of them."""
        return [given for several in self.by_question.values() for given in several]

    def more_than(self, limit: int) -> Sequence[Given]:
        """The rejected answers to a question that has been answered in more calls than this; else none."""
        counted = {
            text: len({given.ask_id for given, _ in several}) for text, several in self.by_question.items()
        }
        return next((self.by_question[text] for text, number in counted.items() if number > limit), ())


def refuses(text: str) -> bool:
    """Whether a Worker says in these words that it does not accept an answer."""
    return bool(_REFUSAL.search(text))


def newest_words(task: TaskView) -> str:
    """The Worker's text since the last tool result or prompt of its session."""
    ends = {MessageKind.TOOL_RESULT, MessageKind.PROMPT}
    newest = takewhile(lambda message: message.kind not in ends, reversed(task.history))
    return "\n".join(message.text for message in newest if message.kind is MessageKind.TEXT)


def rejection_by(
    view: RunView, task: TaskView, questions: Sequence[Question], *, call_id: str, tree: str
) -> Rejection:
    """The answers that these questions reject.

    Args:
        view: the run.
        task: whose Worker asks.
        questions: of one call.
        call_id: the exchange that the call belongs to.
        tree: the workspace's content as the questions come.
    """
    delivered = [
        ask for ask in delivered_in(view, task, since=interrupted_at(view, call_id)) if ask.asked.tree == tree
    ]
    again = {
        question.text: [
            (GivenAnswer(ask_id=ask.asked.ask_id, question=answer.question), answer)
            for ask in delivered
            for answer in (ask.answered.answers if ask.answered else ())
            if question_key(answer.question) == question_key(question.text)
        ]
        for question in questions
    }
    if any(again.values()):
        return Rejection({text: answers for text, answers in again.items() if answers})
    words = "\n".join([newest_words(task), *(question.text for question in questions)])
    if delivered and refuses(words):
        last = delivered[-1]
        return Rejection({questions[0].text: [*_rejected_by(view, last), *_given(last)]})
    return Rejection()


def delivered_in(view: RunView, task: TaskView, *, since: int) -> list[AskView]:
    """The calls of this attempt whose answers its session has been given after this place in the journal."""
    return [
        ask
        for ask in view.asks.values()
        if ask.answered and ask.asked.call_id in task.open.calls and ask.seq > since
    ]


def interrupted_at(view: RunView, call_id: str) -> int:
    """The place in the journal where the session of this exchange was resumed last; 0: never."""
    return max(view.process.resumed_seq, view.calls[call_id].resumed_at)


def _given(ask: AskView) -> list[Given]:
    answers = ask.answered.answers if ask.answered else ()
    return [(GivenAnswer(ask_id=ask.asked.ask_id, question=one.question), one) for one in answers]


def _rejected_by(view: RunView, ask: AskView) -> list[Given]:
    return [one for given in ask.asked.rejects for one in _given(view.asks[given.ask_id]) if one[0] == given]
