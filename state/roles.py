"""The roles of a run, one row each.

A role's models are in `state/settings/effort.yaml`, its typed tools in `agents.session.tools`, its requests
in a module of `agents.roles`, its system prompt in `prompts`.
"""

from dataclasses import dataclass
from enum import StrEnum

READ_TOOLS = ("Read", "Glob", "Grep")
WRITE_TOOLS = ("Edit", "Write", "NotebookEdit")
QUESTION_TOOL = "AskUserQuestion"
_WORK_TOOLS = ("Bash", *READ_TOOLS, "Edit", "Write")


class Role(StrEnum):
    """The roles that speak with a model."""

    PLANNER = "planner"
    WORKER = "worker"
    REVIEWER = "reviewer"
    DEVELOPER = "developer"
    JUDGE = "judge"
    RESOLVER = "resolver"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRow:
    """One role.

    `work` completes "model that …" in the help of its key. `tools` are the built-in tools of its agent: a
    role without any has no session and answers single requests. `begins` is shown when one of its calls
    starts. If it is empty, nothing is shown then.
    """

    work: str
    tools: tuple[str, ...] = ()
    begins: str = ""

    @property
    def has_session(self) -> bool:
        """Whether it works in sessions of an agent. Otherwise it answers single requests."""
        return bool(self.tools)

    @property
    def writes(self) -> bool:
        """Whether it changes files of its workspace."""
        return any(tool in self.tools for tool in WRITE_TOOLS)


ROLES: dict[Role, RoleRow] = {
    Role.PLANNER: RoleRow(work="analyzes and plans", tools=READ_TOOLS, begins="asking the planner"),
    Role.WORKER: RoleRow(work="builds", tools=(*_WORK_TOOLS, QUESTION_TOOL), begins="the worker builds"),
    Role.REVIEWER: RoleRow(work="reviews", tools=READ_TOOLS, begins="under review"),
    Role.DEVELOPER: RoleRow(work="answers questions"),
    Role.JUDGE: RoleRow(work="judges whether a session that claims to be done is"),
    Role.RESOLVER: RoleRow(
        work="resolves conflicts of a merge",
        tools=_WORK_TOOLS,
        begins="the resolver works on the conflict",
    ),
}
