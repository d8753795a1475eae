"""The promises of a project: a folder of JSON files, read without a lock and changed under a lock.

An id becomes a path only if it has the form of ours, and nothing is written if a link leads the folder out of
the project. A file that cannot be read as a promise is left as it is and reported.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from orchestrator.gates.promises.promise import ID, Promise, parsed
from state.atomic_files import DamagedFileError, encoded, locked, read_json, replace_file
from state.errors import SqError, UsageError

FOLDER = Path(".claude", "completion-state", "promises")  # below the top of a checkout


class DamagedPromiseError(SqError):
    """A file is not a promise and is left as it is. `owner` is the session that it names, or ""."""

    def __init__(self, message: str, *, file: Path, found: object) -> None:
        super().__init__(message)
        self.file = file
        owner = found.get("owner") if isinstance(found, Mapping) else None
        self.owner = owner if isinstance(owner, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPromises:
    """All promises of a project, oldest first, and the damaged files."""

    promises: tuple[Promise, ...]
    damaged: tuple[DamagedPromiseError, ...]


class PromiseStore:
    """The promises of one project. `home` is the top of the checkout, or the folder itself without git."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / FOLDER

    @classmethod
    def of_project(cls, folder: Path) -> Self:
        """The store for a session that works in this folder, or anywhere in its checkout."""
        here = folder.absolute()
        with suppress(OSError, ValueError):
            here = Path(os.path.realpath(here))
        return cls(next((each for each in (here, *here.parents) if os.path.exists(each / ".git")), here))  # noqa: PTH110  raises for no path

    def all(self) -> StoredPromises:
        """Read every promise and find the damaged files. Objects of other programs are left out."""
        promises: list[Promise] = []
        damaged: list[DamagedPromiseError] = []
        for name in self._names():
            try:
                if promise := self._read(name):
                    promises.append(promise)
            except DamagedPromiseError as error:
                damaged.append(error)
        promises.sort(key=lambda one: (one.created_at, one.id))
        return StoredPromises(promises=tuple(promises), damaged=tuple(damaged))

    def get(self, promise_id: str) -> Promise:
        """The promise with this id.

        Raises:
            UsageError: there is none.
            DamagedPromiseError: its file is not a promise.
        """
        promise = self._read(self._file(promise_id).name)
        if promise is None:
            raise self._unknown(promise_id)
        return promise

    def add(self, promise: Promise) -> Promise:
        """Store a new promise.

        Raises:
            UsageError: the folder leads out of the project.
            WriteFailedError: it could not be written.
        """
        self._refuse_links()
        file = self._file(promise.id)
        with locked(file):
            if os.path.lexists(file):
                raise UsageError(f"{file} is there already, and nothing was changed")
            replace_file(file, encoded(asdict(promise)))
        return promise

    def change(self, promise_id: str, change: Callable[[Promise], Promise]) -> Promise:
        """Read, change and store under one lock. If `change` raises, nothing is stored.

        Raises:
            UsageError: there is no such promise, or the folder leads out of the project.
            DamagedPromiseError: its file is no promise.
            WriteFailedError: it could not be written.
        """
        file = self._file(promise_id)
        if not file.exists():
            raise self._unknown(promise_id)
        self._refuse_links()
        with locked(file):
            promise = self._read(file.name)
            if promise is None:  # it went away meanwhile
                raise self._unknown(promise_id)
            changed = change(promise)
            replace_file(file, encoded(asdict(changed)))
        return changed

    def _names(self) -> list[str]:
        with suppress(OSError, ValueError):
            return sorted(name for name in os.listdir(self.folder) if name.endswith(".json"))  # noqa: PTH208  a fraction of the cost
        return []

    def _read(self, name: str) -> Promise | None:
        """The promise in a file. None if there is no file, or its object is another program's."""
        file = self.folder / name
        try:
            value = read_json(file)
        except DamagedFileError as error:
            raise DamagedPromiseError(str(error), file=file, found=error.found) from error
        if value is None:
            return None
        if not ID.fullmatch(file.stem) and "nonce" not in value:
            return None
        return _promise(value, file)

    def _file(self, promise_id: str) -> Path:
        if not ID.fullmatch(promise_id):
            raise self._unknown(promise_id)
        return self.folder / f"{promise_id}.json"

    def _unknown(self, promise_id: str) -> UsageError:
        return UsageError(
            f"there is no promise {promise_id[:60]!r} in {self.folder}. `sq promise list` shows the existing "
            "ones, and --project DIR names another project"
        )

    def _refuse_links(self) -> None:
        if not Path(os.path.realpath(self.folder)).is_relative_to(os.path.realpath(self.home)):
            raise UsageError(
                f"{self.folder} is led out of {self.home} by a link, so nothing is written there"
            )


def _promise(value: Mapping[str, object], file: Path) -> Promise:
    try:
        promise = parsed(value)
    except ValueError as error:
        raise DamagedPromiseError(f"{file} holds no promise: {error}", file=file, found=value) from error
    if promise.id != file.stem:
        message = f"{file} holds the promise {promise.id[:60]!r}: a file must have its promise's name"
        raise DamagedPromiseError(message, file=file, found=value)
    return promise
