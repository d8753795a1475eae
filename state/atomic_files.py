"""JSON files that are whole after any crash, read and changed under a lock.

Seed 001 truncates the file and writes into it, which leaves half a file after a crash. Here the new file is
complete on the disk before it takes the old one's name. The kernel frees the lock (`flock` on `NAME.lock`)
when its process dies. Folders made here are 0700, files 0600.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from state.errors import SqError

VERSION = 1  # of the files' format: their first key
LOCK_WAIT_S = 5.0  # far longer than a queue of writers needs, and below any hook's time-out

_POLL_S = 0.002
_MOST_BYTES = 8 << 20  # a larger file is not ours
_NO_FILE = (errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO, errno.EAGAIN)
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP)  # file systems without fsync of a folder


class LockTimeoutError(SqError):
    """Another process held the file's lock for the whole waiting time. Nothing was changed."""


class DamagedFileError(SqError):
    """The file exists and cannot be used. Nothing was changed. `found` is its value if it has one.

    `reason`: `unreadable` (the disk, for now), `no_file`, `invalid_json`, `not_object`, `newer_version`.
    """

    def __init__(self, message: str, *, reason: str, found: object = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.found = found


class WriteFailedError(SqError):
    """The file could not be written. It holds either the old content or the new one, whole.

    `mismatch`: the file read back differently from the data written. `final`: do not try again. After EIO the
    kernel has dropped the data, and the next fsync wrongly reports success.
    """

    def __init__(self, message: str, *, mismatch: bool = False, final: bool = False) -> None:
        super().__init__(message)
        self.mismatch = mismatch
        self.final = final


@contextmanager
def locked(path: Path, *, wait_s: float = LOCK_WAIT_S, sync: bool = True) -> Iterator[None]:
    """Hold the lock of a file, also against other threads. Not reentrant. Makes the file's folder.

    Raises:
        LockTimeoutError: it was not free within `wait_s` seconds.
        WriteFailedError: the folder or the lock's file cannot be made.
    """
    with write_errors(f"{path} cannot be locked"):
        make_private_folder(path.parent, sync=sync)
        lock = open_private(path.with_name(f"{path.name}.lock"), "a+")
    try:
        with write_errors(f"{path} cannot be locked"):
            _wait_for(lock, path, wait_s)
        yield
    finally:
        with suppress(OSError):  # closing frees it too, unless a child forked meanwhile has it
            fcntl.flock(lock, fcntl.LOCK_UN)
        with suppress(OSError):
            lock.close()


def read_json(path: Path) -> dict[str, object] | None:
    """Return the object in a JSON file, without its version, or None if there is no file. Needs no lock.

    Raises:
        DamagedFileError: the file exists and holds no usable object.
    """
    try:
        value = json.loads(read_small(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "no_file" if error.errno in _NO_FILE else "unreadable"
        raise DamagedFileError(f"{path} cannot be read: {error.strerror}", reason=reason) from error
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} holds no JSON: {error}", reason="invalid_json") from error
    if not isinstance(value, dict):
        raise DamagedFileError(f"{path} holds no JSON object", reason="not_object", found=value)
    version = value.get("version", VERSION)
    if type(version) is not int or version > VERSION:
        message = f"{path} has version {version}, and the newest that this sq knows is {VERSION}"
        raise DamagedFileError(message, reason="newer_version", found=value)
    value.pop("version", None)
    return value


def write_json(path: Path, value: Mapping[str, object], *, sync: bool = True) -> None:
    """Replace a JSON file by this object, under its lock. Errors: of `locked`, `encoded`, `replace_file`."""
    with locked(path, sync=sync):
        replace_file(path, encoded(value), sync=sync)


def encoded(value: Mapping[str, object]) -> bytes:
    """Return an object as stored: version first, indented, ASCII. `WriteFailedError`: it is not JSON."""
    try:
        text = json.dumps({"version": VERSION, **value}, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise WriteFailedError(f"a value cannot be stored as JSON: {error}", final=True) from error
    return f"{text}\n".encode()


def replace_file(path: Path, data: bytes, *, sync: bool = True, verify: bool = True) -> None:
    """Replace a file's content by these bytes in one step. The caller holds its lock.

    With `sync` the new content survives a power cut. With `verify` the new file is read back before it
    replaces the old one. `WriteFailedError`: it could not be written or synced, or reads back differently.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    with write_errors(f"{path} could not be written"):
        _sweep(path)
        try:
            _write_new(temporary, data, sync=sync, verify=verify)
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink()  # if it has not been renamed
        if sync:
            _sync_folder(path.parent)


def overwrite_file(path: Path, data: bytes) -> None:
    """Write into the file itself, in one call, without fsync: the last resort if it cannot be replaced.

    Shorter data is padded with spaces, which JSON allows, so that no truncation is needed. If only a part
    could be written, the old content is written back, or the file is removed if it is new. The caller holds
    the lock. Errors: as in `replace_file`.
    """
    is_new = not path.is_file()
    try:
        with (
            write_errors(f"{path} could not be overwritten"),
            open_private(path, "x+" if is_new else "r+") as file,
        ):
            _overwrite(file, path, data)
    except WriteFailedError:
        if is_new:
            with suppress(OSError):
                path.unlink()
        raise


def make_private_folder(folder: Path, *, sync: bool = True) -> None:
    """Make a folder and its missing parents, each 0700. Existing folders keep their modes."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent, sync=sync)
    with suppress(FileExistsError):  # made by another process just now
        folder.mkdir(mode=0o700)
        if sync:
            _sync_folder(folder.parent)


def open_private(path: Path, mode: str) -> FileIO:
    """Open a file unbuffered, 0600 if it is new. Never follows a link and never waits for a named pipe."""
    careful = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    return FileIO(path, mode, opener=lambda name, flags: os.open(name, flags | careful, 0o600))


def read_small(path: Path) -> bytes:
    """Return a file's bytes, without waiting for a named pipe. ValueError: it is larger than sq's files."""
    with FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
        return file.readall() or b""


@contextmanager
def write_errors(what: str) -> Iterator[None]:
    """Turn an OSError into a `WriteFailedError` whose message begins with `what`."""
    try:
        yield
    except OSError as error:
        raise WriteFailedError(f"{what}: {error.strerror}") from error


def sync_file(file: int, path: Path) -> None:
    """Fsync, once. `WriteFailedError`: it failed. It is final after EIO."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            final = error.errno == errno.EIO
            raise WriteFailedError(f"{path} could not be synced: {error.strerror}", final=final) from error


def _wait_for(lock: FileIO, path: Path, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.monotonic() >= deadline:
            raise LockTimeoutError(f"{path} was held by another process for {wait_s} s")
        time.sleep(_POLL_S)


def _write_new(path: Path, data: bytes, *, sync: bool, verify: bool) -> None:
    with open_private(path, "x+") as file:
        rest = data
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        if sync:
            sync_file(file.fileno(), path)
        if verify and os.pread(file.fileno(), len(data) + 1, 0) != data:
            raise WriteFailedError(f"{path} gives back other bytes than were written", mismatch=True)


def _overwrite(file: FileIO, path: Path, data: bytes) -> None:
    old = os.pread(file.fileno(), _MOST_BYTES, 0)
    whole = data.ljust(len(old))
    if os.pwrite(file.fileno(), whole, 0) != len(whole):
        os.pwrite(file.fileno(), old, 0)
        file.truncate(len(old))
        raise WriteFailedError(f"{path} could be overwritten in part only", final=True)


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_file(file, folder)
    finally:
        os.close(file)


def _sweep(path: Path) -> None:
    """Remove the files of killed writers. The caller holds the lock, so no temporary file is in use."""
    for one in path.parent.iterdir():
        if one.name.startswith(f".{path.name}.") and one.name.endswith(".tmp"):
            one.unlink(missing_ok=True)
