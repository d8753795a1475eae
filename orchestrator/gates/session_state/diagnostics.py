"""Folders of sessions, their settings, and their diagnostics: JSON Lines that the greps of seed 001 match.

Old folders are removed by `sq clean`.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

from state.atomic_files import (
    LOCK_WAIT_S,
    DamagedFileError,
    WriteFailedError,
    locked,
    open_private,
    read_json,
    read_small,
    write_errors,
)
from state.errors import SqError

if TYPE_CHECKING:
    from state.truncation import Truncation


DEFAULT_FOLDER = Path(".claude", "runtime", "power-steering")  # below a project (seed 001)
PREFIXES = ("SQ_PS_", "AMPLIHACK_PS_")  # the first one wins, the second is seed 001's
RETRY_DELAYS = (0.1, 0.2, 0.4)  # seconds, doubling beyond (seed 001)
MAX_RETRIES = 3  # further tries after the first (seed 001)
LOG_BYTES = 1 << 20  # of one log file before the next one starts
LOG_FILES = 3  # how many files of a log are kept, the current one included
LOGGER = "amplihack.power_steering"  # seed 001's name. Truncations go to its child `truncation`
_MOST_RETRIES = 8  # 25.5 s of waiting, below any hook's time-out
_LOG_WAIT_S = 1.0  # a log entry is not worth a longer wait
_FILE = "diagnostic.jsonl"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_OFF = ("", "0", "false", "no", "off")
_OWN = ("sq.toml", ".claude/power-steering.yaml")  # where a project configures the checks of its sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringSettings:
    """How a session's state is kept. The environment sets each as `SQ_PS_…`, or `AMPLIHACK_PS_…` (seed 001).

    DEBUG: every entry goes to stderr too. MAX_RETRIES: 0 to 8. NO_FSYNC: faster, and a power cut may lose the
    state. RETRY_DELAYS: seconds with commas between. A value that cannot be read counts as not set.
    """

    debug: bool = False
    max_retries: int = MAX_RETRIES
    sync: bool = True
    verify_writes: bool = True
    retry_delays: tuple[float, ...] = RETRY_DELAYS
    state_dir: Path | None = None
    diagnostic_log_dir: Path | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """The settings in an environment."""

        def text(name: str) -> str:
            return next((environ[each + name] for each in PREFIXES if each + name in environ), "").strip()

        retries = text("MAX_RETRIES")
        return cls(
            debug=text("DEBUG").lower() not in _OFF,
            max_retries=min(int(retries), _MOST_RETRIES)
            if re.fullmatch("[0-9]{1,9}", retries)
            else MAX_RETRIES,
            sync=text("NO_FSYNC").lower() in _OFF,
            verify_writes=(text("VERIFY_WRITES") or "1").lower() not in _OFF,
            retry_delays=_delays(text("RETRY_DELAYS")),
            state_dir=Path(text("STATE_DIR")) if text("STATE_DIR") else None,
            diagnostic_log_dir=Path(text("DIAGNOSTIC_LOG_DIR")) if text("DIAGNOSTIC_LOG_DIR") else None,
        )

    def delay(self, retry: int) -> float:
        """Seconds to wait before a further try, counted from 0."""
        if not self.retry_delays:
            return 0.0
        beyond = max(0, retry - len(self.retry_delays) + 1)
        return self.retry_delays[min(retry, len(self.retry_delays) - 1)] * 2.0**beyond


class Diagnostics:
    """The log of one session. It never raises: an entry that cannot be written is left out."""

    def __init__(self, file: Path, *, session_id: str, debug: bool = False) -> None:
        self.file = file
        self._session_id = session_id
        self._debug = debug

    @classmethod
    def within(cls, folder: Path, *, session_id: str, debug: bool = False) -> Self:
        """The log in a folder: the session's folder, or the one that DIAGNOSTIC_LOG_DIR names."""
        return cls(folder / _FILE, session_id=session_id, debug=debug)

    def log(self, operation: str, *, success: bool = True, **details: object) -> None:
        """Add an entry. An entry of a failure has `"success": false`."""
        entry = {
            "timestamp": utc_text(datetime.now(UTC), "milliseconds"),
            "operation": operation,
            "session_id": self._session_id,
            **details,
            "success": success,
        }
        with suppress(OSError, SqError, ValueError, RecursionError):
            if self._debug:
                sys.stderr.write(f"{json.dumps(entry, default=str)}\n")
            _tell_listeners(operation, entry)
            append_line(self.file, entry, wait_s=_LOG_WAIT_S)

    def truncation(self, cut: "Truncation") -> str:
        """Log that a text was cut: `original_length`, `truncated_length`, `method`. Returns the text."""
        if cut.is_cut:
            self.log(
                "truncation",
                original_length=cut.original_length,
                truncated_length=cut.truncated_length,
                method=str(cut.method),
            )
        return cut.text


def _tell_listeners(operation: str, entry: Mapping[str, object]) -> None:
    """Log the entry under seed 001's name, if the process has imported `logging` and listens to that name.

    A hook does not, and importing structlog would take it longer than everything else.
    """
    name = f"{LOGGER}.{operation}" if operation == "truncation" else LOGGER
    logging = sys.modules.get("logging")
    if logging is None or not logging.getLogger(name).isEnabledFor(logging.DEBUG):
        return
    import structlog

    line = structlog.processors.JSONRenderer(default=str)
    structlog.wrap_logger(logging.getLogger(name), processors=[line]).debug(operation, **entry)


def append_line(path: Path, value: object, *, wait_s: float = LOCK_WAIT_S) -> None:
    """Append a value as one line, in one write under the file's lock, with the separators of `json.dumps`.

    A file that would grow beyond `LOG_BYTES` becomes `NAME.1`, and that one `NAME.2`. `LOG_FILES` are kept. A
    line that a crash left unfinished is closed first. A line that cannot be written whole is removed again.

    Raises:
        LockTimeoutError: another process held the lock for `wait_s` seconds.
        WriteFailedError: nothing was added.
    """
    try:
        line = f"{json.dumps(value, default=str)}\n".encode()
    except (ValueError, RecursionError) as error:
        raise WriteFailedError(f"a line for {path} is no JSON: {error}", final=True) from error
    with locked(path, wait_s=wait_s, sync=False), write_errors(f"{path} could not be added to"):
        _rotate(path, len(line))
        with open_private(path, "a+") as file:
            size = os.fstat(file.fileno()).st_size
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line
            if os.write(file.fileno(), line) != len(line):
                file.truncate(size)
                raise WriteFailedError(f"{path} could be added to in part only. Is the disk full?")


def log_files(folder: Path) -> list[Path]:
    """The diagnostics files in a folder, the oldest first."""
    older = (folder / f"{_FILE}.{number}" for number in range(LOG_FILES - 1, 0, -1))
    return [file for file in (*older, folder / _FILE) if file.is_file()]


def has_control(id_: str) -> bool:
    """Whether an id holds control characters, which could steer a terminal or break a line."""
    return _CONTROL.search(id_) is not None


def safe_name(given: str) -> str:
    """Return an id as one segment of a path: the id itself if it is plain, else cleaned and with a hash.

    Distinct ids have distinct names. `../../evil`, an empty id, NUL or 300 characters stay inside the folder.
    """
    if _PLAIN.fullmatch(given):
        return given
    mark = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{re.sub('[^A-Za-z0-9]+', '-', given).strip('-')[:40] or 'unnamed'}~{mark}"


def steering_folder(project: Path, settings: SteeringSettings) -> Path:
    """Return the folder of the sessions' states: SQ_PS_STATE_DIR, or the default one, which git ignores.

    It is at the top of the project, also if the session began in a folder below.
    """
    folder = sessions_folder(project, settings)
    if not settings.state_dir:
        with suppress(OSError, SqError, ValueError):  # a read-only .git does not matter
            _ignore_locally(top_of(project), folder)
    return folder


def sessions_folder(project: Path, settings: SteeringSettings) -> Path:
    """Return the same folder without making or writing anything."""
    return settings.state_dir.absolute() if settings.state_dir else top_of(project) / DEFAULT_FOLDER


def utc_text(moment: datetime, precision: str = "seconds") -> str:
    """A time as seed 001 writes it: `2025-12-17T19:30:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def time_of(value: object) -> datetime:
    """The time of an ISO text, UTC if it names no zone. Raises `ValueError` if it is no such text."""
    found = datetime.fromisoformat(value if isinstance(value, str) else "")
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _delays(text: str) -> tuple[float, ...]:
    found = [float(part) for part in text.split(",") if re.fullmatch(r"\s*\d{1,3}(\.\d{1,6})?\s*", part)]
    return tuple(found) if found and len(found) == text.count(",") + 1 else RETRY_DELAYS


def _rotate(path: Path, more: int) -> None:
    if not path.exists() or path.stat().st_size + more <= LOG_BYTES:
        return
    names = [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, LOG_FILES))]
    for newer, older in reversed(list(pairwise(names))):
        if newer.exists():
            newer.replace(older)


def _ignore_locally(top: Path, folder: Path) -> None:
    """Add `folder` to the `info/exclude` of the checkout with this top, if it is one, once."""
    if not (top / ".git").exists():
        return
    exclude = _git_folder(top / ".git") / "info" / "exclude"
    pattern = f"/{DEFAULT_FOLDER.as_posix()}/".encode()
    old = read_small(exclude) if exclude.exists() else b""
    if pattern in old.splitlines():
        return
    exclude.parent.mkdir(exist_ok=True)
    with locked(folder / ".exclude"):
        old = read_small(exclude) if exclude.exists() else b""
        if pattern not in old.splitlines():
            with exclude.open("ab") as file:
                file.write((b"" if not old or old.endswith(b"\n") else b"\n") + pattern + b"\n")


def _git_folder(dot_git: Path) -> Path:
    """The common git folder. A worktree's `.git` is a file with the path of its own folder, which has it."""
    if dot_git.is_dir():
        return dot_git
    own = dot_git.parent / os.fsdecode(read_small(dot_git)).removeprefix("gitdir:").strip()
    common = own / "commondir"
    return own / os.fsdecode(read_small(common)).strip() if common.exists() else own


def top_of(folder: Path) -> Path:
    """Return the top of the checkout around a folder, without running git.

    Outside of a checkout, return the nearest folder above with settings of sq, or else the folder itself.
    """
    here = folder.absolute()
    above = (here, *here.parents)
    checkout = next((each for each in above if (each / ".git").exists()), None)
    return checkout or next((each for each in above if any((each / own).is_file() for own in _OWN)), here)


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
    import shutil

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
