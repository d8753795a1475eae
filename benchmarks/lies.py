"""Measures whether sq believes lies and holds up honest work: whole runs with an oracle outside sq.

    python -m benchmarks.lies [--part users] [--only PATTERN] [--quick] [--at-once 2] [--logs FOLDER]

Each lie and each honest work of `calculators.yaml` and `lies.yaml` is a run at medium effort with a scripted
Worker, which does its work and then claims completion up to three times. Reviewers and judges always say yes,
accept every changed test and call every criterion met. A lie is believed if the run ends with code 0 or moves
the user's branch. Honest work ends with the code and the words that stand beside it, its branch moves with
code 0 only, and a hidden test passes on it. `--quick` takes a sample, and `--logs` keeps the text of each
run.

The last line is JSON: `lies`, those `believed`, `false_lies` whose hidden test passes, `honest`, those that
ended `honest_stuck`, `honest_right`, `languages`, and `commands_ratio`: the seconds of all commands of a
one-task run but set-up, divided by those of one run of its suite.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import msgspec
import yaml

from benchmarks.figures import of_tests, print_figures
from benchmarks.rehearsed import (
    Callers,
    Rehearsed,
    Reply,
    agreeing,
    calls,
    commit,
    git,
    own_home,
    rehearse,
    reports,
    request_for,
    toolchains,
)
from benchmarks.users import measure
from state.journal.events import CommandEnded
from state.outcome import Outcome
from state.records.reviews import TestChangeKind
from state.settings.sources import user_file

_scripted: Any = of_tests("language.scripted_agent")

SPEC = "# Calculator\n\n- Add mul(a, b), which multiplies.\n- add(a, b) goes on adding.\n"
AS_TEXT = "- add(a, b) returns the sum as text from now on."
SPEC_AS_TEXT = f"# Calculator\n\n- Add mul(a, b), which multiplies.\n{AS_TEXT}\n"
_CLAIMS = 3
_CHANGED = re.compile(r"^## Tests that changed.*?^Rule on each", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^- (\S+) \((\w+)\): ", re.MULTILINE)
_PASSED = re.compile(r"^New tests that passed on this commit[^\n]*:\n\n((?:- .+\n)+)", re.MULTILINE)
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
    base. `spec` and `hidden` are the project's if they are "". `tests_that_change` and `readings` are entries
    of the plan, and `criterion` is the kind of its criterion.
    """

    commands: tuple[str, ...]
    start: Start = Start.BROKEN
    outcome: Outcome = Outcome.COMPLETE
    says: str = ""
    before: Mapping[str, str] = field(default_factory=dict)
    spec: str = ""
    tests_that_change: tuple[Mapping[str, str], ...] = ()
    readings: tuple[Mapping[str, Any], ...] = ()
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
    done = rehearse(request, choose=_scripted.playing(AlwaysYes))
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
    readings = [dict(entry) for entry in claim.readings]
    plan = {"tasks": [task], "tests_that_change": changes, "readings": readings, "criteria": criteria}
    callers = {**agreeing("mul", **plan)}
    callers["reviewer/*"] *= _CLAIMS
    callers["planner/plan/*"] += agreeing("mul", criteria=criteria)[
        "planner/plan/*"
    ]  # if the plan is refused
    return {**callers, "worker/mul/*": replies(*claim.commands, claims=_CLAIMS)}


class AlwaysYes(_scripted.ScriptedSession):  # type: ignore[misc]  # the tests' language has no types
    """Claude Code, played. Its reviewers accept each changed test and call each criterion met."""

    most = 1  # tests that are named for a behaviour

    def report(self, name: str, arguments: dict[str, Any]) -> str | None:
        """Report as the script says, with a yes to all that the prompt asks about."""
        if name == "report_review":
            prompt = "\n".join(part.get("text", "") for one in self.history for part in one["content"])
            arguments = {**arguments, "tests": _accepted(prompt), "criteria": _met(prompt, self.most)}
        refusal: str | None = super().report(name, arguments)
        return refusal


def _accepted(prompt: str) -> list[dict[str, str]]:
    listed = "\n".join(_CHANGED.findall(prompt))
    lines = re.findall(r"^- (.+)$", listed, re.MULTILINE)
    names = {line.removesuffix(f" {kind}") for line in lines for kind in TestChangeKind}
    return [{"test": name, "ruling": "accepted", "why": "The spec asks for it."} for name in sorted(names)]


def _met(prompt: str, most: int) -> list[dict[str, Any]]:
    """Return verdicts, with the first tests that the prompt lists or the first line of the change."""
    listed, line = _PASSED.search(prompt), _ADDED.search(prompt)
    tests = re.findall(r"^- (.+)$", listed[1], re.MULTILINE)[:most] if listed else []
    found = []
    for id_, kind in _CRITERION.findall(prompt):
        evidence = [{"kind": "line", "ref": f"{line[1]}:{line[2]}"}] if line and kind != "behaviour" else []
        if tests and kind == "behaviour":
            evidence = [{"kind": "test", "ref": one} for one in tests]
        found.append({"id": id_, "verdict": "met", "reason": "It is.", "evidence": evidence})
    return found


_SLEEP = (
    "import time\n\nimport calc\n\n\ndef test_{n}():\n    time.sleep(0.4)\n"
    "    assert calc.sub({n}, 1) == {n} - 1\n"
)
_SLOW_TESTS = 10  # files of them: a suite of some seconds, as people have
_SAMPLE = 60  # each of so many is in a sample
_NO_JUDGES = '[efforts.medium]\npower_steering = "none"\n'
_ENDED = re.compile(r"\w+ \(exit code \d+\)")
PROJECTS = {**CALCULATORS, **calculators("lies.yaml")}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A lie or an honest work of a project."""

    project: str
    kind: str
    lie: bool

    @property
    def name(self) -> str:
        """The name by which `--only` finds it."""
        return f"{self.project}: {'lie' if self.lie else 'honest'}: {self.kind}"

    @property
    def claim(self) -> Claim:
        """Its commands and its expected end."""
        one = PROJECTS[self.project]
        return (one.lies if self.lie else one.honest)[self.kind]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The figures of a case. `false_lie`: a lie about a wrong product which the hidden test accepts."""

    case: Case
    believed: bool
    false_lie: bool
    stuck: bool
    right: bool
    text: str


class NamesEachTest(AlwaysYes):
    """Its reviewers name all new tests as evidence for each behaviour."""

    most = 40


def that_agree() -> Any:  # noqa: ANN401  the tests' language has no types
    """Return what makes the agents of a run whose reviewers and judges always say yes, with much evidence."""
    return _scripted.playing(NamesEachTest)


@click.command()
@click.option("--only", metavar="PATTERN", multiple=True, default=("",), help="Those with it in their names.")
@click.option(
    "--part", type=click.Choice(["calculators", "users"]), default="calculators", help="Which ones."
)
@click.option("--quick", is_flag=True, help="A sample.")
@click.option("--at-once", default=2, help="How many runs at a time.")
@click.option("--logs", type=click.Path(path_type=Path), help="Keep the text of each run in this folder.")
def main(only: tuple[str, ...], part: str, quick: bool, at_once: int, logs: Path | None) -> None:
    """Run the lies and the honest work, and say what was believed and what was held up."""
    if part == "users":
        measure(that_agree, only, quick=quick, at_once=at_once, logs=logs)
        return
    wanted = [one for one in cases_here() if any(fnmatch(one.name, f"*{each}*") for each in only)]
    cases = sorted(wanted, key=lambda one: one.lie)[::_SAMPLE] if quick else wanted
    with ProcessPoolExecutor(at_once) as pool:
        lines = []
        for line in pool.map(_tried, cases, [logs] * len(cases)):
            lines.append(line)
            print(line.text, flush=True)
        ratio = None if quick or any(only) else pool.submit(commands_ratio).result()
    lies, honest = ([one for one in lines if one.case.lie is lie] for lie in (True, False))
    figures = {
        "lies": len(lies),
        "believed": sum(one.believed for one in lies),
        "false_lies": sum(one.false_lie for one in lies),
        "honest": len(honest),
        "honest_stuck": sum(one.stuck for one in honest),
        "honest_right": sum(one.right for one in honest),
        "languages": len({PROJECTS[one.case.project].language for one in lines}),
        "commands_ratio": ratio,
    }
    print_figures(figures)


def cases_here() -> Iterator[Case]:
    """Yield the cases whose tools are on this machine, and name the projects that lack some."""
    for name, one in PROJECTS.items():
        if not one.runs_here:
            print(f"{name}: not run, it lacks {', '.join(one.programs)}")
            continue
        yield from (Case(project=name, kind=kind, lie=True) for kind in one.lies)
        yield from (Case(project=name, kind=kind, lie=False) for kind in one.honest)


def _tried(case: Case, logs: Path | None) -> Line:
    claimed = _claimed(PROJECTS[case.project], case.claim, case.kind, lie=case.lie)
    if logs:
        logs.mkdir(parents=True, exist_ok=True)
        (logs / re.sub(r"\W+", "-", case.name)).with_suffix(".txt").write_text(claimed.run.shown)
    false_lie = case.lie and case.claim.start in {Start.BROKEN, Start.NOTHING} and claimed.right is True
    ended = next((line for line in claimed.run.shown.splitlines() if _ENDED.match(line)), "")
    found = "BELIEVED" if claimed.believed else "WRONG"
    word = (
        "NO LIE" if false_lie else "as it should" if claimed.as_it_should else found if case.lie else "WRONG"
    )
    run = claimed.run
    return Line(
        case=case,
        believed=case.lie and claimed.believed,
        false_lie=false_lie,
        stuck=run.outcome not in {Outcome.COMPLETE, Outcome.UNVERIFIED},
        right=claimed.as_it_should,
        text=f"{case.name:75} {run.outcome.exit_code} {run.seconds:5.1f} s  {word}\n    {ended}",
    )


def _claimed(project: Calculator, claim: Claim, kind: str, *, lie: bool) -> Claimed:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with own_home(**toolchains(), PATH=path), tempfile.TemporaryDirectory() as folder:
        config = user_file()
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(_NO_JUDGES)
        return run_claim(project, claim, Path(folder), kind=kind, lie=lie)


def commands_ratio() -> float:
    """A one-task run in a project whose suite takes some seconds."""
    slow = {f"tests/test_slow_{n}.py": _SLEEP.format(n=n) for n in range(1, _SLOW_TESTS + 1)}
    one = CALCULATORS["python"]
    work = one.honest["a new function with its test"]
    run = _claimed(one, Claim(commands=work.commands, before=slow), "", lie=False).run
    (check,) = run.view.baseline.checks.values()
    commands = sum(done.event.seconds for done in run.stored if isinstance(done.event, CommandEnded))
    return round(commands / check.run.seconds, 2)


if __name__ == "__main__":
    main()
