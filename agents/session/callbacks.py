"""The callbacks of Claude Code while it works: permissions, the typed tools, questions.

Each callback asks the policy, informs the listener, and keeps the first failure of a listener: a session must
not go on if its events can no longer be stored.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio

from agents.concurrency import task_group
from agents.session.cli_settings import cli_settings
from agents.session.exchange import Listener, SessionSpec, Unanswered
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.results import lack_in, messages_of, reset_named_in, servers_in, usage_of
from agents.session.tools import SUBMIT_IMPLEMENTATION_PLAN, TASK_STUCK, signal_server
from state.records.calls import CallEnd, MessageKind, Usage
from state.roles import READ_TOOLS

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, McpServerConfig, PermissionResult, ToolPermissionContext

T = TypeVar("T")
QUESTION_TOOL = "AskUserQuestion"
_WHILE_PLANNING = {
    *READ_TOOLS,
    QUESTION_TOOL,
    *(f"{SIGNAL_PREFIX}{name}" for name in (SUBMIT_IMPLEMENTATION_PLAN, TASK_STUCK)),
}
_STOPPED = "The report is recorded."  # Claude Code repeats it beside the next prompt
# An Edit of a big file carries all of it in one line, and the SDK's default of 1 MiB ends the session.
MAX_LINE_BYTES = 64 * 2**20


class Callbacks:
    """The callbacks of one session.

    `failure` is the first error that a listener raised. `on_failure` is called then. `waiting` counts the
    running callbacks, whose time does not count as silence of the session. `unanswered`: a question ended the
    exchange. `planning`: only reading, asking and handing over a plan are allowed. `lacking` names the typed
    tools that the process did not offer its model. Once it is set, messages and calls are ignored.

    Of the current exchange (`begin`): `reported` names the typed tool that was recorded in it, `text` is the
    agent's newest text, `usage` the tokens of all replies seen, `stop_reason` why the last reply ended,
    `resets_at` the end of a limit that the API reports (seconds since 1970).
    """

    def __init__(self, spec: SessionSpec, listener: Listener, on_failure: Callable[[], None]) -> None:
        self._spec = spec
        self._listener = listener
        self._on_failure = on_failure
        self.planning = False
        self.failure: Exception | None = None
        self.waiting = 0
        self.unanswered = False
        self.lacking = ""
        self._answered = anyio.Event()
        self.begin()

    def begin(self) -> None:
        """Begin a new exchange and forget the state of the last one."""
        self.text = self.stop_reason = self.reported = ""
        self.resets_at: float | None = None
        self._ended = False
        self._usage: Counter[str] = Counter()
        self._requests = 0

    def over(self, end: CallEnd) -> CallEnd:
        """End the exchange. No further report is recorded, and a recorded one stays valid."""
        self._ended = True
        return end if end is CallEnd.COMPLETED or not self.reported else CallEnd.SIGNALLED

    @property
    def usage(self) -> Usage:
        """The tokens of the exchange's replies. A cut reply counts as far as it came."""
        return replace(usage_of(self._usage), requests=self._requests)

    def options(
        self, launcher: Path, *, stderr: Callable[[str], None], environment: dict[str, str]
    ) -> "ClaudeAgentOptions":
        """Return the SDK's options for this session: its own tools only, none of the user's settings."""
        from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

        spec = self._spec
        own = {"sq": signal_server(spec.signals, self._on_signal)} if spec.signals else {}
        return ClaudeAgentOptions(
            cwd=spec.workspace,
            cli_path=launcher,
            model=spec.model.id,
            effort=spec.model.effort,
            max_turns=spec.max_turns,
            max_budget_usd=spec.max_cost_usd,
            task_budget={"total": spec.start.task_tokens} if spec.start.task_tokens else None,
            system_prompt=spec.system,
            tools=list(spec.policy.tools),
            permission_mode="default",
            can_use_tool=self._may_use,
            hooks={
                "PreToolUse": [HookMatcher(hooks=[self._before_tool], on_failure="block")],
                "PostToolUse": [HookMatcher(matcher=f"{SIGNAL_PREFIX}.*", hooks=[self._after_report])],
            },
            mcp_servers=cast("dict[str, McpServerConfig]", {**spec.start.servers, **own}),
            strict_mcp_config=True,
            setting_sources=[],
            settings=cli_settings(spec.policy.hidden, spec.start.command_sandbox),
            skills=[],
            session_id=None if spec.resume else spec.session_id,
            resume=spec.session_id if spec.resume else None,
            verbatim_prompts=True,
            include_partial_messages=True,  # signs of life while a long block is written
            max_buffer_size=MAX_LINE_BYTES,
            env=environment,
            stderr=stderr,
        )

    async def finished(self) -> None:
        """Wait until no callback is running: the SDK cancels running ones without waiting for them."""
        while self.waiting:
            await self._answered.wait()

    def tell(self, message: object) -> None:
        """Pass an SDK message on to the listener.

        Raises:
            Exception: the listener's error, which is kept in `failure` too.
        """
        self._count(message)
        self.lacking = self.lacking or lack_in(message, self._spec.signals)
        if self.lacking:
            self._on_failure()
            return
        try:
            if servers := servers_in(message, self._spec.start.servers):
                self._listener.on_servers(servers)
            for told in messages_of(message):
                if told.kind is MessageKind.TEXT:
                    self.text = told.text
                self._listener.on_message(told)
        except Exception as error:
            self._fail(error)
            raise

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

    def _on_signal(self, name: str, payload: str) -> str | None:
        if self._closed:
            return self._closed
        try:
            refusal = self._listener.on_signal(name, payload)
        except Exception as error:
            self._fail(error)
            raise
        if refusal is None:
            self.reported = name
        return refusal

    @property
    def _closed(self) -> str:
        """Why no further call is allowed, or "" if calls are judged one by one."""
        if self.lacking:
            return "this session is started again"
        if self.reported:
            return f"{self.reported} is recorded and ends this turn"
        return "this turn is over" if self._ended else ""

    def _judge(self, tool: str, arguments: dict[str, Any]) -> str | None:
        if self._closed:
            return self._closed
        if self.planning and tool not in _WHILE_PLANNING:
            return f"{tool} has to wait: first hand over your plan with {SUBMIT_IMPLEMENTATION_PLAN}"
        return self._spec.policy.judge(tool, arguments)

    async def _before_tool(self, event: Any, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        """Decide on a call. What is allowed here, Claude Code does not ask about again, except questions."""
        tool = event["tool_name"]
        refusal = self._judge(tool, event["tool_input"])
        if refusal is None and tool == QUESTION_TOOL:
            return {}
        decision: dict[str, Any] = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if refusal is None else "deny",
        }
        if refusal is None:
            lists = {f"{SIGNAL_PREFIX}{one.name}": one.lists for one in self._spec.signals}.get(tool, ())
            left_out: dict[str, Any] = {name: [] for name in lists if name not in event["tool_input"]}
            if left_out:
                decision["updatedInput"] = {**event["tool_input"], **left_out}
            return {"hookSpecificOutput": decision}
        try:
            if not self.lacking:
                self._listener.on_refusal(tool, refusal)
        except Exception as error:
            self._fail(error)
            raise
        return {"hookSpecificOutput": {**decision, "permissionDecisionReason": refusal}}

    async def _after_report(self, _event: object, _tool_use_id: str | None, _context: object) -> Any:  # noqa: ANN401
        """End the turn once its report is recorded. A call that failed never comes here."""
        return {"continue_": False, "stopReason": _STOPPED} if self.reported else {}

    async def _may_use(
        self, tool: str, arguments: dict[str, Any], context: "ToolPermissionContext"
    ) -> "PermissionResult":
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        if refusal := self._judge(tool, arguments):
            return PermissionResultDeny(message=refusal)
        if tool != QUESTION_TOOL:
            return PermissionResultAllow()
        if self._listener.on_question_callback is None:
            return PermissionResultDeny(message="questions are not answered in this session")
        self.waiting += 1
        try:
            ask = self._listener.on_question_callback
            answers = await _apart(partial(ask, context.tool_use_id or "", arguments))
        except Exception as error:
            self._fail(error)
            raise
        finally:
            self.waiting -= 1
            self._answered.set()
            self._answered = anyio.Event()
        if isinstance(answers, Unanswered):
            self.unanswered = self.unanswered or answers.final
            return PermissionResultDeny(message=answers.reason, interrupt=answers.final)
        given = {answer.question: answer.marked for answer in answers}
        # Claude Code writes a full stop behind the notes.
        reasons = {answer.question: answer.reason.strip().removesuffix(".") for answer in answers}
        notes = {question: {"notes": reason} for question, reason in reasons.items() if reason}
        return PermissionResultAllow(updated_input={**arguments, "answers": given, "annotations": notes})

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self._on_failure()


async def _apart(call: Callable[[], Awaitable[T]]) -> T:
    """Run it in a task of its own: the SDK cancels ours more than once, even during a clean-up."""
    results: list[T] = []

    async def run() -> None:
        results.append(await call())

    async with task_group() as tasks:
        tasks.start_soon(run)
    return results[0]


def _numbers(usage: object) -> dict[str, int]:
    counts = usage if isinstance(usage, dict) else {}
    return {name: count for name, count in counts.items() if isinstance(count, int)}
