"""Running the commands of projects as sq will: prepared, with a report folder, in a shell."""

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.repositories import all_skeletons, skeleton
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.reporting import prepare
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from state.records.commands import TestState

SECONDS = 100
HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)  # HOME itself is a temporary one in tests
PROGRAMS = {"python": "python3", "cc": "cc"}


def need(*programs):
    for program in programs:
        if shutil.which(PROGRAMS.get(program, program)) is None:
            pytest.skip(f"{program} is not on this machine (.ci/install-tools puts it there)")


@dataclass(frozen=True)
class Ran:
    exit_code: int
    output: str
    count: object
    command: str = ""

    @property
    def failed(self):
        return {name for name, state in self.count.tests.items() if state is TestState.FAILED}

    @property
    def passed(self):
        return {name for name, state in self.count.tests.items() if state is TestState.PASSED}

    @property
    def skipped(self):
        return {name for name, state in self.count.tests.items() if state is TestState.SKIPPED}


class Project:
    """A folder, the environment its commands get, and the commands run in it."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.reports = folder.parent / f"reports of {folder.name}"

    def suite(self, command):
        return suite_of(command, self.folder)

    def plain(self, command):
        return self._shell(command, {})

    def run(self, command):
        suite = self.suite(command)
        return self._prepared(suite, prepare(suite, self._fresh(), self.environment))

    def run_only(self, command, files, names=()):
        suite = self.suite(command)
        chosen = only_these(suite, files, names)
        if chosen is None:
            return None
        return self._prepared(suite, prepare(self.suite(chosen), self._fresh(), self.environment))

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")

    def _fresh(self):
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir()
        return self.reports

    def _prepared(self, suite, prepared):
        done = self._shell(prepared.command, prepared.environment)
        told = count(suite, done.stdout, done.returncode, self.reports)
        return Ran(done.returncode, done.stdout, told, prepared.command)

    def _shell(self, command, more):
        return subprocess.run(  # noqa: S602  a project's command is made for a shell
            command,
            shell=True,
            cwd=self.folder,
            env={**self.environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )


def project_in(folder, home):
    """An empty project; `python` is the one that runs these tests."""
    programs = home / "programs"
    if not programs.is_dir():
        programs.mkdir(parents=True)
        for name in ("python", "python3"):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GOCACHE": str(home / "go-cache"),
        "GOPATH": str(home / "go"),
        "GOTOOLCHAIN": "local",
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(HOME / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(HOME / ".rustup")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    folder.mkdir(parents=True, exist_ok=True)
    return Project(folder, environment)


def skeleton_in(name, folder, home, packages=None):
    """A skeleton's project, ready to run; skips where its tools are not there."""
    known = skeleton(name)
    need(*(tool for tool in known.tools if tool not in {"pnpm", "yarn"} or not known.stand_in))
    project = project_in(folder, home)
    all_skeletons()[name](folder)
    if known.packages:
        (folder / "node_modules").symlink_to(packages(*known.packages))
    return known, project
