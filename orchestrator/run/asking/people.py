"""What people say while a run goes on, on its way to models: words not yet heard, pauses."""

from collections.abc import Iterable

import prompts
from state.journal.events.calls import CallView
from state.journal.events.people import WordSaid
from state.journal.events.questions import AskView
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.roles import Role


def unheard(view: RunView, task_id: str, calls: Iterable[CallView]) -> list[WordSaid]:
    """Return the words to a task, or to all, that no prompt of a conversation held yet. `calls` are its.

    The final review, whose task is "", has the words to all tasks.
    """
    heard = {word_id for call in calls for word_id in call.words}
    said = (word for word in view.context.people.said if not task_id or word.task_id in {"", task_id})
    return [word for word in said if word.word_id not in heard]


def unheard_by(view: RunView, task: TaskView) -> list[WordSaid]:
    """Return the words that the Worker of a task's newest attempt has not heard."""
    calls = view.calls_of(Role.WORKER, task.task.id, task.attempt)
    return unheard(view, task.task.id, calls)


def with_words(prompt: str, words: Iterable[WordSaid]) -> str:
    """Return a prompt with the words of people at its end."""
    said = [f"About the task {word.task_id}: {word.text}" if word.task_id else word.text for word in words]
    return "\n\n".join([prompt, prompts.render("said", words=said)]) if said else prompt


def answered_in(view: RunView, call: CallView) -> list[AskView]:
    """Return the parked questions of an exchange that people have answered, oldest first."""
    asks = (ask for ask in view.asks.values() if ask.asked.call_id == call.started.call_id)
    return [ask for ask in asks if ask.parked and ask.answered]


def with_answers(prompt: str, asks: Iterable[AskView]) -> str:
    """Return a prompt with the answers of people to parked questions at its end."""
    given = [answer for ask in asks if ask.answered for answer in ask.answered.answers]
    return "\n\n".join([prompt, prompts.render("answered_meanwhile", answers=given)]) if given else prompt


def is_unpaused(view: RunView) -> bool:
    """Whether no person holds the run."""
    return view.context.people.paused is None
