"""`sq gate`: power steering by hand, on any transcript of Claude Code."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.bench import Measured
    from state.settings import Model

_BLOCKED = 1  # exit code: the session would be held, or a threshold is not kept
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there."
)
rules_option = click.option("--rules", is_flag=True, help="Ask no model: rules alone.")
explain_option = click.option("--explain", is_flag=True, help="Show every check and why.")
project_option = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose considerations hold (default: the repository around this folder; of `check`: the session's).",
)


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

    A model is asked where a key or a login is there, rules where it is not. The considerations are those of
    the project that the session worked in. Exit code 0 if the session may stop, 1 if it would be held, 2 if
    TRANSCRIPT is no transcript.
    """
    from functools import partial

    import anyio

    from orchestrator.cli.gate_check import check_session
    from orchestrator.views.steering import examination_lines

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
        say(f"sq: no project's own considerations were asked: {where}; give --project", error=True)
    for problem in done.left_out:
        say(f"sq: left out: {problem}", error=True)
    return 0 if done.may_stop else _BLOCKED


@command.command("considerations", short_help="Show what sessions are asked.")
@project_option
@json_option
def considerations(project: Path | None, as_json: bool) -> int:
    """Show the considerations that hold here: the shipped ones, changed and added to by the project's own."""
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.views.steering import consideration_lines
    from state.project import top_of

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
@json_option
def usage(project: Path | None, as_json: bool) -> int:
    """Compute from the diagnostics of a project's sessions who gave the verdicts, and how long they took.

    The seed's aim: where there is a judge, it answers at least 95 % of the checks. A disagreement is a check
    that the judge and its rule answered differently; the judge's word counted. Exit code 0, whatever it is.
    """
    from orchestrator.cli.gate_usage import usage_of
    from orchestrator.views.steering_usage import usage_lines

    found = usage_of(project or Path.cwd())
    if as_json:
        say_json(found)
    else:
        say(*usage_lines(found))
    return 0


@command.command("bench", short_help="Measure false blocks and misses on labelled sessions.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--judge", "with_judge", is_flag=True, help="Ask the model too (it costs money). Default: rules alone."
)
@click.option(
    "--max-false-blocks", type=click.FloatRange(0, 100), default=5.0, show_default=True, help="Percent."
)
@click.option("--max-misses", type=click.FloatRange(0, 100), default=10.0, show_default=True, help="Percent.")
@explain_option
@project_option
@json_option
def bench(
    dataset: Path,
    with_judge: bool,
    max_false_blocks: float,
    max_misses: float,
    explain: bool,
    project: Path | None,
    as_json: bool,
) -> int:
    """Check every labelled session in the folder DATASET and count what was wrong.

    With rules alone, misses count among what is visible to rules. Exit code 1 if more good sessions are held,
    or more is missed, than the thresholds allow, or a pair does not flip.
    """
    import anyio

    from orchestrator.views.steering import measured_lines

    measured = anyio.run(_bench, dataset, with_judge, project)
    kept = _keeps(measured, max_false_blocks, max_misses, with_judge=with_judge)
    if as_json:
        say_json({"ok": not kept, "failed": kept, "measured": measured})
    else:
        say(*measured_lines(measured, explain=explain), *(f"FAILED: {one}" for one in kept))
    return _BLOCKED if kept else 0


@command.command("disable", short_help="Let sessions stop unchecked, for a time.")
@click.option("--session", metavar="ID", help="This session alone (default: every session of the project).")
@click.option(
    "--for", "span", metavar="SPAN", help="Such as 30m, 2h or 1d (default: until it is enabled again)."
)
@project_option
def disable(session: str | None, span: str | None, project: Path | None) -> int:
    """Switch power steering off for the sessions of this project, or for one of them."""
    from state.steering import FOR_GOOD

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


async def _bench(dataset: Path, with_judge: bool, project: Path | None) -> "Measured":
    from orchestrator.gates.power_steering.bench import measure
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.gates.power_steering.judge_here import judge_here
    from orchestrator.gates.power_steering.labels import load_labelled
    from state.errors import UsageError

    loaded = load_considerations(project)
    sessions = load_labelled(dataset, {one.id: one for one in loaded.considerations})
    async with judge_here(_judge_model(project), os.environ, rules_only=not with_judge) as judge:
        if with_judge and judge.ask is None:
            raise UsageError(
                "no judge is to be had: set ANTHROPIC_API_KEY or sign in to Claude Code, or leave --judge out"
            )
        return await measure(sessions, loaded.considerations, judge)


def _judge_model(project: Path | None) -> "Model":
    from agents.permissions import rule_names
    from state.config import load_config
    from state.records import Role

    return load_config(project, os.environ, rules=rule_names()).settings.models[Role.JUDGE]


def _keeps(
    measured: "Measured", max_false_blocks: float, max_misses: float, *, with_judge: bool
) -> list[str]:
    """What is over its threshold."""
    missed = (
        (measured.misses, measured.check_misses)
        if with_judge
        else (measured.visible_misses, measured.check_visible_misses)
    )
    limits = (
        ("good sessions held", measured.false_blocks, max_false_blocks),
        ("met blockers called unmet", measured.check_false_blocks, max_false_blocks),
        ("bad sessions let go", missed[0], max_misses),
        ("unmet considerations not found", missed[1], max_misses),
    )
    over = [
        f"{name}: {share.count} of {share.total} is {share.share:.1%}, more than {limit:g} %"
        for name, share, limit in limits
        if 100 * share.share > limit
    ]
    if measured.pairs.count < measured.pairs.total:
        over.append(
            f"{measured.pairs.total - measured.pairs.count} of {measured.pairs.total} pairs do not flip"
        )
    return over


def _switch(until: datetime, session: str | None, project: Path | None) -> None:
    from state.diagnostics import has_control
    from state.errors import SqError, UsageError
    from state.steering import SteeringStore

    if session and has_control(session):
        raise UsageError(f"--session {session!r} has control characters; give the id as `session_id` has it")
    store = SteeringStore.of_project(project or Path.cwd(), session or "")
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
