"""The settings of git before any agent worked: copied for sq's own commands, and compared afterwards.

Git resolves the settings, and they are written as one file without includes. Drivers of the user's that run a
program of the tree are left out, because an agent could write that program. Attributes are copied too.
"""

import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.git.command import IGNORES, git, git_bytes, write_ignores
from orchestrator.git.pinned_config import PLACES, RESTORED, TrustedGit, link_content, trusting
from state.errors import GitError

_FOLDER = "git"
_RECORD = "sq-trusted.json"  # the last file to be written: with it the copy is complete
_COPIED = ("attributes", "exclude", "grafts")  # of the folder `info`
_FILES = (
    "config",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "commondir",
)
_MOST = 1 << 20
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
_RUN_ON_FILES = re.compile(
    rb"filter\..+\.(?:clean|smudge|process)|merge\..+\.driver", re.DOTALL | re.IGNORECASE
)
_PROGRAM = "sq-driver"
_BEGIN = " 3<<'"
_REQUIRED = re.compile(rb"filter\..+\.required", re.DOTALL | re.IGNORECASE)
_BETWEEN = re.compile(r"""[\s;&|()<>"'`$!{}]+""")
_SUBSTITUTION = re.compile(r"(?:s|y|tr)?(\W).*\1.*\1[gIip]*")  # of sed
# Programs that look for the code to run in the folder where they are called.
_LOOK_HERE = {
    *("npx", "npm", "pnpm", "yarn", "bunx", "bun", "make", "just", "rake", "bundle", "composer", "mix"),
    *("poetry", "pipenv", "uv", "uvx", "hatch", "tox", "nox", "cargo", "mvn", "gradle", "dotnet"),
}


async def record_git(root: Path, run_folder: Path, worktrees: Path | None) -> TrustedGit:
    """Copy the settings and attributes of a repository, unless this run has done so, and return its folders.

    Args:
        root: the user's checkout.
        run_folder: the run's folder, which no agent can write.
        worktrees: the folder of the run's worktrees, or None without any.

    Raises:
        GitError: git cannot read the settings, or they cannot be copied.
        OSError: a file cannot be read or written.
    """
    if known := recorded_git(run_folder):
        return known
    folder = run_folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "info").mkdir(mode=0o700, parents=True)
    (folder / "hooks").mkdir()
    with trusting(None):
        named = await git(
            root, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"
        )
        own, common = (Path(os.path.realpath(path)) for path in named.splitlines())
        for name in _COPIED:
            if (source := common / "info" / name).is_file():
                shutil.copyfile(source, folder / "info" / name)
        (common / "worktrees").mkdir(exist_ok=True)
        link_content(common, folder)
        write_ignores(folder / IGNORES)
        left_out, drivers = set[str](), dict[bytes, bytes]()
        for name, local in (("config", True), ("nested-config", False)):
            found = await settings_of_repository(root, local=local)
            entries, programs = without_programs_of_the_tree(found, root, agents_work_there=not worktrees)
            drivers |= await _write_with_program(folder, name, entries)
            left_out |= set(programs)
    trusted = TrustedGit(root=root, own=own, common=common, folder=folder, worktrees=worktrees)
    facts = {
        "root": str(root),
        "own": str(own),
        "common": str(common),
        "worktrees": str(worktrees) if worktrees else None,
        "prints": prints_of(own, common),
        "left_out": sorted(left_out),
        "drivers": sorted(name.decode(errors="replace") for name in drivers),
        "paths": sorted({path for command in drivers.values() for path in _paths_in(command)}),
    }
    draft = folder / f"{_RECORD}.draft"
    draft.write_text(json.dumps(facts), "utf-8")
    draft.replace(folder / _RECORD)
    return trusted


def recorded_git(run_folder: Path) -> TrustedGit | None:
    facts = _facts(run_folder / _FOLDER)
    if facts is None:
        return None
    worktrees = facts["worktrees"]
    return TrustedGit(
        root=Path(facts["root"]),
        own=Path(facts["own"]),
        common=Path(facts["common"]),
        folder=run_folder / _FOLDER,
        worktrees=Path(worktrees) if worktrees else None,
    )


def changed_git(trusted: TrustedGit) -> list[str]:
    """Return the changed files of the repository's git folder that could make git run a program.

    Pointers of worktrees that lead elsewhere are put right, and named too.
    """
    facts = _facts(trusted.folder) or {"prints": {}}
    before, now = facts["prints"], prints_of(trusted.own, trusted.common)
    changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
    for noted in (trusted.folder / PLACES).glob("*"):
        with suppress(GitError):  # something else is in its place, and the next git command says so
            trusted.restore_pointer((trusted.worktrees or trusted.root) / noted.name)
    restored = trusted.folder / RESTORED
    return sorted(changed | set(restored.read_text("utf-8").splitlines() if restored.exists() else ()))


def left_out_programs(trusted: TrustedGit) -> list[str]:
    """Return the settings that sq does not use because they run a program of the tree."""
    return list((_facts(trusted.folder) or {"left_out": []})["left_out"])


async def _write_with_program(folder: Path, name: str, entries: Sequence[Entry]) -> dict[bytes, bytes]:
    """Write settings whose filters and merge drivers a program of sq's runs, and return those."""
    write_program(folder)
    end = secrets.token_hex(16)  # a line that no name of an agent's file can hold
    await write_settings(folder / name, [by_program(one, folder / _PROGRAM, end) for one in entries])
    return {one: value for one, value in entries if value and _RUN_ON_FILES.fullmatch(one)}


def drivers_of(trusted: TrustedGit) -> tuple[list[str], list[Path]]:
    """Return the user's settings that run programs on files, and the paths that those commands name."""
    facts = _facts(trusted.folder) or {}
    return list(facts.get("drivers", [])), [Path(one) for one in facts.get("paths", [])]


def write_program(folder: Path, sandbox: str = "") -> None:
    """Write the program by which git runs the user's filters and merge drivers in a run.

    `sandbox` are words of a shell in front of the command. `$here` is the worktree.
    """
    draft = folder / f"{_PROGRAM}.draft"
    draft.write_text(
        f'#!/bin/sh\nhere=$(pwd -P)\ncommand=$(cat <&3)\nexec {sandbox} /bin/sh -c "$command" 3<&-\n'
    )
    draft.chmod(0o700)
    draft.replace(folder / _PROGRAM)


def by_program(entry: Entry, program: Path, end: str) -> Entry:
    """Return a setting whose command the program reads from descriptor 3, up to the line `end`, and runs."""
    name, value = entry
    if not (value and _RUN_ON_FILES.fullmatch(name)):
        return entry
    head = f"exec {shlex.quote(str(program))}{_BEGIN}{end}'\n"
    return name, head.encode() + value + f"\n{end}\n".encode()


def command_of(value: str) -> str:
    """Return the user's own command of a filter or a merge driver."""
    first, *lines = value.split("\n")
    return "\n".join(lines[:-2]) if _BEGIN in first else value


def _paths_in(command: bytes) -> Iterator[str]:
    for word in _BETWEEN.split(command.decode(errors="surrogateescape")):
        path = os.path.expanduser(word) if word.startswith("~") else word  # noqa: PTH111
        if path.startswith("/") and os.path.lexists(path):
            yield path


def _facts(folder: Path) -> dict[str, Any] | None:
    try:
        facts: dict[str, Any] = json.loads((folder / _RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return facts


def prints_of(own: Path, common: Path) -> dict[str, str]:
    """Return those files that exist in the two git folders of a checkout, with hash and mode."""
    return {str(path): found for path in _paths(own, common) if (found := _print(path))}


def _paths(own: Path, common: Path) -> Iterator[Path]:
    for folder in dict.fromkeys((common, own)):
        yield from (folder / name for name in _FILES)
    hooks = common / "hooks"
    if hooks.is_symlink():
        yield hooks
        return
    if hooks.is_dir():
        yield from (path for path in sorted(hooks.iterdir()) if path.suffix != ".sample")


def _print(path: Path) -> str:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return f"link {os.fsencode(path.readlink()).hex()}"
        if not stat.S_ISREG(facts.st_mode):
            return "no file"
        with path.open("rb") as file:
            content = file.read(_MOST)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{facts.st_mode & 0o111:o} {facts.st_size} {hashlib.sha256(content).hexdigest()}"


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
