"""Findings through the rounds of a task's reviews: which still stand in the way, what became of the others.

A loop of reviews has to end. So an issue is recognised when it comes again, a Worker may dispute it, and the
bar that an issue has to reach rises from round to round. A finding that a report leaves out stays open.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from agents.roles.worker import signal_of
from agents.session.tools import TASK_COMPLETE
from state.journal.view import RunView, TaskView
from state.records import Dispute, Finding, FindingState, IssueType, ReviewIssue, ReviewReport, Ruling

# A wrong result is worth as many rounds as the effort allows, a missing guard or a wrong cut two or three.
# Taste is heard once: a reviewer always finds more of it, and each round costs a whole attempt.
WEIGHTS: Mapping[IssueType, int] = {
    IssueType.INCORRECT_BEHAVIOR: 3,
    IssueType.SPEC_MISMATCH: 3,
    IssueType.MISSING_ERROR_HANDLING: 2,
    IssueType.ARCHITECTURE_CONCERN: 2,
    IssueType.OVER_ENGINEERING: 1,
    IssueType.PATTERN_VIOLATION: 1,
    IssueType.DEAD_CODE: 1,
}
MERGING = "the merge"  # sends a task back for what sq itself has seen
_HIGHEST = max(WEIGHTS.values())
_UNDECIDED = frozenset({FindingState.OPEN, FindingState.DISPUTED})
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Settled:
    """What a review leaves: all findings, the issues that stand in the way, and suggestions in words.

    Exactly the findings that are open stand in the way.
    """

    findings: tuple[Finding, ...]
    blocking: tuple[ReviewIssue, ...]
    suggestions: tuple[str, ...]


def fingerprint(issue: ReviewIssue) -> str:
    """Tells issues apart by their type, file and words; lines move, so they do not count, nor do numbers."""
    words = " ".join(_WORD.findall(issue.description.casefold()))
    return hashlib.sha256(f"{issue.type}\n{_plain(issue.file)}\n{words}".encode()).hexdigest()[:8]


def in_folder(issues: Iterable[ReviewIssue], folder: str, task_id: str | None = None) -> list[ReviewIssue]:
    """The issues with paths relative to the folder they were read in; of this task, if one is named."""
    return [
        replace(
            issue,
            file=_plain(issue.file).removeprefix(f"{_plain(folder)}/"),
            task_id=issue.task_id if task_id is None else task_id,
        )
        for issue in issues
    ]


def known_of(task: TaskView) -> tuple[Finding, ...]:
    """The findings on a task so far; those for which another review sent it back are among them, and open.

    A finding that sq itself has made needs no ruling: sq has looked again before the review.
    """
    known = {finding.id: finding for finding in task.review.findings}
    for issue in task.review.issues:
        id_ = fingerprint(issue)
        finding = known.get(id_, Finding(id=id_, issue=issue))
        again = replace(finding, state=FindingState.OPEN, note="")
        known[id_] = finding if finding.state in _UNDECIDED else again
    refused = tuple(f"the test {ruling.test} " for ruling in task.review.rulings if not ruling.accepted)
    own = {fingerprint(issue) for issue in task.review.issues if task.review.reopened_by == MERGING}
    return tuple(
        replace(finding, state=FindingState.FIXED, note="")
        if finding.id in own or finding.issue.description.startswith(refused)
        else finding
        for finding in known.values()
    )


def final_known(view: RunView) -> tuple[Finding, ...]:
    """The findings of the final review, as the reviews of the tasks have left them since."""
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
    """What the Worker of the newest attempt disputes in its claims of completion, oldest first."""
    reports = [signal_of(view.calls[id_]) for id_ in task.open.calls]
    claims = [said for name, said in reports if name == TASK_COMPLETE]
    return [Dispute(**dispute) for claim in claims for dispute in claim.get("disputes", ())]


def with_disputes(known: Iterable[Finding], disputes: Iterable[Dispute]) -> tuple[Finding, ...]:
    """The findings as a Worker's claim leaves them: those still open that it disputes, with its evidence."""
    evidence = {dispute.id: dispute.evidence for dispute in disputes}
    return tuple(
        replace(finding, state=FindingState.DISPUTED, note=evidence[finding.id])
        if finding.id in evidence and finding.state in _UNDECIDED
        else finding
        for finding in known
    )


def undecided(findings: Iterable[Finding]) -> list[Finding]:
    """Those that a review has to say something about: open or disputed."""
    return [finding for finding in findings if finding.state in _UNDECIDED]


def undisputed(issues: Iterable[ReviewIssue], disputes: Iterable[Dispute]) -> list[str]:
    """The ids of those issues against which there is no evidence."""
    disputed = {dispute.id for dispute in disputes}
    return [id_ for id_ in dict.fromkeys(map(fingerprint, issues)) if id_ not in disputed]


def with_new(
    known: Iterable[Finding], issues: Iterable[ReviewIssue], number: int, *, advice: bool = False
) -> tuple[Finding, ...]:
    """The findings with these issues among them, open; `number` is the round that the next review is.

    `advice`: a checkpoint names them.
    """
    findings = {finding.id: finding for finding in known}
    for issue in issues:
        id_ = fingerprint(issue)
        before = findings.get(id_, Finding(id=id_, issue=issue, round=number))
        note = before.note if before.state is FindingState.OPEN else ""
        unruled = before.unruled and before.state is FindingState.OPEN
        is_advice = advice and (before.advice or id_ not in findings)
        findings[id_] = replace(
            before, issue=issue, state=FindingState.OPEN, note=note, unruled=unruled, advice=is_advice
        )
    return tuple(findings.values())


def settle(
    known: Iterable[Finding], disputes: Iterable[Dispute], report: ReviewReport, number: int
) -> Settled:
    """What follows from a report.

    A finding on which it does not rule stays open, or stays disputed; one that only a checkpoint has named is
    fixed then. One that it reports again is open. An
    open finding that does not reach the bar of this round becomes a suggestion and does not block.

    Args:
        known: the findings so far.
        disputes: those that the Worker disputes, with evidence.
        report: the review.
        number: which round it is, from 1.
    """
    rulings = {ruling.id: ruling for ruling in report.rulings}
    ruled = [_ruled(finding, rulings.get(finding.id)) for finding in with_disputes(known, disputes)]
    standing = with_new(ruled, report.issues, number)
    findings = [_held_to_the_bar(finding, number) for finding in standing]
    below = [now for now, was in zip(findings, standing, strict=True) if now.state is not was.state]
    return Settled(
        findings=tuple(findings),
        blocking=tuple(finding.issue for finding in findings if finding.state is FindingState.OPEN),
        suggestions=tuple(_in_words(finding) for finding in below),
    )


def left_aside(settled: Settled, why: Mapping[str, str]) -> Settled:
    """The same, with findings that nobody has to put right (`why`, by fingerprint) as suggestions."""
    aside = [one for one in settled.findings if one.state is FindingState.OPEN and one.id in why]
    ended = {one.id: replace(one, state=FindingState.WONT_FIX, note=why[one.id]) for one in aside}
    findings = tuple(ended.get(one.id, one) for one in settled.findings)
    return Settled(
        findings=findings,
        blocking=tuple(one.issue for one in findings if one.state is FindingState.OPEN),
        suggestions=(*settled.suggestions, *(_in_words(one) for one in ended.values())),
    )


def _ruled(finding: Finding, ruling: Ruling | None) -> Finding:
    if ruling is None and finding.advice and finding.state is FindingState.OPEN:
        return replace(finding, state=FindingState.FIXED, note="")
    if ruling is None or ruling.state is FindingState.DISPUTED:
        return replace(finding, unruled=finding.state is FindingState.OPEN)
    return replace(finding, state=ruling.state, note=ruling.why, unruled=False)


def _held_to_the_bar(finding: Finding, number: int) -> Finding:
    """The finding, not to be fixed if it is open and weighs too little for this round.

    One of an earlier round has one round more of patience: somebody has worked on it.
    """
    bar = min(number if finding.round >= number else number - 1, _HIGHEST)
    if finding.state is not FindingState.OPEN or WEIGHTS[finding.issue.type] >= bar:
        return finding
    note = f"a finding of type {finding.issue.type} is below the bar of review round {number}"
    return replace(finding, state=FindingState.WONT_FIX, note=note)


def _in_words(finding: Finding) -> str:
    issue = finding.issue
    return f"{issue.location} ({issue.type}): {issue.description} (fix: {issue.suggestion}); {finding.note}"


def _plain(path: str) -> str:
    return posixpath.normpath(path) if path else path
