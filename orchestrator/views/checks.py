"""What `sq doctor` found, one line a check, and below each that is not ok what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from state.alike import alike


class Level(StrEnum):
    """How a check ended: `fail` keeps runs from working, `warn` is something to know or to do."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at. `advice` says what to do; empty where there is nothing to do."""

    name: str
    level: Level
    found: str
    advice: str = ""


def ok(name: str, found: str) -> Check:
    """A check that found what it should."""
    return Check(name=name, level=Level.OK, found=found)


def warn(name: str, found: str, advice: str) -> Check:
    """A check that found something to know or to do."""
    return Check(name=name, level=Level.WARN, found=found, advice=advice)


def fail(name: str, found: str, advice: str) -> Check:
    """A check that found what keeps runs from working."""
    return Check(name=name, level=Level.FAIL, found=found, advice=advice)


def check_lines(checks: Sequence[Check]) -> list[str]:
    """The checks as lines, those that found the same as one, with a last one that sums them up."""
    equal = alike(checks, lambda check: (check.level, check.found, check.advice))
    named = [(", ".join(check.name for check in group), group[0]) for group in equal]
    width = max((len(name) for name, _ in named), default=0)
    lines = []
    for name, check in named:
        lines.append(f"{check.level:<5} {name:<{width}}  {check.found}")
        if check.advice:
            lines.append(f"{'':5} {'':{width}}  → {check.advice}")
    return [*lines, _sum(checks)]


def _sum(checks: Sequence[Check]) -> str:
    failed = sum(check.level is Level.FAIL for check in checks)
    warned = sum(check.level is Level.WARN for check in checks)
    if failed:
        return f"{failed} check(s) failed: sq cannot work here until they are put right"
    return f"no check fails; {warned} warning(s)"
