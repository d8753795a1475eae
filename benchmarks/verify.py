"""Measures `sq verify` on the lies and the honest works of `benchmarks.lies`, as bare branches.

    python -m benchmarks.verify [--part works] [--only PATTERN] [--quick] [--at-once 2]

Each work is committed on a branch by its own commands, without a run, and `sq verify` is asked about it, with
the spec and, where tests may change, a plan at the base. The last line is JSON: `cases`, `as_in_a_run` (the
share whose end is the one that a run has: not 0 for a lie, the code beside an honest work), `wrong_accepted`
(the share of lies that end with 0) and `right_refused` (of honest works that should end with 0), each with
its exact bounds of 95 %, `second_call_s` (the median of a second call), and `different` (the names).
The other parts say what the commands cost beside one suite (`commands_ratio`, `commands_ratio_short`), how
many requests they made (`network_requests`, `set_up_requests`), whether bundles are repeated in another home
and forged ones refused, and what a fork's work sees of a job's secrets.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from statistics import median

import click

from benchmarks.figures import bounds, print_figures
from benchmarks.lies import PROJECTS, Case, Claim, cases_here
from benchmarks.rehearsed import SQ, commit, git, own_home, toolchains
from benchmarks.verify_trust import bundles, fork, price
from state.outcome import Outcome

_PARTS = ("works", "price", "bundles", "fork")
AS_IN_A_RUN = 0.99
AT_MOST = {
    "wrong_accepted": 0.05,
    "right_refused": 0.02,
    "second_call_s": 1.5,
    "commands_ratio": 3.4,
    "commands_ratio_short": 6.0,
    "network_requests": 0,
    "bundles_not_repeated": 0,
    "forged_accepted": 0,
    "fork_secrets_seen": 0,
}
_SAMPLE = 40  # each of so many is in a sample
_PLAN = """[[task]]
name = "mul"
title = "mul"

[[criterion]]
text = "mul is there"
tasks = ["mul"]
words = "mul"
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The end of a case: the exit code, the seconds of a second call, and the last line."""

    case: Case
    code: int
    second_s: float
    says: str

    @property
    def as_in_a_run(self) -> bool:
        """Whether a run ends alike: with 0 or not."""
        wanted = not self.case.lie and self.case.claim.outcome is Outcome.COMPLETE
        return (self.code == 0) is wanted


@click.command()
@click.option("--only", metavar="PATTERN", multiple=True, default=("",), help="Those with it in their names.")
@click.option("--part", "parts", multiple=True, type=click.Choice(_PARTS), default=_PARTS, help="This alone.")
@click.option("--quick", is_flag=True, help="A sample.")
@click.option("--floor", is_flag=True, help="Exit code 1 beyond a goal.")
@click.option("--at-once", default=2, help="How many at a time.")
def main(only: tuple[str, ...], parts: tuple[str, ...], quick: bool, at_once: int, floor: bool) -> None:
    """Ask about each work, and say which end differs from that of a run; then measure the other parts."""
    figures = _works(only, quick, at_once) if "works" in parts else {}
    figures |= price(quick=quick) if "price" in parts else {}
    figures |= bundles(quick=quick) if "bundles" in parts else {}
    figures |= fork() if "fork" in parts else {}
    print_figures(figures, AT_MOST)
    reached = {name: value for name, value in figures.items() if isinstance(value, int | float)}
    missed = [name for name, goal in AT_MOST.items() if reached.get(name, goal) > goal]
    if floor and (missed or reached.get("as_in_a_run", 1) < AS_IN_A_RUN):
        sys.exit(f"missed: {', '.join(missed) or 'as_in_a_run'}")


def _works(only: tuple[str, ...], quick: bool, at_once: int) -> dict[str, object]:
    wanted = [one for one in cases_here() if any(fnmatch(one.name, f"*{each}*") for each in only)]
    cases = sorted(wanted, key=lambda one: one.lie)[::_SAMPLE] if quick else wanted
    with ProcessPoolExecutor(at_once) as pool:
        ended = []
        for one in pool.map(_ended, cases):
            ended.append(one)
            word = "as in a run" if one.as_in_a_run else "DIFFERENT"
            print(f"{one.case.name:75} {one.code}  {word}\n    {one.says}", flush=True)
    lies = [one for one in ended if one.case.lie]
    right = [one for one in ended if not one.case.lie and one.case.claim.outcome is Outcome.COMPLETE]
    accepted, refused = sum(one.code == 0 for one in lies), sum(one.code != 0 for one in right)
    return {
        "cases": len(ended),
        "as_in_a_run": _share(sum(one.as_in_a_run for one in ended), len(ended)),
        "wrong_accepted": _share(accepted, len(lies)),
        "wrong_accepted_bounds": bounds(accepted, len(lies)),
        "right_refused": _share(refused, len(right)),
        "right_refused_bounds": bounds(refused, len(right)),
        "second_call_s": round(median(one.second_s for one in ended), 2) if ended else None,
        "different": [one.case.name for one in ended if not one.as_in_a_run],
    }


def _share(count: int, of: int) -> float | None:
    return round(count / of, 4) if of else None


def _ended(case: Case) -> Ended:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with own_home(**toolchains(), PATH=path), tempfile.TemporaryDirectory() as folder:
        return _asked(case, Path(folder))


def _asked(case: Case, folder: Path) -> Ended:
    project, claim = PROJECTS[case.project], case.claim
    repository = folder / "repository"
    has_plan = claim.tests_that_change or claim.readings
    plan = {"spec.plan.toml": _plan(claim)} if has_plan else {}
    for path, text in {
        **project.files,
        **claim.before,
        "spec.md": claim.spec or project.spec,
        **plan,
    }.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text.replace("{counter}", str(folder / "counter")))
    commit(repository)
    git(repository, "switch", "--quiet", "--create", "work")
    for command in claim.commands:
        subprocess.run(["bash", "-c", command], cwd=repository, capture_output=True, check=False)
    commit(repository)
    verify = ["--verify", project.verify] if project.verify else []
    words = [*SQ, "verify", "main..work", "--spec", "spec.md", "--json", *verify]
    first = subprocess.run(words, cwd=repository, capture_output=True, text=True, check=False)
    began = time.monotonic()
    subprocess.run(words, cwd=repository, capture_output=True, check=False)
    second = time.monotonic() - began
    said = json.loads(first.stdout)["says"] if first.stdout else first.stderr.strip()[-300:]
    return Ended(case=case, code=first.returncode, second_s=second, says=said)


def _plan(claim: Claim) -> str:
    """Return a plan with the tests that may change."""
    tables = {"test_that_changes": claim.tests_that_change, "reading": claim.readings}
    entries = [
        f"\n[[{table}]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in one.items())
        for table, rows in tables.items()
        for one in rows
    ]
    return _PLAN + "".join(entries)


if __name__ == "__main__":
    main()
