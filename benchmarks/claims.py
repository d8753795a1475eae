"""A Worker's claim, true or not, as a whole run with a scripted Worker, judged by an oracle outside sq.

The projects are in `calculators.yaml` and `lies.yaml`. Reviewers and judges always agree, accept every
changed test and call every criterion met. The Worker does its work, then claims completion up to three
times.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import yaml

from benchmarks.rehearsed import (
    Callers,
    Rehearsed,
    Reply,
    agreeing,
    calls,
    commit,
    git,
    rehearse,
    reports,
    request_for,
)
from state.outcome import Outcome
from state.records.reviews import TestChangeKind

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
_scripted: Any = import_module("language.scripted_claude")

SPEC = "# Calculator\n\n- Add mul(a, b), which multiplies.\n- add(a, b) goes on adding.\n"
AS_TEXT = "- add(a, b) returns the sum as text from now on."
SPEC_AS_TEXT = f"# Calculator\n\n- Add mul(a, b), which multiplies.\n{AS_TEXT}\n"
_CLAIMS = 3
_CHANGED = re.compile(r"^## Tests that changed.*?^Rule on each", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^- (\S+) \((\w+)\): ", re.MULTILINE)
_PASSED = re.compile(r"^Tests that passed on this commit.*?:\n\n- (.+?)$", re.MULTILINE | re.DOTALL)
_ADDED = re.compile(r"^\+\+\+ b/(.+)\n@@ -\S+ \+(\d+)", re.MULTILINE)


class Start(StrEnum):
    """The Worker's first commands: a wrong product, the right one without and with its test, or nothing."""

    BROKEN = "broken"
    PRODUCT = "product"
    WORK = "work"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Shell commands before the Worker claims completion, and the end that an honest run must have.

    `says` is a part of the text that the run shows. `before` are files that replace the project's in the
    base. `spec` and `hidden` are the project's if they are "". `tests_that_change` are entries of the plan,
    and `criterion` is the kind of its criterion.
    """

    commands: tuple[str, ...]
    start: Start = Start.BROKEN
    outcome: Outcome = Outcome.COMPLETE
    says: str = ""
    before: Mapping[str, str] = field(default_factory=dict)
    spec: str = ""
    tests_that_change: tuple[Mapping[str, str], ...] = ()
    without_tests: str = ""
    criterion: str = "behaviour"
    hidden: str = ""


@dataclass(frozen=True, kw_only=True)
class Calculator:
    """A project. `files` are committed, and `programs` have to be on this machine.

    Shell commands: `broken` makes a wrong product and lies hide it, `product` makes the right one and
    `work` its test. `hidden` fails on a wrong product, and sq never sees it. `verify` is the user's
    command, "" if there is none.
    """

    name: str
    language: str
    programs: tuple[str, ...]
    files: Mapping[str, str]
    broken: str
    product: str = ""
    work: str
    hidden: str = ""
    verify: str = ""
    spec: str = SPEC
    lies: Mapping[str, Claim]
    honest: Mapping[str, Claim]

    @property
    def runs_here(self) -> bool:
        """Whether its tools are on this machine."""
        return all(shutil.which(program) for program in self.programs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The result of a claim. `moved`: the user's branch was. `right`: the hidden test passed, if it ran."""

    project: str
    kind: str
    claim: Claim | None
    run: Rehearsed
    moved: bool
    right: bool | None

    @property
    def believed(self) -> bool:
        """Whether a lie was taken for the truth."""
        return self.run.outcome is Outcome.COMPLETE or self.moved

    @property
    def as_it_should(self) -> bool:
        """Whether the run ended as it must."""
        claim, outcome = self.claim, self.run.outcome
        if claim is None:
            return outcome in {Outcome.STUCK, Outcome.UNVERIFIED} and not self.moved
        said = claim.says in " ".join(self.run.shown.split())
        return (
            outcome is claim.outcome
            and self.moved is (outcome is Outcome.COMPLETE)
            and said
            and self.right is not False
        )


def calculators(file: str) -> dict[str, Calculator]:
    """Read the projects of a file beside this one. `then` follows the commands of the project."""
    found = yaml.safe_load((Path(__file__).parent / file).read_text("utf-8"))
    return {
        name: msgspec.convert(
            {
                "language": name,
                **one,
                "name": name,
                "lies": _claims(one, one["lies"], Start.BROKEN),
                "honest": _claims(one, one["honest"], Start.WORK),
            },
            Calculator,
        )
        for name, one in found.items()
        if not name.startswith("_")
    }


def _claims(one: Mapping[str, Any], told: Mapping[str, Any], start: Start) -> dict[str, Any]:
    claims = {}
    for kind, given in told.items():
        claim = {"start": start, "then": [], **({"then": [given]} if isinstance(given, str) else given)}
        parts = {Start.WORK: ("product", "work"), Start.NOTHING: ()}.get(claim["start"], (claim["start"],))
        first = [one[part] for part in parts if part in one]
        claims[kind] = {**claim, "commands": [*first, *claim.pop("then")]}
    return claims


CALCULATORS = calculators("calculators.yaml")


def replies(*commands: str, claims: int = 1) -> list[Reply]:
    """A Worker's replies in a scenario: shell commands in its workspace, then claims of completion."""
    claim = reports("task_complete", summary="Done.", tests="All pass.")
    return [*(calls("Bash", command=command) for command in commands), *[claim] * claims]


def run_claim(one: Calculator, claim: Claim, folder: Path, *, kind: str = "", lie: bool = False) -> Claimed:
    """Make the project in `folder`, work through its spec with a Worker of this claim, and ask the oracle."""
    repository = folder / "repository"
    for path, text in {**one.files, **claim.before}.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text.replace("{counter}", str(folder / "counter")))
    before = commit(repository)
    flags = {"effort": "medium", **({"verify": (one.verify,)} if one.verify else {})}
    request = request_for(folder, _callers(claim), flags, spec=claim.spec or one.spec)
    done = rehearse(request, transport=AlwaysYes)
    moved = git(repository, "rev-parse", "main") != before
    hidden = claim.hidden or one.hidden
    right = _hidden(hidden, folder, "main" if moved else _branch_of(repository)) if hidden else None
    return Claimed(
        project=one.name, kind=kind, claim=None if lie else claim, run=done, moved=moved, right=right
    )


def _branch_of(repository: Path) -> str:
    """Return the branch with the work of the run, "" if nothing was merged into one."""
    return git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/sq").partition("\n")[0]


def _hidden(command: str, folder: Path, branch: str) -> bool | None:
    if not branch:
        return None
    clone = folder / "clone"
    git(folder, "clone", "--quiet", "--branch", branch, str(folder / "repository"), str(clone))
    return (
        subprocess.run(["bash", "-c", command], cwd=clone, capture_output=True, check=False).returncode == 0
    )


def _callers(claim: Claim) -> Callers:
    changes = [dict(entry) for entry in claim.tests_that_change]
    criteria = [{"text": "mul is there", "kind": claim.criterion, "task_ids": ["mul"]}]
    task = {"id": "mul", "title": "mul", "description": "Add mul.", "without_tests": claim.without_tests}
    callers = {**agreeing("mul", tasks=[task], tests_that_change=changes, criteria=criteria)}
    callers["reviewer/*"] *= _CLAIMS
    callers["planner/plan/*"] += agreeing("mul", criteria=criteria)[
        "planner/plan/*"
    ]  # if the plan is refused
    return {**callers, "worker/mul/*": replies(*claim.commands, claims=_CLAIMS)}


class AlwaysYes(_scripted.ScriptedClaude):  # type: ignore[misc]  # the tests' language has no types
    """Claude Code, played. Its reviewers accept each changed test and call each criterion met."""

    async def _done(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        if name == "mcp__sq__report_review":
            prompt = "\n".join(part.get("text", "") for one in self._history for part in one["content"])
            arguments = {**arguments, "tests": _accepted(prompt), "criteria": _met(prompt)}
        done: tuple[str, bool] = await super()._done(name, arguments)
        return done


def _accepted(prompt: str) -> list[dict[str, str]]:
    listed = "\n".join(_CHANGED.findall(prompt))
    lines = re.findall(r"^- (.+)$", listed, re.MULTILINE)
    names = {line.removesuffix(f" {kind}") for line in lines for kind in TestChangeKind}
    return [{"test": name, "ruling": "accepted", "why": "The spec asks for it."} for name in sorted(names)]


def _met(prompt: str) -> list[dict[str, Any]]:
    """Return verdicts, with the first test that the prompt lists or the first line of the change."""
    test, line = _PASSED.search(prompt), _ADDED.search(prompt)
    found = []
    for id_, kind in _CRITERION.findall(prompt):
        evidence = [{"kind": "line", "ref": f"{line[1]}:{line[2]}"}] if line and kind != "behaviour" else []
        if test and kind == "behaviour":
            evidence = [{"kind": "test", "ref": test[1]}]
        found.append({"id": id_, "verdict": "met", "reason": "It is.", "evidence": evidence})
    return found
