"""Set-up: a package script, a build backend and a build script of a Worker's run sealed; honest ones become ready."""

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hostile_runs import call, callers_of, make_repository, outputs_of, run_sq, says, signals, write
from language.tables import table
from victims import SECRET, Victims

from state.journal.events import WorkspaceSetUp
from state.journal.store import JournalReader, Stored
from state.paths import StateFolder

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

ROWS = {"npm": "a postinstall of package.json", "pip": "a setup.py", "cargo": "a build.rs"}
CREDENTIALS = (".npmrc", ".pypirc", ".cargo/credentials.toml")
STEAL = table(__file__, "steal")
BACKEND = table(__file__, "backend")
STEALING = '\nsubprocess.run([sys.executable, str(HERE / "steal.py"), "pip"])\n'
BUILD_RS = (
    'fn main() { std::process::Command::new("python3").args(["steal.py", "cargo"]).status().unwrap(); }\n'
)
CHECK = """
set -e
test ! -e package.json || node -e "require('local')"
test ! -e setup.py || .venv/bin/python -c "import shop"
test ! -e Cargo.toml || cargo check --quiet --offline
for one in ran-*; do echo "$one"; done
"""


def installed() -> list[str]:
    tools = {"npm": "npm", "pip": "python3", "cargo": "cargo"}
    return [row for row, program in tools.items() if shutil.which(program)]


def packages(*, hostile: bool) -> dict[str, str]:
    """The files of a project in three languages, whose dependencies are in it."""
    root: dict[str, Any] = {"name": "root", "version": "1.0.0", "dependencies": {"local": "file:./local"}}
    links = {"version": "1.0.0"}, {"resolved": "local", "link": True}
    locked = {"": root, "local": links[0], "node_modules/local": links[1]}
    lock = {"name": "root", "version": "1.0.0", "lockfileVersion": 3, "packages": locked}
    scripts = {"scripts": {"postinstall": "python3 steal.py npm"}} if hostile else {}
    files = {
        "npm": {
            "package.json": json.dumps(root | scripts),
            "package-lock.json": json.dumps(lock),
            "local/package.json": json.dumps({"name": "local", "version": "1.0.0"}),
            "local/index.js": "module.exports = 1\n",
        },
        "pip": {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n[build-system]\nrequires = []\n'
            'build-backend = "setup"\nbackend-path = ["."]\n',
            "setup.py": BACKEND + (STEALING if hostile else ""),
            "src/shop/__init__.py": "",
        },
        "cargo": {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "1.0.0"\nedition = "2021"\n'
            + ('description = "Changed"\n' if hostile else ""),
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "shop"\nversion = "1.0.0"\n',
            "src/lib.rs": "",
            **({"build.rs": BUILD_RS} if hostile else {}),
        },
    }
    return {name: text for row in installed() for name, text in files[row].items()}


@dataclass(frozen=True)
class Result:
    """What a run left: its output and events, what the servers received, and which scripts ran."""

    output: str
    stored: list[Stored]
    reached: list[str]
    ran: set[str]


@contextmanager
def victims_in(root: Path) -> Iterator[Victims]:
    home = root / "home"
    home.mkdir(parents=True)
    victims = Victims(root / "victims", home)
    for name in CREDENTIALS:
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(f"# {SECRET}\n")
    try:
        yield victims
    finally:
        victims.close()


def run(root: Path, sandbox: str, victims: Victims, callers: dict[str, Any]) -> Result:
    repository = make_repository(root / "project")
    for name, text in {**packages(hostile=False), "check.sh": CHECK}.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    (repository / ".gitignore").write_text(".env\nnode_modules/\n.venv/\ntarget/\nran-*\n")
    for command in (["add", "."], ["commit", "--quiet", "-m", "Packages"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    users = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    rustup = os.environ.get("RUSTUP_HOME", str(users / ".rustup"))
    done = run_sq(
        root, callers, home=victims.home, sandbox=sandbox, verify=("sh check.sh",), RUSTUP_HOME=rustup
    )
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        stored = journal.read()
    said = outputs_of(stored).split()
    output = done.stdout + done.stderr
    return Result(output, stored, list(victims.reached), {row for row in ROWS if f"ran-{row}" in said})


def attacked(root: Path, sandbox: str) -> Result:
    with victims_in(root) as victims:
        to = (victims.address, victims.tcp_port)
        steal = STEAL.replace("NAMES", repr(CREDENTIALS)).replace("TO,", f"{to!r},")
        work = [write(name, text) for name, text in packages(hostile=True).items()]
        return run(root, sandbox, victims, callers_of(write("steal.py", steal), *work))


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return attacked(tmp_path_factory.mktemp("whole"), "whole")


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return attacked(tmp_path_factory.mktemp("off"), "off")


@pytest.mark.parametrize("row", ROWS, ids=ROWS.values())
def test_a_build_of_a_workers_sends_nothing(row: str, held: Result, free: Result) -> None:
    if row not in installed():
        pytest.skip(f"{row} is not installed")
    assert row in held.ran, held.output
    assert not [one for one in held.reached if one.startswith(f"tcp {row}")]
    assert [one for one in free.reached if one.startswith(f"tcp {row}") and SECRET in one], free.output


def test_a_project_becomes_ready_at_the_base_and_after_a_merge(tmp_path: Path) -> None:
    plan = signals(
        "submit_plan",
        tasks=[_task("notes"), _task("more", "notes")],
        criteria=[{"text": "it is there", "task_ids": ["notes", "more"]}],
    )
    done = signals("task_complete", summary="Done.", tests="All tests pass.")
    look = says(call("Bash", command="sh check.sh && echo fine > more.txt", timeout=120_000))
    callers = {
        **callers_of(),
        "planner/plan/1": [plan],
        "worker/notes/1": [write("notes.txt", "A line.\n"), done],
        "worker/more/1": [look, done],
    }
    with victims_in(tmp_path) as victims:
        result = run(tmp_path, "whole", victims, callers)
    assert "more.txt" in _files(tmp_path), result.output
    made = [one.event for one in result.stored if isinstance(one.event, WorkspaceSetUp)]
    assert made
    assert all(one.passed for event in made for one in event.runs), made
    assert not any(event.not_again for event in made)


def _files(root: Path) -> str:
    return subprocess.run(
        ["git", "-C", str(root / "project"), "ls-tree", "-r", "--name-only", "main"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def _task(id_: str, *dependencies: str) -> dict[str, Any]:
    return {
        "id": id_, "title": "Task", "description": "Do it.", "acceptance_criteria": ["done"],
        "dependencies": list(dependencies), "estimated_iterations": 1,
    }  # fmt: skip
