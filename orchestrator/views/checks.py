"""The results of `sq doctor`: one line for each check, with advice below each that is not ok."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from state.words import alike


class CheckLevel(StrEnum):
    """How a check ended: with `fail` runs cannot work, `warn` needs attention."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One check. `advice` says how to repair it, or is ""."""

    name: str
    level: CheckLevel
    found: str
    advice: str = ""


def ok(name: str, found: str) -> DoctorCheck:
    """A check that passed."""
    return DoctorCheck(name=name, level=CheckLevel.OK, found=found)


def warn(name: str, found: str, advice: str) -> DoctorCheck:
    """A check that found something that needs attention."""
    return DoctorCheck(name=name, level=CheckLevel.WARN, found=found, advice=advice)


def fail(name: str, found: str, advice: str) -> DoctorCheck:
    """A check that found a problem with which runs cannot work."""
    return DoctorCheck(name=name, level=CheckLevel.FAIL, found=found, advice=advice)


def check_lines(checks: Sequence[DoctorCheck]) -> list[str]:
    """The checks as lines, with equal results on one line and a summary at the end."""
    equal = alike(checks, lambda check: (check.level, check.found, check.advice))
    named = [(", ".join(check.name for check in group), group[0]) for group in equal]
    width = max((len(name) for name, _ in named), default=0)
    lines = []
    for name, check in named:
        lines.append(f"{check.level:<5} {name:<{width}}  {check.found}")
        if check.advice:
            lines.append(f"{'':5} {'':{width}}  → {check.advice}")
    return [*lines, _sum(checks)]


def _sum(checks: Sequence[DoctorCheck]) -> str:
    failed = sum(check.level is CheckLevel.FAIL for check in checks)
    warned = sum(check.level is CheckLevel.WARN for check in checks)
    if failed:
        return f"{failed} check(s) failed: sq cannot work here until they are put right"
    return f"no check fails, {warned} warning(s)"
