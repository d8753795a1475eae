"""The attempts at a task as steps: each a fact of sq with its source, or words of an agent."""

from collections.abc import Iterator
from datetime import datetime

from orchestrator.views.models.history import AttemptHistory
from orchestrator.views.report.contents import Attempt, ReportStep
from orchestrator.views.words import said
from state.journal import events as e
from state.journal.events import Stored
from state.records.commands import CommandRun
from state.verdicts import Source, Verdict
from state.words import count_words, listed

_TAIL = 1_500  # characters of the output of a command that failed
_GATES = {Verdict.ALLOW: "good", Verdict.BLOCK: "bad", Verdict.NOT_CHECKED: "warn"}


def attempt_of(history: AttemptHistory) -> Attempt:
    """Return an attempt as it is shown."""
    ended_at = history.ended_at
    return Attempt(
        number=history.number,
        seq=history.seq,
        began_at=history.began_at,
        seconds=(ended_at - history.began_at).total_seconds() if ended_at else None,
        ended=history.ended,
        steps=tuple(step for stored in history.events for step in _steps(stored)),
    )


def _steps(stored: Stored) -> Iterator[ReportStep]:
    seq, at = stored.seq, stored.at
    match stored.event:
        case e.VerificationFinished(runs=runs):
            for done in runs:
                yield _command(seq, at, done)
        case e.GateDecided() as event:
            words = event.reason if event.verdict is not Verdict.ALLOW else ""
            what = f"gate {event.gate}: {event.verdict}"
            yield ReportStep(seq=seq, at=at, what=what, tone=_GATES[event.verdict], who="sq", words=words)
        case e.ChecksDecided() as event:
            yield _checks(seq, at, event)
        case e.ReviewRecorded() as event:
            yield _review(seq, at, event)
        case e.ReviewUnusable() as event:
            yield ReportStep(seq=seq, at=at, what=f"the review is unusable: {event.problem}", tone="warn")
        case e.CheckpointReviewed() as event:
            what = f"a checkpoint's review: {len(event.issues)} finding(s)"
            yield ReportStep(seq=seq, at=at, what=event.problem or what)
        case e.GuidanceGiven() as event if event.guidance:
            yield ReportStep(seq=seq, at=at, what="guidance", who="the Developer", words=event.guidance)
        case e.ActionRefused() as event:
            yield ReportStep(seq=seq, at=at, what=f"policy refused a call of {event.tool}: {event.reason}")
        case event:
            yield from _plain(seq, at, event)


def _plain(seq: int, at: datetime, event: e.Event) -> Iterator[ReportStep]:
    match event:
        case e.TaskCommitted(commit=commit):
            yield ReportStep(seq=seq, at=at, what=f"sq committed the verified tree as {commit[:10]}")
        case e.MergeConflicted(paths=paths):
            yield ReportStep(seq=seq, at=at, what=f"conflict in {listed(paths)}", tone="warn")
        case e.MergeBuilt(summary=summary) if summary:
            yield ReportStep(
                seq=seq, at=at, what="the conflict is resolved", who="the Resolver", words=summary
            )
        case e.MergeFailed(reason=reason):
            yield ReportStep(seq=seq, at=at, what=f"the merge failed: {reason}", tone="bad")
        case e.TaskMerged(commit=commit):
            yield ReportStep(seq=seq, at=at, what=f"merged as {commit[:10]}", tone="good")
        case e.TaskReopened(by=by, issues=issues):
            yield ReportStep(
                seq=seq, at=at, what=f"sent back by {by} with {len(issues)} finding(s)", tone="warn"
            )
        case e.TaskStuck(reason=reason):
            yield ReportStep(seq=seq, at=at, what="stuck", tone="bad", who="the reason", words=reason)
        case e.TaskFailed(cause=cause):
            yield ReportStep(seq=seq, at=at, what="failed", tone="bad", who="the reason", words=cause)
        case e.TaskUnverified(reason=reason):
            yield ReportStep(
                seq=seq, at=at, what="could not be verified", tone="warn", who="the reason", words=reason
            )


def _command(seq: int, at: datetime, done: CommandRun) -> ReportStep:
    what = f"sq ran `{done.command}`: {said(done)}, {count_words(done.count)} ({done.seconds:.1f} s)"
    if done.passed:
        return ReportStep(seq=seq, at=at, what=what, tone="good")
    tail = done.output_tail.strip()[-_TAIL:]
    return ReportStep(seq=seq, at=at, what=what, tone="bad", who="the command", words=tail)


def _checks(seq: int, at: datetime, event: e.ChecksDecided) -> ReportStep:
    unmet = [one for one in event.results if not one.satisfied]
    missing = sum(one.source is Source.NOT_CHECKED for one in event.results)
    what = f"power steering: {len(event.results)} checks, {len(unmet)} not met, {missing} not judged"
    words = "\n".join(f"{one.consideration_id}: {one.reason}" for one in unmet)
    tone = "bad" if any(one.blocker for one in unmet) else "warn" if unmet or missing else "good"
    return ReportStep(seq=seq, at=at, what=what, tone=tone, who="the Judge", words=words)


def _review(seq: int, at: datetime, event: e.ReviewRecorded) -> ReportStep:
    if event.passed:
        return ReportStep(seq=seq, at=at, what=f"the review of {event.commit[:10]} passed", tone="good")
    words = "\n".join(f"{one.location} ({one.type}): {one.description}" for one in event.issues)
    what = f"the review of {event.commit[:10]} found {len(event.issues)} issue(s)"
    return ReportStep(seq=seq, at=at, what=what, tone="bad", who="the Reviewer", words=words)
