"""The actions that a role may take, and where.

`Policy.judge` is a plain function of a tool call. A session calls it in a PreToolUse hook, which applies in
every mode, and for questions in the permission callback too. The rules are data: `policy.yaml`.
"""

import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from state.decoding import table_beside
from state.roles import WRITE_TOOLS, Role

SIGNAL_PREFIX = "mcp__sq__"
REFLOG_NAME = "sq-agent"  # GIT_REFLOG_ACTION in the user's checkout: marks moves by an agent's git

_PATH_FIELDS = ("file_path", "notebook_path", "path")
_WILDCARD = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One session's rights.

    `tools` are the only tools it may call. `writable` are the folders it may write in. If it is empty, the
    session only reads. `hidden` are folders it may not even read (sq's own state). `protected` are patterns
    beside those of `policy.yaml`. `allowed` are names of its rules that do not apply here. `role` selects the
    words of a refusal. `guarded` are the user's files and folders that are in no commit. `servers` are those
    MCP servers of the project whose tools it may call.
    """

    tools: tuple[str, ...]
    readable: tuple[Path, ...]
    writable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    protected: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    guarded: frozenset[str] = frozenset()
    role: Role | None = None
    servers: tuple[str, ...] = ()

    def judge(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return why this call is refused, in words that the agent can act on, or None if it is allowed."""
        if tool.startswith((SIGNAL_PREFIX, *map(server_prefix, self.servers))):
            return None
        if tool not in self.tools:
            return f"{tool} is not one of your tools. You have {', '.join(self.tools)}"
        if tool == "Bash":
            return self._judge_command(str(arguments.get("command", "")))
        paths = [str(arguments[field]) for field in _PATH_FIELDS if arguments.get(field)]
        if tool == "Glob":  # its pattern may be a path too, absolute or upwards
            fixed = _WILDCARD.split(str(arguments.get("pattern", "")), maxsplit=1)[0]
            paths.append(str(Path(str(arguments.get("path") or ""), fixed)))
        refusals = (self._judge_path(path, writing=tool in WRITE_TOOLS) for path in paths)
        return next((refusal for refusal in refusals if refusal), None)

    def _judge_path(self, value: str, *, writing: bool) -> str | None:
        try:  # links are followed first: a link inside the workspace may point out of it
            path = Path(os.path.realpath(self.readable[0] / Path(value).expanduser()))
        except (ValueError, RuntimeError):  # a NUL character, the home of a user that does not exist
            return f"{value!r} is no path. Give one inside {self.readable[0]}"
        if any(_inside(path, folder) for folder in self.hidden):
            return f"{value} belongs to sq's own state, which agents cannot see"
        if writing and not any(_inside(path, folder) for folder in self.writable):
            if not self.writable:
                return f"{value}: this session only reads"
            return (
                f"{value} is outside your workspace. Write inside {' or '.join(map(str, self.writable))} only"
            )
        if writing and (protected := protected_path(_relative(path, self.writable), self.protected)):
            return f"{value} is protected ({protected}). Leave it as it is"
        if writing and any(str(place) in self.guarded for place in (path, *path.parents)):
            return (
                f"{value} is a file of the user's that git ignores. Leave it as it is and write another one"
            )
        return None

    def _judge_command(self, command: str) -> str | None:
        for folder in self.hidden:
            if re.search(rf"{re.escape(str(folder))}(?![\w-])", command):
                return f"{folder} belongs to sq's own state, which agents cannot see"
        for rule in _rules()["bash"]:
            if rule["name"] not in self.allowed and re.search(rule["pattern"], command):
                return str(rule.get(str(self.role)) or rule["reason"])
        return None


def server_prefix(server: str) -> str:
    """Return the beginning of the names of an MCP server's tools, as Claude Code makes it."""
    return f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', server)}__"


def protected_path(relative: str, more: Sequence[str] = ()) -> str | None:
    """Return the pattern that protects this path (relative to the repository) in any case, or None.

    `more` are the user's patterns. Those of `policy.yaml` always apply.
    """
    patterns: Sequence[str] = [*_rules()["protected"], *more]
    return next((one for one in patterns if fnmatch.fnmatchcase(relative.lower(), one.lower())), None)


def rule_names() -> tuple[str, ...]:
    """Return the names of the rules for commands, which a user's configuration may allow."""
    return tuple(str(rule["name"]) for rule in _rules()["bash"])


def _inside(path: Path, folder: Path) -> bool:
    return path.is_relative_to(os.path.realpath(folder))


def _relative(path: Path, folders: Sequence[Path]) -> str:
    for folder in folders:
        if _inside(path, folder):
            return str(path.relative_to(os.path.realpath(folder)))
    return str(path)


@cache
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = table_beside(__file__, "policy.yaml")
    return rules
