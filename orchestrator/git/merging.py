"""Merges of two commits in a worktree of their own; what came of one is asked of git, not of the resolver.

A resolver may edit, stage, commit, abort or reset: `Merge.look` says what is so now. What git itself left is
noted beside the worktree's index, to tell it from what somebody did.
"""

import hashlib
import json
import re
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.git.command import git
from orchestrator.git.keeping import keep, make_commit, numbered_refs
from orchestrator.git.locks import git_dir, in_worktree
from orchestrator.git.workspace import changed_paths, head_of, ignoring_junk, put_on, snapshot_aside, tree_of
from state.errors import GitError

# Whatever the user has configured for merges of their own, these are done alike everywhere.
_OPTIONS = (
    *("--no-commit", "--no-ff", "--no-edit", "--strategy=ort", "--no-verify", "--no-verify-signatures"),
    *("--no-gpg-sign", "--no-rerere-autoupdate", "--no-autostash", "--no-squash", "--no-signoff"),
    *("--no-stat", "--no-log", "--no-progress"),
)
_SETTINGS = (
    *("rerere.enabled=false", "merge.conflictStyle=diff3", "merge.default=text", "merge.renames=true"),
    *("merge.directoryRenames=conflict", "submodule.recurse=false"),
)
# In place of the user's own merge drivers: such a program may be missing, or drop one side without a word.
_AS_TEXT = "git merge-file -q -L HEAD -L base -L {theirs} --marker-size=%L %A %O %B || exit 1"
_DRIVER = re.compile(r"merge\.[^=]+\.driver")
_MARKER = re.compile(r"(<{7,}|>{7,})(\s|$)|\|{7,} \S")
_DIVIDER = "=" * 7
_BASE = "1"  # the stage of what a path was before both sides
_NOTHING = "nothing"
_NOTE = "sq-merge.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is so of a merge; see `orchestrator.run.workspaces.MergeState`."""

    under_way: bool
    unmerged: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The merge of a task's `commit` onto `onto` in the worktree `folder`.

    Noted are `left`, what git left of each path that it could not merge, and `tree`, all that it left.
    """

    folder: Path
    task_id: str
    commit: str
    onto: str
    left: dict[str, str] = field(default_factory=dict)
    tree: str = ""

    async def begin(self) -> None:
        """Merge as far as git can, and commit nothing; half of an earlier merge is no longer there then.

        Raises:
            GitError: git cannot even begin.
        """
        base = await self._base()
        forward = base == self.onto
        await put_on(self.folder, self.commit if forward else self.onto, branch=None, with_repositories=True)
        if forward or base == self.commit:
            return
        try:
            await self._merge()
        except GitError:
            if self._merged_commit() != self.commit:  # else it has conflicts
                raise
        left = {path: _print_of(self.folder / path) for path in await self._unmerged()}
        noted = {"task_id": self.task_id, "commit": self.commit, "onto": self.onto, "left": left}
        noted["tree"] = await snapshot_aside(self.folder)
        draft = _note(self.folder).with_suffix(".draft")
        draft.write_text(json.dumps(noted), "utf-8")
        draft.replace(_note(self.folder))

    async def look(self) -> Found:
        """What is so of the merge now; nothing is staged."""
        if not (head := await head_of(self.folder)):
            return Found(under_way=False)
        base, noted = await self._base(), begun_merge(self.folder)
        if base in {self.onto, self.commit}:
            under_way = head == (self.commit if base == self.onto else self.onto)
        else:
            began = noted and (noted.commit, noted.onto) == (self.commit, self.onto)
            under_way = bool(began) and head == self.onto and self._merged_commit() == self.commit
        if not under_way:
            return Found(under_way=False)
        left = noted.left if noted else {}
        tree = await snapshot_aside(self.folder)
        marked = await self._marked(tree, base, left)
        unmerged = tuple(
            path
            for path in await self._unmerged()
            if path in marked or left.get(path, "") in {"", _print_of(self.folder / path)}
        )
        return Found(under_way=True, unmerged=unmerged, marked=marked, tree="" if unmerged else tree)

    async def conclude(self, tree: str, message: str) -> str:
        """The commit that merges with this tree: one of the two where it holds the other, else a new one.

        No branch moves; the worktree shows it then.

        Raises:
            GitError: no merge is needed, but the tree is another.
        """
        base = await self._base()
        if base in {self.onto, self.commit}:
            result = self.commit if base == self.onto else self.onto
            if (found := await tree_of(self.folder, result)) != tree:
                raise GitError(
                    f"{self.commit[:12]} needs no merge commit on {self.onto[:12]}: the tree has to be that "
                    f"of {result[:12]}, which is {found[:12]}, and is {tree[:12]}"
                )
        else:
            result = await make_commit(
                self.folder, tree=tree, parents=(self.onto, self.commit), message=message
            )
        await put_on(self.folder, result, branch=None, with_repositories=True)
        self.forget()
        return result

    async def keep_leftovers(self, ref: str) -> tuple[str, str] | None:
        """Keep what somebody made of the merge; returns the ref and the commit, None: only git was at it."""
        tree = await snapshot_aside(self.folder, lenient=True)
        if tree in {self.tree, *[await tree_of(self.folder, one) for one in (self.onto, self.commit)]}:
            return None
        message = f"What was made of the merge of {self.task_id}, which was given up"
        parents = (self.onto, self.commit)
        commit = await make_commit(self.folder, tree=tree, parents=parents, message=message)
        return await keep(self.folder, ref, commit), commit

    async def kept_before(self, ref: str) -> tuple[str, str] | None:
        """The newest ref, and its commit, under which something of this merge was kept."""
        for name, commit in reversed((await numbered_refs(self.folder, ref)).items()):
            parents = await git(self.folder, "log", "-1", "--format=%P", commit)
            if parents.split() == [self.onto, self.commit]:
                return name, commit
        return None

    def forget(self) -> None:
        """Remove the note on it."""
        _note(self.folder).unlink(missing_ok=True)

    async def _base(self) -> str:
        return await git(self.folder, "merge-base", self.onto, self.commit)

    async def _merge(self) -> None:
        listed = await git(self.folder, "config", "--list", "--name-only", "-z")
        drivers = [name for name in listed.split("\0") if _DRIVER.fullmatch(name)]
        as_text = _AS_TEXT.format(theirs=self.commit)
        settings = [*_SETTINGS, *(f"{name}={as_text}" for name in drivers)]
        with ignoring_junk() as ignoring:  # such files do not stand in the way
            await in_worktree(self.folder, "merge", *_OPTIONS, self.commit, settings=[*settings, *ignoring])

    def _merged_commit(self) -> str:
        try:
            return (git_dir(self.folder) / "MERGE_HEAD").read_text("utf-8").strip()
        except OSError:
            return ""

    async def _unmerged(self) -> list[str]:
        """The paths that git's index holds as unresolved; not those that both sides agree to be rid of."""
        stages: dict[str, set[str]] = {}
        for entry in (await git(self.folder, "ls-files", "--unmerged", "-z")).split("\0"):
            facts, _, path = entry.partition("\t")
            if path:
                stages.setdefault(path, set()).add(facts.split(" ")[2])
        return [
            path
            for path, found in stages.items()
            if found != {_BASE} or _print_of(self.folder / path) != _NOTHING
        ]

    async def _marked(self, tree: str, base: str, left: dict[str, str]) -> tuple[str, ...]:
        """The files that hold conflict markers which come from neither side."""
        changed = set(await changed_paths(self.folder, self.onto, tree))
        marked = []
        for path in sorted(changed.intersection(await changed_paths(self.folder, self.commit, tree))):
            if not (found := _markers(_text_of(self.folder / path), dividers=path in left)):
                continue
            ours, theirs, before = [
                _markers(await self._text_at(commit, path), dividers=True)
                for commit in (self.onto, self.commit, base)
            ]
            if any(
                count > max(ours[line], theirs[line], ours[line] + theirs[line] - before[line])
                for line, count in found.items()
            ):
                marked.append(path)
        return tuple(marked)

    async def _text_at(self, commit: str, path: str) -> str:
        try:
            return await git(self.folder, "cat-file", "blob", f"{commit}:{path}")
        except GitError:  # it is not there, or no file
            return ""


def begun_merge(folder: Path) -> Merge | None:
    """The merge that was begun in a worktree, with what git left of it; None: there is none."""
    try:
        return Merge(folder=folder, **json.loads(_note(folder).read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # none, or none that was written to its end
        return None


def _note(folder: Path) -> Path:
    return git_dir(folder) / _NOTE


def _print_of(path: Path) -> str:
    """What is at a path, as a short text that is another one once that is changed."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return f"link {path.readlink()}"
        if not stat.S_ISREG(found.st_mode):
            return "no file"
        return f"{found.st_mode & 0o100:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except (FileNotFoundError, NotADirectoryError):
        return _NOTHING


def _text_of(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    return path.read_bytes().replace(b"\0", b"").decode(errors="replace")  # UTF-16 becomes readable enough


def _markers(text: str, *, dividers: bool) -> Counter[str]:
    """The lines of a file that are conflict markers, counted; the `=======` between two sides on demand."""
    lines = (line.rstrip("\r") for line in text.split("\n"))
    return Counter(line for line in lines if _MARKER.match(line) or (dividers and line == _DIVIDER))
