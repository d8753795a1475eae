"""The runs for `sq clean` (those with state, and those that only git still knows), and what came of each."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.git.artifacts import RUN_ID, Artifact, folders_without_git, holdings_of, runs_in
from orchestrator.git.cleaning import Cleaned
from orchestrator.git.pinned import recorded_git
from orchestrator.git.repository import find_repository
from state.errors import JournalError, RunActiveError, UsageError
from state.journal.fold.fold import fold
from state.journal.store import JournalReader, is_active, journal_file
from state.journal.view import RunView
from state.paths import StateFolder, worktree_root

_LOCK = "lock"  # the name of the journal writer's lock
_GLANCE_S = 0.3  # a process that only looks holds the lock for a moment
_BIRTH_S = 60  # a run's folder is made before its journal, so a young one may be starting


class CleanState(StrEnum):
    """The state of a run, with a view to its removal."""

    ENDED = "ended"
    RESUMABLE = "can be resumed"
    ACTIVE = "active"
    NEVER_BEGAN = "killed before it began"
    DAMAGED = "its journal is damaged"
    STATELESS = "no state of it is here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A run. `folder` is None if there is no state of it, `repository` is None if that is gone."""

    run_id: str
    run_state: CleanState
    folder: Path | None
    repository: Path | None
    worktrees: Path | None
    spec: Path | None = None

    async def look(self) -> list[Artifact]:
        """Find what the run holds outside its state folder.

        Raises:
            GitError: the repository cannot be read.
        """
        if self.repository:
            trusted = recorded_git(self.folder) if self.folder else None
            return await holdings_of(
                self.repository, self.run_id, self.worktrees, spec=self.spec, trusted=trusted
            )
        return folders_without_git(self.worktrees) if self.worktrees else []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from working on the run meanwhile.

        Raises:
            RunActiveError: another process works on it.
        """
        if self.folder is None:
            yield
            return
        lock = FileLock(self.folder / _LOCK)
        try:
            lock.acquire(timeout=_GLANCE_S)
        except (Timeout, FileNotFoundError):  # at work, or removed by another clean since it was found
            raise RunActiveError(
                f"run {self.run_id} is being worked on by another sq process. Stop that first"
            ) from None
        try:
            yield
        finally:
            lock.release()


async def candidates_of(state: StateFolder, here: Path | None) -> list[Candidate]:
    """Every run of a state folder, and those that only the repository `here` knows, oldest first.

    Raises:
        GitError: the repository cannot be read.
    """
    found = {}
    known = await _runs_known_to(here) if here else {}
    for folder in sorted(state.runs.iterdir()) if state.runs.is_dir() else ():
        if folder.is_dir() and re.fullmatch(RUN_ID, folder.name):
            found[folder.name] = await _with_state(folder, here, known.get(folder.name))
    for run_id, candidate in known.items():
        found.setdefault(run_id, candidate)
    return [found[run_id] for run_id in sorted(found)]


async def runs_without_state(state: StateFolder, repository: Path) -> list[Candidate]:
    """The runs with remains in a repository and without state in this folder, oldest first.

    Raises:
        GitError: the repository cannot be read.
    """
    known = await _runs_known_to(repository)
    return [known[run_id] for run_id in sorted(known) if not (state.runs / run_id).is_dir()]


async def _runs_known_to(repository: Path) -> dict[str, Candidate]:
    """The runs that have left branches, refs or worktrees here, as runs without state."""
    folders = worktree_root(repository, "any").parent
    names = [folder.name for folder in folders.iterdir()] if folders.is_dir() else []
    run_ids = {*await runs_in(repository), *(name for name in names if re.fullmatch(RUN_ID, name))}
    return {
        run_id: Candidate(
            run_id=run_id,
            run_state=CleanState.STATELESS,
            folder=None,
            repository=repository,
            worktrees=worktree_root(repository, run_id),
        )
        for run_id in run_ids
    }


async def _with_state(folder: Path, here: Path | None, known: Candidate | None) -> Candidate:
    view, run_state = _read(folder)
    started = view.started
    repository = await _root_of(Path(started.repository)) if started else here
    if repository is None and known:  # it was moved, and this is where it is now
        repository = known.repository
    worktrees = worktree_root(repository, folder.name) if repository else None
    if started and started.worktrees:
        worktrees = Path(started.worktrees)
    if worktrees and worktrees.name != folder.name:  # it must be this run's own folder
        worktrees = None
    return Candidate(
        run_id=folder.name,
        run_state=run_state,
        folder=folder,
        repository=repository,
        worktrees=worktrees,
        spec=_real_spec(started.spec_name) if started else None,
    )


def _real_spec(name: str) -> Path:
    """The spec's path with its folder resolved, as git has it. The file itself may be gone."""
    return Path(os.path.realpath(Path(name).parent)) / Path(name).name


def _read(folder: Path) -> tuple[RunView, CleanState]:
    if is_active(folder):
        return _view_of(folder), CleanState.ACTIVE
    try:
        view = _view_of(folder, strict=True)
    except JournalError:
        return RunView(), CleanState.DAMAGED
    if view.started is None:
        young = time.time() - folder.stat().st_mtime < _BIRTH_S
        return view, CleanState.ACTIVE if young else CleanState.NEVER_BEGAN
    if view.ended and not view.ended.resumable:
        return view, CleanState.ENDED
    return view, CleanState.RESUMABLE


def _view_of(folder: Path, *, strict: bool = False) -> RunView:
    if not journal_file(folder).is_file():
        return RunView()
    try:
        with JournalReader(folder) as journal:
            return fold(journal.read())
    except JournalError:
        if strict:
            raise
        return RunView()


async def _root_of(folder: Path) -> Path | None:
    """The repository whose top is this folder, or None."""
    if not folder.is_dir():
        return None
    try:
        root = (await find_repository(folder)).root
    except UsageError:
        return None
    return root if root == Path(os.path.realpath(folder)) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCleaned:
    """The result for one run. `state` is its removed state folder, "" if it stays or there was none.

    `note` is for the user, `refused` says why nothing was tried, `skipped` why it was left aside.
    `next_command` would remove it.
    """

    run_id: str
    run_state: str
    cleaned: tuple[Cleaned, ...] = ()
    state: str = ""
    note: str = ""
    refused: str = ""
    skipped: str = ""
    next_command: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether a request was not fulfilled."""
        return bool(self.refused) or any(not one.removed for one in self.cleaned)


def cleaned_lines(runs: Sequence[RunCleaned]) -> list[str]:
    """The result for each run and its holdings."""
    return [line for run in runs for line in _lines(run)]


def holding_text(holding: Artifact) -> str:
    """A holding of a run in a few words, and whether it has work that exists nowhere else."""
    why = holding.blocked or holding.unmerged
    return f"{holding.kind} {holding.name}" + (f" ({why})" if why else "")


def _lines(run: RunCleaned) -> Iterator[str]:
    if run.skipped:
        yield f"run {run.run_id} is left as it is: {run.skipped}"
    elif run.refused:
        yield f"run {run.run_id} is not removed: {run.refused}"
    else:
        some = any(one.removed for one in run.cleaned)
        part = "not everything could be removed" if some else "nothing was removed"
        yield f"run {run.run_id}: {part if run.is_refused else 'removed'}"
    if run.note:
        yield f"    {run.note}"
    for one in run.cleaned:
        what = f"{one.holding.kind} {one.holding.name}"
        yield f"    kept: {what}: {one.problem}" if one.problem else f"    removed: {what}"
        if one.rescued:
            yield f"        its work is kept: git branch NAME {one.rescued}"
    if run.state:
        yield f"    removed: state {run.state}"
    if run.next_command:
        yield f"    → {run.next_command}"
