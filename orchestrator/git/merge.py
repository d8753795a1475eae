"""Merges of two commits in a worktree of their own. The state of one comes from git, not from the resolver.

A resolver may edit, stage, commit, abort or reset, so `Merge.look` reads the current state. Git's own result
is noted beside the worktree's index, to distinguish it from later changes.
"""

import json
import re
import shlex
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from agents.process.sandbox.repository import MARKED_INDEX
from orchestrator.git.command import git, ignoring_junk
from orchestrator.git.conflicts import marked_files, unite, unmerged_paths
from orchestrator.git.locks import git_dir, in_worktree
from orchestrator.git.own_refs import keep, make_commit, numbered_refs
from orchestrator.git.pinned import command_of
from orchestrator.git.trees import entries_in
from orchestrator.git.workspace import head_of, put_on, snapshot_aside, tree_of
from state.errors import GitError
from state.safe_paths import write_inside

# These options and settings replace the user's own for merges, so that merges are the same everywhere.
_OPTIONS = (
    *("--no-commit", "--no-ff", "--no-edit", "--strategy=ort", "--no-verify", "--no-verify-signatures"),
    *("--no-gpg-sign", "--no-rerere-autoupdate", "--no-autostash", "--no-squash", "--no-signoff"),
    *("--no-stat", "--no-log", "--no-progress"),
)
_SETTINGS = (
    *("rerere.enabled=false", "merge.conflictStyle=diff3", "merge.default=text", "merge.renames=true"),
    *("merge.directoryRenames=conflict", "submodule.recurse=false"),
)
# Replaces a merge driver of the user's whose program is missing, or that drops one side without a word.
_AS_TEXT = "git merge-file -q -L HEAD -L base -L {theirs} --marker-size=%L %A %O %B || exit 1"
_DRIVER = re.compile(r"merge\.[^=]+\.driver")
_DROPS_A_SIDE = {"true", "/bin/true", "/usr/bin/true", ":"}
_BASE = "1"  # the stage of the version that both sides began with
_NOTHING = "nothing"
_NOTE = "sq-merge.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFound:
    """The state of a merge. `orchestrator.run.ports.MergeState` explains the fields."""

    under_way: bool
    unmerged: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    tree: str = ""
    united: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The merge of a task's `commit` onto `onto` in the worktree `folder`.

    The note holds `left`, git's result for each path that it could not merge, `united`, the paths in which sq
    kept two additions, `tree`, the content after both, and `concluded`, the commit that ended the merge.
    """

    folder: Path
    task_id: str
    commit: str
    onto: str
    left: dict[str, str] = field(default_factory=dict)
    tree: str = ""
    concluded: str = ""
    united: list[str] = field(default_factory=list)

    async def begin(self, *, uniting: bool = True) -> None:
        """Merge as far as git can, without a commit. Remains of an earlier merge are removed first.

        Args:
            uniting: unite two additions at one place, which git does not do.

        Raises:
            GitError: git cannot even begin.
        """
        base = await self._base()
        forward = base == self.onto
        (git_dir(self.folder) / MARKED_INDEX).unlink(missing_ok=True)
        await put_on(self.folder, self.commit if forward else self.onto, branch=None, with_repositories=True)
        if forward or base == self.commit:
            return
        try:
            await self._merge()
        except GitError:
            if self._merged_commit() != self.commit:  # else it has conflicts
                raise
        united = list(await unite(self.folder)) if uniting else []
        tree = await snapshot_aside(self.folder)
        left = await self._unmerged(tree)
        replace(self, left=left, united=united, tree=tree).note()

    async def look(self) -> MergeFound:
        """Return the current state of the merge. Nothing is staged."""
        if not (head := await head_of(self.folder)):
            return MergeFound(under_way=False)
        base, noted = await self._base(), begun_merge(self.folder)
        if noted and (noted.commit, noted.onto) != (self.commit, self.onto):
            noted = None
        if base in {self.onto, self.commit}:
            under_way = head == (self.commit if base == self.onto else self.onto)
        else:
            merging = head == self.onto and self._merged_commit() == self.commit
            under_way = noted is not None and (merging or head == noted.concluded)
        if not under_way:
            return MergeFound(under_way=False)
        left = noted.left if noted else {}
        tree = await snapshot_aside(self.folder)
        sides = (self.onto, self.commit)
        marked = await marked_files(self.folder, tree, sides=sides, base=base, in_conflict=left)
        unmerged = tuple(
            path
            for path, found in (await self._unmerged(tree)).items()
            if path in marked or left.get(path, "") in {"", found}
        )
        return MergeFound(
            under_way=True,
            unmerged=unmerged,
            marked=marked,
            tree="" if unmerged else tree,
            united=tuple(noted.united) if noted else (),
        )

    async def conclude(self, tree: str, message: str) -> str:
        """Return the merge commit with this tree: one of the two if it contains the other, else a new one.

        No branch moves. The worktree is put on that commit.

        Raises:
            GitError: no merge is needed, but the tree is another.
        """
        base = await self._base()
        if base in {self.onto, self.commit}:
            result = self.commit if base == self.onto else self.onto
            if (found := await tree_of(self.folder, result)) != tree:
                raise GitError(
                    f"{self.commit[:12]} needs no merge commit on {self.onto[:12]}: the tree should be "
                    f"{found[:12]} and is {tree[:12]}"
                )
        else:
            result = await self._made_of(tree, message)
        if noted := begun_merge(self.folder):
            replace(noted, concluded=result).note()
        await put_on(self.folder, result, branch=None, with_repositories=True)
        return result

    async def keep_leftovers(self, ref: str) -> tuple[str, str] | None:
        """Keep others' work on the merge. Returns the ref and the commit, or None if only git worked on it.

        A concluded merge is ignored, because its commit holds that work.
        """
        if self.concluded:
            return None
        tree = await snapshot_aside(self.folder, lenient=True)
        if tree in {self.tree, *[await tree_of(self.folder, one) for one in (self.onto, self.commit)]}:
            return None
        message = f"Work on the merge of {self.task_id}, which was given up"
        commit = await self._made_of(tree, message)
        return await keep(self.folder, ref, commit), commit

    async def kept_before(self, ref: str) -> tuple[str, str] | None:
        """Return the newest ref, and its commit, under which work on this merge was kept."""
        for name, commit in reversed((await numbered_refs(self.folder, ref)).items()):
            told = await git(self.folder, "rev-list", "--max-count=1", "--parents", commit)
            if told.split() == [commit, self.onto, self.commit]:
                return name, commit
        return None

    def note(self) -> None:
        """Store the facts of the merge in a file."""
        noted = asdict(self)
        del noted["folder"]
        write_inside(git_dir(self.folder), _NOTE, json.dumps(noted).encode())

    def forget(self) -> None:
        """Remove that file."""
        _note(self.folder).unlink(missing_ok=True)

    async def _base(self) -> str:
        return await git(self.folder, "merge-base", self.onto, self.commit)

    async def _made_of(self, tree: str, message: str) -> str:
        parents = (self.onto, self.commit)
        return await make_commit(self.folder, tree=tree, parents=parents, message=message, styled=True)

    async def _merge(self) -> None:
        listed = await git(self.folder, "config", "--list", "-z")
        entries = dict(entry.partition("\n")[::2] for entry in listed.split("\0"))
        drivers = [
            name
            for name, command in entries.items()
            if _DRIVER.fullmatch(name) and not _merges(command_of(command))
        ]
        as_text = _AS_TEXT.format(theirs=self.commit)
        settings = [*_SETTINGS, *(f"{name}={as_text}" for name in drivers)]
        with ignoring_junk() as ignoring:  # such files do not prevent the merge
            await in_worktree(self.folder, "merge", *_OPTIONS, self.commit, settings=[*settings, *ignoring])

    def _merged_commit(self) -> str:
        try:
            return (git_dir(self.folder) / "MERGE_HEAD").read_text("utf-8").strip()
        except OSError:
            return ""

    async def _unmerged(self, tree: str) -> dict[str, str]:
        """Return the paths that git's index holds as unresolved, each with its content in a tree.

        Without those that both sides removed.
        """
        unmerged = await unmerged_paths(self.folder)
        found = await entries_in(self.folder, tree, unmerged)
        return {
            path: found.get(path, _NOTHING)
            for path, stages in unmerged.items()
            if set(stages) != {_BASE} or path in found
        }


def begun_merge(folder: Path) -> Merge | None:
    """Return the merge that was begun in a worktree, with git's result, or None if there is none."""
    try:
        return Merge(folder=folder, **json.loads(_note(folder).read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # no file, or one that was not completed
        return None


def _merges(driver: str) -> bool:
    """Whether a merge driver's program is there and looks at both sides. `true` keeps ours without a word."""
    try:
        words = shlex.split(driver)
    except ValueError:
        return False
    return bool(words) and words[0] not in _DROPS_A_SIDE and shutil.which(words[0]) is not None


def _note(folder: Path) -> Path:
    return git_dir(folder) / _NOTE
