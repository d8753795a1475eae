"""The typed tools of a session as Claude Code gets them: an MCP server named `sq` in sq's own process."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agents.session.tools import SignalTool, UnfitReportError, payload_of, schema_of

if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig, SdkMcpTool

OnSignal = Callable[[str, str], str | None]


def signal_server(tools: tuple[SignalTool, ...], on_signal: OnSignal) -> "McpSdkServerConfig":
    """Return an in-process MCP server with these tools.

    `on_signal(name, payload as JSON)` gets each valid report. It returns why it refuses one, else None.
    """
    from claude_agent_sdk import create_sdk_mcp_server

    return create_sdk_mcp_server("sq", tools=[_sdk_tool(tool, on_signal) for tool in tools])


def _sdk_tool(signal: SignalTool, on_signal: OnSignal) -> "SdkMcpTool[Any]":
    from claude_agent_sdk import SdkMcpTool

    async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            refusal = on_signal(signal.name, payload_of(signal, arguments))
        except UnfitReportError as error:
            refusal = str(error)
        if refusal:
            return {"content": [{"type": "text", "text": refusal}], "is_error": True}
        return {"content": [{"type": "text", "text": "Recorded."}]}

    return SdkMcpTool(
        name=signal.name, description=signal.description, input_schema=schema_of(signal), handler=handle
    )
