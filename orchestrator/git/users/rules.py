"""What a repository asks of commits, and how far its base is behind, by what is here."""

import os
import re
from contextlib import nullcontext
from pathlib import Path

from orchestrator.git.command import EMAIL, NAME, CommitStyle, git_bytes, git_path
from orchestrator.git.held import as_configured
from orchestrator.git.repository import Repository
from state.errors import GitError
from state.settings.records import Settings
from state.words import listed

_CONVENTIONAL = re.compile(r"(?:[a-z]+)(?:\([^)]*\))?!?: \S")
_HOOKS = ("pre-commit", "commit-msg", "prepare-commit-msg", "pre-push")
_FOLDERS = (".husky", ".githooks", ".hooks")
_RUNNERS = ("lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".pre-commit-config.yaml", ".overcommit.yml")
_LINTS = re.compile(r"commitlint|\.commitlintrc|\.gitlint|\.czrc|\.cz\.|cz\.toml|\.versionrc|\.releaserc")
_READ = 20  # newest messages of people
_STARTS_NOTHING = ("config", "rev-parse")
_LEAST, _ENOUGH = 3, 0.8  # so many of them, and this share, show a convention


async def commit_lines(root: Path) -> list[str]:
    """Return a line on the rules of a repository that sq's commits do not follow by themselves, or none."""
    found = []
    if await _said(root, "config", "--type=bool", "commit.gpgSign") == "true":
        found.append("signs commits")
    hooks = sorted({path.name for path in await _hook_files(root) if path.name in _HOOKS})
    runners = [one for one in _RUNNERS if (root / one).is_file()]
    if hooks or runners:
        found.append(f"has hooks ({listed([*hooks, *runners])})")
    lints = [one for one in os.listdir(root) if _LINTS.match(one)]  # noqa: PTH208
    words = ("log", f"-{_READ}", "--no-merges", "--invert-grep", "--grep=^Sq-Run: ", "--format=%s")
    subjects = (await _said(root, *words)).splitlines()
    share = sum(bool(_CONVENTIONAL.match(one)) for one in subjects) / max(1, len(subjects))
    if lints or (len(subjects) >= _LEAST and share >= _ENOUGH):
        found.append("writes messages as `feat: …`")
    if not found:
        return []
    ours = "sq signs none, runs no hook and writes `Work on …` by itself"
    sets = 'set `commit.sign`, `commit.message = "feat: {title}"` and `commit.author`'
    return [f"commits: this repository {listed(found)}. {ours}: {sets}"]


async def style_of(root: Path, settings: Settings) -> CommitStyle:
    """Return how a run commits, as its settings say."""
    author, found = settings.commit_author, {"name": NAME, "email": EMAIL}
    if "<" in author:
        found = dict(zip(found, author.rstrip(">").split(" <"), strict=True))
    elif author == "user":
        found = {one: await _said(root, "config", f"user.{one}") or found[one] for one in found}
    return CommitStyle(**found, title=settings.commit_message, sign=settings.commit_sign)


async def base_lines(repository: Repository) -> list[str]:
    """Return lines on a base that is behind its upstream, or on another branch than a pull request goes to.

    Refs that are here say it, and nothing is fetched.
    """
    root, branch, lines = repository.root, repository.branch, []
    upstream = await _said(root, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}")
    default = await _said(root, "rev-parse", "--abbrev-ref", "refs/remotes/origin/HEAD")
    for other in dict.fromkeys(filter(None, (upstream, default))):
        behind = await _said(root, "rev-list", "--count", f"HEAD..{other}")
        if behind not in {"", "0"}:
            lines.append(
                f"the base is {behind} commit(s) behind {other}, as it was fetched last: `git pull` first"
            )
    name = default.partition("/")[2]
    if name and branch and branch != name:
        lines.append(f"the base is {branch}, and the remote's own branch, for pull requests, is {name}")
    return lines


async def _hook_files(root: Path) -> list[Path]:
    hooks = (
        await _said(root, "config", "--path", "core.hooksPath")
        or (await git_path(root, "info")).parent / "hooks"
    )
    return [
        path
        for folder in (root / one for one in (hooks, *_FOLDERS))
        if folder.is_dir()
        for path in folder.iterdir()
        if path.is_file()
    ]


async def _said(root: Path, *arguments: str) -> str:
    try:
        with as_configured() if arguments[0] in _STARTS_NOTHING else nullcontext():
            told = await git_bytes(root, *arguments, with_settings=False)  # sq's own switch these off
        return told.decode(errors="replace").strip()
    except GitError:
        return ""
