"""How a worktree differs from the user's checkout, by files alone, and which setting brings the difference.

`differences` says it before anything runs. `causes` looks for what a failing command names.
"""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec
from anyio import to_thread

from orchestrator.git.command import git
from orchestrator.git.trees import contents_at, files_in
from orchestrator.git.users.submodules import links_of, submodules_of
from orchestrator.project.files import matches
from orchestrator.project.readiness.own_files import ITSELF, shown_otherwise, workspace_above
from orchestrator.project.readiness.plan import deciding_names
from state.decoding import table_beside
from state.secrets import without_secrets
from state.words import listed

ALONE = "is in your checkout alone"  # said of a folder of packages
_LEFTOVERS = ("__pycache__", ".*_cache", ".sq", ".git", ".DS_Store", "*.pyc")
_NAME = r"[\w@][\w@./+-]*"
_CAPITALS = r"[A-Z][A-Z0-9_]{2,}"
_OUTSIDE = re.compile(r"(?<![\w./])((?:~|\.\.|/[\w.@+-]+)(?:/[\w.@+-]+)+)")
_RELATIVE = re.compile(r"(?<![\w./])((?:\.\./)+[\w@.-]+(?:/[\w@.-]+)*)")
_ABSENT = re.compile(
    r"no such file|ENOENT|not found|cannot|can't|fail|does not exist|missing|unable", re.IGNORECASE
)
_MISSED = re.compile(
    r"no such file|ENOENT|not (?:find|found)|cannot (?:find|load|open)|No module named|no required module"
    r"|is not in (?:std|GOROOT)|unresolved import",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<=['\"`])[\w.@-]+(?=['\"`])")
_PORT_IN_USE = re.compile(
    r"address (?:is )?already in use|EADDRINUSE|port \d+ is (?:already )?(?:in use|taken)", re.IGNORECASE
)
_PORT = re.compile(r"(?<=[:\s(])(\d{4,5})\b")
_LONG_PATH = re.compile(
    r"(?:path|name)(?: is)? too long|ENAMETOOLONG|exceeds .{0,20}(?:sun_path|UNIX_PATH)", re.IGNORECASE
)
_GIT_FOLDER = re.compile(r"(?<!\w)\.git(?![\w-]|\.\w)")
_POINTER = b"version https://git-lfs"
_NAMED, _LOOKED_AT = 5, 2_000
_LARGEST = 1_000_000


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `checkout.yaml`. `{name}` in a pattern is a name, `{capitals}` that of a variable."""

    environments: dict[str, str]
    signs: dict[str, str]
    modules: list[str]
    programs: list[str]
    variables: list[str]
    workspaces: dict[str, tuple[str, str]]


@cache
def _table() -> _Table:
    return msgspec.convert(table_beside(__file__, "checkout.yaml"), _Table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A worktree that shows the base in `folder`, the user's checkout `root`, and the environment of sq."""

    root: Path
    folder: Path
    environ: Mapping[str, str]


async def ignored_entries(root: Path) -> list[str]:
    """Return what git ignores in a checkout: files, and whole folders with a slash at the end."""
    asked = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    entries = (await git(root, "ls-files", *asked)).split("\0")
    return [one for one in entries if one and not matches(one.rstrip("/"), _LEFTOVERS)]


async def ignored_and_missed(root: Path, text: str) -> list[str]:
    """Return the files of a worktree that git ignores and that a failing command elsewhere does not find.

    A session may live there, so git lists them, in its sandbox, and nothing here looks into the worktree.
    """
    missed = "\n".join(line for line in text.splitlines() if _MISSED.search(line))
    told = await git(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    every = (one for one in told.split("\0") if one and not matches(one, _LEFTOVERS))
    own = (one for one in every if _table().environments.keys().isdisjoint(one.split("/")))
    return [one for one in islice(own, _LOOKED_AT) if _names(missed, one)]


async def differences(
    root: Path, tree: str, *, ecosystems: Collection[str] | None, include: Sequence[str]
) -> list[str]:
    """Return a line for each part of the checkout that worktrees lack or get in another way.

    Args:
        tree: the tree or commit that worktrees show.
        ecosystems: those that the set-up makes ready. None: all, because the user lists its commands.
        include: the patterns of `worktree.include`.
    """
    submodules = await submodules_of(root, tree)
    lines, there = [], [one.path for one in submodules if one.objects]
    if there:
        lines = [
            f"submodules as at the base, from what is here: {listed(there)}; no commit has changes in them"
        ]
    for one in (one for one in submodules if not one.objects):
        lacks = f"{one.path} is a submodule whose commit {one.commit[:10]} is not here, so worktrees lack it"
        lines.append(f"{lacks}: `git submodule update --init {one.path}`")
    for name in [one.rstrip("/") for one in await ignored_entries(root)] if ecosystems is not None else ():
        kind = packages_in(root, name)
        if kind and kind not in (ecosystems or ()) and not matches(name, [one.strip("/") for one in include]):
            lines.append(_only_here(name))
    return lines


def _only_here(name: str) -> str:
    return (
        f"{name} {ALONE}, since git ignores it and no lock file makes it anew: "
        f'`worktree.include = ["{name}/"]` copies it, or `worktree.setup` lists the commands that make it'
    )


def packages_in(root: Path, name: str) -> str:
    """Return the ecosystem of a folder of packages in a checkout, "" for other paths."""
    table = _table()
    for known, kind in table.environments.items():
        is_it = name == known or name.endswith(f"/{known}")
        if is_it and (root / name / table.signs.get(known, "")).exists():
            return kind
    return ""


async def causes(at: Place, text: str) -> list[str]:
    """Return why a command may fail in a worktree and not in the checkout, by the names in its output."""
    entries = await ignored_entries(at.root)
    ignored = [one for one in entries if not os.path.lexists(at.folder / one.rstrip("/"))]
    links = await links_of(at.root, "HEAD")
    shown = {one.path for one in await submodules_of(at.root, "HEAD") if one.objects}
    lines = [
        f"{path} is a submodule that is not here: `git submodule update --init {path}` in your checkout"
        for path in links
        if path not in shown and _names(text, f"{path}/")
    ]
    if f"{at.root}/" in text and (copied := [one for one in entries if one not in ignored]):
        lines.append(
            f"the output names your checkout by its path, and {listed(copied[:_NAMED])} was copied from "
            "there: what keeps that path, as the cache of a build does, is left out of `worktree.include`"
        )
    lines += await shown_otherwise(at.root, at.folder, text)
    lines += [one async for one in _of_branches(at, text)]
    return [*lines, *await to_thread.run_sync(lambda: [*_of_files(at, text, ignored)])]


async def _of_branches(at: Place, text: str) -> AsyncIterator[str]:
    """Yield that a worktree is on no branch, if a text has what git calls that beside the branch's name."""
    if "HEAD" in (quoted := {*_QUOTED.findall(text)}):
        branch = (await git(at.root, "rev-parse", "--abbrev-ref", "HEAD")).rpartition("/")[2]
        if branch != "HEAD" and branch in quoted:
            yield f"HEAD is detached in sq's worktree, and on branch {branch} in your checkout: {ITSELF}"


def _of_files(at: Place, text: str, ignored: Sequence[str]) -> Iterator[str]:
    folders = {one.rstrip("/") for one in ignored if packages_in(at.root, one.rstrip("/"))}
    modules, programs = ({*_found(kind, text)} for kind in (_table().modules, _table().programs))
    needed = {one for one in folders if _names(text, f"{one}/") or _holds(at.root / one, modules, programs)}
    yield from map(_only_here, sorted(needed))
    files = [one for one in ignored if one.rstrip("/") not in folders and _names(text, one)]
    if files:
        what = f"git ignores {listed(files[:_NAMED])}, so worktrees lack what your checkout has"
        yield f"{what}: name it in `worktree.include`"
    yield from _of_variables(at, text, [one for one in ignored if not one.endswith("/")])
    yield from _of_outside(at, text, modules)
    yield from _of_programs(at, programs)
    yield from _of_the_place(at, text)
    yield from workspace_above(at.root, text, _table().workspaces)
    named = {*re.findall(_NAME, text)}
    if pointers := [one for one in named if _is_pointer(at.folder / one) and not _is_pointer(at.root / one)]:
        what = f"{listed(sorted(pointers)[:_NAMED])} is a pointer of git-lfs in worktrees, and content in"
        yield f"{what} your checkout: `git lfs install` lets sq use the filter"


def _found(patterns: Sequence[str], text: str) -> Iterator[str]:
    plain = (one.replace("{name}", _NAME).replace("{capitals}", _CAPITALS) for one in patterns)
    return (one for pattern in plain for one in re.findall(pattern, text, re.MULTILINE))


def _names(text: str, path: str) -> bool:
    """Whether a text names a file, by its name or as a module, or a folder or what is in it."""
    if path.endswith("/"):
        folder = rf"(?<![\w.-]){re.escape(path[:-1])}(?:/|['\"\s:,)]|$)"
        return re.search(folder, text, re.MULTILINE) is not None
    last = Path(path)
    module = ".".join(last.with_suffix("").parts[-2:])
    words = (last.name, module if "." in module else f"'{module}'")
    return any(
        word in text and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", text) for word in words
    )


def _holds(folder: Path, modules: Collection[str], programs: Collection[str]) -> bool:
    """Whether a folder of packages has one of these modules or programs."""
    homes = [
        folder,
        *folder.glob("lib/python3*/site-packages"),
        *folder.glob("ruby/*/gems"),
        folder / "lib/perl5",
    ]
    first = {re.split(r"[./\\]", one)[0] if not one.startswith("@") else one for one in modules}
    paths = [home / f"{one}{end}" for home in homes for one in first for end in ("", ".py", ".pm")]
    paths += [folder / place / one for place in ("bin", ".bin") for one in programs]
    # A name in an output may be too long for a file's.
    return any(map(os.path.exists, paths)) or any(any(homes[-2].glob(f"{one}-[0-9]*")) for one in first)


def _of_variables(at: Place, text: str, files: Sequence[str]) -> Iterator[str]:
    """Yield the variables that a text misses and that the user's shell or an ignored file sets."""
    given = without_secrets(at.environ)
    texts = {one: _beginning(at.root / one) for one in files if Path(one).name.startswith((".env", "env."))}
    for name in sorted({*_found(_table().variables, text)}):
        sets_it = re.compile(rf"^(?:export )?{name}=", re.MULTILINE)
        held = [one for one, content in texts.items() if sets_it.search(content)]
        sets = f'`worktree.variables = {{{name} = "…"}}` sets one for tests'
        if held:
            yield f"{name} is set in {held[0]}, which git ignores: `worktree.include` brings it, or {sets}"
        elif name in at.environ and name not in given:
            yield f"{name} of your environment looks like a secret, so sq gives it to no command: {sets}"


def _of_outside(at: Place, text: str, modules: Collection[str]) -> Iterator[str]:
    """Yield what lies beside the repository or in the home, and is not shown to commands there."""
    beside: dict[str, None] = {}
    home = Path(at.environ.get("HOME") or Path.home())
    absent = "\n".join(line for line in text.splitlines() if _ABSENT.search(line))
    for one in dict.fromkeys(_OUTSIDE.findall(absent)):
        named = Path(one.replace("~", str(home), 1) if one[0] == "~" else one)
        path = Path(os.path.normpath(at.folder / named))
        if path.is_relative_to(at.folder.parent) and not path.is_relative_to(at.folder):
            path = at.root.parent / path.relative_to(at.folder.parent)
        if not os.path.lexists(path) or path.is_relative_to(at.folder) or path.is_relative_to(at.root):
            continue
        if path.is_relative_to(home) and path.relative_to(home).parts[0][:1] == ".":
            beside[f"~/{path.relative_to(home)}"] = None
        elif path.is_relative_to(at.root.parent) and path != at.root.parent:
            beside[f"../{path.relative_to(at.root.parent).parts[0]}"] = None
    near = (one for one in modules if "." not in one and os.path.lexists(at.root.parent / one))
    beside |= dict.fromkeys(f"../{one}" for one in near)
    if beside:
        shows = f"`worktree.include_beside = {json.dumps([*beside][:_NAMED])}` shows it to tests"
        yield f"{listed([*beside][:_NAMED])} lies outside the repository: {shows}"


def _of_programs(at: Place, programs: Collection[str]) -> Iterator[str]:
    for name in sorted(one for one in programs if "/" not in one):
        if where := shutil.which(name, path=at.environ.get("PATH", os.defpath)):
            yield f"{name} is installed at {where} and does not start in sq's place: `--sandbox off` shows it"


def _of_the_place(at: Place, text: str) -> Iterator[str]:
    """Yield what a worktree is by itself: another path, a `.git` that is a file, beside others' ports."""
    if _GIT_FOLDER.search(text) and (at.folder / ".git").is_file():
        yield f".git is a file in a worktree and no directory, as git allows: {ITSELF}"
    if _LONG_PATH.search(text) and len(str(at.folder)) > len(str(at.root)):
        lengths = f"{len(str(at.folder))} characters, and {len(str(at.root))} in your checkout"
        yield f"the path of sq's worktree is long ({lengths}), and something names a path too long: {ITSELF}"
    if used := _PORT_IN_USE.search(text):
        line = text[text.rfind("\n", 0, used.start()) + 1 :].partition("\n")[0]
        port = next(iter(_PORT.findall(line)), "")
        what = f"port {port}" if port else "a port that the tests use"
        yield (
            f"{what} is taken by another program of this machine ({used[0]}): end that one, or let tests "
            'read theirs from a variable that `worktree.variables = {PORT = "auto"}` sets'
        )
    here, there = at.folder.name, at.root.name
    if here != there and {here, there} <= {*_QUOTED.findall(text)}:
        yield f"the name of the folder is {here} in sq's worktree, and {there} in your checkout: {ITSELF}"


def _beginning(file: Path) -> str:
    try:
        with file.open(errors="replace") as opened:
            return opened.read(_LARGEST)
    except OSError:
        return ""


def _is_pointer(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_POINTER)) == _POINTER
    except OSError:
        return False


async def siblings_named(root: Path, tree: str) -> dict[str, str]:
    """Return the folders beside the repository that a manifest or a lock file of a tree names, with its path.

    They are relative to the root: `../lib`. Only folders that exist, and that hold neither the repository nor
    the home.
    """
    manifests = [one for one in await files_in(root, tree) if matches(one, deciding_names())]
    contents = await contents_at(root, tree, manifests, largest=_LARGEST)
    found: dict[str, str] = {}
    for name, content in contents.items():
        for one in _RELATIVE.findall(content.decode(errors="replace")):
            path = os.path.normpath(Path(name).parent / one)
            if path.startswith("../") and is_beside(root, path):
                found.setdefault(path, name)
    return found


def is_beside(root: Path, path: str) -> bool:
    """Whether a relative path is a plain folder that holds neither the repository nor the home."""
    real = Path(os.path.realpath(root / path))
    kept_out = (Path(os.path.realpath(root)), Path(os.path.realpath(Path.home())))
    is_hidden = any(part.startswith(".") and part != ".." for part in Path(path).parts)
    return real.is_dir() and not is_hidden and not any(one.is_relative_to(real) for one in kept_out)
