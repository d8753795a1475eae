"""Install the stop gate into a file of settings, and remove it, to the byte if the file was not edited.

The file's earlier content is kept in the user's state folder, with a hash of the content that was written.
"""

import codecs
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from orchestrator.gates.session_state.diagnostics import safe_name
from orchestrator.gates.stop_gate.install.settings import (
    entry_of,
    gates_in,
    is_ours,
    parsed,
    with_gate,
    without_gate,
)
from state.atomic_files import (
    DamagedFileError,
    encoded,
    locked,
    read_json,
    read_small,
    replace_file,
    write_errors,
)
from state.decoding import decoded
from state.errors import UsageError


class Scope(StrEnum):
    """Whose sessions a file of settings is for."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


class Removal(StrEnum):
    """How removing the gate from a file ended."""

    NOT_THERE = "not there"  # nothing of ours was in it
    RESTORED = "restored"  # to the byte, or removed if it was made for the gate
    TAKEN_OUT = "taken out"  # it was edited since: all else stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A file before the gate was put into it. Stored as JSON.

    `original` is its text (None: there was no file), `made` are the folders that were made, the innermost
    first, and `written` is the hash of the bytes that were written.
    """

    original: str | None
    made: tuple[str, ...]
    written: str

    @classmethod
    def read(cls, record: Path) -> Self | None:
        """Read a record. Returns None if there is none or it cannot be used."""
        with suppress(DamagedFileError, ValueError):
            if found := read_json(record):
                return decoded(cls, found)
        return None


def settings_files(environ: Mapping[str, str], repository: Path | None) -> dict[Scope, Path]:
    """The files that Claude Code reads settings from, only the user's if there is no repository."""
    users = Path(environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    files = {Scope.USER: users / "settings.json"}
    if repository:
        files[Scope.PROJECT] = repository / ".claude" / "settings.json"
        files[Scope.LOCAL] = repository / ".claude" / "settings.local.json"
    return files


def memory_folder() -> Path:
    """The folder that keeps the earlier content of files."""
    import platformdirs

    return platformdirs.user_state_path("sq", appauthor=False) / "hooks"


def install(file: Path, command: str, *, memory: Path) -> bool:
    """Put the gate into a file of settings, in the place of an older one. Returns False if nothing changes.

    A link is followed. The file keeps its mode and is replaced in one step.

    Raises:
        UsageError: the file cannot be used, and is not touched.
        WriteFailedError: it could not be written.
        LockTimeoutError: another sq is changing it.
    """
    if not is_ours(command):  # it would never be found again
        raise UsageError(f"{command!r} cannot stand in settings: install sq in a folder with a plain name")
    target, record = _target(file), _record(file, memory)
    with locked(record):
        old = read_settings(target)
        with _refusals(file):
            mark, text = _decoded(old or b"")
            new = mark + with_gate(text, entry_of(command)).encode()
            held = any(gates_in(parsed(text)))
        if new == old:
            return False
        known = Memory.read(record)
        if not (known and old is not None and known.written == _hash(old)):
            original = None if old is None else old.decode()
            known = None if held else Memory(original=original, made=_missing(target.parent), written="")
        if known:
            replace_file(record, encoded(asdict(replace(known, written=_hash(new)))))
        _write(target, new)
        return True


def uninstall(file: Path, *, memory: Path) -> Removal:
    """Remove the gate from a file of settings. Raises the same errors as `install`."""
    target, record = _target(file), _record(file, memory)
    with locked(record):
        old, known = read_settings(target), Memory.read(record)
        done = Removal.NOT_THERE
        if old is not None and known and known.written == _hash(old):
            done, new = Removal.RESTORED, None if known.original is None else known.original.encode()
        elif old is not None:
            with _refusals(file):
                new = _without(old, known)
            done = Removal.NOT_THERE if new == old else Removal.TAKEN_OUT
        if done is not Removal.NOT_THERE:
            _write(target, new) if new is not None else _remove(target, known.made if known else ())
        with write_errors(f"{record} cannot be removed"):
            record.unlink(missing_ok=True)
        return done


def read_settings(file: Path) -> bytes | None:
    """The bytes of a file of settings. None if there is none.

    Raises:
        UsageError: it cannot be read, or is not a file.
    """
    try:
        if file.exists() and not file.is_file():
            raise UsageError(f"{file} is no file, so it holds no settings")
        return read_small(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file} is too large for settings: {error}") from error


def settings_in(file: Path) -> object:
    """The settings in a file, empty if there is none. Raises `UsageError` if it cannot be read."""
    data = read_settings(file) or b""
    with _refusals(file, "Claude Code cannot read it either"):
        return parsed(_decoded(data)[1])


@contextmanager
def _refusals(file: Path, what_then: str = "it was not touched. Correct it and try again") -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{file} cannot be used: {error}. {what_then}") from error


def _decoded(data: bytes) -> tuple[bytes, str]:
    """Split the data into the UTF-8 mark that some editors write first, and the text."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark, data[len(mark) :].decode()


def _without(old: bytes, known: Memory | None) -> bytes | None:
    """Settings without the gate. None if nothing is left and the file was made for it."""
    before: object = None
    if known and known.original:
        with suppress(ValueError):
            before = parsed(known.original.removeprefix("\ufeff"))
    mark, text = _decoded(old)
    left = without_gate(text, before)
    if known and known.original is None and left != text and parsed(left) == {}:
        return None
    return mark + left.encode()


def _target(file: Path) -> Path:
    """The file that links lead to: some people keep their settings in another folder."""
    return Path(os.path.realpath(file))


def _record(file: Path, memory: Path) -> Path:
    return memory / f"{safe_name(str(_target(file)))}.json"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _missing(folder: Path) -> tuple[str, ...]:
    return tuple(str(one) for one in (folder, *folder.parents) if not one.exists())


def _write(target: Path, data: bytes) -> None:
    with write_errors(f"{target} cannot be written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            mode = stat.S_IMODE(target.stat().st_mode)
        except FileNotFoundError:
            mode = 0o666 & ~_umask()
        replace_file(target, data)
        target.chmod(mode)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(target: Path, made: tuple[str, ...]) -> None:
    with write_errors(f"{target} cannot be removed"):
        target.unlink()
    with suppress(OSError):  # it is in use by now
        for folder in made:
            Path(folder).rmdir()
