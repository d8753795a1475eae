"""What a run sends out while it goes on: notices and spans. Neither delays the run or changes how it ends."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agents.concurrency import task_group
from orchestrator.cli.runs.request import RunEnvironment
from orchestrator.cli.version import sq_version
from orchestrator.notices.due import due, end_title
from orchestrator.notices.sending import Post, Sender
from orchestrator.telemetry.live import Spans, collector_of
from orchestrator.views.screen import ring, say
from state.errors import RunActiveError
from state.journal.events import Event, Stored
from state.journal.fold.fold import fold
from state.journal.recorder import Recorder
from state.journal.store import Journal, JournalReader
from state.journal.view import RunView
from state.settings.integrations import Integrations, Telemetry

_CLAIMS = "notices"  # in a run's folder


class Publisher:
    """The notices and spans of one process of a run. Without any configured it does nothing."""

    def __init__(
        self,
        journal: Journal,
        run_folder: Path,
        environment: RunEnvironment,
        *,
        view: Callable[[], RunView],
        record: Callable[[Event], None],
        spans: bool = True,
    ) -> None:
        self._journal, self._view = journal, view
        integrations = _integrations(view())
        self._rings_at = time.monotonic() + environment.long_s if integrations.bell else math.inf
        post = _post(run_folder, environment, view())
        self._sender = (
            Sender(integrations.notify, post, view=view, record=record) if integrations.notify else None
        )
        self._spans = _spans(integrations.telemetry, environment, view()) if spans else None

    async def run(self) -> None:
        """Send what the events call for, as they are stored. Ends only by cancellation."""
        if not (self._sender or self._spans):
            return
        try:
            async with task_group() as tasks:
                async for stored in self._journal.follow():
                    if self._sender:
                        self._sender.hear(stored, tasks)
                    if self._spans:
                        self._spans.hear(stored)
        finally:
            if self._spans:
                self._spans.close()

    async def finish(self) -> list[Stored]:
        """Send the last of it, ring after a long run, and return the events after the end of the run.

        Waits ten seconds at most for notices, and five for spans.
        """
        further: list[Stored] = []
        if self._sender:
            await self._sender.finish()
            further = self._journal.read(self._sender.ended_at) if self._sender.ended_at else []
        if self._spans and (line := await self._spans.finish()):
            say(line, error=True)
        if time.monotonic() > self._rings_at:
            ring(end_title(self._view()))
        return further


async def send_last(run_folder: Path, environment: RunEnvironment) -> None:
    """Send the notices of a run that has ended, if its process was killed before it had sent them.

    A process that still works on the run sends them itself.
    """
    with JournalReader(run_folder) as reader:
        stored = reader.read()
    view = fold(stored)
    if not due(stored, _integrations(view).notify):
        return
    around = environment.holding_back(_integrations(view).variables)
    redact = around.redactor_for(Path(view.started.repository) if view.started else run_folder)
    with suppress(RunActiveError), around.open_journal(run_folder, redact=redact) as journal:
        recorder = Recorder(journal)
        outgoing = Publisher(
            journal, run_folder, around, view=lambda: recorder.view, record=recorder.record, spans=False
        )
        async with task_group() as tasks:
            tasks.start_soon(outgoing.run)
            await outgoing.finish()
            tasks.cancel_scope.cancel()


def _integrations(view: RunView) -> Integrations:
    return view.settings.integrations if view.settings else Integrations()


def _spans(telemetry: Telemetry, environment: RunEnvironment, view: RunView) -> Spans | None:
    if not (telemetry.otlp and view.started):
        return None
    collector = collector_of(telemetry, environment.addresses, sq_version())
    return Spans(view.started.run_id, collector, after=view.clock.last_seq - 1)


def _post(run_folder: Path, environment: RunEnvironment, view: RunView) -> Post:
    return Post(
        folder=run_folder / _CLAIMS,
        home=Path(environment.environ.get("HOME") or run_folder),
        environ=environment.environ,
        containment=environment.containment,
        addresses=environment.addresses,
        redact=environment.redactor_for(Path(view.started.repository) if view.started else run_folder),
    )
