"""One attempt at a task as a list of facts: calls, gates, commands, reviews, questions, its end."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from orchestrator.views.models.history import AttemptHistory
from orchestrator.views.words import said
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView
from state.records.commands import CommandRun
from state.records.findings import Finding
from state.records.questions import Answer
from state.verdicts import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text of several lines. `by` is the role whose words they are, or "" for sq's own."""

    title: str
    text: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFact:
    """One thing that happened in an attempt. `tone` is good, bad, warn or calm."""

    seq: int
    at: datetime
    tone: str
    glyph: str
    kind: str
    text: str
    words: tuple[Words, ...] = ()
    commit: str = ""  # one whose changes can be shown
    call_id: str = ""  # one whose messages can be shown


_Shown = tuple[str, str, str, str, tuple[Words, ...]]  # tone, glyph, kind, text, words


def facts_of(view: RunView, attempt: AttemptHistory) -> list[AttemptFact]:
    """Return the facts of an attempt, oldest first. Events that say nothing to a person are left out."""
    return [fact for stored in attempt.events if (fact := _fact(view, stored))]


def _fact(view: RunView, stored: Stored) -> AttemptFact | None:
    event = stored.event
    found = _work(view, event) or _judgement(event) or _question(view, event) or _end(event)
    if found is None:
        return None
    tone, glyph, kind, text, words = found
    return AttemptFact(
        seq=stored.seq,
        at=stored.at,
        tone=tone,
        glyph=glyph,
        kind=kind,
        text=text,
        words=tuple(one for one in words if one.text),
        commit=event.commit if isinstance(event, e.TaskCommitted | e.MergeBuilt) else "",
        call_id=event.call_id if isinstance(event, e.CallStarted) else "",
    )


def _work(view: RunView, event: e.Event) -> _Shown | None:
    match event:
        case e.CallStarted():
            call = view.calls[event.call_id]
            how = call.failure or (f"{call.end.turns} turns" if call.end else "goes on")
            text = f"{event.role} ({event.model}), iteration {event.iteration}: {how}"
            tone = "bad" if call.failed else "calm"
            return tone, "✗" if call.failed else "●", "call", text, ()
        case e.CallRetried():
            return "warn", "↻", "retry", f"{event.end}: {event.detail}, again after {event.wait_s:.0f} s", ()
        case e.ActionRefused():
            return "warn", "⊘", "refused", f"{event.tool}: {event.reason}", ()
        case e.WorkspaceSetUp():
            good = all(run.passed for run in event.runs)
            text = f"{len(event.runs)} steps" + (
                f", left out: {', '.join(event.left_out)}" * bool(event.left_out)
            )
            return *_result(good=good), "set-up", text, _outputs(event.runs)
        case e.VerificationFinished():
            good = all(run.passed for run in event.runs)
            text = f"on tree {event.tree[:10]}: {len(event.runs)} commands"
            return *_result(good=good), "verification", text, _outputs(event.runs)
        case e.TaskCommitted():
            return "calm", "●", "commit", event.commit[:12], ()
        case e.HandedOver():
            return "calm", "→", "hand-over", event.notes.next_step or event.notes.done, ()
    return None


def _judgement(event: e.Event) -> _Shown | None:
    match event:
        case e.GateDecided():
            good = event.verdict is Verdict.ALLOW
            return *_result(good=good), f"gate {event.gate}", f"{event.verdict}: {event.reason}", ()
        case e.ChecksDecided():
            unmet = [one for one in event.results if not one.satisfied]
            text = f"{len(event.results)} checks, {len(unmet)} not met"
            return *_result(good=not unmet), "checks", text, tuple(map(_check, unmet))
        case e.CompletionRefused():
            words = (Words(title="the Worker's next prompt", text=event.feedback),)
            return "bad", "✗", "claim refused", f"iteration {event.iteration}", words
        case e.CompletionAccepted():
            return "good", "✓", "claim accepted", f"tree {event.tree[:10]}", ()
        case e.ReviewRecorded():
            text = f"of {event.commit[:12] or event.task_id}: " + (
                "passed" if event.passed else f"{len(event.issues)} findings prevent it"
            )
            return *_result(good=event.passed), "review", text, tuple(map(_finding, event.findings))
        case e.ReviewUnusable():
            return "warn", "?", "review", f"no usable report: {event.problem}", ()
        case e.CheckpointReviewed():
            text = event.problem or f"{len(event.issues)} findings"
            return (
                "warn" if event.issues else "calm",
                "●",
                "checkpoint",
                text,
                tuple(map(_finding, event.findings)),
            )
        case e.GuidanceGiven():
            words = (Words(title="guidance", text=event.guidance, by="developer"),)
            return "calm", "→", "guidance", event.problem or f"iteration {event.iteration}", words
    return None


def _question(view: RunView, event: e.Event) -> _Shown | None:
    match event:
        case e.QuestionsAsked():
            words = tuple(Words(title="question", text=one.text, by="worker") for one in event.questions)
            return "calm", "?", "question", f"{len(event.questions)} asked", words
        case e.QuestionsAnswered():
            return "calm", "→", "answer", event.model, tuple(map(_answer, event.answers))
        case e.QuestionsParked():
            words = (Words(title="question", text=event.question, by="worker"), *map(_answer, event.answers))
            return "bad", "‖", "parked", "a question is left to a person", words
        case e.QuestionsFailed():
            return "warn", "✗", "no answer", event.cause, ()
    del view
    return None


def _end(event: e.Event) -> _Shown | None:
    match event:
        case e.TaskReopened():
            return "warn", "↩", "sent back", f"by {event.by}", tuple(map(_finding, event.findings))
        case e.MergeStarted():
            return "calm", "●", "merge", f"{event.commit[:12]} onto {event.onto[:12]}", ()
        case e.MergeConflicted():
            return "warn", "≠", "conflict", ", ".join(event.paths), ()
        case e.ResolutionRefused() | e.MergeFailed():
            return "bad", "✗", "merge", event.reason, ()
        case e.MergeBuilt():
            words = (Words(title="the resolution", text=event.summary, by="resolver"),)
            return "calm", "●", "merge built", event.commit[:12], words
        case e.TaskMerged():
            return "good", "✓", "merged", event.commit[:12], ()
        case e.TaskStuck() | e.TaskUnverified():
            return "bad", "✗", "ended", event.reason, ()
        case e.TaskFailed():
            return "bad", "✗", "ended", event.cause, ()
    return None


def _result(*, good: bool) -> tuple[str, str]:
    return ("good", "✓") if good else ("bad", "✗")


def _outputs(runs: tuple[CommandRun, ...]) -> tuple[Words, ...]:
    return tuple(
        Words(title=f"{run.command}: {said(run)}, {run.seconds:.1f} s", text=run.output_tail or "no output")
        for run in runs
    )


def _check(result: CheckResult) -> Words:
    return Words(
        title=f"{result.consideration_id}: {'blocks' if result.blocker else 'does not block'}",
        text=result.reason,
    )


def _finding(one: Finding) -> Words:
    issue = one.issue
    text = f"{issue.description}\nFix: {issue.suggestion}" + (f"\n{one.note}" * bool(one.note))
    return Words(title=f"{one.state}: {issue.location} ({issue.type})", text=text, by="reviewer")


def _answer(one: Answer) -> Words:
    undo = "easy to undo" if one.reversible else "not easy to undo"
    grounds: Iterator[str] = filter(None, (one.reason, one.evidence))
    return Words(
        title=f"{one.marked} (basis: {one.basis}, {undo})",
        text="\n".join(grounds) or one.question,
        by="developer",
    )
