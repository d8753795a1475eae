"""Lines of calls to models: their start, retries and failures, and the tools that sessions use."""

from datetime import UTC, datetime, timedelta
from typing import assert_never

from orchestrator.views.words import short, subject_of, tool_call
from state.journal import events as e
from state.journal.events.calls import CallView
from state.journal.view import RunView
from state.records.calls import CallEnd, MessageKind
from state.roles import ROLES, Role
from state.words import without_ids

_MINUTE_S = 60
_QUIET_TOOLS = {"AskUserQuestion"}  # shown as questions


def lines(view: RunView, event: e.CallEvent) -> list[str]:
    """The lines that an event of a call adds to the story."""
    match event:
        case e.CallStarted():
            return _call_started(event)
        case e.CallRetried():
            return _call_retried(view, event)
        case e.MessageReceived():
            return _message(view, event)
        case e.ActionRefused():
            return _refused(view, event)
        case e.SpendDiffered():
            return _spend_differed(view, event)
        case e.CallEnded():
            return _call_ended(view, event)
        case e.CallInterrupted() | e.CallResumed() | e.SignalReceived():
            return []
        case _:
            assert_never(event)


def _call_started(event: e.CallStarted) -> list[str]:
    begins = ROLES[event.role].begins
    if not begins:
        return []
    subject = event.task_id
    match event.role:
        case Role.WORKER:
            again = "" if event.iteration == 1 else f", iteration {event.iteration}"
            begins += f", attempt {event.attempt}{again}"
        case Role.REVIEWER:
            subject = subject_of(event.task_id)
            begins = "reviewed at a checkpoint" if event.subject else begins
        case _:
            pass
    return [f"{subject}: {begins} ({event.model})"]


def _call_retried(view: RunView, event: e.CallRetried) -> list[str]:
    call = view.calls[event.call_id]
    role, tries = call.started.role, len(call.retries)
    if any(
        _is_same(event, one.retries[tries - 1]) for one in _beside(view, call) if len(one.retries) >= tries
    ):
        return []
    return [f"{role}: {event.end} ({short(event.detail)}), again in {_wait(event.wait_s)}"]


def _spend_differed(view: RunView, event: e.SpendDiffered) -> list[str]:
    """Return a line for the first of a run. The line of its cost adds up all of them."""
    if len(view.differences) > 1:
        return []
    role = view.calls[event.call_id].started.role
    cut = f" (answers that were cut, counted at the most: {event.cut})" if event.cut else ""
    counted, claude_code = f"${event.gateway_usd:.4f} by the gateway{cut}", f"${event.claude_code_usd:.4f}"
    return [f"{role}: the session cost {counted}, and {claude_code} by Claude Code. The larger figure counts"]


def _wait(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return f"{seconds / _MINUTE_S:.0f} min, at {at.astimezone():%H:%M}"


def _message(view: RunView, event: e.MessageReceived) -> list[str]:
    call = view.calls[event.call_id].started
    message = event.message
    if message.kind is MessageKind.TOOL_CALL and message.tool not in _QUIET_TOOLS:
        return [f"    {_who(view, call)}: {tool_call(view.started, message)}"]
    refused = view.calls[event.call_id].refused
    if refused and refused in message.text:
        return []  # its own line has said it
    if message.kind is MessageKind.TOOL_RESULT and message.is_error:
        return [f"    {_who(view, call)}: → {short(message.text)}"]
    return []


def _who(view: RunView, call: e.CallStarted) -> str:
    """The role of a session, with its task if there are several, since they run in parallel."""
    several = len(view.tasks) > 1 and call.task_id in view.tasks
    return f"{call.task_id}: {call.role}" if several else str(call.role)


def _refused(view: RunView, event: e.ActionRefused) -> list[str]:
    who = _who(view, view.calls[event.call_id].started)
    return [f"    {who}: refused: {event.tool}: {short(event.reason)}"]


def _call_ended(view: RunView, event: e.CallEnded) -> list[str]:
    if event.end in {CallEnd.COMPLETED, CallEnd.SIGNALLED}:
        return []
    call = view.calls[event.call_id]
    if any(one.end and _is_same(event, one.end) for one in _beside(view, call)):
        return []
    about = call.started
    told = f"{about.task_id or 'the whole'}: {about.role}: {event.end}: {short(event.detail, 400)}"
    is_last = event.call_id == view.process.judge_refused
    return [f"{told}. The judge is not asked again in this run, and rules decide" if is_last else told]


def _beside(view: RunView, call: CallView) -> list[CallView]:
    """The other requests to the judge about the same claim, since one line can show a common error."""
    mine = call.started
    if mine.role is not Role.JUDGE:
        return []
    calls = view.calls_of(Role.JUDGE, mine.task_id, mine.attempt)
    return [one for one in calls if one is not call and one.started.iteration == mine.iteration]


def _is_same(one: e.CallEnded | e.CallRetried, other: e.CallEnded | e.CallRetried) -> bool:
    return (one.end, without_ids(one.detail)) == (other.end, without_ids(other.detail))
