"""A session that wants to stop, as its hook describes it, and the answer of a step of the gate.

A step is a module with `applies(stop)` and `check(stop)`. The first one that blocks wins.
"""

import os.path
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agents.transcript.read import TranscriptError, read_transcript, with_last_message
from agents.transcript.records import Transcript, Turn

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.facts.facts import Facts

TAIL_BYTES = 20_000_000  # read of a transcript: a step has to be quick
RECENT_BYTES = 500_000  # enough to see how it ends, more if they hold nothing of the conversation
_QUESTION_SIGNS = "?\uff1f"


@dataclass(frozen=True)
class ReadSession:
    """The session in the transcript at `path`, whose facts `facts_of` finds.

    `last_message` may be newer than the file.
    """

    facts_of: "Callable[[Transcript], Facts]"
    path: Path | None = None
    last_message: str = ""

    @cached_property
    def transcript(self) -> Transcript | None:
        """The session, with the last message even if the file lacks it yet. None if it cannot be read."""
        return self.end_of_it(TAIL_BYTES)

    @cached_property
    def facts(self) -> "Facts":
        """The facts of the session. Empty without a transcript."""
        return self.facts_of(self.transcript or Transcript())

    @cached_property
    def recent(self) -> Transcript | None:
        """The session's end only, which is quick to read."""
        return self.end_of_it(RECENT_BYTES)

    @cached_property
    def recent_facts(self) -> "Facts":
        """The facts of the session's end only."""
        return self.facts_of(self.recent or Transcript())

    def end_of_it(self, tail_bytes: int) -> Transcript | None:
        """Return the session as the last `tail_bytes` show it, or None if it cannot be read."""
        if self.path is None or not os.path.isfile(self.path):  # noqa: PTH113  never raises, and refuses pipes
            return None
        try:
            read = read_transcript(self.path, tail_bytes=tail_bytes)
        except TranscriptError:
            return None
        return with_last_message(read, self.last_message)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The answer of a step. `reason` is for the agent if the step blocks, `note` for people in any case.

    `is_counted`: the step has counted this block itself.
    """

    blocks: bool = False
    reason: str = ""
    note: str = ""
    is_counted: bool = False


ALLOWED = StepResult()


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop, with all that the hook knows about it.

    `session_id` is the one that people may give their session (CLAUDE_SESSION_ID), else Claude Code's own,
    which is `claude_session`. An empty one matches nothing. `with_steering`: power steering was asked for.
    `project` is where Claude Code began. `is_shared`: the hook is in settings that others share.
    """

    session_id: str
    claude_session: str = ""
    project: Path
    session: ReadSession
    transcript_path: Path | None = None
    prompt_id: str = ""
    permission_mode: str = ""
    stop_hook_active: bool = False
    last_assistant_message: str = ""
    with_steering: bool = False
    is_shared: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def prompt(self) -> str:
        """The user's newest prompt, by its id or else by its turn. Blocks are counted for it."""
        return self.prompt_id or f"turn-{max((goal.turn for goal in self.session.facts.goals), default=0)}"

    @property
    def is_system3(self) -> bool:
        """Whether this is a session of a System 3 orchestrator (seed 003)."""
        return self.session_id.startswith("system3-")

    @property
    def is_orchestrator(self) -> bool:
        """Whether this session runs workers of its own."""
        return self.session_id.startswith("orch-")

    @cached_property
    def waits(self) -> bool:
        """Whether the session plans, or has asked its user a question that needs an answer."""
        recent = self.session.recent or Transcript()
        if self.permission_mode == "plan" or recent.plan_mode:
            return True
        if not any(_may_ask(turn) for turn in recent.turns[-1:]):
            return False
        from orchestrator.gates.power_steering.evidence import waits_for_user

        return bool(waits_for_user(self.session.recent_facts))


def _may_ask(turn: Turn) -> bool:
    """Whether the turn has any sign of a question. Only then are the facts worth their time."""
    return any(call.tool == "AskUserQuestion" for call in turn.calls) or any(
        sign in text for text in turn.texts for sign in _QUESTION_SIGNS
    )


class GateStep(Protocol):
    """A step: a module with these two functions."""

    def applies(self, stop: Stop, /) -> bool:
        """Whether the step has anything to check at this stop."""
        ...

    def check(self, stop: Stop, /) -> StepResult:
        """Return the step's answer."""
        ...


Steps = Iterable[tuple[IntEnum, GateStep]]  # each with its name, in the order of the gate
