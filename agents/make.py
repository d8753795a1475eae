"""Makes the platform of a run, with the sandboxes of its sessions."""

from collections.abc import Mapping
from pathlib import Path

from agents.access import Connection, ForwardConnection
from agents.asker import make_asker
from agents.backend import Platform, one_per_processor
from agents.process.containment import Containment
from agents.process.sandbox.policy import SandboxPolicy
from agents.sandboxes import SessionSandboxes
from agents.session.exchange import OpenTransport
from agents.session.tracing import NAMES, SessionTelemetry
from state.settings.integrations import Telemetry
from state.settings.records import Settings


def make_platform(
    connection: Connection,
    *,
    cli: Path,
    run_folder: Path,
    containment: Containment,
    settings: Settings,
    boundary: SandboxPolicy,
    environ: Mapping[str, str],
    hidden: tuple[Path, ...],
    guarded: frozenset[str] = frozenset(),
    transport: OpenTransport | None = None,
) -> Platform:
    """Return the platform of a run, and write the launcher into the run's folder."""
    starts = one_per_processor()
    telemetry = _telemetry(connection, settings.outward.telemetry, run_folder.name)
    claude, asker = make_asker(
        connection,
        cli=cli,
        folder=run_folder,
        containment=containment,
        environ=environ,
        starts=starts,
        keeps=NAMES if telemetry else frozenset(),
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
        telemetry=telemetry,
        transport=transport,
    )


def _telemetry(connection: Connection, telemetry: Telemetry, run_id: str) -> SessionTelemetry | None:
    """Return the telemetry of sessions. A collector that wants headers is reached by the gateway alone."""
    if not telemetry.otlp:
        return None
    if isinstance(connection, ForwardConnection):
        return SessionTelemetry(run_id=run_id)
    return None if telemetry.headers else SessionTelemetry(run_id=run_id, address=telemetry.traces_url)
