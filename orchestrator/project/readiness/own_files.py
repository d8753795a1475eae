"""The base's own files that a checkout shows in another way than a worktree of the same commit.

Git may be told to skip an edit, keeps of a mode only whether a file can be executed, writes line ends by a
setting, and a link leads where the folder lies. Edits that git shows are not looked for: a run says so.
"""

import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anyio import to_thread

from orchestrator.git.command import git
from state.words import listed

ITSELF = "`worktrees = false` runs everything in your checkout itself"
_NAMED = 5
_LARGEST = 1_000_000
_SAME = "H"  # the sign of a file that git neither skips nor takes for unchanged


async def shown_otherwise(root: Path, folder: Path, text: str) -> list[str]:
    """Return a line for each way in which files of the base differ between a checkout and a worktree.

    Args:
        root: the checkout.
        folder: the worktree, which nobody has worked in.
        text: the output of a failing command. The files that it names come first.
    """
    entries = [one.partition(" ") for one in (await git(root, "ls-files", "-v", "-z")).split("\0")]
    signs = {name: sign for sign, _, name in entries if name}
    return await to_thread.run_sync(lambda: [*_lines(root, folder, signs, text)])


def _lines(root: Path, folder: Path, signs: Mapping[str, str], text: str) -> Iterator[str]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, sign in signs.items():
        for way in _ways(root / name, folder / name, is_skipped=sign != _SAME):
            found[way].append(name)
    names = {way: sorted(these, key=lambda one: not _is_named(one, text)) for way, these in found.items()}
    for name in names.pop("link", [])[:_NAMED]:
        yield _of_link(root, name)
    if these := names.pop("skipped", None):
        yield (
            f"{listed(these[:_NAMED])} has a content of its own in your checkout, which git is told to skip "
            "(skip-worktree or assume-unchanged), so worktrees have the base's: commit it, or make it by "
            "`worktree.setup`"
        )
    if these := names.pop("line ends", None):
        yield (
            f"{listed(these[:_NAMED])} has other line ends in sq's worktree, because your git writes them so "
            "(core.autocrlf, core.eol), and not in your checkout: `git config core.autocrlf input`, or "
            "`* text=auto eol=lf` in .gitattributes"
        )
    modes = {way: these for way, these in names.items() if len(these) <= _NAMED or _is_named(these[0], text)}
    for way, these in modes.items():  # many files that nothing names have the modes of another umask
        yield (
            f"{listed(these[:_NAMED])} has the mode {way}, because git keeps only whether a file can be "
            "executed: `worktree.setup` lists a `chmod`"
        )


def _ways(there: Path, here: Path, *, is_skipped: bool) -> Iterator[str]:
    """Yield how a file of a checkout differs from that of a worktree."""
    try:
        theirs, ours = there.lstat(), here.lstat()
    except OSError:
        return
    if stat.S_ISLNK(theirs.st_mode) and stat.S_ISLNK(ours.st_mode):
        if there.exists() and not here.exists():
            yield "link"
    elif stat.S_ISREG(theirs.st_mode) and stat.S_ISREG(ours.st_mode):
        if (is_skipped or theirs.st_size != ours.st_size) and max(theirs.st_size, ours.st_size) < _LARGEST:
            yield from _of_contents(there.read_bytes(), here.read_bytes(), is_skipped=is_skipped)
        modes = [stat.S_IMODE(one.st_mode) for one in (theirs, ours)]
        if modes[0] != modes[1]:
            yield f"{modes[0]:o} in your checkout and {modes[1]:o} in sq's worktree"


def _of_contents(theirs: bytes, ours: bytes, *, is_skipped: bool) -> Iterator[str]:
    if theirs == ours:
        return
    if theirs.replace(b"\r\n", b"\n") == ours.replace(b"\r\n", b"\n"):
        yield "line ends"
    elif is_skipped:
        yield "skipped"


def _of_link(root: Path, name: str) -> str:
    target = Path(os.path.realpath(root / name))
    what = f"{name} is a link that leads nowhere in sq's worktree, and in your checkout to"
    own = Path(os.path.realpath(root))
    if own.is_relative_to(target):
        return f"{what} {target}: {ITSELF}"
    if not target.is_relative_to(own):
        path = f"../{target.relative_to(own.parent).parts[0]}" if target.is_relative_to(own.parent) else ""
        shows = f"`worktree.include_beside = {json.dumps([path])}` shows it to tests" if path else ITSELF
        return f"{what} {target}: {shows}"
    inner = target.relative_to(own)
    if inner.parts[0] == ".git":
        return f"{what} {inner}, and .git is a file in a worktree: {ITSELF}"
    return f"{what} {inner}, which git ignores: name that in `worktree.include`"


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(Path(name).name)}(?![\w-])", text) is not None


def workspace_above(root: Path, text: str, kinds: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the manifests in the folders above a checkout that take it into a workspace.

    `kinds`: for each name of a manifest, a sign of a workspace in it, and a pattern of what fails without it.
    """
    for level, above in enumerate(root.parents, start=1):
        for name, (sign, fails) in kinds.items():
            if not re.search(fails, text):
                continue
            try:
                content = (above / name).read_text("utf-8", "replace")
            except OSError:
                continue
            if sign in content and ("*" in content or root.relative_to(above).parts[0] in content):
                yield (
                    f"{'../' * level}{name} takes your checkout into a workspace, and sq's worktree lies "
                    f"outside of it: {ITSELF}, and `--sandbox off` shows it what lies above"
                )
