"""Finds the typed tools that a Claude Code process fails to offer its model, by its init message.

Under load Claude Code may send its first request before its tool servers are connected. The model then
answers without the tools through which it should report.
"""

from typing import TYPE_CHECKING, Any

from agents.session.permissions import SIGNAL_PREFIX

if TYPE_CHECKING:
    from agents.session.tools import SignalTool


def lack_in(message: object, signals: "tuple[SignalTool, ...]") -> str:
    """Return a sentence that names the typed tools that this message lacks, for people.

    Returns:
        "" if it lacks none, or is no init message.
    """
    from claude_agent_sdk import SystemMessage

    if not isinstance(message, SystemMessage) or message.subtype != "init":
        return ""
    offered = set(message.data.get("tools") or ())
    wanted = [f"{SIGNAL_PREFIX}{signal.name}" for signal in signals]
    missing = [name for name in wanted if name not in offered]
    if not missing:
        return ""
    return (
        f"Claude Code did not offer its model {', '.join(missing)} (tool server sq: {_status(message.data)})"
    )


def _status(data: dict[str, Any]) -> str:
    servers = [server for server in data.get("mcp_servers") or () if isinstance(server, dict)]
    return next((str(server.get("status")) for server in servers if server.get("name") == "sq"), "missing")
