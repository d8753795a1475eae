"""`sq otel`: send the spans of a run to an OpenTelemetry collector."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say

if TYPE_CHECKING:
    from orchestrator.telemetry.export import Exporter
    from orchestrator.telemetry.span_tracker import Span
    from state.journal.store import JournalReader

_BATCH = 256  # spans


@click.command("otel", short_help="Send the spans of a run to an OpenTelemetry collector.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
@click.option("--follow", is_flag=True, help="Go on with the spans that end from now on, until the run ends.")
def command(run: str | None, state_dir: Path | None, follow: bool) -> int:
    """Send the spans of RUN (default: the newest) to the collector that `telemetry.otlp` names.

    A run that has `telemetry.otlp` in its settings sends them itself while it goes on. A span has the same
    ids each time it is sent. Exit code 1 if the collector did not take all.
    """
    from orchestrator.telemetry.spans import spans_in
    from state.journal.store import JournalReader

    folder = options.run_folder_of(run, state_dir)
    collector, address = _collector()
    try:
        with JournalReader(folder) as journal:
            if follow:
                return _follow(journal, folder, collector, address)
            stored = journal.read()
        return _send(spans_in(folder.name, stored, unfinished=True), collector, address)
    finally:
        collector.stop()


def _collector() -> "tuple[Exporter, str]":
    """Return the collector of the settings here, and its address.

    Raises:
        UsageError: none is configured, or its extra or headers are missing.
    """
    from orchestrator.cli.runs.notes import check_addresses
    from orchestrator.cli.version import sq_version
    from orchestrator.telemetry.live import collector_of
    from state.errors import UsageError
    from state.settings.config import load_config
    from state.settings.integrations import Integrations

    telemetry = load_config(options.repository_here(), os.environ).settings.integrations.telemetry
    if not telemetry.otlp:
        raise UsageError(
            "telemetry is off: set telemetry.otlp in sq.toml, or SQ_TELEMETRY_OTLP, to the address of a "
            "collector, such as http://localhost:4318"
        )
    check_addresses(Integrations(telemetry=telemetry), os.environ)
    return collector_of(telemetry, os.environ, sq_version()), telemetry.traces_url


def _send(spans: "list[Span]", collector: "Exporter", address: str) -> int:
    sent = 0
    for start in range(0, len(spans), _BATCH):
        batch = spans[start : start + _BATCH]
        if not collector.send(batch):
            say(f"sq: {address} did not take {len(spans) - sent} of {len(spans)} spans", error=True)
            return 1
        sent += len(batch)
    say(f"{sent} spans were sent to {address}")
    return 0


def _follow(journal: "JournalReader", folder: Path, collector: "Exporter", address: str) -> int:
    """Send spans as they end. Ends with the run, or when no process works on it any more."""
    import anyio

    from orchestrator.telemetry.live import follow_spans

    lost = anyio.run(follow_spans, journal, folder, collector)
    if lost:
        say(f"sq: {address} did not take {lost} span(s): `sq otel {folder.name}` sends all again", error=True)
    return 1 if lost else 0
