"""CI finds the other interpreters of the machine that sq has to work on."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def machine(tmp_path):
    """Puts an interpreter that calls itself so, or that does not run, into a folder of a machine."""

    def add(path, version):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 127'}\n")
        file.chmod(0o755)
        return file

    return add


def listed(tmp_path):
    environ = {
        "PATH": f"{tmp_path}/bin:{tmp_path}/shims:/usr/bin:/bin",
        "PYENV_ROOT": f"{tmp_path}/pyenv",
        "SQ_VENV": f"{tmp_path}/venv",
        "HOME": os.environ["HOME"],
    }
    command = [ROOT / ".ci" / "other-pythons", "--list"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if str(tmp_path) in line or "no CPython" in line]


def test_each_other_version_on_path_and_of_pyenv_is_found_once(tmp_path, machine):
    machine("venv/bin/python", "3.11")
    machine("bin/python3.11", "3.11")
    machine("bin/python3.92", "3.92")
    machine("bin/python3.92-config", "3.92")
    machine("shims/python3.93", "")
    machine("shims/python3.10", "")
    machine("pyenv/versions/3.92.1/bin/python3", "3.92")
    machine("pyenv/versions/3.93.0/bin/python3", "3.93")
    machine("pyenv/versions/2.7.18/bin/python3", "")
    assert listed(tmp_path) == [
        f"== python 3.92: {tmp_path}/bin/python3.92",
        f"== python 3.93: {tmp_path}/pyenv/versions/3.93.0/bin/python3",
    ]


def test_every_file_of_the_quick_part_exists():
    script = (ROOT / ".ci" / "other-pythons").read_text()
    names = script.split("quick=(\n")[1].split(")\n")[0]
    expanded = subprocess.run(
        ["bash", "-c", f"echo {' '.join(names.split())}"], capture_output=True, text=True, check=True
    )
    assert [name for name in expanded.stdout.split() if not (ROOT / name).exists()] == []
