"""Whether a task's folder holds work: files that differ from the task's first commit, committed or not.

Synchronous, for views. Nothing is changed: it works on a copy of the folder's index.
"""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git_environment
from orchestrator.git.junk import ignoring_junk
from state.errors import GitError

_DEADLINE_S = 10.0
_UNCHANGED = " "  # the letter of `git status` for a file that is as in the index


def holds_work(folder: Path, base: str) -> bool:
    """Whether a folder differs from the commit `base`, without ignored files. True if git cannot say."""
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
