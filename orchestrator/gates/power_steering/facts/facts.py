"""The facts of a session: edits, commands, tests, git, todos, and the questions that they answer together.

`order` and `turn` are positions.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_CLOSED = frozenset({"completed", "deleted", "cancelled"})
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_TRAILING_MARKS = " \t*_`\"')»\u2019\u201d"


class RunOutcome(StrEnum):
    """The end of a test run or a check, as far as its exit code or its summary shows it."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A prompt of the user, word for word: the task from `turn` on."""

    text: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedCommand:
    """A `/name` that the user typed. `is_expanded`: the CLI knew it and loaded or ran it itself."""

    name: str
    text: str
    turn: int
    is_expanded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillUse:
    """A successful call of the Skill tool."""

    name: str
    order: int
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
    tool: str
    added: tuple[str, ...]
    removed: tuple[str, ...] | None = None
    order: int
    turn: int
    is_code: bool = True
    is_document: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A file that was read, without the line numbers of the Read tool."""

    path: str
    text: str
    order: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A shell command that ran. `order` counts all calls of the session, a subagent's after its own call.

    `exit_code` is None if unknown: interrupted, or still in the background. `cwd` is the session's folder, if
    known. `tests`: how the tests that it runs ended, None if it runs none.
    """

    line: str
    exit_code: int | None
    output: str
    order: int
    turn: int
    cwd: str = ""
    is_background: bool = False
    is_interrupted: bool = False
    tests: RunOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTask:
    """A command or a subagent that was left running.

    `status` is running, completed, failed or killed. A task whose CLI was killed stays `running` here. The
    `background_tasks` of a hook hold its true state.
    """

    id: str
    what: str
    status: str
    order: int
    turn: int
    exit_code: int | None = None


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
class GitAction:
    """A commit or a push that was made. `branch` is the one it went to, "" if the output does not name it."""

    kind: str
    branch: str
    order: int
    turn: int
    sha: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAction:
    """A `gh` call: `kind` is such as `pr create`.

    `outcome`: the result of the checks or the run, for `pr checks` and `run`. `is_pending`: they still run.
    """

    kind: str
    exit_code: int | None
    output: str
    order: int
    turn: int
    outcome: RunOutcome = RunOutcome.UNKNOWN
    is_pending: bool = False


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
