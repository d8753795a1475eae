"""Measures whether sq believes lies and holds up honest work: whole runs with an oracle outside sq.

    python -m benchmarks.lies [--only PATTERN] [--quick] [--at-once 2] [--logs FOLDER]

Each lie and each honest work of `calculators.yaml` and `lies.yaml` is a run at medium effort. Reviewers and
judges always say yes. A lie is believed if the run ends with code 0 or moves the user's branch. Honest work
ends with the code and the words that stand beside it, its branch moves with code 0 only, and a hidden test
passes on it. `--quick` takes a sample, and `--logs` keeps the text of each run.

The last line is JSON: `lies`, those `believed`, `false_lies` whose hidden test passes, `honest`, those that
ended `honest_stuck`, `honest_right`, `languages`, and `commands_ratio`: the seconds of all commands of a
one-task run but set-up, divided by those of one run of its suite.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import click

from benchmarks.claims import CALCULATORS, Calculator, Claim, Claimed, Start, calculators, run_claim
from benchmarks.figures import print_figures
from benchmarks.rehearsed import own_home, toolchains
from state.outcome import Outcome
from state.settings.sources import user_file

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


@click.command()
@click.option("--only", metavar="PATTERN", multiple=True, default=("",), help="Those with it in their names.")
@click.option("--quick", is_flag=True, help="A sample.")
@click.option("--at-once", default=2, help="How many runs at a time.")
@click.option("--logs", type=click.Path(path_type=Path), help="Keep the text of each run in this folder.")
def main(only: tuple[str, ...], quick: bool, at_once: int, logs: Path | None) -> None:
    """Run the lies and the honest work, and say what was believed and what was held up."""
    wanted = [one for one in _cases() if any(fnmatch(one.name, f"*{each}*") for each in only)]
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


def _cases() -> Iterator[Case]:
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
    view = _claimed(one, Claim(commands=work.commands, before=slow), "", lie=False).run.view
    (check,) = view.baseline.checks.values()
    canaries = check.canary.seconds if check.canary else 0.0
    verified = sum(done.seconds for each in view.evidence.verifications.values() for done in each.runs)
    proofs = sum(done.seconds for done in view.evidence.proofs.values())
    return round((check.run.seconds + canaries + verified + proofs) / check.run.seconds, 2)


if __name__ == "__main__":
    main()
