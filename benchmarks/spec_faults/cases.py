"""The specs of the benchmark with their labels, and the score of what `sq check` says about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from state.records.spec_check import FaultKind

_FOLDER = Path(__file__).parent
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
