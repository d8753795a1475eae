"""`sq gate`: power steering by hand, on any transcript of Claude Code."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.cli.gate_bench import bench
from orchestrator.cli.gate_options import explain_option, json_option, judge_model, project_option
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.examine import Examination

_BLOCKED = 1  # exit code: the session would be held
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_FOR_GOOD = datetime(9999, 1, 1, tzinfo=UTC)

rules_option = click.option("--rules", is_flag=True, help="Ask no model: rules alone.")


@click.group("gate", short_help="Check sessions of Claude Code: are they done, as they say?")
def command() -> None:
    """Power steering by hand: check a session, see what is asked, measure it, switch it off for a time."""


@command.command("check", short_help="Say whether a session may stop, and why.")
@click.argument("transcript", type=click.Path(path_type=Path))
@rules_option
@explain_option
@project_option
@json_option
def check(transcript: Path, rules: bool, explain: bool, project: Path | None, as_json: bool) -> int:
    """Check the session in TRANSCRIPT, a .jsonl file of Claude Code, as the gate would. Nothing is recorded.

    A model is asked where a key or a login is there, rules where it is not. Exit code 0 if the session may
    stop, 1 if it would be held.
    """
    import anyio

    from orchestrator.views.steering import examination_lines

    examination, waits, problems = anyio.run(_check, transcript, rules, project)
    may_stop = bool(waits) or examination.decision.allows
    if as_json:
        shown = {
            "may_stop": may_stop,
            "not_judged_because": waits,
            "examination": examination,
            "left_out": problems,
        }
        say_json(shown)
    else:
        say(*examination_lines(examination, waits=waits, explain=explain))
        for problem in problems:
            say(f"sq: left out: {problem}", error=True)
    return 0 if may_stop else _BLOCKED


@command.command("considerations", short_help="Show what sessions are asked.")
@project_option
@json_option
def considerations(project: Path | None, as_json: bool) -> int:
    """Show the considerations that hold here: the shipped ones, changed and added to by the project's own."""
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.views.steering import consideration_lines

    loaded = load_considerations(project or options.repository_here())
    if as_json:
        say_json(loaded)
    else:
        say(*consideration_lines(loaded.considerations, loaded.problems))
    return 0


command.add_command(bench)


@command.command("disable", short_help="Let sessions stop unchecked, for a time.")
@click.option("--session", metavar="ID", help="This session alone (default: every session of the project).")
@click.option(
    "--for", "span", metavar="SPAN", help="Such as 30m, 2h or 1d (default: until it is enabled again)."
)
@project_option
def disable(session: str | None, span: str | None, project: Path | None) -> int:
    """Switch power steering off for the sessions of this project, or for one of them."""
    until = datetime.now(UTC) + _span(span) if span is not None else _FOR_GOOD
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


async def _check(
    transcript: Path, rules: bool, project: Path | None
) -> "tuple[Examination, str, tuple[str, ...]]":
    from agents.transcript import read_transcript
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.gates.power_steering.evidence import Evidence
    from orchestrator.gates.power_steering.examine import examine, waiting_for
    from orchestrator.gates.power_steering.judge_here import judge_here

    read = read_transcript(transcript)
    where = Path(read.cwd) if read.cwd else None
    home = project or (where if where and where.is_dir() else None)
    evidence = Evidence(transcript=read, project=home)
    loaded = load_considerations(home)
    waits = _switched_off(home, read.session_id) or waiting_for(evidence)
    async with judge_here(judge_model(home), os.environ, rules_only=rules or bool(waits)) as judge:
        return await examine(evidence, loaded.considerations, judge), waits, loaded.problems


def _switched_off(project: Path | None, session: str) -> str:
    from state.diagnostics import DEFAULT_FOLDER
    from state.steering import SteeringStore

    if project is None or not (os.environ.get("SQ_PS_STATE_DIR") or (project / DEFAULT_FOLDER).is_dir()):
        return ""
    until = SteeringStore.of_project(project, session).disabled_until()
    if until is None:
        return ""
    return "power steering is switched off" + (
        f" until {until:%Y-%m-%d %H:%M} UTC" if until < _FOR_GOOD else ""
    )


def _switch(until: datetime, session: str | None, project: Path | None) -> None:
    from state.errors import SqError
    from state.steering import SteeringStore

    store = SteeringStore.of_project(project or options.repository_here() or Path.cwd(), session or "")
    done = store.disable(until, everywhere=session is None)
    if not done.stored:
        raise SqError(f"the switch could not be stored: {done.error}")


def _span(text: str) -> timedelta:
    found = re.fullmatch(r"\s*(\d{1,6})\s*([smhd])\s*", text)
    if not found or not int(found[1]):
        raise click.BadParameter(
            f"{text!r} is no span of time; write such as 30m, 2h or 1d", param_hint="--for"
        )
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
