"""The Worker: builds one task in its worktree; the only role that writes."""

import json
from pathlib import Path

import prompts
from agents.connection import Lane
from agents.exchange import SessionSpec
from agents.permissions import WORKER_TOOLS
from agents.platform import Platform
from agents.signals import ITERATION_DONE, SIGNALS, TASK_COMPLETE, TASK_STUCK
from state.records import Role

_STUCK_PREFIX = "TASK_STUCK:"


def system_prompt() -> str:
    """What every Worker is told about its place, before any task."""
    return prompts.render("worker_system")


def worker_session(
    platform: Platform,
    *,
    task_id: str,
    attempt: int,
    workspace: Path,
    temporary: Path,
    session_id: str,
    resume: bool,
    cost: float,
) -> SessionSpec:
    """A session for one attempt, with a temporary folder of its own.

    `cost` is what the conversation had cost before it is resumed, in USD.
    """
    lane = Lane(role=Role.WORKER, task=task_id, attempt=attempt, values={"workspace": str(workspace)})
    return platform.session(
        lane,
        workspace=workspace,
        system=system_prompt(),
        tools=WORKER_TOOLS,
        signals=SIGNALS[Role.WORKER],
        session_id=session_id,
        resume=resume,
        cost_before_usd=cost,
        temporary=temporary,
    )


def signal_in_text(text: str) -> tuple[str, str] | None:
    """The text form of a signal, `(name, payload JSON)`: it counts only as the last line on its own.

    "I will not output TASK_COMPLETE yet" is none.
    """
    lines = text.strip().splitlines()
    last = lines[-1].strip() if lines else ""
    if last == "TASK_COMPLETE":
        return TASK_COMPLETE, json.dumps({"summary": "", "tests": ""})
    if last == "ITERATION_DONE":
        return ITERATION_DONE, json.dumps({"done": "", "test_status": "", "next_step": "", "blockers": []})
    if last.startswith(_STUCK_PREFIX) and (reason := last.removeprefix(_STUCK_PREFIX).strip()):
        return TASK_STUCK, json.dumps({"reason": reason})
    return None
