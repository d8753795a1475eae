"""The things that a run holds in git (worktrees, branches, refs), and which of them exist nowhere else.

Work that is in none of the user's own branches, nor in the checkout, must not be lost. Looking changes
nothing, not even the index of a worktree, so an unfinished merge stays as it is.
"""

import os
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes
from orchestrator.git.locks import git_dir
from orchestrator.git.own_refs import is_in, refs_at, shadow_ref
from orchestrator.git.pinned_config import TrustedGit, trusting
from orchestrator.git.trees import changed_paths
from orchestrator.git.users.backup import BACKUP, BESIDE, LIST, blob_of, look_at
from orchestrator.git.users.shadows import shadow_snapshot
from orchestrator.git.workspace import run_branch, task_branch, tree_of
from state.errors import GitError
from state.paths import SCRATCH
from state.safe_paths import files_inside

RUN_ID = r"\d{8}-\d{6}-[a-z0-9]{4}"
_BRANCH_OF_A_RUN = re.compile(rf"refs/heads/(?:sq|sq-tasks)/{RUN_ID}(?:/|$)")
_LINK = "160000"  # a commit of another repository: no bytes of this one


@dataclass(slots=True, kw_only=True)
class UsersWork:
    """The content of the user's own branches, local and remote ones, and of the checkout."""

    repository: Path
    tips: tuple[str, ...]
    empty_tree: str
    _reached: set[str] = field(default_factory=set)
    _here: set[str] = field(default_factory=set)

    async def lost_with(self, commit: str) -> str:
        """Return in words the work that no branch of the user's would have without this commit, or "".

        An empty first commit, which sq makes in a repository without commits, does not count as work.
        """
        stdin = "\n".join([commit, *(f"^{tip}" for tip in self.tips)]) + "\n"
        listed = await git(self.repository, "log", "--format=%T%x09%P%x09%h %s", "--stdin", stdin=stdin)
        entries = [line.split("\t", 2) for line in listed.splitlines()]
        names = [name for tree, parents, name in entries if parents or tree != self.empty_tree]
        return f"{len(names)} commit(s) that no branch of yours has, the newest {names[0]}" if names else ""

    async def has(self, name: str) -> bool:
        """Whether a branch of the user's reaches this tree or blob."""
        if not self._reached and self.tips:
            listing = ("rev-list", "--objects", "--no-object-names", "--stdin")
            listed = await git(self.repository, *listing, stdin="\n".join(self.tips) + "\n")
            self._reached.update(listed.splitlines())
        return name in self._reached

    async def lacks(self, ref: str, commit: str, *, aside: frozenset[str]) -> list[str]:
        """Return the paths of a ref's tree whose bytes neither a branch of the user's nor the checkout has.

        For a copy of the user's work, include those that were only staged. Paths `aside` do not count.

        Raises:
            GitError: the repository cannot be read.
        """
        held: dict[str, str] = {}
        for one in await self._commits(ref, commit):
            held |= await self._blobs(one)
        left = {blob: path for blob, path in held.items() if path not in aside and not await self.has(blob)}
        if left and not self._here:
            self._here = await self._in_the_checkout()
        return sorted(
            [
                path
                for blob, path in left.items()
                if blob not in self._here and not await self._stands_there(path, blob)
            ]
        )

    async def _commits(self, ref: str, commit: str) -> list[str]:
        name = ref.rpartition("/")[2]
        if name != BACKUP and not name.startswith(BESIDE):
            return [commit]
        commits = (await git(self.repository, "rev-parse", commit, f"{commit}^@")).splitlines()
        return [one for one in commits if LIST not in await self._names(one)] if name == BACKUP else commits

    async def _names(self, commit: str) -> list[str]:
        return (await git(self.repository, "ls-tree", "--name-only", commit)).splitlines()

    async def _blobs(self, tree: str) -> dict[str, str]:
        listed = await git_bytes(self.repository, "ls-tree", "-r", "-z", "--full-tree", tree)
        entries = [entry.partition("\t") for entry in os.fsdecode(listed).split("\0") if entry]
        facts = [(*one.split(" "), path) for one, _, path in entries]
        return {blob: path for mode, _, blob, path in facts if mode != _LINK}

    async def _in_the_checkout(self) -> set[str]:
        """Return the blobs of all files in the checkout, as git would commit them, and of staged files."""
        with TemporaryDirectory(prefix="sq-") as temporary:
            tree = await shadow_snapshot(self.repository, Path(temporary) / "index", lenient=True)
        staged = (await git(self.repository, "ls-files", "--stage")).splitlines()
        return {*await self._blobs(tree), *(line.split(" ")[1] for line in staged)}

    async def _stands_there(self, path: str, blob: str) -> bool:
        """Whether a file holds these bytes, which git would commit with other line ends."""
        content = (await look_at(self.repository, [path]))[path].content
        return content is not None and await blob_of(self.repository, content) == blob


async def users_work(repository: Path) -> UsersWork:
    """Return the content of the branches of a repository that are not sq's.

    Raises:
        GitError: the repository cannot be read.
    """
    refs = await refs_at(repository, "refs/heads", "refs/remotes")
    tips = {commit for ref, commit in refs if not _BRANCH_OF_A_RUN.match(ref)}
    empty = await git(repository, "hash-object", "-t", "tree", "--stdin", stdin="")
    return UsersWork(repository=repository, tips=tuple(sorted(tips)), empty_tree=empty)


ASIDE = ".removing-"  # prefix of the folder of a worktree that is being removed
_HEADS = "refs/heads/"
_ANY_OF_A_RUN = re.compile(rf"refs/(?:heads/sq|heads/sq-tasks|sq)/({RUN_ID})(?:/|$)")
_GITLINK = re.compile(r"^160000 \w+ (\w+)\t(.*)$", re.MULTILINE)
_FILES_NAMED = 3


class ArtifactKind(StrEnum):
    """The kinds of things of a run that can be removed."""

    WORKTREE = "worktree"
    BRANCH = "branch"
    REF = "ref"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One thing that a run holds. `name` is a folder, a branch or a ref.

    `commit` is its commit or "" if unknown, `tree` the content of a worktree. `unmerged` says which work
    would be lost with it, `blocked` why it cannot be removed at all, and how to fix that. `registered`: git
    knows this worktree. `checked_out` is its branch.
    """

    kind: ArtifactKind
    name: str
    commit: str = ""
    tree: str = ""
    unmerged: str = ""
    blocked: str = ""
    registered: bool = False
    checked_out: str = ""


async def runs_in(repository: Path) -> list[str]:
    """Return the ids of the runs that have branches or refs here, oldest first."""
    refs = await refs_at(repository, "refs/heads", "refs/sq")
    return sorted({found[1] for ref, _ in refs if (found := _ANY_OF_A_RUN.match(ref))})


async def holdings_of(
    repository: Path,
    run_id: str,
    worktrees: Path | None,
    *,
    spec: Path | None = None,
    trusted: TrustedGit | None = None,
) -> list[Artifact]:
    """Return everything that a run holds here: worktrees, then branches, then refs.

    Args:
        repository: the user's checkout.
        worktrees: the folder of its worktrees, or None if it has none.
        spec: the run's spec, which does not count as work of the run.
        trusted: git's folders as the run has noted them, by which its worktrees are examined.

    Raises:
        GitError: the repository cannot be read.
    """
    users = await users_work(repository)
    registered = await _registered_worktrees(repository)
    own = {path for path in registered if worktrees and path.is_relative_to(os.path.realpath(worktrees))}
    elsewhere = {branch: path for path, branch in registered.items() if branch and path not in own}
    branches = await _branches(users, run_id, elsewhere)
    kept = [branch.commit for branch in branches]
    folders = sorted({*own, *(_folders_in(worktrees) if worktrees else ())})
    with trusting(trusted):
        found = [await _worktree(users, folder, registered, kept) for folder in folders]
    return [*found, *branches, *await _refs(users, run_id, spec)]


async def missing_worktrees(repository: Path, below: Path) -> list[Path]:
    """Return the worktrees below a folder that git knows and whose folders are gone."""
    real = Path(os.path.realpath(below))
    known = await _registered_worktrees(repository)
    return [path for path in known if path.is_relative_to(real) and not path.exists()]


def folders_without_git(worktrees: Path) -> list[Artifact]:
    """Return the worktrees of a run whose repository is gone. Those with files are `blocked`."""
    folders = [Artifact(kind=ArtifactKind.WORKTREE, name=str(folder)) for folder in _folders_in(worktrees)]
    return [_unreadable(folder, "its repository is gone") for folder in folders]


async def _registered_worktrees(repository: Path) -> dict[Path, str]:
    """Return the worktrees that git knows, including the checkout, each with its branch or ""."""
    found: dict[Path, str] = {}
    path = repository
    for line in (await git(repository, "worktree", "list", "--porcelain")).splitlines():
        key, _, value = line.partition(" ")
        if key == "worktree":
            path = Path(os.path.realpath(value))
            found[path] = ""
        elif key == "branch":
            found[path] = value.removeprefix(_HEADS)
    return found


def _folders_in(worktrees: Path) -> list[Path]:
    if not worktrees.is_dir():
        return []
    real = Path(os.path.realpath(worktrees))
    return sorted(path for path in real.iterdir() if path.is_dir() and not path.name.startswith(ASIDE))


# --- branches and refs ----------------------------------------------------------------------------------


async def _branches(users: UsersWork, run_id: str, elsewhere: dict[str, Path]) -> list[Artifact]:
    tasks = task_branch(run_id, "").rstrip("/")
    patterns = (f"{_HEADS}{run_branch(run_id)}", f"{_HEADS}{tasks}")
    found = []
    for ref, commit in await refs_at(users.repository, *patterns):
        name = ref.removeprefix(_HEADS)
        blocked = ""
        if folder := elsewhere.get(name):
            blocked = f"it is checked out in {folder}, so `git switch` to another branch there first"
        unmerged = await users.lost_with(commit)
        found.append(
            Artifact(kind=ArtifactKind.BRANCH, name=name, commit=commit, unmerged=unmerged, blocked=blocked)
        )
    return found


async def _refs(users: UsersWork, run_id: str, spec: Path | None) -> list[Artifact]:
    """Return the refs of a run. A ref may go if all its bytes, except the spec, are in the user's work."""
    root = users.repository
    inside = spec is not None and spec.is_relative_to(root)
    aside = frozenset([str(spec.relative_to(root))]) if spec and inside else frozenset[str]()
    found = []
    for ref, commit in await refs_at(root, shadow_ref(run_id, "").rstrip("/")):
        holding = Artifact(kind=ArtifactKind.REF, name=ref, commit=commit)
        if only := await users.lacks(ref, commit, aside=aside):
            named = ", ".join(only[:_FILES_NAMED]) + (" …" if len(only) > _FILES_NAMED else "")
            unmerged = f"its content is in no commit of a branch of yours, and not in the checkout: {named}"
            holding = replace(holding, unmerged=unmerged)
        found.append(holding)
    return found


# --- worktrees ------------------------------------------------------------------------------------------


async def _worktree(users: UsersWork, folder: Path, registered: dict[Path, str], kept: list[str]) -> Artifact:
    holding = Artifact(
        kind=ArtifactKind.WORKTREE,
        name=str(folder),
        registered=folder in registered,
        checked_out=registered.get(folder, ""),
    )
    if not folder.exists() or folder.name.startswith(SCRATCH):  # a scratch worktree holds no work
        return holding
    if not ((folder / ".git").exists() and holding.registered):
        return _unreadable(holding, "git does not know it as a worktree")
    try:
        commit = await git(folder, "rev-parse", "--verify", "HEAD")
        with TemporaryDirectory(prefix="sq-") as temporary:
            tree = await shadow_snapshot(folder, Path(temporary) / "index")
        holding = replace(holding, commit=commit, tree=tree)
        if inner := await _own_repositories(folder, commit, tree):
            where = ", ".join(inner)
            blocked = (
                f"it holds a git repository of its own ({where}), which no commit can keep: move it away"
            )
            return replace(holding, blocked=blocked)
        return replace(holding, unmerged=await _lost_with_worktree(users, holding, kept))
    except GitError as error:
        return _unreadable(holding, f"git cannot look into it ({error})")


async def _lost_with_worktree(users: UsersWork, holding: Artifact, kept: list[str]) -> str:
    if holding.tree == await tree_of(users.repository, holding.commit):
        if holding.checked_out or await is_in(users.repository, holding.commit, kept):
            return ""  # the branch is examined for its commits
        return await users.lost_with(holding.commit)
    if await users.has(holding.tree):
        return ""
    changed = await changed_paths(users.repository, holding.commit, holding.tree)
    named = ", ".join(changed[:_FILES_NAMED]) + (" …" if len(changed) > _FILES_NAMED else "")
    half_merged = (git_dir(Path(holding.name)) / "MERGE_HEAD").exists()
    merging = "a merge that is not finished, " if half_merged else ""
    return f"{merging}{len(changed)} change(s) that no commit has ({named})"


async def _own_repositories(folder: Path, commit: str, tree: str) -> list[str]:
    """Return repositories inside a worktree that its commit does not name as a submodule at this commit."""
    links = [
        set(_GITLINK.findall(await git(folder, "ls-tree", "-r", "--full-tree", one)))
        for one in (commit, tree)
    ]
    return sorted(path for _, path in links[1] - links[0])


def _unreadable(holding: Artifact, why: str) -> Artifact:
    if all(path == ".git" for path in files_inside(Path(holding.name), most=2)):
        return holding
    return replace(holding, blocked=f"it holds files, and {why}: look into it, then `rm -r` it")
