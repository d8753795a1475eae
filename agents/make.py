"""Makes the platform of a run: Claude Code's launcher, and an `Asker` by the API or by the CLI."""

from collections.abc import Mapping
from pathlib import Path

import anyio

from agents.access import Connection, Lane
from agents.ask.api import ApiAsker
from agents.ask.cli import CliAsker
from agents.ask.port import Asker
from agents.backend import SANDBOXES, Claude, Platform, one_per_processor
from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from agents.process.sandbox.boundary import Boundary
from state.records import Role
from state.secrets import secret_names
from state.settings.records import Settings


def make_platform(
    connection: Connection,
    *,
    cli: Path,
    run_folder: Path,
    containment: Containment,
    settings: Settings,
    boundary: Boundary,
    environ: Mapping[str, str],
    hidden: tuple[Path, ...],
    guarded: frozenset[str] = frozenset(),
) -> Platform:
    """Return the platform of a run, and write the launcher into the run's folder."""
    starts = one_per_processor()
    claude, asker = make_asker(
        connection, cli=cli, folder=run_folder, containment=containment, environ=environ, starts=starts
    )
    return Platform(
        connection=connection,
        claude=claude,
        settings=settings,
        asker=asker,
        containment=containment,
        hidden=hidden,
        boundary=boundary,
        guarded=guarded,
        starts=starts,
    )


def make_asker(
    connection: Connection,
    *,
    cli: Path,
    folder: Path,
    containment: Containment,
    environ: Mapping[str, str],
    starts: anyio.CapacityLimiter | None = None,
) -> tuple[Claude, Asker]:
    """Write Claude Code's launcher into `folder`, and return it with the `Asker`: the API, else the CLI.

    `starts`, if given, is held while a process starts.
    """
    passed_on = connection.session_environment(Lane(role=Role.WORKER, task="", attempt=0))
    inside_claude = [name for name in environ if name.startswith(("CLAUDE_CODE_", "CLAUDE_SESSION", "SQ_"))]
    dropped = frozenset({*secret_names(environ), *inside_claude} - set(passed_on))
    launcher = write_launcher(folder / "launcher", cli, containment, drop_env=dropped)
    claude = Claude(cli=cli, launcher=launcher, dropped=dropped, folder=folder / SANDBOXES)
    if connection.api_access(Lane(role=Role.DEVELOPER, task="", attempt=0)):
        return claude, ApiAsker(connection)
    return claude, CliAsker(connection, launcher=launcher, workspace=folder, starts=starts)
