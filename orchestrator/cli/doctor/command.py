"""`sq doctor`: checks whether sq can work on this machine and in this repository. It changes nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import click

from orchestrator.cli import options
from orchestrator.cli.doctor.machine import checks_of_machine
from orchestrator.cli.doctor.repository import checks_of_repository
from orchestrator.cli.doctor.settings import (
    checks_of_hook,
    checks_of_outward,
    checks_of_sessions,
    checks_of_settings,
)
from orchestrator.git.command import git_version
from orchestrator.views.checks import CheckLevel, DoctorCheck, check_lines
from orchestrator.views.screen import say, say_json


@click.command("doctor", short_help="Check whether sq can work on this machine, with advice.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there.")
@options.state_dir
def command(as_json: bool, state_dir: Path | None) -> int:
    """Check whether sq can work here: `ok`, `warn` or `fail`, with advice for each that is not ok.

    No model is asked and nothing is changed. Exit code 0 if nothing fails, else 2.
    """
    checks = list(_checks(options.state_folder_of(state_dir)))
    failed = any(check.level is CheckLevel.FAIL for check in checks)
    if as_json:
        say_json({"ok": not failed, "checks": checks})
    else:
        say(*check_lines(checks))
    return 2 if failed else 0


def _checks(state: Path) -> Iterator[DoctorCheck]:
    yield from checks_of_machine(os.environ)
    if git_version():
        yield from anyio.run(checks_of_repository, state)
    yield from checks_of_settings(os.environ, options.repository_here())
    yield from checks_of_outward(os.environ, options.repository_here())
    yield from checks_of_hook(os.environ)
    yield from checks_of_sessions()
