"""What people say while a run goes on, on its way to models: words not yet heard, pauses."""

from collections.abc import Iterable

import prompts
from state.journal.events.calls import CallView
from state.journal.events.people import WordSaid
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.roles import Role


def unheard(view: RunView, task_id: str, calls: Iterable[CallView]) -> list[WordSaid]:
    """Return the words to a task, or to all, that no prompt of a conversation held yet. `calls` are its."""
    heard = {word_id for call in calls for word_id in call.started.words}
    said = view.context.people.said
    return [word for word in said if word.task_id in {"", task_id} and word.word_id not in heard]


def unheard_by(view: RunView, task: TaskView) -> list[WordSaid]:
    """Return the words that the Worker of a task's newest attempt has not heard."""
    calls = view.calls_of(Role.WORKER, task.task.id, task.attempt)
    return unheard(view, task.task.id, calls)


def with_words(prompt: str, words: Iterable[WordSaid]) -> str:
    """Return a prompt with the words of people at its end."""
    said = [word.text for word in words]
    return "\n\n".join([prompt, prompts.render("said", words=said)]) if said else prompt


def is_unpaused(view: RunView) -> bool:
    """Whether no person holds the run."""
    return view.context.people.paused is None
