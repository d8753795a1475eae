"""Lines of a Worker's questions and their answers."""

from typing import assert_never

from state.journal import events as e
from state.journal.view import RunView


def lines(view: RunView, event: e.QuestionEvent) -> list[str]:
    """The lines that an event of a question adds to the story."""
    match event:
        case e.QuestionsAsked():
            return _asked(event)
        case e.QuestionsAnswered():
            return _answered(view, event)
        case e.QuestionsFailed():
            return _questions_failed(event)
        case e.QuestionsParked():
            return _questions_parked(view, event)
        case _:
            assert_never(event)


def _asked(event: e.QuestionsAsked) -> list[str]:
    lines = []
    for question in event.questions:
        options = " / ".join(option.label for option in question.options)
        once_more = "question, asked again" if question.text in event.again else "question"
        lines.append(f"{event.task_id}: {once_more}: {question.text}" + (f" [{options}]" if options else ""))
    return lines


def _answered(view: RunView, event: e.QuestionsAnswered) -> list[str]:
    task_id = view.asks[event.ask_id].asked.task_id
    again = ", as before the interruption" if event.reused else ""
    again = ", as the same question before" if event.reused_from else again
    lines = []
    for answer in event.answers:
        why = f" ({answer.reason})" if answer.reason else ""
        lines.append(f"{task_id}: answer by the Developer ({event.model}{again}): {answer.marked}{why}")
    return lines


def _questions_failed(event: e.QuestionsFailed) -> list[str]:
    return [f"question not answered: {event.cause}"]


def _questions_parked(view: RunView, event: e.QuestionsParked) -> list[str]:
    would = "; ".join(answer.text for answer in event.answers)
    task_id = view.asks[event.ask_id].asked.task_id
    asked = f"question parked for a person: {event.question}"
    return [f"{task_id}: {asked} (the Developer would have said: {would})"]
