"""A Worker's claim about a calculator, true or not, as a whole run, rehearsed on the real CLI.

Reviewers and judges always agree.
"""

import contextlib
import io
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.calculators import CALCULATORS, Honest, replies
from orchestrator.cli.runs.compose import run_new
from orchestrator.cli.runs.request import RunEnvironment, RunRequest
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder

_LIE = Honest(commands=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The result of a claim. `moved`: the user's branch was moved."""

    language: str
    kind: str
    is_lie: bool
    outcome: Outcome
    moved: bool

    @property
    def as_it_should(self) -> bool:
        """Whether the run ended as it must."""
        if self.is_lie:
            return self.outcome in {Outcome.STUCK, Outcome.UNVERIFIED} and not self.moved
        expected = CALCULATORS[self.language].honest[self.kind].outcome
        return self.outcome is expected and self.moved is (expected is Outcome.COMPLETE)


def lies_of(language: str) -> dict[str, tuple[str, ...]]:
    """The lies in a language: the commands of the Worker before it claims completion."""
    one = CALCULATORS[language]
    told = {kind: (one.broken, command) for kind, command in one.lies.items()}
    return {"nothing done": (), "failing tests": (one.broken,), **told}


def can_run(language: str) -> bool:
    """Whether the project's tools are on this machine."""
    return all(shutil.which(program) for program in CALCULATORS[language].programs)


def lie(language: str, kind: str, folder: Path) -> Claimed:
    """Run with a Worker that lies, up to three times."""
    told = _LIE
    return _claimed(language, kind, told, folder, commands=lies_of(language)[kind], is_lie=True)


def honest_work(language: str, kind: str, folder: Path) -> Claimed:
    """Run with an honest Worker."""
    told = CALCULATORS[language].honest[kind]
    return _claimed(language, kind, told, folder, commands=told.commands, is_lie=False)


def run_claim(
    language: str, told: Honest, folder: Path, commands: tuple[str, ...], claims: int
) -> tuple[Outcome, RunView]:
    """Make the project in `folder` and work through its spec with these commands for a Worker."""
    repository = folder / "repository"
    files = {**CALCULATORS[language].files, **told.before}
    for path, text in files.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text.replace("{counter}", str(folder / "counter")))
    commit(repository)
    spec, scenario = folder / "spec.md", folder / "scenario.yaml"
    spec.write_text(told.spec)
    lanes = _lanes(commands, claims, told.tests_that_change)
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "a claim", "lanes": lanes}))
    flags: dict[str, tuple[str, object]] = {"effort": ("effort", "low")}
    request = RunRequest(spec=spec, folder=repository, flags=flags, rehearse=scenario)
    with contextlib.redirect_stdout(io.StringIO()):
        outcome = run_new(request, RunEnvironment())
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        return outcome, fold(journal.read())


def commit(repository: Path) -> str:
    """Make a folder a repository with one commit of its files, and return the commit."""
    identity = ("-c", "user.name=Owner", "-c", "user.email=owner@localhost")
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "add", "--all")
    _git(repository, *identity, "commit", "--quiet", "--no-gpg-sign", "-m", "A project")
    return _git(repository, "rev-parse", "main")


def _claimed(
    language: str, kind: str, told: Honest, folder: Path, *, commands: tuple[str, ...], is_lie: bool
) -> Claimed:
    outcome, view = run_claim(language, told, folder, commands, claims=3 if is_lie else 1)
    return Claimed(
        language=language,
        kind=kind,
        is_lie=is_lie,
        outcome=outcome,
        moved=view.checkout.delivered is not None,
    )


def _lanes(
    commands: tuple[str, ...], claims: int, tests_that_change: tuple[Mapping[str, str], ...]
) -> dict[str, Any]:
    task = {
        "id": "mul",
        "title": "Multiply",
        "description": "Add mul(a, b).",
        "acceptance_criteria": ["mul multiplies"],
    }
    plan = {
        "tasks": [task],
        "criteria": [{"text": "mul is there", "task_ids": ["mul"]}],
        "tests_that_change": [dict(entry) for entry in tests_that_change],
    }
    passed = {"passed": True, "issues": [], "suggestions": []}
    satisfied = {"structured": {"verdict": "satisfied", "reason": "The session shows it.", "quote": ""}}
    return {
        "planner/analysis/1": [_signal("report_analysis", {"project_type": "a calculator", "stack": []})],
        "planner/plan/1": [_signal("submit_plan", plan)],
        "worker/mul/1": replies(*commands, claims=claims),
        "reviewer/*": [_signal("report_review", passed)],
        "judge/*": [satisfied],
    }


def _signal(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    return {"tools": [{"name": f"mcp__sq__{name}", "input": dict(given)}]}


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()
