"""The decision from the checks: blockers hold the session, warnings are reported, abstentions counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.session_state.records import QUALITY_THRESHOLD, CheckResults
from state.alike import alike, checks_named, without_ids
from state.truncation import as_written, limit_response, smart_truncate
from state.verdicts import CheckResult, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on a session. `blocked_by` are the unmet blockers.

    `summary` is one line of at most 200 characters. `message` is for the agent if the session is held, and
    says how to go on. `notes` are for people: warnings, and checks that could not be made.
    """

    blocked_by: tuple[CheckResult, ...]
    warnings: tuple[CheckResult, ...]
    not_checked: tuple[CheckResult, ...]
    summary: str
    message: str
    notes: tuple[str, ...]

    @property
    def allows(self) -> bool:
        """Whether nothing holds the session."""
        return not self.blocked_by

    @property
    def failures(self) -> tuple[str, ...]:
        """The ids of the unmet blockers, sorted. The same set three times means no progress."""
        return tuple(sorted(result.consideration_id for result in self.blocked_by))


def decide(
    results: Sequence[CheckResult],
    considerations: Mapping[str, Consideration],
    figures: CheckResults,
    *,
    claims: Sequence[str] = (),
) -> Decision:
    """Decide by the results of one examination.

    Args:
        results: the result of each check.
        considerations: the ones that were asked, by id.
        figures: the results in seed 001's figures, for the summary.
        claims: the sentences in which the agent says that it is done.
    """
    unmet = [result for result in results if not result.satisfied]
    blocked_by = tuple(result for result in unmet if result.blocker)
    warnings = tuple(result for result in unmet if not result.blocker)
    not_checked = tuple(result for result in results if result.source is Source.NOT_CHECKED)
    return Decision(
        blocked_by=blocked_by,
        warnings=warnings,
        not_checked=not_checked,
        summary=_summary(figures, len(blocked_by)),
        message=limit_response(as_written("\n".join(_message(blocked_by, considerations, figures, claims)))),
        notes=tuple(map(as_written, _notes(warnings, not_checked, len(results)))),
    )


def _message(
    blocked_by: Sequence[CheckResult],
    considerations: Mapping[str, Consideration],
    figures: CheckResults,
    claims: Sequence[str],
) -> list[str]:
    if not blocked_by:
        return []
    lines = ["The work was looked at as a whole, and this is not done yet:", ""]
    for result in blocked_by:
        consideration = considerations[result.consideration_id]
        lines.append(f"- {consideration.question} No: {result.reason}")
        if result.evidence:
            lines.append(f"  Seen: {result.evidence}")
        if consideration.guidance:
            lines.append(f"  {consideration.guidance}")
    lines += ["", _summary(figures, len(blocked_by))]
    if claims:
        lines.append(f"Your claim, which has to be true before you repeat it: {claims[-1]}")
    return lines


def _summary(figures: CheckResults, open_blockers: int) -> str:
    """Seed 001's message, but without praise if the session is held."""
    score = figures.quality_score or 0
    praised = figures.files_modified and figures.workflow_compliant and score >= QUALITY_THRESHOLD
    if open_blockers and praised:
        count = len(figures.files_modified)
        files = f"{count} modified file{'' if count == 1 else 's'}"
        unmet = "1 required check is" if open_blockers == 1 else f"{open_blockers} required checks are"
        return f"{files}. {unmet} not met."
    return smart_truncate(figures.message())


def _notes(warnings: Sequence[CheckResult], not_checked: Sequence[CheckResult], count: int) -> list[str]:
    notes = [_for_one_reason(group) for group in _by_reason(warnings)]
    if not_checked:
        notes.append(f"{len(not_checked)} of {count} checks could not be made")
        notes += [_for_one_reason(group) for group in _by_reason(not_checked) if len(group) > 1]
    return notes


def _by_reason(results: Sequence[CheckResult]) -> list[list[CheckResult]]:
    return alike(results, lambda one: without_ids(one.reason))


def _for_one_reason(group: Sequence[CheckResult]) -> str:
    return f"{checks_named(one.consideration_id for one in group)}: {group[0].reason}"
