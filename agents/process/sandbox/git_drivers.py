"""The sandbox in which git runs the user's filters and merge drivers, which read an agent's files."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import Mount, writing
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import GitFolders, git_mounts, without_credentials

_HERE = (
    '--bind "$here" "$here" --ro-bind "$here/.git" "$here/.git" '
    '--ro-bind-try {places} {places} --bind-try {lfs} {lfs} --chdir "$here" --'
)


def around_drivers(
    sandbox_policy: SandboxPolicy, *, common: Path, own: Path, scratch: Path, programs: Sequence[Path]
) -> str:
    """Return the words of a shell that put a command into the sandbox of a worktree, "" without one. Blocks.

    The command sees the worktree `$here`, the git folders without credentials, and no network.

    Args:
        sandbox_policy: the sandbox of the run.
        common: the git folder that the worktrees share.
        own: the folder of sq's own that stands for it in sq's git commands.
        scratch: a folder for the home and the temporary files of such commands.
        programs: the paths outside that the user's commands name.
    """
    if not sandbox_policy.around_commands:
        return ""
    needs = Needs(
        workspace=own,
        scratch=scratch,
        path=sandbox_policy.environ.get("PATH", ""),
        writes=False,
        readable=programs,
    )
    plan = sandbox_policy.plan(needs)
    cleaned = without_credentials(own / "config", scratch / "own-config")
    mounts = (
        *plan.mounts,
        *git_mounts(GitFolders(pointer=None, own=common, common=common), scratch, writes=False),
        *writing([common / "lfs"]),
        *([Mount(target=own / "config", source=cleaned)] if cleaned else []),
    )
    words = bubblewrapped([], replace(plan, mounts=mounts))
    lfs = shlex.quote(str(common / "lfs"))  # below the checkout's `.git`, where filters write while they read
    places = shlex.quote(str(common / "worktrees"))  # also of those that are made later
    return f"{shlex.join(words[: words.index('--')])} {_HERE.format(lfs=lfs, places=places)}"
