"""The head that the pages of a run share: its standing, its time, its spending."""

from collections.abc import Callable
from pathlib import PurePath

from orchestrator.views.models.spend import spending
from orchestrator.views.models.summary import RunState, RunSummary, summary_of
from orchestrator.views.page.ports import LiveRun
from orchestrator.views.page.rendering import part, rendered
from state.outcome import Outcome

_MARKS = {
    RunState.ACTIVE: ("calm", "●"),
    RunState.INTERRUPTED: ("warn", "‖"),
    RunState.KILLED: ("bad", "✗"),
    RunState.NEVER_BEGAN: ("bad", "✗"),
    RunState.UNREADABLE: ("bad", "✗"),
}


def head_region(run: LiveRun) -> str:
    """Return the head that all pages of a run share."""
    view = run.story.view
    summary = summary_of(
        view, run.folder.name, is_active=lambda: run.active, now=run.now, options=run.options
    )
    spent = spending(view)
    tone, glyph, word = chip_of(summary)
    goes_on = summary.standing is RunState.ACTIVE
    return rendered(
        "head",
        run=run.folder.name,
        event_href=event_href(run.folder.name),
        spec=PurePath(summary.spec_name).name or run.folder.name,
        tone=tone,
        glyph=glyph,
        standing=word,
        rehearsal=summary.rehearsal,
        problem=run.problem,
        doing=summary.doing,
        running_since=summary.started_at if goes_on else None,
        seconds=summary.seconds,
        spent=spent,
        share=min(1.0, spent.cost_usd / spent.budget_usd) if spent.budget_usd else 0.0,
        merged=summary.tasks_merged,
        total=summary.tasks_total,
        last_at=run.heard_at,
        cause=view.ended.cause if view.ended else "",
        next_command=summary.next_command,
    )


def chip_of(summary: RunSummary) -> tuple[str, str, str]:
    """Return the tone, the glyph and the word for the standing of a run."""
    if summary.standing is RunState.ENDED:
        good = summary.outcome is Outcome.COMPLETE
        return ("good", "✓", str(summary.outcome)) if good else ("bad", "✗", str(summary.outcome))
    return *_MARKS[summary.standing], str(summary.standing)


def event_href(run_id: str) -> Callable[[int], str]:
    """Return a function that makes the address of an event of this run from its place in the journal."""
    events = f"/run/{part(run_id)}/events"
    return lambda seq: f"{events}?after={max(0, seq - 1)}#seq-{seq}"
