"""Staging a whole worktree, without running git in the repositories inside it.

`git add --all` runs `git status` in each submodule whose commit is the staged one, by the submodule's own
settings. An agent may have written those. Git does not do so if another commit is staged, and stages the
commit that the submodule has.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.git.command import git_bytes

_LINK = "160000"


async def add_all(
    folder: Path, *options: str, settings: Sequence[str] = (), environment: Mapping[str, str]
) -> None:
    """Stage every file of a worktree in the index that `environment` names.

    Raises:
        GitError: git cannot take something in.
    """
    listed = os.fsdecode(await git_bytes(folder, "ls-files", "--stage", "-z", environment=environment))
    entries = (entry.partition("\t") for entry in listed.split("\0") if entry.startswith(_LINK))
    links = {path: facts.split(" ")[1] for facts, _, path in entries}
    lines = [
        f"{_LINK} {secrets.token_hex(len(commit) // 2)}\t{path}\0"
        for path, commit in links.items()
        if os.path.lexists(folder / path / ".git")
    ]
    if lines:
        words, stdin = ("update-index", "-z", "--index-info"), os.fsencode("".join(lines))
        await git_bytes(folder, *words, stdin=stdin, environment=environment)
    await git_bytes(folder, "add", "--all", *options, settings=settings, environment=environment)
