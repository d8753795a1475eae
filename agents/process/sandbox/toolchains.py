"""Folders of programs that commands need: the operating system's, installed toolchains, caches of packages.

The system's programs and libraries are read-only, without what only root may read. `~/.pyenv/shims` needs all
of `~/.pyenv`, `~/.nvm/versions/node/v20/bin` needs `~/.nvm/versions/node/v20`. A folder without signs of an
installation is shown alone. Commands without network build from the caches, whose paths are below the user's
home folder.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from agents.process.sandbox.plan import Access, Mount, reading

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
_LINKS_READ = 2_000  # in one folder of PATH


class Toolchains(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `toolchains.yaml`, which describes its fields."""

    named_by: tuple[str, ...]
    managers: frozenset[str]
    signs: tuple[str, ...]
    caches: tuple[tuple[str, str, str], ...]
    credentials: tuple[str, ...]


@cache
def toolchains() -> Toolchains:
    """Return the known installations, caches of packages, and files for signing in to registries."""
    import yaml

    text = Path(__file__).with_name("toolchains.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), Toolchains)


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
    """Yield read-only mounts of the installations that PATH names.

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
            for folder in _needed(entry):
                found[_widest(folder, home, kept_out)] = None
    for program in programs:
        for one in (program, Path(os.path.realpath(program))):
            found[_widest(one.parent, home, kept_out)] = None
    for value in named:
        if value.startswith("/") and Path(value).is_dir() and not _holds(Path(value), kept_out):
            found[Path(value)] = None
    yield from reading(folder for folder in found if folder != Path("/") and not _holds(folder, kept_out))


def _needed(entry: Path) -> Iterator[Path]:
    """Yield a folder of PATH, and the folders that the links in it lead to."""
    yield entry
    try:
        with os.scandir(entry) as found:
            links = [one.path for one, _ in zip(found, range(_LINKS_READ), strict=False) if one.is_symlink()]
    except OSError:
        return
    folders = {Path(os.path.realpath(link)).parent for link in links}
    yield from sorted(folders)


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
    if folder.name in _PROGRAMS and not _holds(root, kept_out) and _is_installation(root):
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


def caches(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the package caches that exist."""
    for below, variable, inside in toolchains().caches:
        named = environ.get(variable, "") if variable else ""
        usual = [home / below] if below else []
        for path in (*usual, *([Path(named) / inside] if named.startswith("/") else [])):
            if path.is_dir():
                yield path


def registry_credentials(home: Path) -> Iterator[Path]:
    """Yield the files that exist with which package managers sign in to registries."""
    return (home / below for below in toolchains().credentials if (home / below).is_file())
