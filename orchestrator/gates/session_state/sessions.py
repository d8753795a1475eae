"""The folders of sessions that a project's hooks keep, and the removal of old ones."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orchestrator.gates.session_state.records import time_of
from state.atomic_files import DamagedFileError, read_json

KEPT = timedelta(days=30)  # since a session's last stop
_REMOVING = ".removing-"  # no session's name begins like this


def session_folders(sessions: Path) -> list[Path]:
    """The folders of the sessions, sorted by name. Empty if `sessions` does not exist."""
    with suppress(OSError):
        return sorted(each for each in sessions.iterdir() if each.is_dir() and not each.is_symlink())
    return []


def old_sessions(sessions: Path, now: datetime) -> list[Path]:
    """The sessions without a write for `KEPT`, except those that are switched off for longer."""
    return [
        each for each in session_folders(sessions) if _newest(each) < now - KEPT and not _is_off(each, now)
    ]


def remove_sessions(old: list[Path]) -> Iterator[tuple[Path, str]]:
    """Remove these folders. Yields each with the reason why it could not be removed, or ""."""
    for folder in old:
        away = folder if folder.name.startswith(_REMOVING) else folder.with_name(f"{_REMOVING}{folder.name}")
        try:
            folder.rename(away)
            shutil.rmtree(away)
        except OSError as error:
            yield folder, error.strerror or str(error)
        else:
            yield folder, ""


def _newest(folder: Path) -> datetime:
    times = []
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            times.append(path.lstat().st_mtime)
    return datetime.fromtimestamp(max(times, default=0.0), UTC)


def _is_off(folder: Path, now: datetime) -> bool:
    with suppress(DamagedFileError, ValueError):
        mark = (read_json(folder / "state.json") or {}).get("disabled_until")
        return mark is not None and time_of(mark) > now
    return False
