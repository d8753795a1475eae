"""The MCP servers of a project's `.mcp.json` that `worker.mcp` names, as a commit has them.

Claude Code puts variables in place of `${NAME}` and `${NAME:-default}`. Where a name is that of a secret, sq
puts the default there before. Servers do not get the key with which the session asks its model.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.session.permissions import SIGNAL_PREFIX, server_prefix
from orchestrator.git.trees import text_at
from state.errors import UsageError
from state.secrets import secret_names

FILE = ".mcp.json"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"), "")


async def servers_at(repository: Path, commit: str, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the named servers of a commit, each with its configuration.

    Raises:
        UsageError: the file is no such one, or a name is unknown or that of sq's own server. Names the known.
    """
    where = f"{FILE} of commit {commit[:10]}"
    text = await text_at(repository, commit, FILE) if names else ""
    try:
        servers = json.loads(_VARIABLE.sub(_default_of_secret, text) or "{}").get("mcpServers", {})
        known = {name: _without_keys(dict(server)) for name, server in servers.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"worker.mcp: {where} cannot be read: {error}") from error
    for name in names:
        if name not in known:
            raise UsageError(
                f"worker.mcp: {where} has no server {name}. Known are {', '.join(known) or 'none'}"
            )
        if server_prefix(name).startswith(SIGNAL_PREFIX):
            raise UsageError(f"worker.mcp: {name} is the name of sq's own tools. Rename it in {FILE}")
    return {name: known[name] for name in names}


def _default_of_secret(found: re.Match[str]) -> str:
    return found[2] or "" if secret_names({found[1]: ""}) else found[0]


def _without_keys(server: dict[str, Any]) -> dict[str, Any]:
    return {**server, "env": {**_KEYS, **(server.get("env") or {})}} if "command" in server else server
