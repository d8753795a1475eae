"""The run as a whole: its process, its settings, its working time, and which parts a resumption reopens."""

from dataclasses import replace
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold import calls, tasks
from state.journal.view import RunView


def pass_time(view: RunView, stored: Stored) -> None:
    """Record the time and place of one more event. The time between two processes is not counted."""
    clock = view.clock
    if isinstance(stored.event, e.RunResumed):
        calls.stop_clocks(view)
        view.evidence.commands = {}
    elif clock.last_at:
        clock.worked_s += (stored.at - clock.last_at).total_seconds()
    clock.last_seq, clock.last_at = stored.seq, stored.at


def apply(view: RunView, event: e.RunEvent, stored: Stored) -> None:
    """Add an event of the run as a whole to its view."""
    match event:
        case e.RunStarted():
            view.started, view.clock.started_at = event, stored.at
            view.whole.commit, view.settings = event.base_commit, event.settings
        case e.RunResumed():
            _resumed(view, event, stored)
        case e.RunInterrupted():
            view.process.interrupted_by = event.by
        case e.LimitReached():
            view.process.limit = event.cause
        case e.RunEnded():
            view.ended, view.clock.ended_seq = event, stored.seq
        case _:
            assert_never(event)


def _resumed(view: RunView, event: e.RunResumed, stored: Stored) -> None:
    calls.resume(view, killed=not (view.process.interrupted_by or view.ended))
    view.process = replace(
        view.process,
        resumptions=view.process.resumptions + 1,
        resumed=event,
        resumed_seq=stored.seq,
        interrupted_by="",
        limit="",
        quiet_until=None,
        judge_answers=False,
        judge_refused="",
        budget_usd=event.budget_usd or view.process.budget_usd,
        max_iterations=event.max_iterations or view.process.max_iterations,
    )
    if view.settings:
        view.settings = replace(
            view.settings,
            verify=view.settings.verify if event.verify is None else event.verify,
            models={**view.settings.models, **event.models},
            questions=event.questions or view.settings.questions,
            sandbox=replace(view.settings.sandbox, mode=event.sandbox_mode or view.settings.sandbox.mode),
        )
    reopens = view.ended is not None and (view.ended.resumable or bool(event.retry))
    if reopens or (view.ended and event.verify):  # with `verify` the finished work is verified again
        view.checkout.delivered = view.checkout.left = view.checkout.kept = None
    if reopens:
        view.clock.worked_s = 0.0
        tasks.reopen_at_limit(view)
        calls.reopen_failed(view)
    for task_id in event.retry:
        tasks.retry(view.tasks[task_id])
    view.ended = None
