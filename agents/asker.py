"""Chooses how a model is asked for single answers: by the API, else by the CLI, whose launcher it writes."""

from collections.abc import Collection, Mapping
from pathlib import Path

import anyio

from agents.access import Connection
from agents.ask.api import ApiAsker
from agents.ask.cli import CliAsker
from agents.ask.port import Asker
from agents.backend import SANDBOXES
from agents.caller import Caller
from agents.claude_code.executable import Launch
from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from state.roles import Role
from state.secrets import secret_names

_OF_CLAUDE_CODE = ("CLAUDE_CODE_", "CLAUDE_SESSION", "SQ_")
# Where telemetry goes, and whether it holds prompts, answers and contents of files: that is for sq to say.
_OF_TELEMETRY = ("OTEL_EXPORTER_", "OTEL_LOG_", "ENABLE_BETA_TRACING", "BETA_TRACING_")


def make_asker(
    connection: Connection,
    *,
    cli: Path,
    folder: Path,
    containment: Containment,
    environ: Mapping[str, str],
    starts: anyio.CapacityLimiter | None = None,
    keeps: Collection[str] = (),
) -> tuple[Launch, Asker]:
    """Write Claude Code's launcher into `folder`, and return it with the `Asker`: the API, else the CLI.

    `starts`, if given, is held while a process starts. `keeps` are variables that sq gives to
    sessions itself.
    """
    passed_on = connection.session_environment(Caller(role=Role.WORKER, task="", attempt=0))
    inside_claude = [name for name in environ if name.startswith((*_OF_CLAUDE_CODE, *_OF_TELEMETRY))]
    dropped = frozenset({*secret_names(environ), *inside_claude} - {*passed_on, *keeps})
    launcher = write_launcher(folder / "launcher", cli, containment, drop_env=dropped)
    launch = Launch(cli=cli, launcher=launcher, dropped=dropped, folder=folder / SANDBOXES)
    if connection.api_access(Caller(role=Role.DEVELOPER, task="", attempt=0)):
        return launch, ApiAsker(connection)
    return launch, CliAsker(connection, launcher=launcher, workspace=folder, starts=starts)
