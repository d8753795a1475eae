"""Promises of a session: the criteria to meet before it may stop, how each is checked, and their files.

The id is a hash of the definition, so no criterion can be changed later. The result of a check is sealed to
the definition, the criterion and the tree it was made on, so that no field of it can be edited alone. Neither
uses a secret: a program that may write the file can also delete or damage it, or compute a seal as this
module does. That takes more than ticking a box, and no more is claimed. A criterion can be trivial: `true` is
a command too, and people see it in `sq promise show`. Text is never evidence.

The files of a project are JSON, read without a lock and changed under a lock. An id becomes a path only if it
has the form of ours, and nothing is written if a link leads the folder out of the project. A file that cannot
be read as a promise is left as it is and reported.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Self

from orchestrator.gates.promise_seals import digest
from orchestrator.gates.session_state.diagnostics import utc_text
from state.atomic_files import DamagedFileError, encoded, locked, read_json, replace_file
from state.decoding import decoded
from state.errors import SqError, UsageError

DEADLINE_S = 60.0  # for a command without its own
MOST_DEADLINE_S = 3600.0
MOST_TEXT = 2000  # characters of a promise, a criterion, a command
MOST_CRITERIA = 50
ID = re.compile(r"p-[0-9a-f]{12}")
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")
_TREE = re.compile(r"[a-z]+:[0-9a-f]{40,64}")
_NO_SESSION = "a promise needs a session that has to keep it: pass --session ID, or set CLAUDE_SESSION_ID"


class CriterionCheck(StrEnum):
    """How a criterion is checked: a command exits with 0, a file exists, or there is a new commit."""

    COMMAND = "command"
    FILE = "file"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseCriterion:
    """`target` is the command for `sh -c`, the path below the project, or words of the commit's message."""

    text: str
    kind: CriterionCheck
    target: str
    deadline_s: float = DEADLINE_S

    def refuse_unusable(self) -> None:
        """Raise `UsageError` if the criterion could never be checked."""
        if len(self.text) > MOST_TEXT or len(self.target) > MOST_TEXT or "\0" in self.target:
            raise UsageError(f"a criterion has at most {MOST_TEXT} characters and no NUL: {self.text[:60]!r}")
        if self.kind is CriterionCheck.COMMAND and not self.target.strip():
            raise UsageError(f"criterion {self.text!r} has an empty command")
        if self.kind is CriterionCheck.FILE and not is_plain_path(self.target):
            raise UsageError(
                f"{self.target!r} is no path inside the project: write it from its top, without `..`"
            )
        if not 0 < self.deadline_s <= MOST_DEADLINE_S:
            raise UsageError(
                f"a deadline is above 0 and at most {MOST_DEADLINE_S:g} s, not {self.deadline_s}"
            )


class State(StrEnum):
    """The state of a promise."""

    OPEN = "open"
    KEPT = "kept"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseEvidence:
    """The result of a check: on which tree, when (UTC), with which exit code, and the end of the output."""

    tree: str
    passed: bool
    exit_code: int | None
    output: str
    at: str
    seal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise as its file holds it. `evidence` has a place for each criterion.

    `base` is the commit that it was made on, or "". `ended` is the file's claim, and `state` is the verified
    state.
    """

    id: str
    text: str
    criteria: tuple[PromiseCriterion, ...]
    created_at: str
    base: str
    nonce: str
    owner: str
    evidence: tuple[PromiseEvidence | None, ...]
    ended: State = State.OPEN
    ended_at: str = ""
    reason: str = ""

    @classmethod
    def new(cls, *, text: str, criteria: Sequence[PromiseCriterion], owner: str, base: str) -> Self:
        """Make a new promise.

        Raises:
            UsageError: no text, no owner, no criterion, or one that cannot be checked.
        """
        if not owner.strip():
            raise UsageError(_NO_SESSION)
        if not text.strip() or len(text) > MOST_TEXT:
            raise UsageError(f"a promise has a text of 1 to {MOST_TEXT} characters, this one has {len(text)}")
        if not 1 <= len(criteria) <= MOST_CRITERIA:
            raise UsageError(
                f"a promise has 1 to {MOST_CRITERIA} criteria that can be checked, not {len(criteria)}"
            )
        for one in criteria:
            one.refuse_unusable()
        made = cls(
            id="",
            text=text,
            criteria=tuple(criteria),
            created_at=now_text(),
            base=base,
            nonce=os.urandom(8).hex(),
            owner=owner,
            evidence=(None,) * len(criteria),
        )
        return replace(made, id=made.id_of_definition)

    @property
    def id_of_definition(self) -> str:
        return f"p-{digest(self._definition())[:12]}"

    @property
    def is_altered(self) -> bool:
        """Whether text, criteria, time or base were changed after the id was made."""
        return self.id != self.id_of_definition

    @property
    def state(self) -> State:
        """Cancelled with a reason, kept if checks on one tree prove it, and open otherwise."""
        if self.ended is State.CANCELLED and self.reason.strip():
            return State.CANCELLED
        trees = {one.tree for one in self.evidence if one}
        kept = self.ended is State.KEPT and len(trees) == 1 and not self.unproven(trees.pop())
        return State.KEPT if kept else State.OPEN

    def belongs_to(self, session_id: str) -> bool:
        """Whether this session owns it. An empty id matches nothing."""
        return bool(session_id) and self.owner == session_id

    def is_genuine(self, number: int) -> bool:
        """Whether criterion `number` (counted from 1) has evidence that a check wrote for this definition."""
        evidence = self.evidence[number - 1]
        return evidence is not None and not self.is_altered and evidence.seal == self._seal(number, evidence)

    def unproven(self, tree: str) -> tuple[int, ...]:
        """The numbers of the criteria that no check has proven on exactly this tree."""
        return tuple(
            number
            for number, evidence in enumerate(self.evidence, 1)
            if not (evidence and evidence.passed and evidence.tree == tree and self.is_genuine(number))
        )

    def with_evidence(self, found: Mapping[int, PromiseEvidence]) -> Self:
        """The promise with new evidence, sealed."""
        sealed = {number: replace(one, seal=self._seal(number, one)) for number, one in found.items()}
        return replace(
            self, evidence=tuple(sealed.get(number, old) for number, old in enumerate(self.evidence, 1))
        )

    def closed(self) -> Self:
        """The promise marked as kept. It still counts as open if checks do not prove it."""
        return replace(self, ended=State.KEPT, ended_at=now_text())

    def cancelled_by(self, session_id: str, reason: str) -> Self:
        """The promise ended, with the reason.

        Raises:
            UsageError: no reason, or a very long one.
            SqError: it has ended, or is another session's.
        """
        if not reason.strip() or len(reason) > MOST_TEXT:
            raise UsageError(f"say in 1 to {MOST_TEXT} characters why {self.id} is cancelled")
        self.refuse_ended()
        if not self.belongs_to(session_id):
            asked = f"session {session_id!r}" if session_id else "no session"
            raise SqError(
                f"{self.id} is of session {self.owner!r}, and {asked} asked. "
                "The owner's id can be given with --session"
            )
        return replace(self, ended=State.CANCELLED, ended_at=now_text(), reason=reason)

    def refuse_ended(self) -> None:
        """Raise `SqError` if it has ended."""
        if self.state is not State.OPEN:
            raise SqError(f"{self.id} is {self.state} since {self.ended_at}, so nothing changed")

    def _definition(self) -> object:
        criteria = [[one.text, str(one.kind), one.target, one.deadline_s] for one in self.criteria]
        return [self.nonce, self.text, self.created_at, self.base, criteria]

    def _seal(self, number: int, one: PromiseEvidence) -> str:
        found = [one.tree, one.passed, one.exit_code, one.output, one.at]
        return digest([self._definition(), number, found])


def parsed(value: Mapping[str, object]) -> Promise:
    """Return the promise in a stored object.

    Raises:
        ValueError: it is not a promise, with the reason.
    """
    promise = decoded(Promise, value)
    if not promise.criteria or len(promise.criteria) != len(promise.evidence):
        raise ValueError("criteria and evidence do not fit together")
    if not promise.owner.strip() or not _COMMIT.fullmatch(promise.base):
        raise ValueError("it names no session, or its base is no commit")
    if datetime.fromisoformat(promise.created_at).tzinfo is None:
        raise ValueError("created_at names no zone")
    if not all(0 < one.deadline_s <= MOST_DEADLINE_S for one in promise.criteria):
        raise ValueError("deadline_s is out of bounds")
    if not all(_TREE.fullmatch(one.tree) for one in promise.evidence if one):
        raise ValueError("evidence names no tree")
    return promise


def is_plain_path(path: str) -> bool:
    """Whether a path is relative and without `..`, so that it stays below its folder (apart from links)."""
    parts = PurePosixPath(path).parts
    return bool(parts) and "\0" not in path and not path.startswith("/") and ".." not in parts


def now_text() -> str:
    """The time now, UTC, to the second."""
    return utc_text(datetime.now(UTC))


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
