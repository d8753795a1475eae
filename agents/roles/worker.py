"""The Worker: builds one task in its worktree."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import prompts
from agents.backend import Platform
from agents.caller import Caller
from agents.session.port import SessionSpec
from agents.session.tools import (
    ITERATION_DONE,
    PLAN_SIGNAL,
    SIGNALS,
    TASK_STUCK,
    IterationDoneInput,
    TaskCompleteInput,
    TaskStuckInput,
)
from state.journal.events.calls import CallView
from state.records.calls import TASK_COMPLETE
from state.records.questions import Question
from state.roles import Role
from state.settings.presets import RETRY_LIMITS

_STUCK_PREFIX = "TASK_STUCK:"
_LONGEST_QUESTION = 2_000  # characters
_CLOSING = " \t\n*_`)\"'"  # characters allowed behind a question mark


@cache
def system_prompt(*, in_worktree: bool = True, sandboxed: bool = False, online: bool = False) -> str:
    """Return the system prompt of every Worker. Without `in_worktree`, it works in the user's checkout.

    `sandboxed`: its commands reach no network, or with `online` the open hosts alone.
    """
    return prompts.render("worker_system", in_worktree=in_worktree, sandboxed=sandboxed, online=online)


def worker_session(
    platform: Platform,
    *,
    task_id: str,
    attempt: int,
    workspace: Path,
    temporary: Path,
    plans: bool = False,
    variables: Mapping[str, str] | None = None,
    session_id: str,
    resume: bool,
    cost: float,
) -> SessionSpec:
    """Return a session for one attempt, with its own temporary folder. `plans`: it can hand over a plan.

    `variables` are environment variables for commands in the workspace. `cost` is the cost of the
    conversation before it is resumed, in USD.
    """
    caller = Caller(role=Role.WORKER, task=task_id, attempt=attempt, values={"workspace": str(workspace)})
    return platform.session(
        caller,
        workspace=workspace,
        system=system_prompt(
            in_worktree=platform.settings.worktrees,
            sandboxed=platform.sandboxed,
            online=platform.online,
        ),
        signals=(*SIGNALS[Role.WORKER], *([PLAN_SIGNAL] if plans else [])),
        session_id=session_id,
        resume=resume,
        cost_before_usd=cost,
        temporary=temporary,
        variables=variables,
    )


def plain_question(text: str, asked: int) -> Question | None:
    """Return the question at the end of a turn's text, or None. `asked` such questions came before.

    Length and number are limited, because the tool is the usual way to ask.
    """
    paragraph = text.strip().split("\n\n")[-1].strip()
    if asked >= RETRY_LIMITS.plain_questions or not paragraph.rstrip(_CLOSING).endswith("?"):
        return None
    if len(paragraph) > _LONGEST_QUESTION:
        paragraph = "… " + paragraph[-_LONGEST_QUESTION:].partition(" ")[2]
    return Question(text=paragraph)


def signal_of(call: CallView) -> tuple[str, dict[str, Any]]:
    """Return the signal that ended a Worker's turn: the typed one, else the text's last line, else ""."""
    if call.report:
        return call.report.name, json.loads(call.report.payload)
    name, payload = signal_in_text(call.last_text) or ("", "{}")
    return name, json.loads(payload)


def signal_in_text(text: str) -> tuple[str, str] | None:
    """Return the text form of a signal, `(name, payload JSON)`, if it is the last line on its own.

    "I will not output TASK_COMPLETE yet" does not count.
    """
    lines = text.strip().splitlines()
    last = lines[-1].strip() if lines else ""
    if last == "TASK_COMPLETE":
        return TASK_COMPLETE, TaskCompleteInput(summary="").model_dump_json()
    if last == "ITERATION_DONE":
        return ITERATION_DONE, IterationDoneInput(done="").model_dump_json()
    if last.startswith(_STUCK_PREFIX) and (reason := last.removeprefix(_STUCK_PREFIX).strip()):
        return TASK_STUCK, TaskStuckInput(reason=reason).model_dump_json()
    return None
