"""Examines one session for `sq gate check`, and sums up all of a project for `sq gate usage`."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import anyio

from agents.session.permissions import rule_names
from agents.transcript.read import TranscriptError, read_transcript
from agents.transcript.records import Transcript
from orchestrator.gates.power_steering.considerations import Consideration, load_considerations
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.examine import examine, judge_here, waiting_for
from orchestrator.gates.power_steering.facts import SessionEvidence
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.usage import SteeringUsage, usage_in
from orchestrator.gates.session_state.diagnostics import (
    DEFAULT_FOLDER,
    SteeringSettings,
    session_folders,
    sessions_folder,
    top_of,
)
from orchestrator.gates.session_state.store import FOR_GOOD, SteeringStore
from orchestrator.gates.stop_gate.order import STEPS, Priority
from orchestrator.gates.stop_gate.stop import GateStep, StepResult, Stop, results, stop_of
from state.errors import UsageError
from state.roles import Role
from state.settings.config import load_config
from state.settings.records import Model

_OF_A_PROJECT = {Priority.P1_PROMISE, Priority.P2_BEADS}
_WHAT_TO_NAME = "Name the .jsonl file of a session, as they are in ~/.claude/projects/FOLDER/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result. `held_by` is the first step of the stop gate that holds the session, or "", `reason` why.

    `waits` says why the session is not examined, or is "" if it is. `project` is the one whose considerations
    were asked. None: the session's folder is not on this machine. `notes` are those of the steps for people.
    """

    examination: Examination
    waits: str
    held_by: str
    reason: str
    notes: tuple[str, ...]
    project: Path | None
    worked_in: str
    left_out: tuple[str, ...]

    @property
    def may_stop(self) -> bool:
        """Whether nothing holds the session."""
        return not self.held_by


DEADLINE_S = 180.0


@contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """Let the block take so many seconds, a slow pattern included. Only the main thread can be held to it.

    Raises:
        UsageError: it took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> NoReturn:
        raise UsageError(f"{what} took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_session(path: Path, *, rules_only: bool, project: Path | None) -> Checked:
    """Ask the steps of the stop gate about a session, as at its first stop, and record nothing.

    Power steering is asked in any case, by the considerations of `project`, else of the session's project.
    """
    read = session_in(path)
    home = top_of(project) if project else _project_of(read)
    stop = _stop_of(path, read, project=home, rules_only=rules_only)
    evidence = SessionEvidence(
        transcript=stop.session.transcript or read, facts=stop.session.facts, project=home
    )
    waits = _switched_off(home, stop.session_id) or waiting_for(evidence)
    loaded = load_considerations(home)
    examination = anyio.run(_examined, evidence, loaded.considerations, rules_only or bool(waits))
    unmet = not waits and not examination.decision.allows
    steering = _Answered(StepResult(blocks=unmet, reason=examination.decision.message))
    held_by, reason, notes = _asked(stop, home, steering)
    return Checked(
        examination=examination,
        waits=waits,
        held_by=held_by,
        reason=reason,
        notes=notes,
        project=home,
        worked_in=read.cwd,
        left_out=loaded.problems,
    )


@dataclass(frozen=True, slots=True)
class _Answered:
    """The step of power steering, which was asked before."""

    result: StepResult

    def applies(self, _stop: Stop) -> bool:
        return True

    def check(self, _stop: Stop) -> StepResult:
        return self.result


def _asked(stop: Stop, project: Path | None, steering: _Answered) -> tuple[str, str, tuple[str, ...]]:
    """Return the first step that holds the session, or "", its reason, and the notes of the steps."""
    steps: dict[Priority, GateStep] = {**STEPS, Priority.P3_2_STEERING: steering}
    left_out = {Priority.AVAILABLE_WORK} | (_OF_A_PROJECT if project is None else set())
    if stop.session.facts.running:  # the hook asks no step then
        left_out = {*STEPS}
    notes = []
    for priority, result in results(stop, [one for one in steps.items() if one[0] not in left_out]):
        notes += [result.note] if result.note else []
        if result.blocks:
            return priority.name, result.reason, tuple(notes)
    return "", "", tuple(notes)


async def _examined(
    evidence: SessionEvidence, considerations: Sequence[Consideration], rules_only: bool
) -> Examination:
    async with judge_here(judge_model(evidence.project), os.environ, rules_only=rules_only) as judge:
        return await examine(evidence, considerations, judge, RULES)


def _stop_of(path: Path, read: Transcript, *, project: Path | None, rules_only: bool) -> Stop:
    """Return the stop that the hook would see. As there, CLAUDE_SESSION_ID names the session if it is set."""
    hidden = {"CLAUDE_PROJECT_DIR", *(["ANTHROPIC_API_KEY"] if rules_only else [])}
    environ = {name: value for name, value in os.environ.items() if name not in hidden}
    given = {"session_id": read.session_id, "transcript_path": str(path), "cwd": str(project or "")}
    return stop_of(given, environ, with_steering=True)


def session_in(path: Path) -> Transcript:
    """Read the session in a transcript.

    Raises:
        UsageError: there is no file, or it is a folder, or holds no session of Claude Code.
    """
    asked = f"{path} cannot be checked"
    if path.is_dir():
        raise UsageError(f"{asked}: it is a folder. {_WHAT_TO_NAME}")
    try:
        found = read_transcript(path) if path.is_file() else None
    except TranscriptError as error:
        raise UsageError(f"{asked}: {error}") from error
    if found is None:
        what = "it is no plain file" if path.exists() else "there is no such file"
        raise UsageError(f"{asked}: {what}; {_WHAT_TO_NAME}")
    if not found.turns:
        what = "it is empty" if not path.stat().st_size else "nothing in it is a conversation of Claude Code"
        raise UsageError(f"{asked}: {what}; {_WHAT_TO_NAME}")
    return found


def usage_of(project: Path) -> SteeringUsage:
    """The usage in a project, from the diagnostics of all its sessions."""
    return usage_in(_folders(project))


def judge_model(project: Path | None) -> Model:
    """The judge's model in the project's settings."""
    return load_config(project, os.environ, rules=rule_names()).settings.models[Role.JUDGE]


def _project_of(read: Transcript) -> Path | None:
    """The top of the project that a session worked in. None if it is not on this machine."""
    folder = Path(read.cwd) if read.cwd else None
    return top_of(folder) if folder and folder.is_dir() else None


def _switched_off(project: Path | None, session: str) -> str:
    if project is None or not (os.environ.get("SQ_PS_STATE_DIR") or (project / DEFAULT_FOLDER).is_dir()):
        return ""
    until = SteeringStore.of_project(project, session).disabled_until()
    if until is None:
        return ""
    return "power steering is switched off" + (
        f" until {until:%Y-%m-%d %H:%M} UTC" if until < FOR_GOOD else ""
    )


def _folders(project: Path) -> Iterator[Path]:
    settings = SteeringSettings.of(os.environ)
    if settings.diagnostic_log_dir:  # one log of all sessions
        yield settings.diagnostic_log_dir
        return
    yield from session_folders(sessions_folder(project, settings))
