"""Planted faults of specs, and how many of them `sq check` finds with the model that it reaches.

    python -m tests.language.spec_faults [--only NAME …] [--out FILE] [OPTION OF SQ CHECK …]

The model is that of ANTHROPIC_API_KEY, and of ANTHROPIC_BASE_URL if it is set. Labels are never in a file that a
session can see. Goals: 80 % of the planted faults found, at most one finding on a good spec. Run it where sq's
checkout is out of reach of sessions, which the sandbox sees to. The last line is JSON.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from benchmarks.rehearsed import SQ, commit, reports
from state.records.spec_check import FaultKind

_FOLDER = Path(__file__).with_name("spec_fault_files")
Finding = dict[str, Any]  # as `sq check --json` prints it


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """A planted fault: its lines in the spec, from 1, its kind, and kinds by which it goes as well."""

    kind: FaultKind
    lines: frozenset[int]
    also: frozenset[FaultKind]

    def is_found_by(self, finding: Finding) -> bool:
        """Whether a finding speaks of one of its lines, as a fault of a plausible kind."""
        kind = FaultKind(finding["kind"])
        return bool(self.lines & {*finding["lines"]}) and (kind is self.kind or kind in self.also)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecCase:
    """One spec with the files of its repository. A good spec has no faults."""

    name: str
    spec: str
    files: dict[str, str]
    faults: tuple[PlantedFault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScore:
    """What was found in one spec. `error`: why it could not be checked, "" if it was."""

    case: SpecCase
    findings: tuple[Finding, ...] = ()
    error: str = ""

    @property
    def found(self) -> list[PlantedFault]:
        """The planted faults that were found."""
        return [fault for fault in self.case.faults if any(map(fault.is_found_by, self.findings))]

    @property
    def others(self) -> int:
        """How many findings speak of no planted fault."""
        return sum(not any(fault.is_found_by(one) for fault in self.case.faults) for one in self.findings)


def all_cases() -> list[SpecCase]:
    """Return all specs, those with faults first."""
    repositories = _read("repositories")
    return [
        SpecCase(
            name=name,
            spec=one["spec"],
            files=repositories[one["repository"]],
            faults=tuple(_fault(fault, one["spec"]) for fault in one["faults"]),
        )
        for file in ("faulty", "good")
        for name, one in _read(file).items()
    ]


def _read(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8"))
    return read


def _fault(said: dict[str, Any], spec: str) -> PlantedFault:
    lines = [_line_of(text, spec) for text in said["at"]]
    also = frozenset(map(FaultKind, said.get("also", ())))
    return PlantedFault(kind=FaultKind(said["kind"]), lines=frozenset(lines), also=also)


def _line_of(text: str, spec: str) -> int:
    (line,) = (number for number, line in enumerate(spec.splitlines(), start=1) if text in line)
    return line


def figures_of(scores: Sequence[CaseScore]) -> dict[str, float]:
    """Return the figures of the benchmark. In a spec that could not be checked nothing counts as found."""
    good = [one for one in scores if not one.case.faults]
    planted = sum(len(one.case.faults) for one in scores)
    found = sum(len(one.found) for one in scores)
    return {
        "planted": planted,
        "found": found,
        "found_share": found / planted if planted else 0.0,
        "good_specs": len(good),
        "alarms_on_good_specs": sum(len(one.findings) for one in good),
        "most_alarms_on_a_good_spec": max((len(one.findings) for one in good), default=0),
        "other_findings": sum(one.others for one in scores if one.case.faults),
        "not_checked": sum(bool(one.error) for one in scores),
    }


_LEAST_SHARE, _MOST_ALARMS = 0.8, 1
_CODES = (0, 3)  # of a check that took place
_LONGEST_S = 1_800


def checked(case: SpecCase, *options: str, answers: list[Finding] | None = None) -> CaseScore:
    """Return what `sq check` finds in a spec, in a new repository. `answers`: a script plays the model."""
    with tempfile.TemporaryDirectory(prefix="sq-spec-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for path, text in case.files.items():
            file = folder / "project" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        commit(folder / "project")
        (folder / "spec.md").write_text(case.spec, "utf-8")
        command = [*SQ, "check", "--spec", str(folder / "spec.md"), "--json", *options]
        if answers is not None:
            command += ["--rehearse", str(_scenario(folder, answers))]
        try:
            done = subprocess.run(
                command,
                cwd=folder / "project",
                capture_output=True,
                text=True,
                check=False,
                timeout=_LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return CaseScore(case=case, error=f"it took more than {_LONGEST_S} s")
        if done.returncode not in _CODES:
            last = (done.stderr or done.stdout).strip().splitlines()
            return CaseScore(case=case, error=last[-1] if last else f"exit code {done.returncode}")
        said = json.loads(done.stdout.strip().splitlines()[-1])
        return CaseScore(case=case, findings=tuple(one["finding"] for one in said["findings"]))


def _scenario(folder: Path, answers: list[Finding]) -> Path:
    reply = reports("report_analysis", project_type="a project", stack=[], spec_findings=answers)
    file = folder / "scenario.yaml"
    file.write_text(yaml.safe_dump({"scenario": 1, "callers": {"planner/analysis/*": [reply]}}), "utf-8")
    return file


def scripted(cases: Mapping[str, SpecCase]) -> dict[str, list[Finding]]:
    """Return scripted answers: a right one, one of a wrong kind, one at a wrong line, and a false alarm."""

    def said(fault: PlantedFault, **other: object) -> Finding:
        about = {"kind": str(fault.kind), "lines": sorted(fault.lines), "decides_outcome": True, **other}
        return {**about, "question": "Which?", "why": "Both.", "options": ["a", "b"], "recommended": "a"}

    (right,), (kind,), (line,) = (cases[name].faults for name in ("coupon", "search", "tax"))
    return {
        "coupon": [said(right)],
        "search": [said(kind, kind="already there")],
        "tax": [said(line, lines=[1])],
        "sum": [said(right, lines=[3])],
    }


def main() -> None:
    """Print a row for each spec and the figures, and end with code 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.language.spec_faults")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these specs alone")
    parser.add_argument("--out", type=Path, help="a JSON file for all findings")
    given, options = parser.parse_known_args()
    cases = {case.name: case for case in all_cases()}
    if unknown := set(given.only or ()) - set(cases):
        sys.exit(f"no such spec: {', '.join(sorted(unknown))}. Known are {', '.join(cases)}")
    chosen = [case for name, case in cases.items() if name in (given.only or cases)]
    chosen.sort(key=lambda case: sha256(case.name.encode()).digest())  # faulty and good ones are mixed
    scores = []
    for case in chosen:
        scores.append(checked(case, *options))
        print(f"{case.name:<12} checked", flush=True)  # noqa: T201  whoever answers learns no result before the end
    if given.out:
        rows = [{"name": one.case.name, "findings": one.findings, "error": one.error} for one in scores]
        given.out.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(*map(_row, scores), sep="\n")  # noqa: T201
    figures = figures_of(scores)
    print(json.dumps(figures))  # noqa: T201
    reached = figures["found_share"] >= _LEAST_SHARE and figures["most_alarms_on_a_good_spec"] <= _MOST_ALARMS
    sys.exit(not reached or bool(figures["not_checked"]))


def _row(score: CaseScore) -> str:
    name = f"{score.case.name:<12}"
    if score.error:
        return f"{name} not checked: {score.error}"
    if not score.case.faults:
        return f"{name} good        findings {len(score.findings)}"
    kinds = ", ".join(str(fault.kind) for fault in score.case.faults)
    what = "found " if len(score.found) == len(score.case.faults) else "missed"
    return f"{name} {what} {kinds:<24} other findings {score.others}"


if __name__ == "__main__":
    main()
