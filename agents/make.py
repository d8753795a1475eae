"""Makes the platform of a run, with the sandboxes of its sessions."""

from collections.abc import Mapping
from pathlib import Path

from agents.access import Connection
from agents.asker import make_asker
from agents.backend import Platform, one_per_processor
from agents.process.containment import Containment
from agents.process.sandbox.boundary import Boundary
from agents.sandboxes import SessionSandboxes
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
        sandboxes=SessionSandboxes(boundary=boundary, claude=claude, containment=containment),
        guarded=guarded,
        starts=starts,
    )
