"""The facts of a session (edits, commands, tests, todos), the questions that rules ask, and their answers.

`order` and `turn` are positions. Patterns of phrases match whole words, in any case.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from agents.transcript.records import Speaker, Transcript, Utterance
from orchestrator.project.files import belongs_to_tests
from orchestrator.project.shell import simple_commands
from state.truncation import completion_claims

_CLOSED = frozenset({"completed", "deleted", "cancelled"})
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_ANSWER = re.compile(r"\b(?:answer|repl(?:y|ies)|respond|let me know|tell me)", re.IGNORECASE)
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
        return tuple(command for command in self.commands if command.tests is not None)

    @property
    def last_code_edit(self) -> Edit | None:
        """The newest change of code. Documents and files outside the project do not count."""
        return next((edit for edit in reversed(self.edits) if edit.is_code), None)


def is_question(text: str) -> bool:
    """Whether a message ends by asking something. Options listed after the question are part of it.

    A last line that says how to answer a list of questions belongs to them.
    """
    lines = [line for line in text.rstrip().splitlines() if line.strip()]
    if [bool(_LIST_ITEM.match(one) and _ends_asking(one)) for one in lines[-3:]] == [True, True, False]:
        return bool(_ANSWER.search(lines[-1]))
    while len(lines) > 1 and _LIST_ITEM.match(lines[-1]) and not _ends_asking(lines[-1]):
        lines.pop()
    return bool(lines) and _ends_asking(lines[-1])


def _ends_asking(line: str) -> bool:
    return line.rstrip(_TRAILING_MARKS).endswith(("?", "\uff1f"))


# A prompt that only says to go on belongs to the goal before it.
_GO_ON = re.compile(
    r"\W*(?:(?:yes|yep|yeah|ok|okay|sure|please|thanks|thank you|great|good|continue|go on|go ahead|proceed"
    r"|carry on|keep going|do it|do that|next|resume|and|then|now|just)\b\W*){1,6}",
    re.IGNORECASE,
)
_OFFERS_MORE = re.compile(
    r"\b(?:also|else|anything|next|instead|further|additional|as well|too|commit|push|pull request|PR"
    r"|look good|questions)\b",
    re.IGNORECASE,
)
_INTERRUPTED = "[Request interrupted"
_THROWS_AWAY = (("reset", "--hard"), ("checkout", "."), ("restore", "."), ("stash",), ("clean",))


@dataclass(frozen=True, kw_only=True)
class SessionEvidence:
    """A session for the rules, with its facts. `project` is its folder on this machine, or None."""

    transcript: Transcript
    facts: Facts
    project: Path | None = None

    @cached_property
    def goal_turn(self) -> int:
        """The turn that the current goal begins with.

        That is the newest prompt, unless it only says to go on, or interrupts unfinished work.
        """
        for goal in reversed(self.facts.goals):
            if not _GO_ON.fullmatch(goal.text.strip()) and not self._breaks_in(goal):
                return goal.turn
        return 1

    def _breaks_in(self, goal: Goal) -> bool:
        """Whether the turn before the goal was interrupted."""
        before = [turn for turn in self.transcript.turns if turn.number < goal.turn][-1:]
        last = before[0].items[-1] if before and before[0].items else None
        if isinstance(last, Utterance):
            return last.speaker is Speaker.INJECTED and last.text.startswith(_INTERRUPTED)
        return last is not None and (last.result is None or last.result.is_interrupted)

    @cached_property
    def users_words(self) -> tuple[str, ...]:
        """The user's prompts, oldest first."""
        return tuple(goal.text for goal in self.facts.goals)

    @cached_property
    def written(self) -> dict[str, list[str]]:
        """The lines that the session added to program files and did not remove again, by path.

        A file that was removed, restored or changed by a program in an unknown way is left out.
        """
        left: dict[str, list[str]] = {}
        steps: list[Edit | Command] = [*self.facts.edits, *self.facts.commands]
        for step in sorted(steps, key=lambda step: step.order):
            if isinstance(step, Command):
                _take_back(left, step)
            elif not step.is_code:
                continue
            elif step.removed is None:
                left[step.path] = list(step.added)
            else:
                lines = left.setdefault(step.path, [])
                for gone in step.removed:
                    if gone in lines:
                        lines.remove(gone)
                lines.extend(step.added)
        return {path: lines for path, lines in left.items() if lines}

    @cached_property
    def written_code(self) -> dict[str, list[str]]:
        """The same as `written`, without tests."""
        return {path: lines for path, lines in self.written.items() if not belongs_to_tests(path)}


def waits_for_user(facts: Facts) -> str:
    """Return what the session waits for from its user, or "" if it does not wait.

    It does not wait after an offer that follows a claim of completion ("All done. Anything else?").
    """
    if facts.pending_questions:
        return f"it waits for an answer: {facts.pending_questions[0]}"
    if facts.asks and not only_offers(facts.final_text):
        return "it asks the user a question"
    return ""


def only_offers(text: str) -> bool:
    """Whether the question at a message's end only offers more work, after a claim that this work is done."""
    question = text.strip().splitlines()[-1].rsplit(". ", 1)[-1] if text.strip() else ""
    return bool(_OFFERS_MORE.search(question)) and bool(completion_claims([text]))


def _take_back(left: dict[str, list[str]], command: Command) -> None:
    """Drop the files that a command removed or restored."""
    for simple in simple_commands(command.line):
        words = simple.words[1:]
        named: tuple[str, ...] = ()
        if simple.name in {"rm", "mv"}:
            named = simple.plain
        elif simple.name == "git":
            if any(all(part in words for part in parts) for parts in _THROWS_AWAY):
                left.clear()
            named = simple.plain if {"checkout", "restore", "rm", "mv"}.intersection(words[:3]) else ()
        for path in [path for path in left if any(_same(path, name) for name in named)]:
            del left[path]


def _same(path: str, named: str) -> bool:
    return path == named or path.endswith("/" + named.removeprefix("./")) or f"/{named.strip('./')}/" in path


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """A rule's answer: `reason` says why, and `evidence` quotes the deciding fact."""

    satisfied: bool
    reason: str
    evidence: str = ""
    applies: bool = True


# None: the facts are not enough to decide, so it is not checked.
Rule = Callable[[SessionEvidence], RuleOutcome | None]


def met(reason: str, evidence: str = "") -> RuleOutcome:
    """Satisfied."""
    return RuleOutcome(satisfied=True, reason=reason, evidence=evidence)


def unmet(reason: str, evidence: str = "") -> RuleOutcome:
    """Not satisfied, on clear evidence."""
    return RuleOutcome(satisfied=False, reason=reason, evidence=evidence)


def not_applicable(reason: str) -> RuleOutcome:
    """Satisfied, because it does not apply to this session."""
    return RuleOutcome(satisfied=True, reason=reason, applies=False)


def phrases(*alternatives: str) -> re.Pattern[str]:
    """A pattern that finds one of these phrases. Each is itself a regular expression."""
    return re.compile(rf"\b(?:{any_of(alternatives)})\b", re.IGNORECASE)


def any_of(alternatives: Iterable[str]) -> str:
    """A regular expression for one of these phrases, with any white space and any apostrophe."""
    return "|".join(one.replace(" ", r"\s+").replace("'", "['\u2019]") for one in alternatives)
