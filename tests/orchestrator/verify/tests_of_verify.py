"""`sq verify` as a process of its own, and what it said."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}


@dataclass(frozen=True)
class Verified:
    code: int
    out: str
    err: str

    @cached_property
    def data(self) -> Any:
        return json.loads(self.out)


def verified(folder: Path, *arguments: object) -> Verified:
    command = [sys.executable, "-m", "orchestrator.cli", "verify", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Verified(done.returncode, done.stdout, done.stderr)


def commits(folder: Path, shell: Callable[..., str], files: dict[str, str], message: str = "Work") -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shell(folder, "git", "add", "-A")
    shell(folder, "git", "commit", "-qm", message)
