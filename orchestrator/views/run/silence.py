"""Lines for times without events, which name the calls and commands that a run waits for."""

from collections.abc import Iterator
from datetime import datetime

from orchestrator.views.durations import duration
from orchestrator.views.models.summary import activity
from orchestrator.views.words import subject_of, tool_call
from state.journal.call_view import CallView
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.roles import Role

FIRST_S = 30.0  # of silence before the first line
_LONGEST_S = 600.0  # between two lines. Below it, a line comes each time the silence has doubled


def next_notice(quiet_s: float) -> float:
    """The length of a silence at which the next line is due: 30 s, 60 s, 120 s, and so on."""
    due = FIRST_S
    while due <= quiet_s:
        due += min(due, _LONGEST_S)
    return due


def silence_line(view: RunView, now: datetime, quiet_s: float) -> str:
    """The calls and commands that have not ended, with their times, else sq's own activity."""
    waits = "; ".join(_waits(view, now)) or f"sq's own work ({activity(view)})"
    return f"no sign for {duration(quiet_s)}, waiting for {waits}"


def _waits(view: RunView, now: datetime) -> Iterator[str]:
    for call in view.calls.values():
        if call.end is None and call.since:
            yield _call(view, call, now)
    for one in view.evidence.commands.values():
        commands = ", ".join(f"`{command}`" for command in one.commands)
        about = f" for {one.task_id}" if one.task_id else ""
        yield f"{one.purpose}{about}: {commands}, since {_clock(one.at)}"


def _call(view: RunView, call: CallView, now: datetime) -> str:
    who = f"the {call.started.role} on {subject_of(call.started.task_id)} ({call.started.model})"
    if call.since and call.since > now:
        return f"{who}, which is asked again at {_clock(call.since)} after: {call.retries[-1].end}"
    return f"{who}, since {_clock(call.since or call.at)}{_in_a_tool(view, call)}"


def _in_a_tool(view: RunView, call: CallView) -> str:
    """The tool call of a Worker that has no result yet."""
    task = view.tasks.get(call.started.task_id)
    newest = task.history[-1] if task and task.history and call.started.role is Role.WORKER else None
    if newest is None or newest.kind is not MessageKind.TOOL_CALL:
        return ""
    return f", in {tool_call(view.started, newest)}"


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"
