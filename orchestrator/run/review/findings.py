"""Findings through the rounds of a task's reviews: which still block, and the state of the others.

A loop of reviews has to end. So a repeated issue is recognised, a Worker may dispute it, and the minimum
weight of an issue rises from round to round. A report that passes clears each open finding that it does not
rule open. A finding that a failing report leaves out stays open.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from agents.roles.worker import signal_of
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.calls import TASK_COMPLETE
from state.records.reviews import Dispute, Finding, FindingState, IssueType, ReviewIssue, ReviewReport, Ruling

# A wrong result is worth as many rounds as the effort allows, a missing guard or a wrong cut two or three.
# Matters of taste count once: a reviewer always finds more of them, and each round costs a whole attempt.
WEIGHTS: Mapping[IssueType, int] = {
    IssueType.INCORRECT_BEHAVIOR: 3,
    IssueType.SPEC_MISMATCH: 3,
    IssueType.MISSING_ERROR_HANDLING: 2,
    IssueType.ARCHITECTURE_CONCERN: 2,
    IssueType.OVER_ENGINEERING: 1,
    IssueType.PATTERN_VIOLATION: 1,
    IssueType.DEAD_CODE: 1,
}
MERGING = "the merge"  # sends a task back for a failure that sq itself has seen
_HIGHEST = max(WEIGHTS.values())
_UNDECIDED = frozenset({FindingState.OPEN, FindingState.DISPUTED})
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a review: all findings, and suggestions in words."""

    findings: tuple[Finding, ...]
    suggestions: tuple[str, ...]

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that prevent acceptance: exactly the open ones."""
        return tuple(finding for finding in self.findings if finding.state is FindingState.OPEN)


def fingerprint(issue: ReviewIssue) -> str:
    """Return a hash of an issue's type, file and words. Lines and numbers do not count, because they move."""
    words = " ".join(_WORD.findall(issue.description.casefold()))
    return hashlib.sha256(f"{issue.type}\n{_plain(issue.file)}\n{words}".encode()).hexdigest()[:8]


def as_findings(*issues: ReviewIssue) -> tuple[Finding, ...]:
    """Return reported issues as open findings. From here on a finding is known by its id."""
    return tuple(Finding(id=fingerprint(issue), issue=issue) for issue in issues)


def in_folder(issues: Iterable[ReviewIssue], folder: str, task_id: str | None = None) -> list[ReviewIssue]:
    """Return the issues with paths relative to the folder that was read, and `task_id` if it is given."""
    return [
        replace(
            issue,
            file=_plain(issue.file).removeprefix(f"{_plain(folder)}/"),
            task_id=issue.task_id if task_id is None else task_id,
        )
        for issue in issues
    ]


def known_of(task: TaskView) -> tuple[Finding, ...]:
    """Return the findings on a task so far, with those for which another review sent it back as open ones.

    A finding that sq itself has made needs no ruling, because sq has checked again before the review.
    """
    known = {finding.id: finding for finding in task.review.findings}
    for one in task.review.open:
        finding = known.get(one.id, Finding(id=one.id, issue=one.issue))
        again = replace(finding, state=FindingState.OPEN, note="")
        known[one.id] = finding if finding.state in _UNDECIDED else again
    refused = tuple(f"the test {ruling.test} " for ruling in task.review.rulings if not ruling.accepted)
    own = {one.id for one in task.review.open if task.review.reopened_by == MERGING}
    return tuple(
        replace(finding, state=FindingState.FIXED, note="")
        if finding.id in own or finding.issue.description.startswith(refused)
        else finding
        for finding in known.values()
    )


def final_known(view: RunView) -> tuple[Finding, ...]:
    """Return the findings of the final review, updated by later reviews of the tasks."""
    states: dict[str, set[FindingState]] = {}
    for task in view.tasks.values():
        for finding in task.review.findings:
            states.setdefault(finding.id, set()).add(finding.state)
    return tuple(
        replace(finding, state=FindingState.FIXED)
        if finding.state in _UNDECIDED and states.get(finding.id) and not states[finding.id] & _UNDECIDED
        else finding
        for finding in view.whole.findings
    )


def disputes_of(view: RunView, task: TaskView) -> list[Dispute]:
    """Return the disputes in the newest attempt's claims of completion, oldest first."""
    reports = [signal_of(view.calls[id_]) for id_ in task.open.calls]
    claims = [said for name, said in reports if name == TASK_COMPLETE]
    return [Dispute(**dispute) for claim in claims for dispute in claim.get("disputes", ())]


def with_disputes(known: Iterable[Finding], disputes: Iterable[Dispute]) -> tuple[Finding, ...]:
    """Return the findings, with those still open that a Worker disputes marked, with its evidence."""
    evidence = {dispute.id: dispute.evidence for dispute in disputes}
    return tuple(
        replace(finding, state=FindingState.DISPUTED, note=evidence[finding.id])
        if finding.id in evidence and finding.state in _UNDECIDED
        else finding
        for finding in known
    )


def undecided(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that a review has to rule on: open or disputed."""
    return [finding for finding in findings if finding.state in _UNDECIDED]


def unruled(findings: Iterable[Finding], report: ReviewReport) -> list[Finding]:
    """Return the findings that need a ruling and have none in the report.

    A finding that is reported again is ruled open by that. One that only a checkpoint has named needs none.
    """
    ruled = {*(ruling.id for ruling in report.rulings), *map(fingerprint, report.issues)}
    return [
        one
        for one in undecided(findings)
        if one.id not in ruled and not (one.advice and one.state is FindingState.OPEN)
    ]


def undisputed(findings: Iterable[Finding], disputes: Iterable[Dispute]) -> list[str]:
    """Return the ids of those findings against which there is no evidence."""
    disputed = {dispute.id for dispute in disputes}
    return [id_ for id_ in dict.fromkeys(one.id for one in findings) if id_ not in disputed]


def with_new(
    known: Iterable[Finding], added: Iterable[Finding], number: int, *, advice: bool = False
) -> tuple[Finding, ...]:
    """Return the findings with these ones added, open. `number` is the round of the next review.

    `advice`: a checkpoint names them.
    """
    findings = {finding.id: finding for finding in known}
    for one in added:
        before = findings.get(one.id, Finding(id=one.id, issue=one.issue, round=number))
        note = before.note if before.state is FindingState.OPEN else ""
        unruled = before.unruled and before.state is FindingState.OPEN
        is_advice = advice and (before.advice or one.id not in findings)
        findings[one.id] = replace(
            before, issue=one.issue, state=FindingState.OPEN, note=note, unruled=unruled, advice=is_advice
        )
    return tuple(findings.values())


def settle(
    known: Iterable[Finding], disputes: Iterable[Dispute], report: ReviewReport, number: int
) -> Settled:
    """Return the consequences of a report.

    An open finding without a ruling is fixed if the report passes, or if only a checkpoint has named it, and
    stays open otherwise. A disputed one stays disputed. A finding that is reported again is open. An open
    finding below this round's minimum weight becomes a suggestion and does not block.

    Args:
        known: the findings so far.
        disputes: those that the Worker disputes, with evidence.
        number: the number of the round, from 1.
    """
    rulings = {ruling.id: ruling for ruling in report.rulings}
    ruled = [
        _ruled(finding, rulings.get(finding.id), passed=report.passed)
        for finding in with_disputes(known, disputes)
    ]
    ruled_on = with_new(ruled, as_findings(*report.issues), number)
    findings = [_held_to_the_bar(finding, number) for finding in ruled_on]
    below = [now for now, was in zip(findings, ruled_on, strict=True) if now.state is not was.state]
    return Settled(
        findings=tuple(findings),
        suggestions=tuple(_in_words(finding) for finding in below),
    )


def left_aside(settled: Settled, why: Mapping[str, str]) -> Settled:
    """Return the same, with findings that need no fix (`why`, by id) as suggestions."""
    aside = [one for one in settled.findings if one.state is FindingState.OPEN and one.id in why]
    ended = {one.id: replace(one, state=FindingState.WONT_FIX, note=why[one.id]) for one in aside}
    findings = tuple(ended.get(one.id, one) for one in settled.findings)
    return Settled(
        findings=findings,
        suggestions=(*settled.suggestions, *(_in_words(one) for one in ended.values())),
    )


def _ruled(finding: Finding, ruling: Ruling | None, *, passed: bool) -> Finding:
    if ruling is None and finding.state is FindingState.OPEN and (passed or finding.advice):
        return replace(finding, state=FindingState.FIXED, note="", unruled=False)
    if ruling is None or ruling.state is FindingState.DISPUTED:
        return replace(finding, unruled=finding.state is FindingState.OPEN)
    return replace(finding, state=ruling.state, note=ruling.why, unruled=False)


def _held_to_the_bar(finding: Finding, number: int) -> Finding:
    """Return the finding, marked as not to be fixed if it is open and too light for this round.

    A finding of an earlier round gets one round more, because it has been worked on.
    """
    bar = min(number if finding.round >= number else number - 1, _HIGHEST)
    if finding.state is not FindingState.OPEN or WEIGHTS[finding.issue.type] >= bar:
        return finding
    note = f"a finding of type {finding.issue.type} is below the bar of review round {number}"
    return replace(finding, state=FindingState.WONT_FIX, note=note)


def _in_words(finding: Finding) -> str:
    return f"{finding.issue.words}. {finding.note}"


def _plain(path: str) -> str:
    return posixpath.normpath(path) if path else path
