"""`sq gate`: power steering by hand, on one session, and statistics of its use."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from agents.session.permissions import rule_names
from agents.transcript.read import TranscriptError, read_transcript
from agents.transcript.records import Transcript
from orchestrator.cli import options
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.examine import examine, waiting_for
from orchestrator.gates.power_steering.facts.session import facts_of
from orchestrator.gates.power_steering.judge_here import judge_here
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.usage import SteeringUsage, usage_in
from orchestrator.gates.session_state.diagnostics import (
    DEFAULT_FOLDER,
    SteeringSettings,
    sessions_folder,
    top_of,
)
from orchestrator.gates.session_state.sessions import session_folders
from orchestrator.gates.session_state.store import FOR_GOOD, SteeringStore
from orchestrator.views.screen import say, say_json
from state.errors import UsageError
from state.roles import Role
from state.settings.config import load_config
from state.settings.records import Model

_WHAT_TO_NAME = "Name the .jsonl file of a session, as they are in ~/.claude/projects/FOLDER/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result. `waits` says why the session is not judged, or is "" if it is.

    `project` is the one whose considerations were asked. None: the session's folder is not on this machine.
    """

    examination: Examination
    waits: str
    project: Path | None
    worked_in: str
    left_out: tuple[str, ...]

    @property
    def may_stop(self) -> bool:
        """Whether nothing holds the session."""
        return bool(self.waits) or self.examination.decision.allows


async def check_session(path: Path, *, rules_only: bool, project: Path | None) -> Checked:
    """Examine a session by the considerations of `project`, else of the session's own project."""
    read = session_in(path)
    home = top_of(project) if project else _project_of(read)
    evidence = SessionEvidence(transcript=read, facts=facts_of(read), project=home)
    loaded = load_considerations(home)
    waits = _switched_off(home, read.session_id) or waiting_for(evidence)
    async with judge_here(judge_model(home), os.environ, rules_only=rules_only or bool(waits)) as judge:
        return Checked(
            examination=await examine(evidence, loaded.considerations, judge, RULES),
            waits=waits,
            project=home,
            worked_in=read.cwd,
            left_out=loaded.problems,
        )


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


_BLOCKED = 1  # exit code: the session would be held
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

explain_option = click.option("--explain", is_flag=True, help="Show every check and why.")
project_option = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose considerations apply (default: this folder's repository, for `check` the session's).",
)
rules_option = click.option("--rules", is_flag=True, help="Ask no model: rules alone.")


@click.group("gate", short_help="Check sessions of Claude Code: are they done, as they say?")
def command() -> None:
    """Power steering by hand: check a session, show the considerations, measure, switch it off for a time."""


@command.command("check", short_help="Say whether a session may stop, and why.")
@click.argument("transcript", type=click.Path(path_type=Path))
@rules_option
@explain_option
@project_option
@options.json_object
def check(transcript: Path, rules: bool, explain: bool, project: Path | None, as_json: bool) -> int:
    """Check the session in TRANSCRIPT, a .jsonl file of Claude Code, as the gate would. Nothing is recorded.

    A model is asked if there is a key or a login, otherwise rules answer. The considerations are those of the
    project that the session worked in. Exit code 0 if the session may stop, 1 if it would be held, 2 if
    TRANSCRIPT is not a transcript.
    """
    from functools import partial

    import anyio

    from orchestrator.cli.gate.command import check_session
    from orchestrator.views.gates.steering import examination_lines

    done = anyio.run(partial(check_session, transcript, rules_only=rules, project=project))
    if as_json:
        shown = {
            "may_stop": done.may_stop,
            "not_judged_because": done.waits,
            "project": str(done.project) if done.project else None,
            "examination": done.examination,
            "left_out": done.left_out,
        }
        say_json(shown)
        return 0 if done.may_stop else _BLOCKED
    say(*examination_lines(done.examination, waits=done.waits, explain=explain))
    if done.project is None:
        where = f"the folder {done.worked_in} is not here" if done.worked_in else "the transcript names none"
        say(f"sq: no project's own considerations were asked: {where}. Give --project", error=True)
    for problem in done.left_out:
        say(f"sq: left out: {problem}", error=True)
    return 0 if done.may_stop else _BLOCKED


@command.command("considerations", short_help="Show the considerations for sessions.")
@project_option
@options.json_object
def considerations(project: Path | None, as_json: bool) -> int:
    """Show the considerations that apply here: the shipped ones with the project's own changes."""
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.gates.session_state.diagnostics import top_of
    from orchestrator.views.gates.steering import consideration_lines

    loaded = load_considerations(top_of(project or Path.cwd()))
    if as_json:
        say_json(loaded)
    else:
        say(*consideration_lines(loaded.considerations, loaded.problems))
    return 0


@command.command("usage", short_help="Say how often the judge answered, and where rules disagree.")
@click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose sessions (default: the repository around this folder).",
)
@options.json_object
def usage(project: Path | None, as_json: bool) -> int:
    """Compute from the diagnostics of a project's sessions which source gave the verdicts, and how fast.

    The seed's target: if there is a judge, it answers at least 95 % of the checks. A disagreement is a check
    that the judge and its rule answered differently. The judge's answer counted. The exit code is always 0.
    """
    from orchestrator.cli.gate.command import usage_of
    from orchestrator.views.gates.steering import usage_lines

    found = usage_of(project or Path.cwd())
    if as_json:
        say_json(found)
    else:
        say(*usage_lines(found))
    return 0


@command.command("disable", short_help="Let sessions stop unchecked, for a time.")
@click.option("--session", metavar="ID", help="This session alone (default: every session of the project).")
@click.option(
    "--for", "span", metavar="SPAN", help="Such as 30m, 2h or 1d (default: until it is enabled again)."
)
@project_option
def disable(session: str | None, span: str | None, project: Path | None) -> int:
    """Switch power steering off for the sessions of this project, or for one of them."""
    from orchestrator.gates.session_state.store import FOR_GOOD

    until = datetime.now(UTC) + _span(span) if span is not None else FOR_GOOD
    _switch(until, session, project)
    whom = f"session {session}" if session else "every session of this project"
    say(
        f"power steering is off for {whom} "
        + (f"until {until:%Y-%m-%d %H:%M} UTC" if span is not None else "until `sq gate enable`")
    )
    return 0


@command.command("enable", short_help="Check sessions again.")
@click.option("--session", metavar="ID", help="This session alone (default: every session of the project).")
@project_option
def enable(session: str | None, project: Path | None) -> int:
    """Switch power steering on again."""
    _switch(datetime.now(UTC), session, project)
    say(f"power steering is on for {f'session {session}' if session else 'every session of this project'}")
    return 0


def _switch(until: datetime, session: str | None, project: Path | None) -> None:
    from orchestrator.gates.session_state.diagnostics import has_control
    from orchestrator.gates.session_state.store import SteeringStore
    from state.errors import SqError, UsageError

    if session and has_control(session):
        raise UsageError(f"--session {session!r} has control characters. Give the id as `session_id` has it")
    store = SteeringStore.of_project(project or Path.cwd(), session or "")
    done = store.disable(until, everywhere=session is None)
    if not done.stored:
        raise SqError(f"the switch could not be stored: {done.error}")


def _span(text: str) -> timedelta:
    found = re.fullmatch(r"\s*(\d{1,6})\s*([smhd])\s*", text)
    if not found or not int(found[1]):
        raise click.BadParameter(
            f"{text!r} is no span of time. Write for instance 30m, 2h or 1d", param_hint="--for"
        )
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
