"""One step of a set-up, its inputs, and the folders that it makes once in a run for all worktrees.

The kept copy of a command's result is taken before any agent works there, so an agent's changes in its
worktree never get into another one.
"""

import hashlib
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.files import Shown
from state.safe_paths import parent_inside, read_inside, remove_inside, remove_tree

VENV = ".venv"  # the folder of the environment that a Python project gets
_DRAFT = ".draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """A command that makes a worktree ready for one ecosystem.

    `tool` is its row of the table, `program` has to be installed for it, and `why` is the file that asks for
    it. `portable` are folders that are the same at any path. They are made once and copied. `makes` are
    folders that hold absolute paths, and that are removed again if the command fails. `key` changes with
    everything that the result depends on. `wants` are the packages that a Python project and its build
    require, None if only a script knows them.
    """

    command: str
    ecosystem: str
    program: str
    why: str
    tool: str = ""
    portable: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    key: str = ""
    wants: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return the form shown to people."""
        return f"{self.command} ({self.why})"


def key_of(shown: Shown, files: tuple[str, ...], *more: str) -> str:
    """Return a fingerprint of these files, whole, and of some texts."""
    found = hashlib.sha256()
    for name in (one for one in files if shown.has(one)):
        found.update(f"\0{name}\0".encode())
        try:
            found.update(read_inside(shown.folder, name))
        except OSError:
            continue
    for text in more:
        found.update(f"\0{text}".encode())
    return found.hexdigest()[:32]


def at(part: str, command: str) -> str:
    """Return a command for a folder, to be run from the root. "" is the root itself."""
    return f"cd {shlex.quote(part)} && {command}" if part else command


def below(part: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths in a folder as paths from the root."""
    return tuple(f"{part}/{name}" if part else name for name in names)


def kept_folder(run_folder: Path) -> Path:
    """Return the folder of a run in which such results are kept."""
    return run_folder / "ready"


def downloads_of(kept: Path) -> Path:
    """Return the folder with the downloads of steps that an agent changed, a folder a key."""
    return kept / "downloads"


def wheels_of(kept: Path) -> Path:
    """Return the folder with the wheels of packages that the base needed, a folder a key."""
    return kept / "wheels"


def copy_kept(kept: Path, step: SetUpStep, folder: Path) -> bool:
    """Put a step's earlier result into a worktree, in place of its current content.

    Returns:
        Whether it is there now. If not, the command has to be run.
    """
    source = kept / step.key
    if not step.portable or not source.is_dir():
        return False
    for number, path in enumerate(step.portable):
        if (source / str(number)).is_dir() and not _put(source / str(number), folder, path):
            return False
    return True


def _put(source: Path, folder: Path, path: str) -> bool:
    """Copy a folder into a worktree, in place of the current one. No link in the worktree is followed."""
    try:
        remove_inside(folder, path)
        with parent_inside(folder, path) as (parent, name):
            by_descriptor = Path(f"/proc/self/fd/{parent}")
            where = by_descriptor if by_descriptor.is_dir() else (folder / path).parent
            return copied(source, where / name, keeps=(parent,))
    except OSError:
        return False


def keep(kept: Path, step: SetUpStep, folder: Path) -> None:
    """Keep a step's result in a worktree, if it is the same at any path.

    It is not if it has a link that is absolute or leads out of the worktree, as `npm link` makes them.
    """
    made = [folder / path for path in step.portable]
    if not step.portable or not made[0].is_dir() or any(_leads_out(path, folder) for path in made):
        return
    draft = kept / f"{step.key}{_DRAFT}"
    remove_tree(draft)
    draft.mkdir(parents=True)
    if all(copied(path, draft / str(number)) for number, path in enumerate(made) if path.is_dir()):
        remove_tree(kept / step.key)
        draft.rename(kept / step.key)
    else:
        remove_tree(draft)


def copied(source: Path, target: Path, *, keeps: Sequence[int] = ()) -> bool:
    """Copy a folder with its links, holes and times, sharing blocks if possible. Whether all is there."""
    for options in (("-a", "--reflink=auto"), ("-a",)):
        try:
            subprocess.run(
                ["cp", *options, "--", str(source), str(target)],
                capture_output=True,
                check=True,
                pass_fds=keeps,
            )
        except (OSError, subprocess.CalledProcessError):
            remove_tree(target)
        else:
            return True
    return False


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a link in a folder is absolute or leads out of the worktree."""
    root = folder.resolve()
    return path.is_symlink() or any(
        link.readlink().is_absolute() or not link.resolve().is_relative_to(root) for link in _links(path)
    )


def _links(path: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files):
            if os.path.islink(found := os.path.join(parent, name)):  # noqa: PTH114, PTH118  there are many
                yield Path(found)
