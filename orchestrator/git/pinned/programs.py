"""Drivers of the user's that run a program of the tree: an agent could write that program."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

Entry = tuple[bytes, bytes | None]
_DRIVER = re.compile(
    rb"(?:filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|diff\..+\.(?:command|textconv)|diff\.external"
    rb"|core\.(?:editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand)|gpg\.(?:.+\.)?program"
    rb"|credential\.(?:.+\.)?helper|uploadpack\.packobjectshook)",
    re.DOTALL | re.IGNORECASE,
)
_REQUIRED = re.compile(rb"filter\..+\.required", re.DOTALL | re.IGNORECASE)
_BETWEEN = re.compile(r"""[\s;&|()<>"'`$!{}]+""")
_SUBSTITUTION = re.compile(r"(?:s|y|tr)?(\W).*\1.*\1[gIip]*")  # of sed
# Programs that look for the code to run in the folder where they are called.
_LOOK_HERE = {
    *("npx", "npm", "pnpm", "yarn", "bunx", "bun", "make", "just", "rake", "bundle", "composer", "mix"),
    *("poetry", "pipenv", "uv", "uvx", "hatch", "tox", "nox", "cargo", "mvn", "gradle", "dotnet"),
}


def without_programs_of_the_tree(
    entries: Iterable[Entry], root: Path, *, agents_work_there: bool
) -> tuple[list[Entry], list[str]]:
    """Return the settings without drivers whose program lies in the tree, and the names of those drivers.

    A driver's filter is not required either, because git would then fail instead. `agents_work_there`: the
    checkout is itself such a tree, also for programs that are named by their absolute path.
    """
    entries = list(entries)
    gone = {
        name
        for name, value in entries
        if value
        and _DRIVER.fullmatch(name)
        and _of_the_tree(value, root, agents_work_there=agents_work_there)
    }
    parts = {name.rpartition(b".")[0] for name in gone if name.startswith(b"filter.")}
    kept = [
        (name, value)
        for name, value in entries
        if name not in gone and not (_REQUIRED.fullmatch(name) and name.rpartition(b".")[0] in parts)
    ]
    return kept, sorted(name.decode(errors="replace") for name in gone)


def _of_the_tree(value: bytes, root: Path, *, agents_work_there: bool) -> bool:
    words = _BETWEEN.split(value.decode(errors="surrogateescape"))
    options = (word.partition("=")[2] for word in words if word.startswith("-"))
    for word in (*(word for word in words if not word.startswith("-")), *options):
        if word in _LOOK_HERE:
            return True
        if not word or word.startswith("%") or "://" in word or _SUBSTITUTION.fullmatch(word):
            continue
        if word.startswith(("/", "~")):
            if agents_work_there and Path(os.path.realpath(Path(word).expanduser())).is_relative_to(root):
                return True
        elif "/" in word or (root / word).exists():
            return True
    return False
