"""Calls: exchanges with models, their cost and time, and the effects of a Worker's call on its task."""

from datetime import datetime, timedelta
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.calls import CallView
from state.journal.events.tasks import ENDED_STAGES
from state.journal.view import RunView
from state.records.calls import TASK_COMPLETE, CallEnd, Message, MessageKind, may_pass_later
from state.roles import ROLES, Role


def apply(view: RunView, event: e.CallEvent, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
    """Add an event of a call to the view of its run."""
    if isinstance(event, e.SpendDiffered):
        view.differences.append(event)
        return
    if isinstance(event, e.ToolServersListed):
        view.context.servers = event
        return
    if isinstance(event, e.CallStarted):
        _started(view, event, stored)
        return
    call = view.calls[event.call_id]
    match event:
        case e.CallRetried():
            _retried(view, call, event, stored)
        case e.CallInterrupted():
            call.spent_usd += event.cost_usd
            call.usage += event.usage
            call.held_usd = call.allowed_usd = 0.0
            _stop_clock(call, stored.at)
        case e.CallResumed():
            _resumed(view, call, event, stored)
        case e.MessageReceived():
            if event.message.kind is MessageKind.TEXT:
                call.last_text = event.message.text
            if call.started.role is Role.WORKER:
                view.tasks[call.started.task_id].history.append(event.message)
        case e.ReportRefused():
            call.refused.report = event.payload
        case e.ActionRefused():
            call.refused.action = event.reason
        case e.SignalReceived():
            call.report = call.report or event  # the first one ended the turn
        case e.CallEnded():
            _ended(view, call, event, stored)
        case _:
            assert_never(event)


def stop_clocks(view: RunView) -> None:
    """End the clocks of calls that were under way when their process died, at its last event."""
    for call in view.calls.values():
        if view.clock.last_at:
            _stop_clock(call, view.clock.last_at)


def resume(view: RunView, *, killed: bool) -> None:
    """Hand the calls over to a new process. An open call counts as having cost all that was held."""
    for call in view.calls.values():
        call.retries = []
        if call.end is None:
            call.spent_usd, call.held_usd = call.spent_usd + call.held_usd, 0.0
            call.killed = killed
        call.allowed_usd = 0.0


def reopen_failed(view: RunView) -> None:
    """Reopen the newest call of each kind if it failed, except answers, judgements and ended tasks.

    A call whose question was parked does not go on: its answer is the next prompt, unless it had it.
    """
    asks = [ask.asked for ask in view.asks.values() if ask.parked]
    parked = {one.call_id for one in asks if one.ask_id not in view.calls[one.call_id].answers}
    newest: dict[tuple[Role, str, int, str], CallView] = {}
    for call in view.calls.values():
        newest[call.started.role, call.started.task_id, call.started.attempt, call.started.subject] = call
    for (role, task_id, *_), call in newest.items():
        over = task_id in view.tasks and view.tasks[task_id].stage in ENDED_STAGES
        if call.failed and ROLES[role].has_session and not (over or call.started.call_id in parked):
            call.spent_usd, call.end = call.cost_usd, None


def _started(view: RunView, event: e.CallStarted, stored: Stored) -> None:
    view.calls[event.call_id] = CallView(
        event,
        stored.at,
        event.session_id,
        since=stored.at,
        held_usd=event.reserved_usd,
        allowed_usd=event.allowed_usd,
    )
    if event.role is Role.WORKER:
        view.checkout.left_tree = ""
        task = view.tasks[event.task_id]
        task.open.calls.append(event.call_id)
        task.open.gates, task.open.claimed_at, task.next.rebuilt = [], None, None
        task.claim.handed_over = ""
        task.history.append(Message(kind=MessageKind.PROMPT, text=event.prompt))


def _retried(view: RunView, call: CallView, event: e.CallRetried, stored: Stored) -> None:
    call.retries.append(event)
    call.spent_usd += event.cost_usd
    call.usage += event.usage
    _stop_clock(call, stored.at)
    call.since = stored.at + timedelta(seconds=event.wait_s)
    if event.end is CallEnd.API_ERROR:  # a process that died is no reason for others to wait
        view.process.quiet_until = max(call.since, view.process.quiet_until or call.since)
    _note_error(view, call, event)


def _ended(view: RunView, call: CallView, event: e.CallEnded, stored: Stored) -> None:
    call.end, call.held_usd, call.allowed_usd = event, 0.0, 0.0
    call.usage += event.usage
    _stop_clock(call, stored.at)
    if call.failed:
        _note_error(view, call, event)
    elif call.report and call.report.name == TASK_COMPLETE and call.started.task_id in view.tasks:
        view.tasks[call.started.task_id].open.claimed_at = stored.at
    _note_judge(view, call, event)


def _resumed(view: RunView, call: CallView, event: e.CallResumed, stored: Stored) -> None:
    call.session_id, call.resumed[stored.seq] = event.session_id, event
    call.since = call.since or stored.at
    call.held_usd, call.allowed_usd = event.reserved_usd, event.allowed_usd
    if call.started.role is Role.WORKER:
        view.checkout.left_tree = ""
        view.tasks[call.started.task_id].open.session_id = event.session_id


def _stop_clock(call: CallView, at: datetime) -> None:
    if call.since:
        call.spent_s += max(0.0, (at - call.since).total_seconds())
    call.since = None


def _note_judge(view: RunView, call: CallView, event: e.CallEnded) -> None:
    """Note the call in which a judge that has answered nothing yet was refused for good."""
    if call.started.role is not Role.JUDGE:
        return
    if event.end is CallEnd.COMPLETED:
        view.process.judge_answers = True
    elif event.api_status and not may_pass_later(event.api_status) and not view.process.judge_answers:
        view.process.judge_refused = view.process.judge_refused or event.call_id


def _note_error(view: RunView, call: CallView, event: e.CallRetried | e.CallEnded) -> None:
    view.context.errors.append(f"{call.started.role} {call.started.task_id}: {event.end}: {event.detail}")
