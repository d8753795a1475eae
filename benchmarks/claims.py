"""A Worker's claim about a calculator, true or not, as a whole run, rehearsed on the real CLI.

The calculators are in three languages (`calculators.yaml`). Reviewers and judges always agree.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import yaml

from benchmarks.rehearsed import Lanes, Reply, agreeing, calls, commit, rehearse, reports, request_for
from state.journal.view import RunView
from state.outcome import Outcome

SPEC = "# Calculator\n\n- Add mul(a, b), which multiplies.\n- add(a, b) goes on adding.\n"
AS_TEXT = "- add(a, b) returns the sum as text from now on."
SPEC_AS_TEXT = f"# Calculator\n\n- Add mul(a, b), which multiplies.\n{AS_TEXT}\n"


@dataclass(frozen=True, kw_only=True)
class Honest:
    """Honest work: shell commands before the Worker claims completion, and the end that such a run must have.

    `before` are files that replace the project's in the base, `tests_that_change` are entries of the plan.
    """

    commands: tuple[str, ...]
    outcome: Outcome = Outcome.COMPLETE
    before: Mapping[str, str] = field(default_factory=dict)
    spec: str = SPEC
    tests_that_change: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Calculator:
    """A project. `files` are committed, and `programs` have to be on this machine.

    Shell commands of its Worker: `broken` breaks `add` and `lies` hide it. `work` is what the spec asks for.
    """

    name: str
    programs: tuple[str, ...]
    files: Mapping[str, str]
    broken: str
    work: str
    lies: Mapping[str, str]
    honest: Mapping[str, Honest]


def _calculators() -> dict[str, Calculator]:
    """Read the calculators. Honest work begins with the `work` of its project."""
    found = yaml.safe_load((Path(__file__).parent / "calculators.yaml").read_text("utf-8"))
    for one in found.values():
        for told in one["honest"].values():
            told["commands"] = [one["work"], *told.pop("then", [])]
    return {name: msgspec.convert({**one, "name": name}, Calculator) for name, one in found.items()}


CALCULATORS = _calculators()
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


def replies(*commands: str, claims: int = 1) -> list[Reply]:
    """A Worker's replies in a scenario: shell commands in its workspace, then claims of completion."""
    claim = reports("task_complete", summary="Done.", tests="All pass.")
    return [*(calls("Bash", command=command) for command in commands), *[claim] * claims]


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
    lanes = _lanes(commands, claims, told.tests_that_change)
    done = rehearse(request_for(folder, lanes, {"effort": "low"}, spec=told.spec))
    return done.outcome, done.view


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


def _lanes(commands: tuple[str, ...], claims: int, tests_that_change: tuple[Mapping[str, str], ...]) -> Lanes:
    changes = [dict(entry) for entry in tests_that_change]
    return {**agreeing("mul", tests_that_change=changes), "worker/mul/1": replies(*commands, claims=claims)}
