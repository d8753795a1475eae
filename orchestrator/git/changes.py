"""Changes for views: the files that a change adds, modifies and removes, and whether a folder holds work."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes, git_environment, ignoring_junk
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


_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256 = 64  # characters of a name
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{more}"
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_OURS = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
}
_STAT = ("--stat-width=500", "--stat-name-width=400", "--stat-graph-width=20")
_SECTION = re.compile(r"^(?=diff --)", re.MULTILINE)
_HEADER = re.compile(r"diff --(?:git|cc|combined) (.*)")


async def compared(
    folder: Path, *command: str, of: Sequence[str], paths: Sequence[str] = (), settings: Sequence[str] = ()
) -> bytes:
    """Return the output of `git diff`, `git diff-tree` or `git show` as it is by bytes alone.

    Args:
        folder: the repository, or a worktree of it.
        command: the command and its options.
        of: the commits or trees.
        paths: only of these, all without any.
        settings: of git, for the form of the output.

    Raises:
        GitError: one of the objects is missing, or git does not answer.
    """
    objects = await git(folder, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    names = [
        one if _NAME.fullmatch(one) else await git(folder, "rev-parse", "--verify", "--end-of-options", one)
        for one in of
    ]
    with TemporaryDirectory(prefix="sq-") as temporary:
        empty = Path(temporary)
        (empty / "refs").mkdir()
        (empty / "HEAD").write_text("ref: refs/heads/none\n")
        is_sha256 = len(names[0]) == _SHA256
        more = "[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else ""
        (empty / "config").write_text(_CONFIG.format(version=int(is_sha256), more=more))
        return await git_bytes(
            empty,
            "--literal-pathspecs",
            *(command[0], *_PLAIN, *command[1:], *names, "--", *paths),
            settings=("core.attributesFile=/dev/null", *settings),
            environment={**_OURS, "GIT_DIR": temporary, "GIT_OBJECT_DIRECTORY": objects},
        )


async def changed_paths(folder: Path, base: str, tree: str) -> list[str]:
    """Return the paths that differ between two trees or commits."""
    names = await compared(folder, "diff", "--name-only", "--no-renames", "-z", of=(base, tree))
    return [name for name in names.decode(errors="replace").split("\0") if name]


async def diff_text(
    folder: Path, base: str, commit: str, *, limit: int, paths: Sequence[str] | None = None
) -> str:
    """Return the change for a reviewer: the files, then their diffs, of about `limit` characters at most.

    Files that do not fit, and binary ones, are named with their bytes. `paths`: only of these.
    """
    if paths is not None and not paths:
        return "Nothing has changed."
    stat = await compared(folder, "diff", "--stat", *_STAT, of=(base, commit), paths=paths or ())
    diff = await compared(folder, "diff", "--patch", of=(base, commit), paths=paths or ())
    return f"```\n{_text(stat)}\n```\n\n```diff\n{_cut(_text(diff), limit)}\n```"


async def resolution_text(folder: Path, commit: str, *, limit: int) -> str:
    """Return the parts of a merge commit from neither side, as a combined diff as in `diff_text`."""
    diff = _text(await compared(folder, "show", "--format=", "--cc", of=(commit,)))
    if not diff.strip():
        return "The resolution takes each place from one of the two sides."
    return f"```diff\n{_cut(diff, limit).strip()}\n```"


def _text(output: bytes) -> str:
    return output.decode(errors="replace").rstrip("\n")


def _cut(diff: str, limit: int) -> str:
    """Return a diff with as many files as fit, short ones first, and the others by name and size."""
    if len(diff) <= limit:
        return diff
    sections = [one for one in _SECTION.split(diff) if one]
    left, shown = limit, set[int]()
    for number in sorted(range(len(sections)), key=lambda one: len(sections[one])):
        if len(sections[number]) <= left:
            shown.add(number)
            left -= len(sections[number])
    told = [section for number, section in enumerate(sections) if number in shown]
    others = [section for number, section in enumerate(sections) if number not in shown]
    named = "".join(
        f"\n[… {_named(one)}: its diff of {len(one.encode())} bytes is left out: read the file itself]"
        for one in others
    )
    return "".join([*told, others[0][:left]]).rstrip("\n") + named


def _named(section: str) -> str:
    found = _HEADER.match(section)
    return found[1] if found else section.partition("\n")[0]
