"""Logs each verdict of a stop in the session's diagnostics, and reads the judge's share from it (seed 000).

The share is of the checks at stops with a judge to ask. The seed's target is 95 %. The rule of a check that
the judge answered is asked only for the comparison.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.facts import Rule, SessionEvidence
from orchestrator.gates.session_state.diagnostics import Diagnostics, log_files
from state.verdicts import CheckResult, Source

TARGET = 0.95  # of the checks at stops with a judge (seed 000)
CHECK, STOP = "check", "check_results"  # operations in `diagnostic.jsonl`
_DIGITS = 3  # of seconds, after the point


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


def record_verdicts(
    diagnostics: Diagnostics,
    evidence: SessionEvidence,
    considerations: Sequence[Consideration],
    examination: Examination,
    rules: Mapping[str, Rule],
    *,
    had_judge: bool,
) -> None:
    """Log an entry for each check and one for the stop. It never raises.

    Args:
        diagnostics: the session's.
        evidence: the session that was examined.
        considerations: all that might have been asked.
        examination: its result.
        rules: by name, to be compared with the judge's answers.
        had_judge: whether there was a judge to ask.
    """
    named = {one.id: one.rule or one.id for one in considerations}
    for result in examination.results:
        diagnostics.log(
            CHECK,
            consideration=result.consideration_id,
            source=str(result.source),
            satisfied=None if result.source is Source.NOT_CHECKED else result.satisfied,
            applies=result.applies,
            seconds=round(result.seconds, _DIGITS),
            had_judge=had_judge,
            rule_satisfied=_rules_word(result, rules.get(named.get(result.consideration_id, "")), evidence),
        )
    figures, decision = examination.figures, examination.decision
    diagnostics.log(
        STOP,
        allows=decision.allows,
        failures=decision.failures,
        files_modified=len(figures.files_modified),
        workflow_compliant=figures.workflow_compliant,
        quality_score=figures.quality_score,
        had_judge=had_judge,
    )


def _rules_word(result: CheckResult, rule: Rule | None, evidence: SessionEvidence) -> bool | None:
    """The answer of the check's rule. None if it does not decide or there is no rule."""
    if result.source is Source.RULE:
        return result.satisfied
    if result.source is not Source.JUDGE or rule is None:
        return None
    with suppress(Exception):  # it is asked only for a statistic
        found = rule(evidence)
        return found.satisfied if found else None
    return None
