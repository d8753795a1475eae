"""The mounts of the operating system: programs and libraries read-only, without what only root may read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agents.process.sandbox.plan import Access, Mount

# Folders at the top that hold programs, libraries and settings of the machine, on any distribution.
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu", "snap", "sw")
# Parts of other folders that programs need: packages of Ruby, TeX and Go, the resolver's file, processors.
_PARTS = (
    *("/var/lib/gems", "/var/lib/texmf", "/var/cache/fontconfig", "/var/lib/ghc"),
    *("/run/systemd/resolve", "/run/current-system", "/sys/devices/system/cpu"),
)
_EMPTY = ("/tmp", "/var/tmp", "/run")  # noqa: S108  those inside
_DEEPEST = 3  # folders below /etc


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
