"""Logs each verdict of a stop in the session's diagnostics: its source, its duration, and its rule's answer.

`sq gate usage` reads it. The rule of a check that the judge answered is asked only for the comparison.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.rules.found import Rule
from orchestrator.gates.session_state.diagnostics import Diagnostics
from state.verdicts import CheckResult, Source

CHECK, STOP = "check", "check_results"  # operations in `diagnostic.jsonl`
_DIGITS = 3  # of seconds, after the point


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
