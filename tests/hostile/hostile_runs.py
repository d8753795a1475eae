"""One hostile run without a sandbox and one within, whose outcomes the tests of each row look at."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.programs import ran
from rows import HONEST, ROWS, Row, World
from victims import MARKED, SECRET, Victims

from state.journal.events import Stored
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.paths import StateFolder

SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]
HONEST_ROW = Row("honest work", HONEST)


@dataclass(frozen=True)
class HostileRun:
    """A run whose Worker tried every row, in its session and by sq's verification."""

    world: World
    code: int
    output: str
    view: RunView
    session: Mapping[str, int]
    verification: Mapping[str, int]
    files: tuple[str, ...]


def attempt(rows: tuple[Row, ...], where: str, into: str, variables: Mapping[str, str]) -> str:
    """A script that tries each row and writes `exit code, name` lines to a file (or to `/dev/stdout`)."""
    lines = ["set +e", *(f"export {name}={shlex.quote(value)}" for name, value in variables.items())]
    lines += [f"export WHERE={where}"]
    for number, row in enumerate(rows):
        lines += [
            f"export ROW={shlex.quote(row.name)} HERE=hostile-{number}",
            f"( {row.script}\n) >/dev/null 2>&1",
            f'printf "%s\\t%s\\n" "$?" {shlex.quote(row.name)} >> {into}',
        ]
    return "\n".join(lines) + "\nexit 0\n"


def says(*tools: Mapping[str, Any], then: str = "") -> dict[str, Any]:
    return {"tools": list(tools), **({"then": then} if then else {})}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}


def signals(name: str, **arguments: Any) -> dict[str, Any]:
    return says(call(f"mcp__sq__{name}", **arguments))


def plan_of(task: str) -> dict[str, Any]:
    row = {
        "id": task, "title": "Task", "description": "Do it.", "acceptance_criteria": ["done"],
        "dependencies": [], "estimated_iterations": 1,
    }  # fmt: skip
    return signals("submit_plan", tasks=[row], criteria=[{"text": "it is there", "task_ids": [task]}])


def write(name: str, content: str) -> dict[str, Any]:
    return says(call("Write", file_path=f"{{workspace}}/{name}", content=content))


def callers_of(*work: Mapping[str, Any]) -> dict[str, Any]:
    done = signals("task_complete", summary="Done.", tests="All tests pass.")
    return {
        "planner/analysis/1": [signals("report_analysis", spec_findings=[], project_type="words", stack=[])],
        "planner/plan/1": [plan_of("notes")],
        "worker/notes/1": [*work, done],
        "reviewer/*": [signals("report_review", passed=True, issues=[], suggestions=[])],
    }


def make_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    git("config", "user.name", "Owner")
    git("config", "user.email", "owner@localhost")
    git("config", "remote.origin.url", f"https://user:{SECRET}@example.invalid/project.git")
    (folder / ".gitignore").write_text(".env\n")
    (folder / "readme.txt").write_text("A project.\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "First commit")
    (folder / ".env").write_text(f"TOKEN={SECRET}\n")
    return folder


def run_sq(
    root: Path,
    callers: Mapping[str, Any],
    *,
    home: Path,
    sandbox: str,
    verify: tuple[str, ...] = (),
    **more: str,
) -> subprocess.CompletedProcess[str]:
    scenario, spec = root / "scenario.yaml", root / "spec.md"
    scenario.write_text(
        yaml.safe_dump({"scenario": 1, "description": "hostile", "usage": {}, "callers": dict(callers)})
    )
    spec.write_text("# Notes\n\nCreate notes.txt with a line of text.\n")
    config = home / ".config" / "sq" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ
    }
    environ = {**kept, "HOME": str(home), "MY_SERVICE_TOKEN": MARKED, "GIT_CONFIG_NOSYSTEM": "1", **more}
    flags = [word for command in verify for word in ("--verify", command)]
    return ran(
        [*SQ, "run", "--spec", str(spec), "--rehearse", str(scenario), "--sandbox", sandbox, *flags],
        cwd=root / "project",
        env=environ,
        timeout=300,
    )


@pytest.fixture(scope="session")
def without_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileRun]:
    """The attacks with `off`, and without the namespaces that hide other processes in any case."""
    yield from hostile_run(tmp_path_factory.mktemp("off"), "off", SQ_CONTAINMENT="supervisor")


@pytest.fixture(scope="session")
def commanded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileRun]:
    """The attacks with `commands`."""
    yield from hostile_run(tmp_path_factory.mktemp("commands"), "commands")


@pytest.fixture(scope="session")
def within(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileRun]:
    """The attacks with `whole`."""
    yield from hostile_run(tmp_path_factory.mktemp("whole"), "whole")


def hostile_run(root: Path, sandbox: str, **more: str) -> Iterator[HostileRun]:
    """Let a Worker try every row in a sandbox of this kind, and yield the run, while the victims still live."""
    home = root / "home"
    home.mkdir()
    repository = make_repository(root / "project")
    victims = Victims(root / "victims", home)
    try:
        rows = (*(row for row in ROWS if row.session), HONEST_ROW)
        later = (*(row for row in ROWS if row.verification), HONEST_ROW)
        work = [
            write("attack.sh", attempt(rows, "session", "results.txt", victims.variables)),
            write("verify.sh", attempt(later, "verification", "/dev/stdout", victims.variables)),
            says(call("Bash", command="sha256sum attack.sh > sum; sh attack.sh", timeout=120_000)),
        ]
        done = run_sq(
            root,
            callers_of(*work),
            home=home,
            sandbox=sandbox,
            # It notices each change of the work, or its exit code would show nothing.
            verify=("test ! -e verify.sh || { sha256sum --status -c sum && sh verify.sh; }",),
            PATH=victims.path,
            **more,
        )
        assert (repository / ".sq").is_dir(), done.stdout + done.stderr
        folder = StateFolder(repository / ".sq").find(None)
        with JournalReader(folder) as journal:
            stored = journal.read()
        yield _outcome(done, stored, World(victims, repository))
    finally:
        victims.close()


def _outcome(done: subprocess.CompletedProcess[str], stored: list[Stored], world: World) -> HostileRun:
    tree = subprocess.run(
        ["git", "-C", str(world.repository), "ls-tree", "-r", "--name-only", "main"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    results = world.repository / "results.txt"
    return HostileRun(
        world=world,
        code=done.returncode,
        output=done.stdout + done.stderr,
        view=fold(stored),
        session=codes_in(results.read_text() if results.exists() else ""),
        verification=codes_in(outputs_of(stored)),
        files=tuple(tree),
    )


def _outputs(value: object) -> Iterator[str]:
    """The outputs of all commands that the events hold."""
    if isinstance(value, dict):
        if "output_tail" in value:
            yield str(value["output_tail"])
        for inner in value.values():
            yield from _outputs(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _outputs(inner)


def outputs_of(stored: list[Stored]) -> str:
    """What all commands of sq printed."""
    return "\n".join(_outputs([asdict(one.event) for one in stored]))


def codes_in(text: str) -> dict[str, int]:
    rows = [line.strip().split("\t") for line in text.splitlines() if "\t" in line]
    return {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdecimal()}
