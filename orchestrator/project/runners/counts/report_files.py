"""The files of a report: the one of each row, and the sign that its command has started."""

from pathlib import Path

from orchestrator.project.runners.row import Runner

STARTED = "started"  # an empty file, made when the command starts: older reports are of other runs
_ENDINGS = {"junit": "xml", "trx": "trx", "jest": "json", "rspec": "json", "dart": "jsonl"}


def report_file(row: Runner, reports: Path) -> Path:
    """Return the file to which a row's report goes."""
    return reports / f"{row.name.replace(' ', '-')}.{_ENDINGS.get(row.report.kind, 'txt')}"
