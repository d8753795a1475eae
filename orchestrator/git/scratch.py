"""Worktrees that show the files of another tree: scratch worktrees, and others for a while.

Scratch worktrees hold exact trees for commands to run on, and no work. A worktree with work shows the files
of another tree for a while: neither HEAD nor its own index moves.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import compared, git, git_bytes
from orchestrator.git.pinned_config import restore_pointer
from orchestrator.git.workspace import ensure_worktree, put_on

_FILE, _GONE = "100644", "0" * 40
_DATE = "1970-01-01T00:00:00 +0000"  # the same tree is the same commit
_FIXED = {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}


async def show_tree(repository: Path, folder: Path, tree: str) -> None:
    """Put exactly this tree into a scratch worktree. Ignored files there stay, such as those of a set-up.

    Raises:
        GitError: git refuses.
    """
    commit = await git(
        repository, "commit-tree", "-F", "-", tree, stdin="A tree to verify\n", environment=_FIXED
    )
    await ensure_worktree(repository, folder, branch=None, commit=commit)
    await put_on(folder, commit, branch=None, with_repositories=True)


async def remove_scratch(repository: Path, folder: Path) -> None:
    """Remove a scratch worktree with everything in it.

    Raises:
        GitError: git refuses.
    """
    if folder.exists():
        restore_pointer(folder)
        await git(repository, "worktree", "remove", "--force", "--force", str(folder))


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


async def pieced_together(repository: Path, tree: str, *, of: str, paths: Collection[str]) -> str:
    """Return the tree `tree` with these paths as in the tree `of`, or missing if they are missing there."""
    entries = await _entries(repository, of, paths)
    lines = [f"{entries.get(path, f'0 {_GONE}')}\t{path}" for path in paths]
    return await _changed(repository, tree, lines)


async def with_files(repository: Path, tree: str, files: Mapping[str, str]) -> str:
    """Return the tree `tree` with these files added, given as path and text."""
    lines = []
    for path, text in files.items():
        blob = await git(repository, "hash-object", "-w", "--stdin", stdin=text)
        lines.append(f"{_FILE} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def with_contents(repository: Path, tree: str, files: Mapping[str, bytes]) -> str:
    """Return the tree `tree` with the content of these files of it replaced. Each keeps its mode."""
    entries = await _entries(repository, tree, files)
    lines = []
    for path, content in files.items():
        blob = (await git_bytes(repository, "hash-object", "-w", "--stdin", stdin=content)).decode().strip()
        lines.append(f"{entries.get(path, _FILE).split(' ')[0]} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def contents_at(
    repository: Path, tree: str, paths: Collection[str], *, largest: int = 1_000_000
) -> dict[str, bytes]:
    """Return the content of each of these files that a tree has, of at most `largest` bytes."""
    listed = await git_bytes(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)
    found = {}
    for entry in listed.split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        path = name.decode("utf-8", "surrogateescape")
        if path in paths and facts.split()[1] == b"blob" and int(facts.split()[3]) <= largest:
            found[path] = await git_bytes(repository, "cat-file", "blob", facts.split()[2].decode())
    return found


async def text_at(repository: Path, tree: str, path: str) -> str:
    """Return the text of a file in a tree, with the end of its last line, or "" if it is missing."""
    if not await _entries(repository, tree, [path]):
        return ""
    return await git(repository, "cat-file", "blob", f"{tree}:{path}") + "\n"


async def files_in(repository: Path, tree: str) -> list[str]:
    """Return the paths of all files in a tree."""
    listed = await git(repository, "ls-tree", "-r", "-z", "--full-tree", "--name-only", tree)
    return [path for path in listed.split("\0") if path]


async def renamed_files(repository: Path, base: str, tree: str) -> dict[str, str]:
    """Return the files that a tree has under another path than `base`, judged by content: old → new."""
    form = ("--name-status", "--diff-filter=R", "-M", "-z")
    told = await compared(repository, "diff", *form, of=(base, tree))
    parts = [part for part in told.decode(errors="replace").split("\0") if part]
    return {old: new for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


async def _entries(repository: Path, tree: str, paths: Collection[str]) -> dict[str, str]:
    """Return the mode and the object of each of these paths that is a file in a tree."""
    found = {}
    for entry in (await git(repository, "ls-tree", "-r", "-z", "--full-tree", tree)).split("\0"):
        facts, _, path = entry.partition("\t")
        if path in paths:
            mode, _, name = facts.split(" ")
            found[path] = f"{mode} {name}"
    return found


async def _changed(repository: Path, tree: str, lines: list[str]) -> str:
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
        await git(repository, "read-tree", tree, environment=environment)
        stdin = "".join(f"{line}\0" for line in lines)
        await git(repository, "update-index", "-z", "--index-info", stdin=stdin, environment=environment)
        return await git(repository, "write-tree", environment=environment)
