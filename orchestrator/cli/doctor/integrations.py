"""The checks of `sq doctor` on notices and telemetry: their extras, variables and addresses."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from agents.api_key import read_key
from agents.session.permissions import rule_names
from orchestrator.cli.runs.addresses import problems_of
from orchestrator.views.checks import DoctorCheck, fail, ok, warn
from state.errors import UsageError
from state.settings.config import load_config
from state.settings.integrations import Integrations, Telemetry


def checks_of_outward(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    """Check the tables `[[notify]]` and the keys of telemetry. Nothing is sent."""
    try:
        settings = load_config(repository, environ, rules=rule_names()).settings
    except UsageError:  # another check names the problems
        return
    yield from _notices(settings.outward, environ)
    yield from _telemetry(settings.outward.telemetry, environ, gateway=settings.gateway)


def _notices(outward: Integrations, environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    name = "notices"
    problems = list(problems_of(Integrations(notify=outward.notify), environ))
    for problem in problems:
        yield fail(name, problem, "no run begins before it is put right")
    if not outward.notify:
        yield ok(name, "none: `[[notify]]` in the settings sends some")
    elif not problems:
        each = [f"{', '.join(one.on)} by {one.variable or 'a command'}" for one in outward.notify]
        yield ok(name, "; ".join(each))
    if any(target.command for target in outward.notify) and not shutil.which("sh"):
        yield fail(name, "there is no sh, which runs the command of a notice", "install a shell")


def _telemetry(telemetry: Telemetry, environ: Mapping[str, str], *, gateway: bool) -> Iterator[DoctorCheck]:
    name = "telemetry"
    problems = list(problems_of(Integrations(telemetry=telemetry), environ))
    for problem in problems:
        yield fail(name, problem, "no run begins before it is put right")
    if not telemetry.otlp:
        yield ok(name, "off: `telemetry.otlp` in the settings sends spans")
    elif telemetry.headers and not (gateway and _has_key(environ)):
        yield warn(
            name,
            f"spans of runs go to {telemetry.traces_url}, but not those of Claude Code: only sq's gateway "
            "may add the headers, and there is none without an API key or with gateway = false",
            "name a collector without headers, such as one on this machine, or use an API key",
        )
    elif not problems:
        yield ok(name, f"spans of runs and of Claude Code go to {telemetry.traces_url}")


def _has_key(environ: Mapping[str, str]) -> bool:
    try:
        return read_key(environ) is not None
    except UsageError:
        return False
