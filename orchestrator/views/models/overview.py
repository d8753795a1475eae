"""The first screen of a run, the same facts for terminal, page and report."""

from datetime import datetime

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.spend import spending
from orchestrator.views.models.summary import Group, Need, Overview, RunState, TaskRow, summary_of
from orchestrator.views.models.tasks import parked_questions, task_rows


def overview(story: RunFacts, run_id: str, now: datetime, *, active: bool, options: str = "") -> Overview:
    """Return a run on one screen.

    Args:
        story: the run.
        run_id: its id.
        now: this moment.
        active: whether a process works on it.
        options: options for a command to find this run again, such as `--state-dir X`.
    """
    view = story.view
    summary = summary_of(view, run_id, is_active=lambda: active, now=now, options=options)
    rows = task_rows(story, now, active=summary.standing is RunState.ACTIVE)
    parked = list(parked_questions(view))
    return Overview(
        summary=summary,
        tasks=rows,
        needs=tuple(_needs(story, rows)),
        spending=spending(view),
        answered=sum(len(ask.answered.answers) for ask in view.asks.values() if ask.answered),
        parked=len(parked),
        seq=view.clock.last_seq,
        last_at=view.clock.last_at,
    )


def _needs(story: RunFacts, rows: tuple[TaskRow, ...]) -> list[Need]:
    needs = [
        Need(what="a question is parked", text=question, task_id=task_id, seq=seq)
        for task_id, question, seq in parked_questions(story.view)
    ]
    needs += [
        Need(what=f"a task is {row.stage}", text=row.now, task_id=row.id, seq=row.seq)
        for row in rows
        if row.group is Group.ENDED_BADLY
    ]
    if (ended := story.view.ended) and ended.cause and not needs:
        seq = story.view.clock.last_seq
        needs.append(Need(what=f"the run ended: {ended.outcome}", text=ended.cause, task_id="", seq=seq))
    return needs
