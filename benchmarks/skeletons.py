"""Small projects in many languages, set up like other people's.

Each has a README, some source, tests and a folder of noise. It is a text archive in `skeleton_files/`: its
description as YAML, then its files, each after a line `-- PATH --`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import yaml

_ARCHIVES = Path(__file__).parent / "skeleton_files"
_FILE = re.compile(r"^-- (\S+) --\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """One project. Detection has to find `command` and may find `others`.

    `tools` are the programs it needs, `packages` those of npm that have to be in `node_modules`. `stand_in`
    does
    the same as `command` with fewer tools. `tests` and `skipped` are the names of the tests as sq counts
    them.
    `registered`: a new test file would have to be listed in the build's own files. `runs_here`: Debian and
    npm have the tools.
    """

    name: str
    language: str
    command: str
    tools: tuple[str, ...]
    tests: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    stand_in: str = ""
    registered: bool = False
    runs_here: bool = True
    files: dict[str, str] = field(default_factory=dict)

    @property
    def runnable(self) -> str:
        """The command to run it by on a machine of ours."""
        return self.stand_in or self.command


def all_skeletons() -> dict[str, Callable[[Path], Skeleton]]:
    """Functions that write a project's files into a folder, by its name."""
    return {path.stem: partial(_write, path) for path in sorted(_ARCHIVES.glob("*.txtar"))}


def skeleton(name: str) -> Skeleton:
    """Read a project without writing its files."""
    return _read(_ARCHIVES / f"{name}.txtar")


def _write(archive: Path, folder: Path) -> Skeleton:
    known = _read(archive)
    for name, text in known.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return known


def _read(archive: Path) -> Skeleton:
    head, *parts = _FILE.split(archive.read_text("utf-8"))
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    return msgspec.convert({**yaml.safe_load(head), "name": archive.stem, "files": files}, Skeleton)
