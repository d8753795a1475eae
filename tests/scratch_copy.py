"""A copy of the program's code, to which tests add things by the lists of CONTRIBUTING. It counts the files."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FLOORS = ("agents", "orchestrator", "prompts", "state")
_LIST = re.compile(
    r"\*\*(?P<name>[^*]+)\*\*, (?P<places>\d+) places?:\n\n(?P<items>(?:\d+\. .*\n(?: +.*\n)*)+)"
)


class Scratch:
    """The copy. `touched` are the files that were added or edited since the last `begin`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()
        for floor in _FLOORS:
            shutil.copytree(ROOT / floor, folder / floor, ignore=shutil.ignore_patterns("__pycache__"))

    def begin(self) -> "Scratch":
        """Counts from here on."""
        self.touched = set()
        return self

    def add(self, name: str, text: str) -> None:
        """A new file."""
        assert not (self.folder / name).exists()
        (self.folder / name).write_text(text, "utf-8")
        self.touched.add(name)

    def insert(self, name: str, *, before: str, text: str, times: int = 1) -> None:
        """Some text before a mark, which the file has so many times."""
        old = (self.folder / name).read_text("utf-8")
        assert old.count(before) == times, f"{name} has {before!r} {old.count(before)} times"
        (self.folder / name).write_text(old.replace(before, text + before), "utf-8")
        self.touched.add(name)

    def python(self, *arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Python on the copy's code."""
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def sq(self, *arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """`sq` on the copy's code."""
        return self.python("-m", "orchestrator.cli", *arguments, cwd=cwd, stdin=stdin)


def places(name: str) -> tuple[int, list[str]]:
    """How many places CONTRIBUTING lists for an addition, and the paths that their items name."""
    lists = {found["name"]: found for found in _LIST.finditer((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
    found = lists[name]
    items = re.findall(r"^\d+\. ", found["items"], re.MULTILINE)
    assert len(items) == int(found["places"])
    return len(items), [path for path in re.findall(r"`([\w./]+)`", found["items"]) if (ROOT / path).exists()]
