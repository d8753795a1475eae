"""`sq gate`: power steering by hand, on one session, and statistics of its use."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json

_BLOCKED = 1  # exit code: the session would be held
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

explain_option = click.option("--explain", is_flag=True, help="Show every check and why.")
project_option = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose considerations apply (default: this folder's repository, for `check` the session's).",
)
session_option = click.option(
    "--session", metavar="ID", help="This session alone (default: every session of the project)."
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
    """Check the session in TRANSCRIPT, a .jsonl file of Claude Code, as the Stop hook would at first.

    All steps of the gate are asked, power steering in any case. Nothing is recorded.

    A model is asked if there is a key or a login, otherwise rules answer. The considerations are those of the
    project that the session worked in. Exit code 0 if the session may stop, 1 if it would be held, 2 if
    TRANSCRIPT is not a transcript.
    """
    from orchestrator.cli.gate.check import DEADLINE_S, check_session, within
    from orchestrator.views.gates import examination_lines

    with within(DEADLINE_S, f"checking {transcript}"):
        done = check_session(transcript, rules_only=rules, project=project)
    if as_json:
        shown = {
            "may_stop": done.may_stop,
            "held_by": done.held_by,
            "reason": done.reason,
            "notes": done.notes,
            "not_judged_because": done.waits,
            "project": str(done.project) if done.project else None,
            "examination": done.examination,
            "left_out": done.left_out,
        }
        say_json(shown)
        return 0 if done.may_stop else _BLOCKED
    held = (done.held_by, done.reason) if done.held_by else None
    say(*examination_lines(done.examination, waits=done.waits, held=held, explain=explain))
    say(*(f"  note: {note}" for note in done.notes))
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
    from orchestrator.views.gates import consideration_lines

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
    from orchestrator.cli.gate.check import usage_of
    from orchestrator.views.gates import usage_lines

    found = usage_of(project or Path.cwd())
    if as_json:
        say_json(found)
    else:
        say(*usage_lines(found))
    return 0


@command.command("disable", short_help="Let sessions stop unchecked, for a time.")
@session_option
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
@session_option
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
