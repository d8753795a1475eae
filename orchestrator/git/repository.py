"""The user's repository: read, and never changed except in the announced last step."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import git, git_path, git_succeeds
from orchestrator.git.held import held_now
from orchestrator.git.pinned_config import trusted_now
from state.errors import GitError, UsageError

_FILES_NAMED = 5
_IN_NO_TREE = "must be run in a work tree"
_PATTERN_SIGN = re.compile(r"[\\*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A checkout as sq found it. `branch` is None with a detached HEAD, `head` is None without commits."""

    root: Path
    head: str | None
    branch: str | None


async def find_repository(folder: Path) -> Repository:
    """Return the repository that a folder is in.

    Raises:
        UsageError: there is none, or it has no working tree. Says how to fix that.
    """
    of_head = ("HEAD^{commit}", "--symbolic-full-name", "HEAD", "--")
    if told := await _or_none(folder, "rev-parse", "--show-toplevel", *of_head):
        root, head, name, _ = told.rsplit("\n", 3)
        branch = name.removeprefix("refs/heads/") if name != "HEAD" else None
        return Repository(root=Path(root), head=head, branch=branch)
    try:
        root = await git(folder, "rev-parse", "--show-toplevel")
    except GitError as error:
        if "safe.directory" in str(error):
            raise UsageError(str(error)) from error
        if _IN_NO_TREE in str(error) and (folder / ".git").is_dir():
            raise UsageError(
                f"git takes {folder} for a bare repository, without a working tree, because core.bare is "
                "true in its settings, as other tools leave it at times: git config core.bare false"
            ) from error
        raise UsageError(
            f"{folder} is not inside a git repository with a working tree, and sq works on branches of one. "
            f"Make it one: git init && git add -A && git commit -m 'First commit'"
        ) from error
    branch = await _or_none(Path(root), "symbolic-ref", "--quiet", "--short", "HEAD")
    return Repository(root=Path(root), head=None, branch=branch)


async def _or_none(folder: Path, *arguments: str) -> str | None:
    try:
        return await git(folder, *arguments) or None
    except GitError:
        return None


async def base_commit(repository: Repository, *, not_dirt: list[Path]) -> str:
    """Return the commit that a run starts from. Without commits it is an empty one, on no branch.

    Args:
        not_dirt: files that need not be committed, such as the spec.

    Raises:
        UsageError: there is no commit yet, but files, which agents would not see.
    """
    if repository.head:
        return repository.head
    left = await uncommitted(repository, not_dirt=not_dirt)
    if left:
        raise UsageError(
            f"{repository.root} has no commit yet but {len(left)} uncommitted file(s) ({named(left)}), "
            "which a run that starts from a commit would not see. Commit them first: "
            "git add -A && git commit -m 'First commit'"
        )
    empty = await git(repository.root, "hash-object", "-t", "tree", "-w", "--stdin", stdin="")
    return await git(repository.root, "commit-tree", "-m", "Start of an empty repository", empty, stdin="")


async def refuse_dirt(repository: Repository, *, not_dirt: list[Path]) -> None:
    """Refuse to work in a checkout with uncommitted changes.

    Raises:
        UsageError: it has some. Names a few and says how to fix that.
    """
    left = await uncommitted(repository, not_dirt=not_dirt)
    if left:
        raise UsageError(
            f"{repository.root} has {len(left)} uncommitted change(s) ({named(left)}), and --no-worktrees "
            "lets agents change files right there. Commit or stash them, or allow it with --allow-dirty"
        )


def named(paths: Sequence[str]) -> str:
    """Return some of these paths, for a sentence."""
    return ", ".join(paths[:_FILES_NAMED]) + (" …" if len(paths) > _FILES_NAMED else "")


async def uncommitted(repository: Repository, *, not_dirt: list[Path], untracked: bool = True) -> list[str]:
    """Return the paths with uncommitted changes, without those of `not_dirt` (files or folders).

    `untracked`: whether files that git does not track count.
    """
    # Once agents have worked, the settings of a submodule may be theirs, and git runs in each by those.
    inner = ["--ignore-submodules=dirty"] if trusted_now() or held_now() else []
    files = f"--untracked-files={'all' if untracked else 'no'}"
    status = await git(repository.root, "status", "--porcelain", "-z", files, *inner)
    entries = iter(status.split("\0"))
    paths = []
    for entry in entries:
        if not entry:
            continue
        if entry[0] in "RC":  # a rename or copy names its origin in the next entry
            next(entries, None)
        paths.append(entry[3:])
    real = [Path(os.path.realpath(path)) for path in not_dirt]
    return [
        path
        for path in paths
        if not any(Path(os.path.realpath(repository.root / path)).is_relative_to(one) for one in real)
    ]


async def ignore_locally(repository: Repository, folder: Path) -> None:
    """Hide a folder inside the checkout from git by `.git/info/exclude`, not by a tracked file."""
    folder = Path(os.path.realpath(folder))
    if not folder.is_relative_to(repository.root) or folder == repository.root:
        return
    relative = folder.relative_to(repository.root).as_posix()
    # With the slash, since the folder may not exist yet and the pattern is for folders.
    if await git_succeeds(repository.root, "check-ignore", "--quiet", f"{relative}/"):
        return
    exclude = await git_path(repository.root, "info/exclude")
    exclude.parent.mkdir(parents=True, exist_ok=True)
    old = exclude.read_text("utf-8") if exclude.exists() else ""
    separator = "" if not old or old.endswith("\n") else "\n"
    pattern = _PATTERN_SIGN.sub(r"\\\g<0>", relative)
    with exclude.open("a", encoding="utf-8") as file:
        file.write(f"{separator}/{pattern}/\n")


async def tracked_files(folder: Path) -> list[str]:
    """Return the files that git tracks below a folder."""
    listed = await git(folder, "ls-files", "-z")
    return [name for name in listed.split("\0") if name]


async def deliver(
    repository: Repository, *, commit: str, base_branch: str | None, not_dirt: list[Path]
) -> str:
    """Fast-forward the user's branch to `commit`. Returns "" when done, else why it was not.

    Nothing is changed unless tracked files are unchanged, the checkout is still on the branch where the run
    began, and that branch is still at the commit that the finished work starts from. Git itself refuses where
    an untracked or ignored file would be overwritten.
    """
    now = await find_repository(repository.root)
    if base_branch is None:
        return "HEAD was detached when the run began, so there is no branch to move"
    if now.branch != base_branch:
        return f"the checkout is on {now.branch or 'a detached HEAD'} now, not on {base_branch}"
    if now.head == commit:
        return ""
    if now.head and not await git_succeeds(repository.root, "merge-base", "--is-ancestor", now.head, commit):
        return f"{base_branch} has moved on since the run began"
    try:
        if dirty := await uncommitted(repository, not_dirt=not_dirt, untracked=False):
            return f"the checkout has uncommitted changes ({', '.join(dirty[:3])})"
        # By default git overwrites ignored files, which may be the user's. A name could be that of a tag too.
        await git(repository.root, "merge", "--ff-only", "--no-overwrite-ignore", "--quiet", commit)
    except GitError as error:
        return f"git would not move {base_branch}: {error}"
    return ""
