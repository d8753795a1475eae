"""The earlier runs on which forecasts rest: those of a state folder, and those of this user's machine.

Each end of a run leaves its figures in `summary.json` and as a line of `history.jsonl` in the user's own
state folder, so that no journal is opened for a forecast.
"""

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import structlog

from state.atomic_files import replace_file
from state.journal.events import RunStarted
from state.paths import StateFolder, users_folder
from state.records.plan import ForecastBasis, PastRun, repository_mark

log = structlog.get_logger(__name__)

_NAME = "history.jsonl"
SUMMARY = "summary.json"
_NEWEST = 100  # runs of each of the two places
_MOST_BYTES = 400_000


def basis_of(started: RunStarted, run_folder: Path) -> ForecastBasis:
    """Return what forecasts of a run rest on: the runs before it, newest first."""
    folder = run_folder.parents[1]
    every = (*_of_machine(), *_of_folder(folder))
    found = {one.run_id: one for one in every if one.run_id != run_folder.name}
    return ForecastBasis(
        past=tuple(found.values()),
        repository=repository_mark(started.repository),
        rehearsal=bool(started.rehearsal),
    )


def remember(past: PastRun) -> None:
    """Add an ended run to those of the machine. Of a run that ends again the newest end counts."""
    file = users_folder() / _NAME
    line = msgspec.json.encode(past) + b"\n"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.is_file() and file.stat().st_size > _MOST_BYTES:
        kept = file.read_bytes().splitlines(keepends=True)[-_NEWEST:]
        replace_file(file, b"".join([*kept, line]), sync=False)
        return
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as out:
        out.write(line)


def _of_folder(folder: Path) -> Iterator[PastRun]:
    """Yield the newest runs of a state folder that have ended, by their summaries."""
    summaries = (folder / "runs" / run / SUMMARY for run in reversed(StateFolder(folder).run_ids()))
    for file in islice((one for one in summaries if one.is_file()), _NEWEST):
        try:
            said = json.loads(file.read_bytes()).get("past")
        except (OSError, ValueError):
            continue
        yield from _usable(said)


def _of_machine() -> Iterator[PastRun]:
    try:
        lines = (users_folder() / _NAME).read_bytes().splitlines()[-_NEWEST:]
    except OSError:
        return
    for line in reversed(lines):
        try:
            said = json.loads(line)
        except ValueError:
            continue  # a line that was cut when the machine stopped
        yield from _usable(said)


def _usable(said: object) -> Iterator[PastRun]:
    try:
        yield msgspec.convert(said, PastRun)
    except msgspec.ValidationError:
        return
