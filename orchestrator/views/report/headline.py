"""The headline of a run: one table from its state to the words, exit code and checks of every output."""

from orchestrator.views.descriptions.description import Tone
from orchestrator.views.models.conclusions import UNVERIFIED, CheckState, Headline
from orchestrator.views.models.criteria import CriterionRow
from orchestrator.views.models.criteria import CriterionState as CriterionStanding
from orchestrator.views.models.summary import RunState
from state.journal.view import RunView
from state.outcome import MEANINGS, Outcome
from state.records.reviews import EvidenceKind

_TONES = {
    Outcome.COMPLETE: (Tone.GOOD, CheckState.SUCCESS),
    Outcome.FAILED: (Tone.BAD, CheckState.FAILURE),
    Outcome.USAGE: (Tone.BAD, CheckState.FAILURE),
    Outcome.STUCK: (Tone.BAD, CheckState.FAILURE),
    Outcome.LIMIT: (Tone.WARN, CheckState.NEUTRAL),
    Outcome.UNVERIFIED: (Tone.WARN, CheckState.ACTION_REQUIRED),
    Outcome.INTERRUPTED: (Tone.WARN, CheckState.CANCELLED),
}
_OTHERS = {
    RunState.ACTIVE: ("Under way", "the run goes on, this is its state so far", CheckState.PENDING),
    RunState.INTERRUPTED: ("Interrupted", MEANINGS[Outcome.INTERRUPTED], CheckState.CANCELLED),
    RunState.KILLED: (
        "Killed",
        "its process is gone without an end, `sq resume` goes on",
        CheckState.FAILURE,
    ),
    RunState.NEVER_BEGAN: (
        "Never began",
        "its process was killed before its first event",
        CheckState.FAILURE,
    ),
}


def headline_of(view: RunView, standing: RunState, rows: tuple[CriterionRow, ...]) -> Headline:
    """Return the headline of a run.

    Args:
        view: the fold of its events.
        standing: whether a process works on it.
        rows: its criteria.
    """
    rehearsal = bool(view.started and view.started.rehearsal)
    if view.ended is None:
        word, sentence, check = _OTHERS[standing]
        code = Outcome.INTERRUPTED.exit_code if standing is RunState.INTERRUPTED else None
        tone = Tone.CALM if standing is RunState.ACTIVE else Tone.WARN
        why = f"stopped by {view.process.interrupted_by}" if view.process.interrupted_by else ""
        return Headline(
            word=word, sentence=sentence, why=why, exit_code=code, tone=tone, check=check, rehearsal=rehearsal
        )
    outcome = view.ended.outcome
    if outcome is Outcome.COMPLETE and view.settings and (view.settings.dry_run or view.settings.check_only):
        is_plan = view.settings.dry_run
        sentence = "a dry run: this is the plan" if is_plan else "the spec was read for faults"
        return Headline(
            word="Planned only" if is_plan else "Checked only",
            sentence=f"{sentence}, and nothing was built",
            outcome=outcome,
            exit_code=outcome.exit_code,
            tone=Tone.CALM,
            check=CheckState.NEUTRAL,
            rehearsal=rehearsal,
        )
    return _ended(view.ended.cause, outcome, rows, rehearsal=rehearsal)


def _ended(cause: str, outcome: Outcome, rows: tuple[CriterionRow, ...], *, rehearsal: bool) -> Headline:
    tone, check = _TONES[outcome]
    complete = outcome is Outcome.COMPLETE
    proven = sum(row.standing is CriterionStanding.PROVEN for row in rows)
    all_proven = bool(rows) and proven == len(rows)
    if complete and (rehearsal or not all_proven):
        tone = Tone.WARN
    if complete and rows and not all_proven:
        lines = sum(bool(row.proof and row.proof.kind is EvidenceKind.LINE) for row in rows)
        alone = f", of {lines} only a line that the reviewer names" if lines else ""
        cause = f"sq has seen proof of {proven} of {len(rows)} criteria{alone}"
    draft = not complete or rehearsal
    return Headline(
        word=outcome.value.capitalize(),
        sentence=MEANINGS[outcome],
        why=cause,
        outcome=outcome,
        exit_code=outcome.exit_code,
        tone=tone,
        check=CheckState.NEUTRAL if complete and rehearsal else check,
        title_prefix="[rehearsal] " if complete and rehearsal else UNVERIFIED if draft else "",
        draft=draft,
        rehearsal=rehearsal,
        proven=complete and all_proven and not rehearsal,
    )
