"""A run out of a checkpoint: into the folder of a claim, or into a state folder to be looked at.

Whoever may push to the repository may write a checkpoint, so nothing of it names a place outside its folder.
"""

import fnmatch
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.fleet.transport import git_line, run_git
from orchestrator.fleet.workplace import CARRIED, FACTS, FILES, JOURNAL, ROOT, Workplace, renamed
from state.errors import JournalError
from state.journal.transfer import Row, add_rows, rows_in

_KEPT = re.compile("|".join(fnmatch.translate(one.replace("**/", "")) for one in CARRIED))
_RUN = re.compile(r"[0-9a-z][0-9a-z-]*")
_REF = re.compile(r"refs/(?:heads|sq|sq-rescue)/[^\s:]+|[0-9a-f]{40,64}")
_WORKTREE = re.compile(r"local/sq/worktrees/[^/]+/[^/]+/[^/]+")


def restore(files: Mapping[str, bytes], place: Workplace) -> str:
    """Make the run of a checkpoint in a place, whose repository has its commits. Return its id, or "".

    Raises:
        JournalError: the checkpoint is none that sq has made.
    """
    if not (run := run_in(files)):
        return ""
    facts, git = json.loads(files[FACTS]), place.repository
    write_run(files, place.state / "runs" / run, moved=renamed(ROOT, place.root))
    for name, target in facts["refs"].items():
        git_line(git, "update-ref", _checked(_REF, name), _checked(_REF, target))
    for path, (head, _, unfinished) in facts["unfinished"].items():
        worktree, name = place.root / _checked(_WORKTREE, path), _checked(_REF, head)
        branch = name.removeprefix("refs/heads/")
        where = [str(worktree)] if branch != name else ["--detach", str(worktree)]
        run_git(git, "worktree", "add", "--quiet", "--force", *where, branch)
        git_line(worktree, "read-tree", "--reset", "-u", _checked(_REF, unfinished))
        git_line(worktree, "read-tree", "--reset", "HEAD")
    return run


def write_run(files: Mapping[str, bytes], folder: Path, *, moved: Callable[[str], str] = str) -> None:
    """Write the folder of a run from the files of a checkpoint, or what is new in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, data in files.items():
        top, _, name = path.partition("/")
        if top == FILES:
            file = folder / _checked(_KEPT, moved(name))
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_text(moved(data.decode(errors="replace")), "utf-8")
    add_rows(folder, [(*row[:4], moved(row[4])) for row in _journal_rows(files)])


def _journal_rows(files: Mapping[str, bytes]) -> Iterator[Row]:
    for path, data in sorted(files.items()):
        if path.startswith(f"{JOURNAL}/"):
            yield from rows_in(data)


def run_in(files: Mapping[str, bytes]) -> str:
    """Return the id of the run in the files of a checkpoint, or "" while it has none.

    Raises:
        JournalError: the checkpoint is none that sq has made.
    """
    return _checked(_RUN, json.loads(files[FACTS])["run"]) if FACTS in files else ""


def _checked(pattern: re.Pattern[str], name: Any) -> str:  # noqa: ANN401  as JSON has it
    if not (isinstance(name, str) and pattern.fullmatch(name)) or ".." in PurePosixPath(name).parts:
        raise JournalError(f"the checkpoint names {name!r}, which no checkpoint of sq does")
    return name
