"""The facts of a session: edits, commands, tests, todos, and the questions that they answer together.

`order` and `turn` are positions.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_CLOSED = frozenset({"completed", "deleted", "cancelled"})
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_TRAILING_MARKS = " \t*_`\"')»\u2019\u201d"


class RunOutcome(StrEnum):
    """The end of a test run, as far as its exit code or its summary shows it."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A prompt of the user, word for word: the task from `turn` on."""

    text: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTool:
    """A successful call of a tool."""

    tool: str
    order: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of a file that was made. `added`: its new lines. `order` and `turn` are its position.

    `removed`: the lines that went, None if unknown or if `added` is the whole file. `is_code`: it lies in the
    project and is no document.
    """

    path: str
    added: tuple[str, ...]
    removed: tuple[str, ...] | None = None
    order: int
    turn: int
    is_code: bool = True
    is_document: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A shell command that ran. `order` counts all calls of the session, a subagent's after its own call.

    `exit_code` is None if unknown: interrupted, or still in the background. `tests`: how the tests that it
    runs ended, None if it runs none.
    """

    line: str
    exit_code: int | None
    output: str
    order: int
    turn: int
    is_interrupted: bool = False
    tests: RunOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTask:
    """A command or a subagent that was left running.

    `status` is running, completed, failed or killed. A task whose CLI was killed stays `running` here. The
    `background_tasks` of a hook hold its true state.
    """

    what: str
    status: str
    order: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """An item of the agent's own list, as its last call left it. TodoWrite's items have no id."""

    text: str
    status: str
    id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done. Deleted items are not."""
        return self.status not in _CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything found, oldest first.

    `calls` are all successful tool calls. `todos_turn` is the turn that last touched the list, or 0.
    """

    goals: tuple[Goal, ...] = ()
    calls: tuple[CalledTool, ...] = ()
    edits: tuple[Edit, ...] = ()
    commands: tuple[Command, ...] = ()
    todos: tuple[Todo, ...] = ()
    todos_turn: int = 0
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
