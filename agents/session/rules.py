"""sq's rules for one session: which calls and reports are taken, and who is told of them.

They hold for agents of every family. An implementation of the port asks them about each call, hands them each
report, question and message, and ends the session when `failure` is set: a session must not go on if its
events can no longer be stored.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio

from agents.concurrency import task_group
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.port import Listener, SessionSpec, Unanswered
from agents.session.tools import (
    SUBMIT_IMPLEMENTATION_PLAN,
    TASK_STUCK,
    UnfitReportError,
    payload_of,
)
from state.records.calls import CallEnd, Message, MessageKind
from state.records.questions import Answer
from state.roles import QUESTION_TOOL, READ_TOOLS

T = TypeVar("T")
_WHILE_PLANNING = {
    *READ_TOOLS,
    QUESTION_TOOL,
    *(f"{SIGNAL_PREFIX}{name}" for name in (SUBMIT_IMPLEMENTATION_PLAN, TASK_STUCK)),
}


class SessionRules:
    """The rules of one session, and its state as far as they need it.

    `failure` is the first error that a listener raised. `on_failure` is called then. `waiting` counts the
    questions under way, whose time does not count as silence of the session. `unanswered`: a question ended
    the exchange. `planning`: only reading, asking and handing over a plan are allowed. `lacking` says that
    the agent does not offer its model the typed tools. Once it is set, all calls are refused.

    Of the current exchange (`begin`): `reported` names the typed tool that was recorded in it, `text` is the
    agent's newest text.
    """

    def __init__(self, spec: SessionSpec, listener: Listener, on_failure: Callable[[], None]) -> None:
        self.spec = spec
        self.listener = listener
        self.on_failure = on_failure
        self.planning = False
        self.failure: Exception | None = None
        self.waiting = 0
        self.unanswered = False
        self.lacking = ""
        self._answered = anyio.Event()
        self.begin()

    def begin(self, *, planning: bool = False) -> None:
        """Begin a new exchange and forget the state of the last one."""
        self.planning = planning
        self.text = self.reported = ""
        self._ended = False

    def over(self, end: CallEnd) -> CallEnd:
        """End the exchange. No further report is recorded, and a recorded one stays valid."""
        self._ended = True
        return end if end is CallEnd.COMPLETED or not self.reported else CallEnd.SIGNALLED

    async def finished(self) -> None:
        """Wait until no question is under way."""
        while self.waiting:
            await self._answered.wait()

    def tell(self, message: Message) -> None:
        """Pass a message on to the listener.

        Raises:
            Exception: the listener's error, which is kept in `failure` too.
        """
        if message.kind is MessageKind.TEXT:
            self.text = message.text
        self.heard(self.listener.on_message, message)

    def judge(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return why this call is refused, or None if it is allowed."""
        if self._closed:
            return self._closed
        if self.planning and tool not in _WHILE_PLANNING:
            return f"{tool} has to wait: first hand over your plan with {SUBMIT_IMPLEMENTATION_PLAN}"
        return self.spec.policy.judge(tool, arguments)

    def refusal(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """As `judge`. The listener hears of a refusal.

        Raises:
            Exception: as `tell`.
        """
        refused = self.judge(tool, arguments)
        if refused is not None and not self.lacking:
            self.heard(self.listener.on_refusal, tool, refused)
        return refused

    def report(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """Take a report by its typed tool. Return None, or why the agent has to report anew.

        Raises:
            Exception: as `tell`.
        """
        tool = next((one for one in self.spec.signals if one.name == name), None)
        if tool is None:
            return f"{name} is not one of your tools of sq"
        try:
            return self.signal(name, payload_of(tool, {**{one: [] for one in tool.lists}, **arguments}))
        except UnfitReportError as error:
            return str(error)

    def signal(self, name: str, payload: str) -> str | None:
        """As `report`, with a payload that fits its tool."""
        if self._closed:
            return self._closed
        refusal = self.heard(self.listener.on_signal, name, payload)
        if refusal is None:
            self.reported = name
        return refusal

    async def answers(self, ask_id: str, arguments: Mapping[str, Any]) -> tuple[Answer, ...] | Unanswered:
        """Return one answer per question of a call, or why there is none.

        Raises:
            Exception: as `tell`.
        """
        ask = self.listener.on_question_callback
        if ask is None:
            return Unanswered("questions are not answered in this session", final=False)
        self.waiting += 1
        try:
            answers = await _apart(partial(ask, ask_id, arguments))
        except Exception as error:
            self._fail(error)
            raise
        finally:
            self.waiting -= 1
            self._answered.set()
            self._answered = anyio.Event()
        if isinstance(answers, Unanswered):
            self.unanswered = self.unanswered or answers.final
        return answers

    def heard(self, callback: Callable[..., T], *facts: object) -> T:
        """Call a callback of the listener.

        Raises:
            Exception: as `tell`.
        """
        try:
            return callback(*facts)
        except Exception as error:
            self._fail(error)
            raise

    @property
    def _closed(self) -> str:
        """Why no further call is allowed, or "" if calls are judged one by one."""
        if self.lacking:
            return "this session is started again"
        if self.reported:
            return f"{self.reported} is recorded and ends this turn"
        return "this turn is over" if self._ended else ""

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self.on_failure()


async def _apart(call: Callable[[], Awaitable[T]]) -> T:
    """Run it in a task of its own: an SDK may cancel ours more than once, even during a clean-up."""
    results: list[T] = []

    async def run() -> None:
        results.append(await call())

    async with task_group() as tasks:
        tasks.start_soon(run)
    return results[0]
