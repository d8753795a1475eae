"""Orchestrator guidance: an `orch-*` session does not stop on a failure that was not handled.

A failure is handled if a call followed it. Words do not count.
"""

from typing import TYPE_CHECKING

from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop

if TYPE_CHECKING:
    from agents.transcript.records import ToolCall
    from orchestrator.gates.power_steering.facts import BackgroundTask

_WORKERS = frozenset({"Agent", "Task"})
_LOOKS = frozenset(
    {"TodoWrite", "TaskList", "TaskGet", "ListAgents", "TaskCreate", "TaskUpdate"}
)  # change nothing
_FAILED = frozenset({"failed", "killed"})
_SHOWN = 300  # characters of an error


def applies(stop: Stop) -> bool:
    """Whether this is an orchestrator's session."""
    return stop.is_orchestrator


def check(stop: Stop) -> StepResult:
    """Hold the session if its last worker or its last step failed and no call followed."""
    since = max((goal.turn for goal in stop.session.facts.goals), default=0)
    turns = stop.session.transcript.turns if stop.session.transcript else ()
    calls = [call for turn in turns if turn.number >= since for call in turn.calls if call.tool not in _LOOKS]
    if failed := _failed_worker(calls):
        told = _told(failed)
        reason = (
            f"A worker failed and nothing was done about it: {told}. Look at it, repeat it or hand it on."
        )
        return StepResult(blocks=True, reason=reason)
    if ended := _failed_in_background(stop, since):
        told = f"A background worker {ended.status}: {ended.what}."
        reason = f"{told} Look at what it left, repeat it or hand it on."
        return StepResult(blocks=True, reason=reason)
    if calls and _is_error(calls[-1]):
        reason = f"The last step failed and nothing was done about it: {_told(calls[-1])}. Handle it first."
        return StepResult(blocks=True, reason=reason)
    return ALLOWED


def _failed_worker(calls: "list[ToolCall]") -> "ToolCall | None":
    """The newest worker, if it failed and no call followed."""
    for number in range(len(calls) - 1, -1, -1):
        if calls[number].tool in _WORKERS:
            return calls[number] if _is_error(calls[number]) and not calls[number + 1 :] else None
    return None


def _failed_in_background(stop: Stop, since: int) -> "BackgroundTask | None":
    """The newest background task, if it failed and no call followed its end."""
    newest = [task for task in stop.session.facts.background if task.turn >= since][-1:]
    if not newest or newest[0].status not in _FAILED:
        return None
    later = [
        call for call in stop.session.facts.calls if call.order > newest[0].order and call.tool not in _LOOKS
    ]
    return None if later else newest[0]


def _is_error(call: "ToolCall") -> bool:
    result = call.result
    return result is not None and result.is_error and not result.is_refused and not result.is_interrupted


def _told(call: "ToolCall") -> str:
    text = call.result.text if call.result else ""
    return f"{call.tool}: {' '.join(text.split())[:_SHOWN]}"
