"""The copy of a repository's settings and attributes in a run's folder, made before any agent works."""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.git.command import git
from orchestrator.git.pinned.settings import (
    settings_of_repository,
    without_programs_of_the_tree,
    write_settings,
)
from orchestrator.git.pinned_config import MENDED, PLACES, TrustedGit, link_content, trusting
from state.errors import GitError

_FOLDER = "git"
_RECORD = "sq-trusted.json"  # the last file to be written: with it the copy is complete
_COPIED = ("attributes", "exclude", "grafts")  # of the folder `info`
_FILES = (
    "config",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "commondir",
)
_MOST = 1 << 20


async def record_git(root: Path, run_folder: Path, worktrees: Path | None) -> TrustedGit:
    """Copy the settings and attributes of a repository, unless this run has done so, and return its folders.

    Args:
        root: the user's checkout.
        run_folder: the run's folder, which no agent can write.
        worktrees: the folder of the run's worktrees, or None without any.

    Raises:
        GitError: git cannot read the settings, or they cannot be copied.
        OSError: a file cannot be read or written.
    """
    if known := recorded_git(run_folder):
        return known
    folder = run_folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "info").mkdir(mode=0o700, parents=True)
    (folder / "hooks").mkdir()
    with trusting(None):
        named = await git(
            root, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"
        )
        own, common = (Path(os.path.realpath(path)) for path in named.splitlines())
        for name in _COPIED:
            if (source := common / "info" / name).is_file():
                shutil.copyfile(source, folder / "info" / name)
        (common / "worktrees").mkdir(exist_ok=True)
        link_content(common, folder)
        left_out = set[str]()
        for name, local in (("config", True), ("nested-config", False)):
            entries, programs = without_programs_of_the_tree(
                await settings_of_repository(root, local=local), root, agents_work_there=worktrees is None
            )
            await write_settings(folder / name, entries)
            left_out |= set(programs)
    trusted = TrustedGit(root=root, own=own, common=common, folder=folder, worktrees=worktrees)
    facts = {
        "root": str(root),
        "own": str(own),
        "common": str(common),
        "worktrees": str(worktrees) if worktrees else None,
        "prints": prints_of(own, common),
        "left_out": sorted(left_out),
    }
    draft = folder / f"{_RECORD}.draft"
    draft.write_text(json.dumps(facts), "utf-8")
    draft.replace(folder / _RECORD)
    return trusted


def recorded_git(run_folder: Path) -> TrustedGit | None:
    """Return the git folders that a run has recorded, or None."""
    facts = _facts(run_folder / _FOLDER)
    if facts is None:
        return None
    worktrees = facts["worktrees"]
    return TrustedGit(
        root=Path(facts["root"]),
        own=Path(facts["own"]),
        common=Path(facts["common"]),
        folder=run_folder / _FOLDER,
        worktrees=Path(worktrees) if worktrees else None,
    )


def changed_git(trusted: TrustedGit) -> list[str]:
    """Return the changed files of the repository's git folder that could make git run a program.

    Pointers of worktrees that lead elsewhere are put right, and named too.
    """
    facts = _facts(trusted.folder) or {"prints": {}}
    before, now = facts["prints"], prints_of(trusted.own, trusted.common)
    changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
    for noted in (trusted.folder / PLACES).glob("*"):
        with suppress(GitError):  # something else is in its place, and the next git command says so
            trusted.mend_pointer((trusted.worktrees or trusted.root) / noted.name)
    mended = trusted.folder / MENDED
    return sorted(changed | set(mended.read_text("utf-8").splitlines() if mended.exists() else ()))


def left_out_programs(trusted: TrustedGit) -> list[str]:
    """Return the settings that sq does not use because they run a program of the tree."""
    return list((_facts(trusted.folder) or {"left_out": []})["left_out"])


def _facts(folder: Path) -> dict[str, Any] | None:
    try:
        facts: dict[str, Any] = json.loads((folder / _RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return facts


def prints_of(own: Path, common: Path) -> dict[str, str]:
    """Return those files that exist in the two git folders of a checkout, with hash and mode."""
    return {str(path): found for path in _paths(own, common) if (found := _print(path))}


def _paths(own: Path, common: Path) -> Iterator[Path]:
    for folder in dict.fromkeys((common, own)):
        yield from (folder / name for name in _FILES)
    hooks = common / "hooks"
    if hooks.is_symlink():
        yield hooks
        return
    if hooks.is_dir():
        yield from (path for path in sorted(hooks.iterdir()) if path.suffix != ".sample")


def _print(path: Path) -> str:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return f"link {os.fsencode(path.readlink()).hex()}"
        if not stat.S_ISREG(facts.st_mode):
            return "no file"
        with path.open("rb") as file:
            content = file.read(_MOST)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{facts.st_mode & 0o111:o} {facts.st_size} {hashlib.sha256(content).hexdigest()}"
