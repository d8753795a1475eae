"""The facts of a session: edits, commands and how tests ended, todos, git, goals, last words.

They rest on tool calls and their results, never on the assistant's own account. Calls that were refused, or
that have no result, are not evidence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.transcript.facts.commands import BackgroundTask, Command, background_of, commands_of, placed_calls
from agents.transcript.facts.git import (
    GitAction,
    HubAction,
    branch_told,
    git_actions_of,
    hub_actions_of,
    is_behind,
)
from agents.transcript.facts.summaries import Outcome
from agents.transcript.facts.taken import Taken, taken_of
from agents.transcript.facts.work import TODO_TOOLS, Edit, Reading, Todo, edits_of, readings_of, todos_of
from agents.transcript.records import Said, Speaker, ToolCall, Transcript, Turn, listed, mapping, string

__all__ = [
    "BackgroundTask",
    "Called",
    "Command",
    "Edit",
    "Facts",
    "GitAction",
    "Goal",
    "HubAction",
    "Outcome",
    "Reading",
    "SkillUse",
    "Todo",
    "TypedCommand",
    "facts_of",
]

_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_TRAILING_MARKS = " \t*_`\"')»\u2019\u201d"


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
class Called:
    """A successful call of a tool."""

    tool: str
    order: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything found, oldest first.

    `calls` are all successful tool calls, `taken` the steps that kept tests from failing. `todos_turn` is the
    turn that last touched the list, or 0.
    """

    goals: tuple[Goal, ...] = ()
    typed_commands: tuple[TypedCommand, ...] = ()
    calls: tuple[Called, ...] = ()
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
    taken: tuple[Taken, ...] = ()
    is_behind: bool | None = None

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

    @property
    def tests_since_edit(self) -> tuple[Command, ...]:
        """The test runs after the last change of code, or all if no code was changed."""
        last = self.last_code_edit
        return tuple(run for run in self.test_runs if last is None or run.order >= last.order)

    @property
    def tested(self) -> Outcome | None:
        """The outcome of the newest test run since the last change of code, None if there was none.

        A run with unknown outcome does not hide that of an earlier run.
        """
        told = [run.tests for run in self.tests_since_edit]
        known = [outcome for outcome in told if outcome is not Outcome.UNKNOWN]
        return known[-1] if known else Outcome.UNKNOWN if told else None


def facts_of(transcript: Transcript) -> Facts:
    """Return the facts of a session, extracted in one pass over its calls."""
    calls = tuple(placed_calls(transcript.turns))
    worked = [(order, turn, call) for order, turn, call in calls if call.result and not call.result.is_error]
    main = [call for turn in transcript.turns for call in turn.calls]  # a subagent's list is its own
    ended = {end.id: end for end in transcript.ended}
    commands = tuple(commands_of(calls, ended))
    edits = tuple(
        edit
        for order, turn, call in calls
        for edit in edits_of(call, order=order, turn=turn, project=transcript.cwd)
    )
    reads = tuple(read for order, turn, call in calls for read in readings_of(call, order=order, turn=turn))
    said = [(turn.number, said) for turn in transcript.turns for said in _users(turn)]
    return Facts(
        goals=tuple(Goal(text=said.text, turn=turn) for turn, said in said if said.opens),
        typed_commands=tuple(
            TypedCommand(name=said.command, text=said.text, turn=turn, is_expanded=said.is_expanded)
            for turn, said in said
            if said.command
        ),
        edits=edits,
        calls=tuple(Called(tool=call.tool, order=order, turn=turn) for order, turn, call in worked),
        reads=reads,
        commands=commands,
        todos=todos_of(main),
        todos_turn=max((turn for _, turn, call in worked if call.tool in TODO_TOOLS), default=0),
        git_actions=tuple(_git_actions(commands)),
        hub_actions=tuple(
            action
            for one in commands
            for action in hub_actions_of(one.line, one.output, one.exit_code, order=one.order, turn=one.turn)
        ),
        skills=tuple(
            SkillUse(name=string(call.input.get("skill")), order=order, turn=turn)
            for order, turn, call in worked
            if call.tool == "Skill"
        ),
        background=tuple(background_of(calls, ended)),
        pending_questions=tuple(_pending_questions(transcript)),
        final_text=_final_text(transcript),
        taken=tuple(taken_of(edits, commands, reads)),
        is_behind=_newest_told([is_behind(one.line, one.output) for one in commands]),
    )


def is_question(text: str) -> bool:
    """Whether a message ends by asking something. Options listed after the question are part of it."""
    lines = [line for line in text.rstrip().splitlines() if line.strip()]
    while len(lines) > 1 and _LIST_ITEM.match(lines[-1]) and not _ends_asking(lines[-1]):
        lines.pop()
    return bool(lines) and _ends_asking(lines[-1])


def _ends_asking(line: str) -> bool:
    return line.rstrip(_TRAILING_MARKS).endswith(("?", "\uff1f"))


def _users(turn: Turn) -> Iterator[Said]:
    for said in (turn.opener, *turn.items):
        if isinstance(said, Said) and said.speaker is Speaker.USER:
            yield said


def _git_actions(commands: Sequence[Command]) -> Iterator[GitAction]:
    branch = ""
    for one in commands:
        yield from git_actions_of(
            one.line, one.output, one.exit_code, order=one.order, turn=one.turn, branch=branch
        )
        branch = branch_told(one.line, one.output) or branch


def _pending_questions(transcript: Transcript) -> Iterator[str]:
    newest = transcript.turns[-1].calls if transcript.turns else ()
    for call in newest:
        if call.tool == "AskUserQuestion" and (call.result is None or call.result.is_interrupted):
            yield from (string(mapping(each).get("question")) for each in listed(call.input.get("questions")))


def _final_text(transcript: Transcript) -> str:
    """Return the assistant's words after its last call, without text that the CLI put behind them."""
    words: list[str] = []
    for item in reversed(transcript.turns[-1].items if transcript.turns else ()):
        if isinstance(item, Said) and item.speaker is Speaker.ASSISTANT:
            words.append(item.text)
        elif isinstance(item, ToolCall) or words:
            break
    return "\n\n".join(reversed(words))


def _newest_told(told: Sequence[bool | None]) -> bool | None:
    return next((each for each in reversed(told) if each is not None), None)
