"""Worktrees of runs, and scratch worktrees: made outside the checkout, read as trees, committed by sq alone.

Scratch worktrees hold exact trees for commands to run on, and no work. A worktree with work shows the files
of another tree for a while: neither HEAD nor its own index moves.
"""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import structlog
from anyio import to_thread

from orchestrator.git.command import (
    DEADLINE_S,
    add_all,
    commit_style,
    door_to,
    git,
    git_bytes,
    git_succeeds,
    ignoring_junk,
    told_by_objects,
    told_of,
)
from orchestrator.git.locks import STILL_MADE, git_dir, git_is_at_work, in_worktree, patiently
from orchestrator.git.pinned_config import trusted_now
from state.errors import GitError, UsageError
from state.safe_paths import Oddities, remove_tree

log = structlog.get_logger(__name__)
_NAMED, _SHOWN = 10, 200  # paths in a line of the log, and characters of one
_UNFIT = re.compile(
    r"(?:(invalid path|failed to encode|BOM is \w+)(?: in)? )?'(.+?)'(?(1)| (does not have a commit))"
)
_MOST_UNFIT = 50
_LARGE = 50_000_000  # bytes
_IN_ITS_PLACE = re.compile(r"'refs/heads/([^']+)' exists; cannot create")
_FILTERED = re.compile(
    r"^\s*(.*)\n\s*error: external filter [\s\S]*^\s*fatal: (.+): smudge filter (\S+) failed", re.MULTILINE
)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


_written: dict[Path, tuple[bytes, str]] = {}  # by worktree: the digest of the newest index, and its tree


def run_branch(run_id: str) -> str:
    """Return the branch of a run's merged work."""
    return f"sq/{run_id}"


def task_branch(run_id: str, task_id: str) -> str:
    """Return the branch of one task. It is beside `sq/RUN`, because git keeps no ref below another."""
    return f"sq-tasks/{run_id}/{task_id}"


# --- making and removing --------------------------------------------------------------------------------


async def ensure_branch(repository: Path, branch: str, commit: str) -> None:
    """Make a branch at a commit unless it exists.

    Raises:
        UsageError: a branch of the user's is in its place.
    """
    if await git_succeeds(repository, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}"):
        return
    try:
        await git(repository, "update-ref", f"refs/heads/{branch}", commit, "")
    except GitError as error:
        if taken := _IN_ITS_PLACE.search(str(error)):
            raise UsageError(
                f"your branch {taken[1]} is where git would keep sq's branches as {branch}: rename it, for "
                f"instance by git branch -m {taken[1]} {taken[1]}-of-mine"
            ) from error
        raise


async def ensure_worktree(
    repository: Path, folder: Path, *, branch: str | None, commit: str, is_scratch: bool = False
) -> bool:
    """Make a worktree of `branch` in `folder`, and the branch at `commit` if it is missing. None: detached.

    An existing worktree is left as it is, because it may hold work. Two runs may do this at once, so a lock
    that git holds for a moment is waited for. A worktree that a killed git has only half made is made anew.
    So is a scratch one that git does not know, and any other is made known again with what it holds.

    Returns:
        Whether it was made now.

    Raises:
        GitError: git refuses. There is no fallback to working in the checkout.
        UsageError: a branch or a filter of the user's is why.
    """
    if not _is_half_made(folder) and await head_of(folder):
        return False
    if branch:
        await ensure_branch(repository, branch, commit)
    where = [str(folder), branch] if branch else ["--detach", str(folder), commit]
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def add() -> bool:
        if _is_half_made(folder):
            if git_is_at_work(folder):
                raise GitError(f"{STILL_MADE} {folder}")
            shutil.rmtree(folder)
        if not await head_of(folder):
            if is_scratch and (left := await to_thread.run_sync(remove_tree, folder)):
                raise GitError(f"{folder} is left of another set-up and cannot be removed: {left}")
            if os.path.lexists(folder / ".git") and not folder.is_symlink():
                return await _make_known(repository, folder, branch=branch, commit=commit)
            await _add(repository, where)
            if trusted := trusted_now():
                trusted.note_worktree(folder)
        return True

    return await patiently(add)


async def _add(repository: Path, where: Sequence[str]) -> None:
    try:
        await git(repository, "worktree", "add", "--force", "--force", *where)
    except GitError as error:
        if filtered := _FILTERED.search(str(error)):
            raise UsageError(
                f"{filtered[2]} cannot be written in a worktree, as the filter {filtered[3]} of your git "
                f"fails there ({filtered[1]}): `worktrees = false` runs everything in your checkout itself"
            ) from error
        raise


async def _make_known(repository: Path, folder: Path, *, branch: str | None, commit: str) -> bool:
    """Make git know a worktree again whose git folder is gone, as by `git worktree prune`. Returns False."""
    common = await git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir")
    places = Path(os.path.realpath(f"{common}/worktrees"))
    own = places / f"{folder.name}-{uuid.uuid4().hex[:8]}"
    own.mkdir(parents=True)
    (own / "HEAD").write_text(f"ref: refs/heads/{branch}\n" if branch else f"{commit}\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{folder / '.git'}\n")
    remove_tree(folder / ".git")
    (folder / ".git").write_text(f"gitdir: {own}\n")
    if trusted := trusted_now():
        trusted.note_worktree(folder)
    await git(folder, "read-tree", "HEAD")
    return False


async def head_of(folder: Path) -> str:
    """Return the commit that a worktree is on, or "" if there is no worktree."""
    if not os.path.lexists(folder / ".git"):
        return ""
    try:
        git_dir(folder)
        return _detached_head(folder) or await git(folder, "rev-parse", "--verify", "HEAD")
    except GitError:
        return ""


def _detached_head(folder: Path) -> str:
    """Return the commit of a detached HEAD as its file says it, or "" if git has to say it."""
    try:
        file = git_dir(folder) / "HEAD"
        said = "" if file.is_symlink() else file.read_text("ascii").strip()
    except (GitError, OSError, ValueError):
        return ""
    return said if _COMMIT.fullmatch(said) else ""


async def remove_worktree(repository: Path, folder: Path, *, holds: str) -> bool:
    """Remove a worktree whose content is the tree `holds`. If it holds more, keep it and return False."""
    if not folder.exists():
        return True
    if await snapshot_aside(folder) != holds:
        return False
    await take_away(repository, folder)
    return True


async def take_away(repository: Path, folder: Path) -> None:
    """Remove a worktree with everything in it. git itself fails at folders that are closed or very deep.

    Raises:
        GitError: something of it cannot be removed.
    """
    if left := await to_thread.run_sync(remove_tree, folder):
        raise GitError(f"{folder} cannot be removed: {left}")
    try:
        await git(repository, "worktree", "remove", "--force", "--force", str(folder))
    except GitError as error:
        if "is not a working tree" not in str(error):  # as after `git worktree prune`
            raise


async def remove_branch(repository: Path, branch: str, *, merged_into: str) -> None:
    """Delete a branch whose commits are all in `merged_into`. Any other branch stays."""
    ref = f"refs/heads/{branch}"
    if await git_succeeds(repository, "merge-base", "--is-ancestor", ref, merged_into):
        await git(repository, "update-ref", "-d", ref)


def _is_half_made(folder: Path) -> bool:
    """Whether git is still making this worktree, or was killed while it did: it holds no work."""
    try:
        return (git_dir(folder) / "locked").read_text("utf-8").strip() == "initializing"
    except (GitError, OSError):
        return False


# --- content of a worktree ------------------------------------------------------------------------------


async def snapshot(folder: Path, odd: Oddities | None = None) -> str:
    """Return the tree hash of a whole worktree, with uncommitted and new files, without ignored ones.

    `odd` gets what git could not take in. Without it that is an error.

    Files are staged in an index that no agent sees, so a Worker's `git diff` still shows its work. That index
    is kept as long as the worktree's own stays the same, because with its data git need not read every file
    again.
    """
    own, where = git_dir(folder) / "index", _index_folder(folder)
    kept = where / f"sq-index.{_stamp(own)}"
    draft = where / f"sq-draft.{uuid.uuid4().hex}"  # each call has its own, so that none waits for another
    try:
        for source in (kept, own):
            if source.exists() and not draft.exists():
                with suppress(FileNotFoundError):
                    shutil.copy2(source, draft)  # with its time, by which git knows which files changed since
        environment = {"GIT_INDEX_FILE": str(draft)}
        await add_into(folder, environment, lenient=False, odd=odd)
        index, tree = _written.get(where, (b"", ""))
        if not index or index != _digest(draft):
            tree = await git(folder, "write-tree", environment=environment)
            _written[where] = (_digest(draft), tree)
        for old in where.glob("sq-index.*"):
            if old != kept:
                old.unlink(missing_ok=True)
        draft.replace(kept)
    finally:
        for left in (draft, draft.with_name(f"{draft.name}.lock")):
            left.unlink(missing_ok=True)
    return tree


def _index_folder(folder: Path) -> Path:
    """Return where the index files lie in which sq stages the content of a worktree."""
    if touched := door_to(folder):
        door, place = touched
        return door.index_folder(place)
    return git_dir(folder)


def _digest(index: Path) -> bytes:
    """Return the digest of an index. It is empty if there is none, as before the first tree."""
    return hashlib.sha256(index.read_bytes()).digest() if index.exists() else b""


def _stamp(index: Path) -> str:
    """Return a text that distinguishes contents of an index file without reading it."""
    try:
        found = index.stat()
    except FileNotFoundError:
        return "none"
    return f"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"


async def snapshot_aside(folder: Path, *, lenient: bool = False) -> str:
    """As `snapshot`, without a change to the worktree's index: unresolved paths of a merge stay so.

    `lenient`: leave out content that git cannot take in, such as a repository without commits.
    """
    own, aside = git_dir(folder) / "index", _index_folder(folder) / "sq-index"
    for left in (aside, aside.with_name(f"{aside.name}.lock")):
        left.unlink(missing_ok=True)
    if own.exists():  # with its time, by which git knows which files it has to read again
        shutil.copy2(own, aside)
    environment = {"GIT_INDEX_FILE": str(aside)}
    await add_into(folder, environment, lenient=lenient)
    try:
        return await git(folder, "write-tree", environment=environment)
    except (
        GitError
    ):  # it names an object that the repository lacks: an agent's `git add` in a sandbox made it
        await _forget_times(folder, aside)
        await add_into(folder, environment, lenient=lenient)
        return await git(folder, "write-tree", environment=environment)


async def add_into(
    folder: Path,
    environment: Mapping[str, str],
    *,
    lenient: bool,
    odd: Oddities | None = None,
    deadline_s: float = DEADLINE_S,
) -> None:
    """Stage every file in the index that `environment` names, build leftovers aside.

    `lenient`: leave out content that git cannot take in, such as a repository without commits, and remove
    nothing. Otherwise what no commit can hold is removed. With `odd`, which gets both, that which git names
    as unfit is left out, and so are large files, sparse ones too, if git could not read all by the deadline.
    Without `odd` that is an error.
    """
    with ignoring_junk() as ignoring:
        try:
            await add_all(
                folder, "--ignore-errors", settings=ignoring, environment=environment, deadline_s=deadline_s
            )
        except GitError as error:
            if lenient:
                return
            removed = await _made_ordinary(folder)
            if odd is None:
                await add_all(folder, "--ignore-errors", settings=ignoring, environment=environment)
            else:
                odd.removed += removed
                if isinstance(error.__cause__, TimeoutError):
                    Path(f"{environment['GIT_INDEX_FILE']}.lock").unlink(missing_ok=True)
                    odd.left_out |= await _large(folder, deadline_s)
                await _add_fit(folder, environment, ignoring, odd)


async def _large(folder: Path, deadline_s: float) -> dict[str, str]:
    """Return the large files of a worktree, each with why it is left out."""
    try:
        sizes = json.loads(await told_of(folder, "large", str(_LARGE)))
    except OSError as error:
        raise GitError(f"the files of {folder} cannot be listed: {error}") from error
    why = f"git did not read the work within {deadline_s:g} s"
    return {name: f"it has {size:,} bytes, and {why}" for name, size in sizes.items()}


async def _add_fit(
    folder: Path, environment: Mapping[str, str], ignoring: Sequence[str], odd: Oddities
) -> None:
    """Stage every file but those that git names as ones that it cannot take in."""
    for tries_left in range(_MOST_UNFIT, -1, -1):
        without = [f":(exclude,literal){path}" for path in odd.left_out]
        paths = ["--", ".", *without] if without else []
        try:
            await add_all(folder, "--ignore-errors", *paths, settings=ignoring, environment=environment)
        except GitError as error:
            named = {path.rstrip("/"): f"{why}{more}" for why, path, more in _UNFIT.findall(str(error))}
            if not (tries_left and named.keys() - odd.left_out.keys()):
                raise
            odd.left_out |= named
        else:
            return


async def _forget_times(folder: Path, index: Path) -> None:
    """Write an index anew with the same entries and without times, so that git reads each file again."""
    environment = {"GIT_INDEX_FILE": str(index)}
    entries = await git_bytes(folder, "ls-files", "--stage", "-z", environment=environment)
    index.unlink()
    await git_bytes(folder, "update-index", "-z", "--index-info", stdin=entries, environment=environment)


async def put_on(folder: Path, commit: str, *, branch: str | None, with_repositories: bool = False) -> None:
    """Put a worktree on a commit: other content is removed, except ignored files.

    Only `branch` moves, wherever HEAD was. It is moved to the commit and checked out (None: detached).
    `with_repositories`: git repositories inside it, which no commit could keep, are removed as well.
    """
    if not _detached_head(folder):
        await in_worktree(folder, "update-ref", "--no-deref", "HEAD", "HEAD")  # a reset moves no branch then
    clean = ("clean", "-ffdq" if with_repositories else "-fdq")
    reset = ("reset", "--hard", "--quiet", commit)
    with ignoring_junk() as ignoring:
        try:
            await in_worktree(folder, *reset, settings=["submodule.recurse=false"])
            await git(folder, *clean, settings=ignoring)
        except GitError:
            await _made_ordinary(folder)
            await in_worktree(folder, *reset, settings=["submodule.recurse=false"])
            await git(folder, *clean, settings=ignoring)
    if branch:
        await in_worktree(folder, "update-ref", f"refs/heads/{branch}", commit)
        await in_worktree(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")


async def put_tracked_back(folder: Path) -> None:
    """Give a scratch worktree its commit's files again. What git does not track stays.

    Raises:
        GitError: git refuses.
    """
    await in_worktree(folder, "reset", "--hard", "--quiet", settings=["submodule.recurse=false"])


async def _made_ordinary(folder: Path) -> list[str]:
    """Make a worktree of sq's own one that git can read and clean. Call it when git could not.

    Returns the paths that were removed.
    """
    try:
        answer = await told_of(folder, "ordinary", writes=[folder])
    except OSError as error:
        raise GitError(f"{folder} holds what git cannot read and sq cannot remove: {error}") from error
    removed = [os.fsdecode(one) for one in answer.split(b"\0") if one]
    if removed:
        log.warning(
            "worktree.odd.removed", folder=str(folder), paths=[one[:_SHOWN] for one in removed[:_NAMED]]
        )
    return removed


async def tree_of(folder: Path, commit: str) -> str:
    """Return the tree hash of a commit."""
    told = await told_by_objects(folder, "rev-parse", "--verify", f"{commit}^{{tree}}")
    return told.decode().strip()


# --- commits and refs -----------------------------------------------------------------------------------


async def commit_tree(folder: Path, *, branch: str, tree: str, message: str) -> str:
    """Commit exactly this tree on the worktree's branch, unless that is already done.

    Other files in the worktree (left there by the verification commands) are removed, so that the reviewer
    sees the commit and nothing else.
    """
    head = await git(folder, "rev-parse", "--verify", "HEAD")
    commit = head
    if await tree_of(folder, head) != tree:
        words = ("commit-tree", *commit_style.get().options, "-p", head, "-F", "-", tree)
        commit = await git(folder, *words, stdin=message)
        await git(folder, "update-ref", f"refs/heads/{branch}", commit, head)
    await put_on(folder, commit, branch=branch, with_repositories=True)
    return commit


async def move_forward(repository: Path, *, branch: str, commit: str, onto: str) -> None:
    """Move the run's branch from `onto` to `commit`. Nothing happens if that is already done.

    Raises:
        GitError: the branch is at neither, or `commit` is not based on `onto`. Names the commit found.
    """
    ref = f"refs/heads/{branch}"
    try:
        now = await git(repository, "rev-parse", "--verify", ref)
    except GitError as error:
        raise GitError(f"{branch} should be at {onto[:12]} and is gone: {error}") from error
    if now == commit:
        return
    if now != onto:
        raise GitError(f"{branch} should be at {onto[:12]} and is at {now[:12]}: something else has moved it")
    if not await git_succeeds(repository, "merge-base", "--is-ancestor", onto, commit):
        raise GitError(f"{commit[:12]} is not based on {branch} ({onto[:12]}): it cannot be moved there")
    await git(repository, "update-ref", ref, commit, onto)


_DATE = "1970-01-01T00:00:00 +0000"  # the same tree is the same commit
_FIXED = {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}


async def show_tree(repository: Path, folder: Path, tree: str, *, base: str) -> None:
    """Put exactly this tree into a scratch worktree. Ignored files there stay, such as those of a set-up.

    HEAD is the commit `base` if that holds the tree, else a commit on it: tests may read history and tags.

    Raises:
        GitError: git refuses.
    """
    commit = base
    if await tree_of(repository, base) != tree:
        words = ("commit-tree", "-p", base, "-F", "-", tree)
        commit = await git(repository, *words, stdin="A tree to verify\n", environment=_FIXED)
    if not await ensure_worktree(repository, folder, branch=None, commit=commit, is_scratch=True):
        await put_on(folder, commit, branch=None, with_repositories=True)


async def remove_scratch(repository: Path, folder: Path) -> None:
    """Remove a scratch worktree with everything in it.

    Raises:
        GitError: git refuses, or something of it cannot be removed.
    """
    if folder.exists():
        await take_away(repository, folder)


async def show_content(folder: Path, index: Path, tree: str) -> None:
    """Give a worktree the files of a tree, in place of those that the index file `index` names.

    Ignored files stay.

    Raises:
        GitError: git refuses.
    """
    await git(folder, "read-tree", "--reset", "-u", tree, environment={"GIT_INDEX_FILE": str(index)})


async def holds_more(folder: Path, index: Path) -> bool:
    """Whether a worktree has files that the index file `index` does not name, ignored ones included."""
    environment = {"GIT_INDEX_FILE": str(index)}
    return bool(await git(folder, "ls-files", "--others", "--directory", "-z", environment=environment))


async def remove_others(folder: Path, index: Path) -> None:
    """Remove all files that the index file `index` does not name, ignored ones and repositories included."""
    await git(folder, "clean", "-ffdxq", environment={"GIT_INDEX_FILE": str(index)})
