"""All facts of a session together, and the questions that they answer."""

import re
from dataclasses import dataclass

from orchestrator.gates.power_steering.facts.records import (
    BackgroundTask,
    CalledTool,
    Command,
    Edit,
    GitAction,
    Goal,
    HubAction,
    Reading,
    SkillUse,
    Todo,
    TypedCommand,
)

_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_TRAILING_MARKS = " \t*_`\"')»\u2019\u201d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything found, oldest first.

    `calls` are all successful tool calls. `todos_turn` is the turn that last touched the list, or 0.
    """

    goals: tuple[Goal, ...] = ()
    typed_commands: tuple[TypedCommand, ...] = ()
    calls: tuple[CalledTool, ...] = ()
    edits: tuple[Edit, ...] = ()
    reads: tuple[Reading, ...] = ()
    commands: tuple[Command, ...] = ()
    todos: tuple[Todo, ...] = ()
    todos_turn: int = 0
    git_actions: tuple[GitAction, ...] = ()
    hub_actions: tuple[HubAction, ...] = ()
    skills: tuple[SkillUse, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    pending_questions: tuple[str, ...] = ()
    final_text: str = ""

    @property
    def asks(self) -> bool:
        """Whether the session waits for an answer: its last words are a question, or one is open."""
        return bool(self.pending_questions) or is_question(self.final_text)

    @property
    def open_todos(self) -> tuple[Todo, ...]:
        """The open items of the agent's own list."""
        return tuple(todo for todo in self.todos if todo.is_open)

    @property
    def running(self) -> tuple[BackgroundTask, ...]:
        """Background tasks whose end was not reported."""
        return tuple(task for task in self.background if task.status == "running")

    @property
    def test_runs(self) -> tuple[Command, ...]:
        """The commands that run tests."""
        return tuple(command for command in self.commands if command.tests is not None)

    @property
    def last_code_edit(self) -> Edit | None:
        """The newest change of code. Documents and files outside the project do not count."""
        return next((edit for edit in reversed(self.edits) if edit.is_code), None)


def is_question(text: str) -> bool:
    """Whether a message ends by asking something. Options listed after the question are part of it."""
    lines = [line for line in text.rstrip().splitlines() if line.strip()]
    while len(lines) > 1 and _LIST_ITEM.match(lines[-1]) and not _ends_asking(lines[-1]):
        lines.pop()
    return bool(lines) and _ends_asking(lines[-1])


def _ends_asking(line: str) -> bool:
    return line.rstrip(_TRAILING_MARKS).endswith(("?", "\uff1f"))
