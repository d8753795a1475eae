"""The settings of git as it resolves them for a repository, written as one file without includes.

Drivers of the user's that run a program of the tree are left out: an agent could write that program.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from orchestrator.git.command import git_bytes
from state.errors import GitError

_COMMAND, _LOCAL = b"command", {b"local", b"worktree"}
Entry = tuple[bytes, bytes | None]
# Settings that name folders or programs which sq sets itself, or other files of settings.
_LEFT_OUT = re.compile(
    rb"(?:include\.path|includeif\..*\.path|core\.(?:worktree|bare|hookspath|fsmonitor)"
    rb"|extensions\.worktreeconfig|safe\..*)",
    re.DOTALL,
)
# Settings of the format of a repository, which are no programs.
_FORMAT = re.compile(
    rb"core\.(?:repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf)"
    rb"|extensions\.(?:objectformat|refstorage|compatobjectformat)"
)
_ESCAPED = {b"\\": b"\\\\", b'"': b'\\"', b"\n": b"\\n", b"\t": b"\\t", b"\b": b"\\b"}
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


async def settings_of_repository(root: Path, *, local: bool = True) -> list[Entry]:
    """Return the settings that hold in a checkout, as name and value (None: without one), in their order.

    `local`: with those of the repository itself, else of them only its format.

    Raises:
        GitError: git cannot read them.
    """
    listed = await git_bytes(
        root, "config", "--list", "--includes", "--show-scope", "-z", with_settings=False
    )
    parts = listed.split(b"\0")
    found: list[Entry] = []
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        name, separator, value = entry.partition(b"\n")
        if scope == _COMMAND or _LEFT_OUT.fullmatch(name):
            continue
        if local or scope not in _LOCAL or _FORMAT.fullmatch(name):
            found.append((name, value if separator else None))
    return found


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


async def write_settings(path: Path, entries: Iterable[Entry]) -> None:
    """Write settings as a file, which git reads as the same settings.

    Raises:
        GitError: it does not read the same. Names the first difference.
    """
    entries = [*entries, (b"core.bare", b"false")]
    path.write_bytes(b"".join(map(_lines, entries)))
    read = await git_bytes(
        path.parent, "config", "--file", str(path), "--no-includes", "--list", "-z", with_settings=False
    )
    same = b"".join(name + (b"" if value is None else b"\n" + value) + b"\0" for name, value in entries)
    if read != same:
        pairs = zip(read.split(b"\0"), same.split(b"\0"), strict=False)
        first = next((theirs for ours, theirs in pairs if ours != theirs), b"")
        name = first.partition(b"\n")[0].decode(errors="replace")
        raise GitError(f"git's setting {name} could not be copied to {path}: look at `git config --list`")


def _lines(entry: Entry) -> bytes:
    name, value = entry
    section, _, rest = name.partition(b".")
    part, dot, key = rest.rpartition(b".")
    quoted = b' "' + re.sub(rb'(["\\])', rb"\\\1", part) + b'"' if dot else b""
    return (
        b"["
        + section
        + quoted
        + b"]\n\t"
        + key
        + (b"" if value is None else b' = "' + _escaped(value) + b'"')
        + b"\n"
    )


def _escaped(value: bytes) -> bytes:
    return b"".join(_ESCAPED.get(bytes([one]), bytes([one])) for one in value)


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
