"""Todo continuation: a session does not stop while its own list has open items.

The list is that of TodoWrite, of TaskCreate and TaskUpdate, or Claude Code's task files. An item that was
open when the gate held the session, and left the list without being done, still counts as open: agents took
items off to pass.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agents.transcript.records import Speaker
from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.steps.users_word import takes_the_list
from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop
from state.atomic_files import read_small

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.facts import Todo

_SHOWN = 5
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_MOST_FILES = 500


def applies(stop: Stop) -> bool:
    """Whether a list may have open items."""
    path = str(stop.transcript_path or "")
    return probe.has_open_tasks(stop.claude_session) or probe.has_open_todos(path)


def check(stop: Stop) -> StepResult:
    """Hold a session while items are open, unless it waits for its user or its user wants something else."""
    items = [todo for todo in _now(stop) if todo.is_open]
    left = [todo.text for todo in items]
    left += [f"{text} (taken off the list, not done)" for text in _taken_off(stop)]
    if not left or stop.waits or takes_the_list(stop.session.facts, stop.session.transcript, items):
        return ALLOWED
    shown = "\n".join(f"- {text}" for text in left[:_SHOWN])
    more = f"\n- and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    reason = (
        f"{len(left)} item(s) of your list are open. Do them, and close each as it is done:\n{shown}{more}"
    )
    return StepResult(blocks=True, reason=reason)


def _now(stop: Stop) -> "list[Todo]":
    """The present list. Task files, if there are any, know more than the transcript."""
    tasks = _tasks(stop)
    said = stop.session.facts.todos
    return [*(todo for todo in said if not todo.id), *tasks] if tasks else list(said)


def _tasks(stop: Stop) -> "list[Todo]":
    from orchestrator.gates.power_steering.facts import Todo

    folder = _task_folder(stop)
    found = []
    for file in sorted(folder.glob("*.json"))[:_MOST_FILES] if folder else ():
        try:
            task = json.loads(read_small(file))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(task, dict) and isinstance(task.get("subject"), str):
            found.append(Todo(id=str(task.get("id")), text=task["subject"], status=str(task.get("status"))))
    return found


def _task_folder(stop: Stop) -> Path | None:
    if not _PLAIN.fullmatch(stop.claude_session):
        return None
    folder = Path(probe.config_folder(stop.environ)) / "tasks" / stop.claude_session
    return folder if folder.is_dir() else None


def _taken_off(stop: Stop) -> list[str]:
    """The items that were open at a hook's first feedback since the user's last prompt, and are gone now."""
    from orchestrator.gates.power_steering.changes_made import todos_of

    turns = stop.session.transcript.turns if stop.session.transcript else ()
    since = max((goal.turn for goal in stop.session.facts.goals), default=0)
    openers = ((turn.number, turn.opener) for turn in turns if turn.number > since)
    held = next((number for number, one in openers if one and one.speaker is Speaker.HOOK), None)
    if held is None:
        return []
    before = todos_of(call for turn in turns if turn.number < held for call in turn.calls)
    now = [*stop.session.facts.todos, *_tasks(stop)]  # a task that was done may have no file any more
    return list(_gone([todo for todo in before if todo.is_open], now))


def _gone(before: "Iterable[Todo]", now: "Iterable[Todo]") -> Iterable[str]:
    kept = {(todo.id or todo.text): todo.status for todo in now}
    for todo in before:
        status = kept.get(todo.id or todo.text)
        if status is None or status in {"deleted", "cancelled"}:
            yield todo.text
