"""Folders of programs that commands need: the operating system's, installed toolchains, caches of packages.

The system's programs and libraries are read-only, without what only root may read. `~/.pyenv/shims` needs all
of `~/.pyenv`, `~/.nvm/versions/node/v20/bin` needs `~/.nvm/versions/node/v20`. A folder without signs of an
installation is shown alone, and of a linked program without them only its file. Commands without network
build from the caches, whose paths are below the user's home folder.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from agents.process.sandbox.plan import Access, Mount, at_both, reading
from state.decoding import table_beside

# Folders at the top that hold programs, libraries and settings of the machine, on any distribution.
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu", "snap", "sw")
# Parts of other folders that programs need: packages of Ruby, TeX and Go, the resolver's file, processors.
_PARTS = (
    *("/var/lib/gems", "/var/lib/texmf", "/var/cache/fontconfig", "/var/lib/ghc"),
    *("/run/systemd/resolve", "/run/current-system", "/sys/devices/system/cpu"),
)
_EMPTY = ("/tmp", "/var/tmp", "/run")  # noqa: S108  those inside
_DEEPEST = 3  # folders below /etc
_PROGRAMS = frozenset({"bin", "sbin", "shims", "Scripts"})
_OF_USER = ".local"  # below home: its other folders are data of other programs
_USR = ("usr",)  # holds no checkout and no home
_LINKS_READ = 2_000  # in one folder of PATH
_LOCK = re.compile(r"(?:^|[._-])lo?ck$|\.lock\b|^gc\.pid$|^\.package-cache", re.IGNORECASE)
# Files in which tools and people keep credentials, by name: also those of no tool in particular.
_CREDENTIALS = re.compile(
    r"^\.?(?:auth|credentials?|tokens?|secrets?|pip\.conf|npmrc|yarnrc|pypirc|_?netrc|git-credentials)"
    r"(?:\.(?:json|toml|ya?ml|ini|txt|db))?$|^\.env(?:$|\.)|^id_(?:rsa|ed25519|ecdsa|dsa)$|\.(?:key|p12|pfx|kdbx)$",
    re.IGNORECASE,
)
_BESIDE_BIN = ("etc/npmrc", "etc/pip.conf", "pip.conf")
_DEEP, _ENTRIES_READ = 2, 2_000  # folders of a cache or an installation, entries of one


class Toolchains(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `toolchains.yaml`, which describes its fields."""

    named_by: tuple[str, ...]
    managers: frozenset[str]
    shims: dict[str, list[str]]
    signs: tuple[str, ...]
    caches: tuple[tuple[str, str, str], ...]
    written: tuple[str, ...]
    credentials: tuple[str, ...]


@cache
def toolchains() -> Toolchains:
    """Return the known installations, caches of packages, and files for signing in to registries."""
    return msgspec.convert(table_beside(__file__, "toolchains.yaml"), Toolchains)


def system_mounts(stand_in: Path) -> Iterator[Mount]:
    """Yield the mounts of the operating system.

    `stand_in` is an empty file, which is shown in place of files that others than root may not read.
    """
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            yield Mount(target=path, access=Access.LINK, source=path.readlink())
        elif path.is_dir():
            yield Mount(target=path)
    for folder in _EMPTY:
        yield Mount(target=Path(folder), access=Access.EMPTY)
    for part in map(Path, _PARTS):
        if part.is_dir():
            yield Mount(target=part)
    if os.geteuid() == 0:  # any other user is refused by the files' own modes
        yield from _unreadable(Path("/etc"), stand_in, _DEEPEST)


def _unreadable(folder: Path, stand_in: Path, deep: int) -> Iterator[Mount]:
    for path in sorted(folder.iterdir()):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode) and not mode & stat.S_IXOTH:
            yield Mount(target=path, access=Access.EMPTY)
        elif stat.S_ISDIR(mode) and deep > 1:
            yield from _unreadable(path, stand_in, deep - 1)
        elif stat.S_ISREG(mode) and not mode & stat.S_IROTH:
            yield Mount(target=path, access=Access.EMPTY, source=stand_in)


def toolchain_mounts(
    path: str,
    *,
    home: Path,
    programs: Iterable[Path] = (),
    named: Iterable[str] = (),
    never: Sequence[Path] = (),
) -> Iterator[Mount]:
    """Yield read-only mounts of the installations that PATH names, without those that `system_mounts` shows.

    Args:
        path: the PATH of the sandboxed process. Relative entries are left out.
        home: the user's home folder. It is never shown whole.
        programs: further programs whose installation is needed.
        named: values of variables that name an installation, as `toolchains` lists their names.
        never: folders that no mount may hold, for example the user's checkout.
    """
    kept_out = [home, *never]
    found: dict[Path, None] = {}
    for entry in dict.fromkeys(Path(one) for one in path.split(os.pathsep) if one.startswith("/")):
        if entry.is_dir():
            found[_widest(entry, home, kept_out)] = None
            if entry == home / _OF_USER / "bin" and (libraries := home / _OF_USER / "lib").is_dir():
                found[libraries] = None
            for program in _linked(os.path.realpath(entry), entry.stat().st_mtime_ns):
                folder = _widest(program.parent, home, kept_out)
                found[folder if folder != program.parent else program] = None
            shims = (folders for name, folders in toolchains().shims.items() if (entry / name).exists())
            found |= {home / one: None for folders in shims for one in folders if (home / one).is_dir()}
    for program in programs:
        for one in (program, Path(os.path.realpath(program))):
            found[_widest(one.parent, home, kept_out)] = None
    for value in named:
        if value.startswith("/") and Path(value).is_dir() and not _holds(Path(value), kept_out):
            found[Path(value)] = None
    more = (folder for folder in found if not _is_of_system(folder, kept_out))
    shown = [folder for folder in more if folder != Path("/") and not _holds(folder, kept_out)]
    yield from reading(shown)


def credentials_in(mounts: Iterable[Mount], stand_in: Path, path: str = "") -> Iterator[Mount]:
    """Yield `stand_in` in place of files of read-only folders that are named like credentials.

    Looked at are the folders' tops, and what package managers keep beside the folders of `path`.
    """
    roots = [Path(entry).parent for entry in path.split(os.pathsep) if entry.startswith("/")]
    beside = [root / name for root in roots for name in _BESIDE_BIN]
    for mount in (one for one in mounts if one.access is Access.READ):
        found = [mount.target / one.relative_to(mount.shown) for one in _named(mount.shown, _CREDENTIALS)]
        found += [one for one in beside if one.is_relative_to(mount.target) and one.is_file()]
        yield from (Mount(target=one, access=Access.EMPTY, source=stand_in) for one in found)


def _is_of_system(path: Path, kept_out: Sequence[Path]) -> bool:
    """Whether a path is in the folders of the operating system, which are shown but for those kept out."""
    names = (path, Path(os.path.realpath(path)))
    if any(name.is_relative_to(one) for name in names for one in kept_out):
        return False
    return all(name.parts[1:2] and name.parts[1] in _SYSTEM for name in names)


@lru_cache
def _linked(entry: str, _changed_ns: int) -> tuple[Path, ...]:
    """Return the programs outside /usr that links in a folder of PATH lead to. A secret may lie beside one.

    `_changed_ns` is when the folder changed: its links are read once until it changes again.
    """
    try:
        with os.scandir(entry) as found:
            links = [one.path for one, _ in zip(found, range(_LINKS_READ), strict=False) if one.is_symlink()]
    except OSError:
        return ()
    real = {Path(os.path.realpath(link)) for link in links}
    return tuple(sorted(one for one in real if one.parts[1:2] != _USR and one.is_file()))


def _widest(folder: Path, home: Path, kept_out: Sequence[Path]) -> Path:
    """Return the installation that a folder of programs belongs to, or the folder itself."""
    inside_home, managers = folder.is_relative_to(home), toolchains().managers
    for parent in (folder, *folder.parents):
        if parent in {home, parent.parent}:
            break
        below_home = (
            parent.relative_to(home).as_posix() if inside_home and parent.is_relative_to(home) else ""
        )
        if below_home in managers or parent.name in managers:
            return parent
    root = folder.parent
    alone = root == home / _OF_USER or folder.name not in _PROGRAMS or _holds(root, kept_out)
    if not alone and _is_installation(root):
        return root
    return folder


def _is_installation(root: Path) -> bool:
    if (root / ".git").exists():
        return False
    if any((root / sign).exists() for sign in toolchains().signs):
        return True
    return any((root / "lib").glob("python3*")) or (root / "share" / "man").is_dir()


def _holds(folder: Path, kept_out: Sequence[Path]) -> bool:
    """Whether a mount of `folder` would show one of the other folders."""
    real = Path(os.path.realpath(folder))
    return any(
        one.is_relative_to(folder) or Path(os.path.realpath(one)).is_relative_to(real) for one in kept_out
    )


def caches(home: Path, environ: Mapping[str, str], *, writes: bool) -> Iterator[Path]:
    """Yield the package caches that exist and are of use to a process that `writes` there or not."""
    for below, variable, inside in _of_use(writes=writes):
        named = environ.get(variable, "") if variable else ""
        usual = [home / below] if below else []
        for path in (*usual, *([Path(named) / inside] if named.startswith("/") else [])):
            if path.is_dir():
                yield path


def _of_use(*, writes: bool) -> Iterator[tuple[str, str, str]]:
    return (row for row in toolchains().caches if writes or row[0] not in toolchains().written)


def own_caches(home: Path, store: Path, *, writes: bool) -> Iterator[Mount]:
    """Yield the package caches that the user has not, from a folder of sq's.

    Args:
        home: the user's home folder, below which tools look for their caches.
        store: sq's folder. All of them are made there for a process that `writes`.
        writes: the process fills them. Others read those that hold something.
    """
    for below, _, _ in _of_use(writes=writes):
        source = store / below
        if not below or (home / below).is_dir():
            continue
        if writes:
            source.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not (source.is_dir() and any(source.iterdir())):
            continue
        access = Access.WRITE if writes else Access.READ
        yield from (replace(one, source=source) for one in at_both(home / below, access))


def own_locks(folders: Iterable[Mount], scratch: Path) -> Iterator[Mount]:
    """Yield a copy of each lock file near the top of read-only folders: a lock needs no right to write.

    A process in the sandbox locks its copy, and processes outside go on.
    """
    for folder in folders:
        found = folder.shown
        deep = 1 if found.name == "objects" else _DEEP  # git's have 256 folders, and no lock in any
        for path in _named(found, _LOCK, deep) if folder.access is Access.READ else ():
            copy = scratch / "locks" / "_".join(path.parts[1:])
            copy.parent.mkdir(mode=0o700, exist_ok=True)
            copy.touch(0o600)
            yield Mount(target=folder.target / path.relative_to(found), access=Access.WRITE, source=copy)


def _named(folder: Path, names: re.Pattern[str], deep: int = _DEEP) -> Iterator[Path]:
    """Yield the files near the top of a folder whose names the expression finds."""
    try:
        with os.scandir(folder) as entries:
            some = list(islice(entries, _ENTRIES_READ))
    except OSError:
        return
    for one in some:
        if one.is_file(follow_symlinks=False) and names.search(one.name):
            yield Path(one.path)
        elif deep > 1 and one.is_dir(follow_symlinks=False):
            yield from _named(Path(one.path), names, deep - 1)


def registry_credentials(home: Path) -> Iterator[Path]:
    """Yield the files that exist with which package managers sign in to registries."""
    return (home / below for below in toolchains().credentials if (home / below).is_file())
