"""The report that each end of a run leaves in its folder. A failure to write it changes nothing."""

import os
from collections.abc import Callable
from pathlib import Path

import structlog

from orchestrator.cli.runs.plans import SUMMARY, leave_plan, remember
from orchestrator.cli.version import sq_version
from orchestrator.views.run.look import Look, LookMode
from orchestrator.views.screen import say
from state.atomic_files import replace_file
from state.journal.fold.fold import fold
from state.journal.store import JournalReader

log = structlog.get_logger(__name__)

REPORT = "report.html"


class FilesAtEnd:
    """Leaves `report.html` and `summary.json` in a run's folder."""

    async def leave(self, run_folder: Path, look: Look, redact: Callable[[str], str]) -> None:
        """As `EndReport`. `redact` takes known secrets out of the diffs of the work."""
        from orchestrator.views.report.rendering import Format, ending, read_run, rendered  # only at the end

        try:
            run = await read_run(run_folder, redact=redact, active=False)
            version = sq_version()
            text = rendered(run, Format.HTML, version=version)
            replace_file(run_folder / REPORT, text.encode(errors="backslashreplace"), sync=False)
            report = run.report(version)
            short = ending(report, version)
            replace_file(run_folder / SUMMARY, short.encode(errors="backslashreplace"), sync=False)
            if report.times.past:
                remember(report.times.past)
            with JournalReader(run_folder) as journal:
                told = leave_plan(fold(journal.read_for_views()), run_folder.name)
            if told and look.mode is not LookMode.JSON:
                say(told)
        except Exception as error:  # noqa: BLE001  whatever it is, the run has its outcome
            log.warning("report_not_written", error=repr(error))
            say(f"the report could not be written: {error}", error=True)
            return
        self.tell(run_folder, look)

    def prepare(self) -> None:
        try:
            from orchestrator.views.report.rendering import load_templates

            load_templates()
        except Exception as error:  # noqa: BLE001  the end of the run says it
            log.warning("report_not_prepared", error=repr(error))

    def tell(self, run_folder: Path, look: Look) -> None:
        """As `EndReport`. With JSON it prints no path, because JSON shows events alone."""
        file = run_folder / REPORT
        if look.mode is LookMode.JSON or not file.is_file():
            return
        try:
            say(f"report: {file}")
        except BrokenPipeError:  # the reader has gone (`sq run … | head`)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
