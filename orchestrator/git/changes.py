"""Changes for views: the files that a change adds, modifies and removes, and whether a folder holds work."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import compared, git_environment, ignoring_junk
from state.errors import GitError
from state.records.work import ChangeKind, FileChange

_DEADLINE_S = 10.0
_UNCHANGED = " "  # the letter of `git status` for a file that is as in the index
_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.REMOVED}


async def sizes(folder: Path, base: str, commit: str) -> list[FileChange]:
    """Return the files that differ between two commits or trees, by path. A renamed file is two of them.

    Raises:
        GitError: one of the two is missing.
    """
    told, counts = [
        (await compared(folder, "diff", form, "--no-renames", "-z", of=(base, commit)))
        .decode(errors="replace")
        .split("\0")
        for form in ("--name-status", "--numstat")
    ]
    kinds = dict(zip(told[1::2], told[::2], strict=False))
    found = []
    for row in counts:
        if row:
            added, removed, path = row.split("\t", 2)
            found.append(
                FileChange(
                    path=path,
                    added=_number(added),
                    removed=_number(removed),
                    kind=_KINDS.get(kinds[path], ChangeKind.MODIFIED),
                )
            )
    return sorted(found, key=lambda one: one.path)


def _number(text: str) -> int | None:
    """Return a number of lines, or None for a binary file, for which git prints a dash."""
    return int(text) if text.isdigit() else None


def holds_work(folder: Path, base: str) -> bool:
    """Whether a folder differs from the commit `base`, committed or not, without ignored files.

    Synchronous. Works on a copy of the folder's index, so nothing is changed. True if git cannot say.
    """
    if not folder.exists():
        return False
    try:
        with TemporaryDirectory(prefix="sq-") as temporary:
            return bool(_differences(folder, base, Path(temporary) / "index"))
    except (OSError, subprocess.SubprocessError, GitError):
        return True


def _differences(folder: Path, base: str, index: Path) -> list[str]:
    own = folder / _git(folder, "rev-parse", "--git-path", "index").strip()
    if own.exists():  # with its time, by which git knows which files it has to read
        shutil.copy2(own, index)
    _git(folder, "read-tree", "--reset", base, index=index)
    listed = _git(
        folder, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", index=index
    )
    return [entry for entry in listed.split("\0") if entry[1:2] not in {"", _UNCHANGED}]


def _git(folder: Path, *arguments: str, index: Path | None = None) -> str:
    with ignoring_junk() as ignoring:
        settings = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", *ignoring]
        options = [part for setting in settings for part in ("-c", setting)]
        done = subprocess.run(
            ["git", "-C", str(folder), *options, *arguments],
            env=git_environment({"GIT_INDEX_FILE": str(index)} if index else None, folder=folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=True,
        )
    return done.stdout.decode(errors="replace")
