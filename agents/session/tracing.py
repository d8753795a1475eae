"""Spans of Claude Code's own, nested below the span of its conversation. They hold no prompt and no answer.

Claude Code adds them by its variables for telemetry, of which those that widen it to words are never set.
Commands of a session inherit TRACEPARENT, so that spans of the project's own tests nest too.
"""

from dataclasses import dataclass
from urllib.parse import quote

from agents.caller import Caller
from agents.gateway.call import TRACES_ENDPOINT, TRACES_HEADERS
from state.ids import conversation_key, traceparent

_ON = {
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_LOGS_EXPORTER": "none",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
    "OTEL_BSP_SCHEDULE_DELAY": "1000",
    # A collector that does not answer holds the end of a session no longer than this.
    "CLAUDE_CODE_OTEL_FLUSH_TIMEOUT_MS": "1000",
    "CLAUDE_CODE_OTEL_SHUTDOWN_TIMEOUT_MS": "1000",
}
_PARENT, _RESOURCE = "TRACEPARENT", "OTEL_RESOURCE_ATTRIBUTES"
NAMES = frozenset({*_ON, TRACES_ENDPOINT, TRACES_HEADERS, _PARENT, _RESOURCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTelemetry:
    """The telemetry of a run's sessions. `address` takes spans, or is "" if the gateway passes them on."""

    run_id: str
    address: str = ""

    def environment(self, caller: Caller) -> dict[str, str]:
        """Return the variables for a session of this caller."""
        facts = {
            "sq.run.id": self.run_id,
            "sq.role": str(caller.role),
            "sq.task.id": caller.task,
            "sq.attempt": str(caller.attempt),
        }
        return {
            **_ON,
            _PARENT: traceparent(self.run_id, conversation_key(caller.role, caller.task, caller.attempt)),
            _RESOURCE: ",".join(f"{name}={quote(value, safe='')}" for name, value in facts.items()),
            **({TRACES_ENDPOINT: self.address} if self.address else {}),
        }
