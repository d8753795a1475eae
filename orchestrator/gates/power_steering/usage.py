"""How power steering was used, from the diagnostics of a project's sessions: the judge's share (seed 000).

The share is of the checks at stops with a judge to ask. The seed's target is 95 %.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from orchestrator.gates.power_steering.recorded import CHECK, STOP
from orchestrator.gates.session_state.diagnostics import log_files
from state.verdicts import Source

TARGET = 0.95  # of the checks at stops with a judge (seed 000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One check that the judge and its rule answered differently. The judge's answer counted."""

    consideration: str
    session: str
    at: str
    judge_satisfied: bool
    rule_satisfied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringUsage:
    """The figures from the logs of some sessions. A figure is None if there is nothing to compute it from.

    `judge_could` are the checks at stops with a judge, `judge_did` those of them that it answered. `compared`
    are those that both the judge and a rule answered.
    """

    sessions: int
    stops: int
    checks: int
    by_source: Mapping[str, int]
    judge_could: int
    judge_did: int
    judge_share: float | None
    target: float
    target_kept: bool | None
    median_seconds: Mapping[str, float]
    longest_seconds: Mapping[str, float]
    compared: int
    disagreements: tuple[Disagreement, ...]


def usage_in(folders: Iterable[Path]) -> SteeringUsage:
    """The usage by the diagnostics in these folders. Lines that cannot be read are left out."""
    entries = [entry for folder in folders for entry in _entries(folder)]
    checks = [entry for entry in entries if entry.get("operation") == CHECK]
    could = [entry for entry in checks if entry.get("had_judge") is True]
    did = [entry for entry in could if entry.get("source") == Source.JUDGE]
    both = [entry for entry in did if isinstance(entry.get("rule_satisfied"), bool)]
    share = len(did) / len(could) if could else None
    seconds = {str(source): _seconds(checks, source) for source in Source}
    return SteeringUsage(
        sessions=len({str(entry.get("session_id")) for entry in checks}),
        stops=sum(entry.get("operation") == STOP for entry in entries),
        checks=len(checks),
        by_source={source: len(spans) for source, spans in seconds.items()},
        judge_could=len(could),
        judge_did=len(did),
        judge_share=share,
        target=TARGET,
        target_kept=None if share is None else share >= TARGET,
        median_seconds={source: median(spans) for source, spans in seconds.items() if spans},
        longest_seconds={source: max(spans) for source, spans in seconds.items() if spans},
        compared=len(both),
        disagreements=tuple(_disagreements(both)),
    )


def most_disputed(usage: SteeringUsage) -> list[tuple[str, int]]:
    """The considerations that judge and rule disagreed on, with the number of times, most disputed first."""
    return Counter(one.consideration for one in usage.disagreements).most_common()


def _disagreements(both: Iterable[Mapping[str, object]]) -> Iterator[Disagreement]:
    for entry in both:
        if entry["satisfied"] is not entry["rule_satisfied"]:
            yield Disagreement(
                consideration=str(entry.get("consideration")),
                session=str(entry.get("session_id")),
                at=str(entry.get("timestamp")),
                judge_satisfied=entry["satisfied"] is True,
                rule_satisfied=entry["rule_satisfied"] is True,
            )


def _seconds(checks: Iterable[Mapping[str, object]], source: Source) -> list[float]:
    found = [entry.get("seconds") for entry in checks if entry.get("source") == source]
    return [float(one) if isinstance(one, int | float) else 0.0 for one in found]


def _entries(folder: Path) -> Iterator[Mapping[str, object]]:
    for file in log_files(folder):
        try:
            lines = file.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                yield entry
