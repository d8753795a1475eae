"""The Resolver: brings the two sides of a conflicting merge together, in the integration worktree."""

from pathlib import Path

import prompts
from agents.backend import Platform
from agents.caller import Caller
from agents.session.port import SessionSpec
from agents.session.tools import SIGNALS
from state.roles import Role


def system_prompt() -> str:
    """Return the system prompt of every Resolver, which says where it works."""
    return prompts.render("resolver_system")


def resolver_session(
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
    """Return a session that writes in the integration worktree, `workspace`, which has an open merge.

    `cost` is the cost of the conversation before it is resumed, in USD.
    """
    caller = Caller(role=Role.RESOLVER, task=task_id, attempt=attempt, values={"workspace": str(workspace)})
    return platform.session(
        caller,
        workspace=workspace,
        system=system_prompt(),
        signals=SIGNALS[Role.RESOLVER],
        session_id=session_id,
        resume=resume,
        cost_before_usd=cost,
        temporary=temporary,
    )
