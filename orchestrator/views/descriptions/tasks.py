"""Tasks in words: their attempts and claims, their reviews and merges, their ends."""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from orchestrator.views.descriptions.description import (
    CONFLICT,
    DEVELOPER,
    GATE,
    JUDGE,
    REASON,
    RESOLVER,
    REVIEWER,
    SQ,
    STEERING,
    WHOLE,
    WORKER,
    Place,
    Quote,
    Tone,
    Words,
    below,
    suggested,
)
from orchestrator.views.words import evidence_line, issue_lines, short
from state.journal import events as e
from state.journal.view import RunView
from state.records.reviews import CriterionVerdict, Finding, FindingState, JudgedBy, ReviewIssue
from state.roles import Role
from state.verdicts import NO_ANSWER, CheckResult, Source, Verdict
from state.words import alike, checks_named, without_ids

_FEEDBACK_SHOWN = 6  # lines of a refusal, which is whole in the journal
_LONGEST = 400  # characters of such a line, which may name several tests
_REASON = 300  # characters of a reason in a line
_VERDICTS = {Verdict.ALLOW: Tone.GOOD, Verdict.BLOCK: Tone.BAD, Verdict.NOT_CHECKED: Tone.WARN}


def task_words(view: RunView, event: e.TaskEvent) -> Words:  # noqa: C901, PLR0912  one case an event
    task = event.task_id
    match event:
        case e.TaskStarted():
            return Words(kind="task", subject=task, text=f"begins on {event.branch}", is_told=False)
        case e.HandedOver():
            note = Quote(who=WORKER, texts=(event.notes.next_step or event.notes.done,), most=_REASON)
            text = "notes for the next attempt"
            return Words(kind="hand-over", subject=task, text=text, quotes=(note,), is_told=False)
        case e.AttemptStarted():
            why = (
                f" in a fresh session, with the notes of the former one: {event.because}"
                if event.because
                else ""
            )
            text = f"attempt {event.attempt} begins{why}"
            return Words(kind="attempt", subject=task, text=text, is_told=bool(why))
        case e.IterationMeasured():
            error = Quote(who=SQ, texts=(event.error,), most=_REASON)
            text = f"iteration {event.iteration} ends"
            return Words(
                kind="iteration", subject=task, text=text, quotes=(error,), of=event.tree[:10], is_told=False
            )
        case e.GateDecided():
            reason = Quote(who=SQ, texts=(event.reason,))
            text, tone = f"gate {event.gate}: {event.verdict}", _VERDICTS[event.verdict]
            return Words(kind=GATE, subject=task, text=text, tone=tone, quotes=(reason,), is_told=False)
        case e.ChecksDecided():
            return _checks(view, event)
        case e.CompletionAccepted():
            text, of = "completion accepted", event.tree[:10]
            return Words(kind="claim", subject=task, text=text, tone=Tone.GOOD, of=of, is_told=False)
        case e.CompletionRefused():
            return _refused(event)
        case e.TaskCommitted():
            text, commit = f"committed as {event.commit[:10]}", event.commit
            return Words(kind="commit", subject=task, text=text, changes=commit)
        case e.GuidanceGiven():
            return _guidance(event)
        case e.TaskStuck():
            return _ended(task, "stuck", event.reason, Tone.BAD)
        case e.TaskFailed():
            return _ended(task, "failed", event.cause, Tone.BAD)
        case e.TaskUnverified():
            return _ended(task, "could not be verified", event.reason, Tone.WARN)
        case _:
            assert_never(event)


def review_words(view: RunView, event: e.ReviewEvent) -> Words:
    match event:
        case e.ReviewRecorded():
            return _reviewed(event)
        case e.ReviewUnusable():
            problem, subject = Quote(who=SQ, texts=(event.problem,), most=_REASON), event.task_id or WHOLE
            text = "no usable review"
            return Words(kind="review", subject=subject, text=text, tone=Tone.WARN, quotes=(problem,))
        case e.CheckpointReviewed():
            return _checkpoint(event)
        case e.TaskReopened():
            issues = _issues(event.issues, Place.MORE)
            text = f"reopened by {event.by}"
            return Words(kind="sent back", subject=event.task_id, text=text, tone=Tone.WARN, quotes=issues)
        case e.CriterionJudged():
            return _judged(view, event)
        case _:
            assert_never(event)


def merge_words(event: e.MergeEvent) -> list[Words]:
    task = event.task_id
    match event:
        case e.MergeStarted():
            text = f"the merge of {event.commit[:10]} onto {event.onto[:10]} begins"
            return [Words(kind="merge", subject=task, text=text, is_told=False)]
        case e.MergeConflicted():
            text = f"the merge conflicts in {', '.join(event.paths)}"
            return [Words(kind=CONFLICT, subject=task, text=text, tone=Tone.WARN)]
        case e.ResolutionRefused():
            return [_ended(task, "the resolution does not hold", event.reason, Tone.BAD)]
        case e.MergeBuilt():
            return _built(event)
        case e.MergeFailed():
            return [_ended(task, "not merged", event.reason, Tone.BAD)]
        case e.TaskMerged():
            return [Words(kind="merged", subject=task, text="merged", tone=Tone.GOOD, of=event.commit[:10])]
        case e.WorkMeasured():
            text = f"+{event.added} -{event.removed} in {len(event.files) + event.left_out} file(s)"
            return [Words(kind="size", subject=task or WHOLE, text=text, is_told=not task)]
        case _:
            assert_never(event)


def _ended(task_id: str, text: str, reason: str, tone: Tone) -> Words:
    quote = Quote(who=REASON, texts=(reason,), most=_REASON)
    return Words(kind="ended", subject=task_id, text=text, tone=tone, quotes=(quote,))


def _checks(view: RunView, event: e.ChecksDecided) -> Words:
    unmet = [result for result in event.results if not result.satisfied]
    open_ = [result for result in event.results if result.source is Source.NOT_CHECKED]
    calls = view.calls_of(Role.JUDGE, event.task_id, event.attempt)
    outage = any(call.failed for call in calls if call.started.iteration == event.iteration)
    not_made = (replace(one, reason=_known(one.reason) if outage else one.reason) for one in open_)
    for_one_reason = [
        group for group in alike(not_made, lambda one: without_ids(one.reason)) if len(group) > 1
    ]
    unmet_alike = alike(unmet, lambda one: (one.blocker, without_ids(one.reason)))
    details = [f"{_severity(group[0])} {_for_one_reason(group)}" for group in unmet_alike]
    details += [f"not checked: {_for_one_reason(group)}" for group in for_one_reason]
    every = tuple(_consideration(one) for one in event.results if one.applies)
    return Words(
        kind=STEERING,
        subject=event.task_id,
        text=f"power steering: {len(event.results)} checks, {len(unmet)} not met, {len(open_)} not checked",
        tone=Tone.BAD if any(one.blocker for one in unmet) else Tone.WARN if unmet or open_ else Tone.GOOD,
        quotes=(
            *below(JUDGE, details),
            Quote(who=JUDGE, texts=every, place=Place.MORE, title="all checks"),
        ),
    )


def _known(reason: str) -> str:
    """Return a reason without the words of the judge's outage, which the line of its call has shown."""
    return NO_ANSWER if reason.startswith(NO_ANSWER) else reason


def _for_one_reason(group: list[CheckResult]) -> str:
    return f"{checks_named(one.consideration_id for one in group)}: {group[0].reason}"


def _severity(result: CheckResult) -> str:
    return "blocker" if result.blocker else "warning"


def _consideration(one: CheckResult) -> str:
    sign = "—" if one.source is Source.NOT_CHECKED else "✓" if one.satisfied else "✗"
    return f"{sign} {one.consideration_id} ({one.source})" + (f": {one.reason}" if one.reason else "")


def _refused(event: e.CompletionRefused) -> Words:
    first, *further = [line for line in event.for_people.splitlines() if line.strip()] or [""]
    return Words(
        kind="claim",
        subject=event.task_id,
        text=f"completion not accepted: {short(first, _LONGEST)}",
        tone=Tone.BAD,
        quotes=(
            *below(SQ, (short(line, _LONGEST) for line in further[:_FEEDBACK_SHOWN])),
            Quote(who=SQ, texts=(event.feedback,), place=Place.MORE, title="the Worker's next prompt"),
        ),
    )


def _guidance(event: e.GuidanceGiven) -> Words:
    subject = event.task_id
    if event.problem:
        problem = Quote(who=SQ, texts=(event.problem,), most=100)
        return Words(
            kind="guidance", subject=subject, text="no guidance at this checkpoint", quotes=(problem,)
        )
    if not event.guidance:
        return Words(kind="guidance", subject=subject, text="no guidance was needed", is_told=False)
    words = Quote(who=DEVELOPER, texts=(event.guidance,))
    return Words(kind="guidance", subject=subject, text="guidance by the Developer", quotes=(words,))


def _reviewed(event: e.ReviewRecorded) -> Words:
    verdict = "passes" if event.passed else f"fails with {len(event.issues)} issue(s)"
    disputed = [one for one in event.findings if one.state is FindingState.DISPUTED]
    known = tuple(map(_finding, event.findings))
    return Words(
        kind="review",
        subject=event.task_id or WHOLE,
        text=f"the review {verdict}",
        tone=Tone.GOOD if event.passed else Tone.BAD,
        of=event.commit[:10],
        quotes=(
            *_issues(event.issues),
            *below(WORKER, map(_disputed, disputed)),
            *suggested(event.suggestions),
            Quote(who=REVIEWER, texts=known, place=Place.MORE, title="findings of all reviews"),
        ),
    )


def _issues(issues: Iterable[ReviewIssue], place: Place = Place.BELOW) -> tuple[Quote, ...]:
    texts = tuple(line.removeprefix("    ") for issue in issues for line in issue_lines(issue))
    return (Quote(who=REVIEWER, texts=texts, place=place, title="findings"),)


def _disputed(finding: Finding) -> str:
    issue = finding.issue
    return f"disputed: {issue.location}: {issue.description} (the worker: {short(finding.note)})"


def _finding(one: Finding) -> str:
    note = f"\n    {one.note}" if one.note else ""
    return f"{one.state}: {one.issue.location} ({one.issue.type}): {one.issue.description}{note}"


def _checkpoint(event: e.CheckpointReviewed) -> Words:
    subject = event.task_id
    if event.problem:
        problem, text = Quote(who=SQ, texts=(event.problem,), most=100), "no usable review at this checkpoint"
        return Words(kind="checkpoint", subject=subject, text=text, tone=Tone.WARN, quotes=(problem,))
    return Words(
        kind="checkpoint",
        subject=subject,
        text=f"reviewed at a checkpoint, {len(event.issues)} issue(s)",
        tone=Tone.WARN if event.issues else Tone.CALM,
        quotes=_issues(event.issues),
    )


def _judged(view: RunView, event: e.CriterionJudged) -> Words:
    text = next((one.text for one in view.plan.criteria if one.id == event.criterion_id), "")
    reason = f": {short(event.claim, 200)}" if event.claim else ""
    if event.proof:
        reason = f" by the {event.proof.kind} {short(event.proof.ref, 200)}"
    elif event.verdict is CriterionVerdict.NOT_CHECKED and not event.claim:
        reason = ": the review gave no verdict on it"
    again = " on the work with your commits" if event.by is JudgedBy.RULE else ""
    return Words(
        kind="criterion",
        text=f"{event.criterion_id} {event.mark.words}{again}{reason} ({short(text)})",
        quotes=below(SQ, map(evidence_line, () if event.proof else event.evidence)),
    )


def _built(event: e.MergeBuilt) -> list[Words]:
    both = [f"merged two additions at one place in {path}" for path in event.united]
    text = "the conflict is resolved" if event.summary else f"the merge is built as {event.commit[:10]}"
    account = Quote(who=RESOLVER, texts=(event.summary,), place=Place.BLOCK, title="the resolution")
    built = Words(
        kind="merge", subject=event.task_id, text=text, quotes=(account,), changes=event.commit, is_told=False
    )
    return [*(Words(kind="merge", subject=event.task_id, text=one) for one in both), built]
