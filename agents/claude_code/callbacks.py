"""The callbacks of Claude Code while it works: permissions, the typed tools, questions, messages.

They ask sq's rules (`agents.session.rules`) and answer as the SDK wants it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agents.claude_code.cli_settings import cli_settings
from agents.claude_code.exchange import ClaudeSpec
from agents.claude_code.results import lack_in, messages_of, reset_named_in, servers_in, usage_of
from agents.claude_code.tool_server import signal_server
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.port import Listener, Unanswered
from agents.session.rules import SessionRules
from state.records.calls import Usage
from state.roles import QUESTION_TOOL

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, McpServerConfig, PermissionResult, ToolPermissionContext

_STOPPED = "The report is recorded."  # Claude Code repeats it beside the next prompt
# An Edit of a big file carries all of it in one line, and the SDK's default of 1 MiB ends the session.
MAX_LINE_BYTES = 64 * 2**20


class Callbacks(SessionRules):
    """The rules of one session with Claude Code, and the callbacks that apply them.

    Of the current exchange (`begin`): `usage` counts the tokens of all replies seen, `stop_reason` is why the
    last reply ended, `resets_at` the end of a limit that the API reports (seconds since 1970).
    """

    def __init__(self, spec: ClaudeSpec, listener: Listener, on_failure: Callable[[], None]) -> None:
        """Begin the first exchange."""
        super().__init__(spec, listener, on_failure)
        self._command_sandbox = spec.start.command_sandbox

    def begin(self, *, planning: bool = False) -> None:
        """Begin a new exchange and forget the state of the last one."""
        super().begin(planning=planning)
        self.stop_reason = ""
        self.resets_at: float | None = None
        self._usage: Counter[str] = Counter()
        self._requests = 0

    @property
    def usage(self) -> Usage:
        """The tokens of the exchange's replies. A cut reply counts as far as it came."""
        return replace(usage_of(self._usage), requests=self._requests)

    def options(
        self, launcher: Path, *, stderr: Callable[[str], None], environment: dict[str, str]
    ) -> "ClaudeAgentOptions":
        """Return the SDK's options for this session: its own tools only, none of the user's settings."""
        from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

        spec = self.spec
        own = {"sq": signal_server(spec.signals, self.signal)} if spec.signals else {}
        return ClaudeAgentOptions(
            cwd=spec.workspace,
            cli_path=launcher,
            model=spec.model.id,
            effort=spec.model.effort,
            max_turns=spec.limits.max_turns,
            max_budget_usd=spec.max_cost_usd,
            task_budget={"total": spec.task_tokens} if spec.task_tokens else None,
            system_prompt=spec.system,
            tools=list(spec.policy.tools),
            permission_mode="default",
            can_use_tool=self._may_use,
            hooks={
                "PreToolUse": [HookMatcher(hooks=[self._before_tool], on_failure="block")],
                "PostToolUse": [HookMatcher(matcher=f"{SIGNAL_PREFIX}.*", hooks=[self._after_report])],
            },
            mcp_servers=cast("dict[str, McpServerConfig]", {**spec.servers, **own}),
            strict_mcp_config=True,
            setting_sources=[],
            settings=cli_settings(spec.policy.hidden, self._command_sandbox),
            skills=[],
            session_id=None if spec.resume else spec.session_id,
            resume=spec.session_id if spec.resume else None,
            verbatim_prompts=True,
            include_partial_messages=True,  # signs of life while a long block is written
            max_buffer_size=MAX_LINE_BYTES,
            env=environment,
            stderr=stderr,
        )

    def take(self, message: object) -> None:
        """Take an SDK message, and pass on to the listener what it says.

        Raises:
            Exception: as `tell`.
        """
        self._count(message)
        self.lacking = self.lacking or lack_in(message, self.spec.signals)
        if self.lacking:
            self.on_failure()
            return
        if servers := servers_in(message, self.spec.servers):
            self.heard(self.listener.on_servers, servers)
        for told in messages_of(message):
            self.tell(told)

    def _count(self, message: object) -> None:
        from claude_agent_sdk import StreamEvent

        self.resets_at = reset_named_in(message) or self.resets_at
        if not isinstance(message, StreamEvent):
            return
        event = message.event
        if event.get("type") == "message_start":
            begun = _numbers(event.get("message", {}).get("usage"))
            begun.pop("output_tokens", None)  # comes whole at the end
            self._usage.update(begun)
            self._requests += 1
        elif event.get("type") == "message_delta":  # its number of output tokens is the whole reply's
            self.stop_reason = event.get("delta", {}).get("stop_reason") or ""
            self._usage["output_tokens"] += _numbers(event.get("usage")).get("output_tokens", 0)

    async def _before_tool(self, event: Any, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        """Decide on a call. What is allowed here, Claude Code does not ask about again, except questions."""
        tool = event["tool_name"]
        refusal = self.refusal(tool, event["tool_input"])
        if refusal is None and tool == QUESTION_TOOL:
            return {}
        decision: dict[str, Any] = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if refusal is None else "deny",
        }
        if refusal is not None:
            return {"hookSpecificOutput": {**decision, "permissionDecisionReason": refusal}}
        lists = {f"{SIGNAL_PREFIX}{one.name}": one.lists for one in self.spec.signals}.get(tool, ())
        left_out: dict[str, Any] = {name: [] for name in lists if name not in event["tool_input"]}
        if left_out:
            decision["updatedInput"] = {**event["tool_input"], **left_out}
        return {"hookSpecificOutput": decision}

    async def _after_report(self, _event: object, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        """End the turn once its report is recorded. A call that failed never comes here."""
        return {"continue_": False, "stopReason": _STOPPED} if self.reported else {}

    async def _may_use(
        self, tool: str, arguments: dict[str, Any], context: "ToolPermissionContext"
    ) -> "PermissionResult":
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        if refusal := self.judge(tool, arguments):
            return PermissionResultDeny(message=refusal)
        if tool != QUESTION_TOOL:
            return PermissionResultAllow()
        answers = await self.answers(context.tool_use_id or "", arguments)
        if isinstance(answers, Unanswered):
            return PermissionResultDeny(message=answers.reason, interrupt=answers.final)
        given = {answer.question: answer.marked for answer in answers}
        # Claude Code writes a full stop behind the notes.
        reasons = {answer.question: answer.reason.strip().removesuffix(".") for answer in answers}
        notes = {question: {"notes": reason} for question, reason in reasons.items() if reason}
        return PermissionResultAllow(updated_input={**arguments, "answers": given, "annotations": notes})


def _numbers(usage: object) -> dict[str, int]:
    counts = usage if isinstance(usage, dict) else {}
    return {name: count for name, count in counts.items() if isinstance(count, int)}
