"""Spans of conversations and of their calls: a Worker's conversation is its attempt.

A call that goes on in another process is another span with a link to the one before.
"""

from datetime import datetime

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.span_tracker import Attributes, Key, Span, SpanTracker
from orchestrator.views.descriptions.description import AGAIN, RETRY
from state.ids import FINAL, conversation_key
from state.journal import events as e
from state.records.calls import CallEnd, Usage
from state.roles import ROLES, Role
from state.settings.records import split_effort

_GOOD = {CallEnd.COMPLETED, CallEnd.SIGNALLED}
LOST = "process ended"  # the error of a call whose process was killed


def task_key(task_id: str) -> Key:
    """Return the key of a task's span."""
    return ("task", task_id)


def conversation_of(event: e.CallStarted) -> Key:
    """Return the key of the conversation that a call belongs to, as its session's caller names it."""
    about = event.task_id or (FINAL if event.role is Role.REVIEWER else "")
    apart = event.subject if event.role is Role.REVIEWER else ""
    return conversation_key(event.role, f"{about}.{apart}" if apart else about, event.attempt)


def conversation_attributes(role: Role, task_id: str, attempt: int, session_id: str) -> Attributes:
    """Return the attributes of a conversation."""
    return {
        c.OPERATION: c.INVOKE_AGENT,
        c.AGENT: str(role),
        c.PROVIDER: c.ANTHROPIC,
        c.CONVERSATION: session_id,
        c.ROLE: str(role),
        c.TASK_ID: task_id,
        c.ATTEMPT: attempt,
    }


class Calls:
    """The calls of a run. `cost_usd` is that of all which ended, with their failed tries."""

    def __init__(self, board: SpanTracker) -> None:
        self.cost_usd = 0.0
        self._board = board
        self._started: dict[str, e.CallStarted] = {}
        self._lost: set[str] = set()

    def apply(self, event: e.CallEvent, at: datetime) -> list[Span]:
        """Take an event of a call, and return the span that ends with it."""
        if isinstance(event, e.CallStarted):
            self._start(event, at)
            return []
        started = self._started.get(event.call_id)
        if started is None:
            return []
        key = ("call", event.call_id)
        self._see(started, at)
        match event:
            case e.CallRetried(end=end, wait_s=wait_s, cost_usd=cost_usd):
                self.cost_usd += cost_usd
                if call := self._board.get(key):
                    call.note(RETRY, at, {c.END: str(end), c.WAIT: wait_s})
            case e.CallInterrupted(cost_usd=cost_usd, usage=usage):
                self.cost_usd += cost_usd
                return self._board.close(key, at, str(CallEnd.INTERRUPTED), _spent(cost_usd, usage))
            case e.CallResumed(session_id=session_id):
                return self._resume(started, session_id, at)
            case e.CallEnded():
                return self._end(event, at)
            case _:
                pass
        return []

    def lose(self) -> None:
        """The process of all open calls has ended. They are closed once another process goes on with them."""
        self._lost = {id_ for id_ in self._started if ("call", id_) in self._board}

    def _see(self, started: e.CallStarted, at: datetime) -> None:
        for key in (("call", started.call_id), conversation_of(started)):
            if found := self._board.get(key):
                found.seen_at = at if started.call_id not in self._lost else found.seen_at

    def _start(self, event: e.CallStarted, at: datetime, links: tuple[str, ...] = ()) -> None:
        self._started[event.call_id] = event
        has_session = ROLES[event.role].has_session
        conversation = conversation_of(event)
        if has_session:
            self._board.open(
                conversation,
                at,
                f"invoke_agent {event.role}",
                parent=task_key(event.task_id),
                attributes=conversation_attributes(
                    event.role, event.task_id, event.attempt, event.session_id
                ),
            )
        asker = conversation_key(Role.WORKER, event.task_id, event.attempt)
        parent = conversation if has_session else asker if asker in self._board else task_key(event.task_id)
        model, effort = split_effort(event.model)
        self._board.open(
            ("call", event.call_id),
            at,
            f"{'exchange' if has_session else 'chat'} {event.role}",
            parent=parent,
            attributes={
                **({} if has_session else {c.OPERATION: c.CHAT}),
                c.PROVIDER: c.ANTHROPIC,
                c.REQUEST_MODEL: model,
                **({c.MODEL_EFFORT: effort} if effort else {}),
                c.CONVERSATION: event.session_id,
                c.CALL_ID: event.call_id,
                c.ROLE: str(event.role),
                c.TASK_ID: event.task_id,
                c.ATTEMPT: event.attempt,
                c.ITERATION: event.iteration,
            },
            asks_model=not has_session,
            links=links,
        )

    def _resume(self, started: e.CallStarted, session_id: str, at: datetime) -> list[Span]:
        key = ("call", started.call_id)
        call = self._board.get(key)
        if call and started.call_id not in self._lost:  # another try in the same process
            call.note(AGAIN, at, {c.CONVERSATION: session_id})
            return []
        self._lost.discard(started.call_id)
        closed = self._board.close(key, error=LOST)
        self._start(started, at, links=(self._board.id_of(key),))
        return closed

    def _end(self, event: e.CallEnded, at: datetime) -> list[Span]:
        self.cost_usd += event.cost_usd
        key = ("call", event.call_id)
        attributes = {**_spent(event.cost_usd, event.usage), c.END: str(event.end), c.TURNS: event.turns}
        error = "" if event.end in _GOOD else str(event.end)
        if error:
            attributes = {**attributes, c.ERROR_TYPE: error.replace(" ", "_")}
        lost = event.call_id in self._lost
        self._lost.discard(event.call_id)
        return self._board.close(key, None if lost else at, error, attributes)


def _spent(cost_usd: float, usage: Usage) -> Attributes:
    return {
        c.COST: cost_usd,
        c.INPUT_TOKENS: usage.input_tokens,
        c.OUTPUT_TOKENS: usage.output_tokens,
        c.CACHE_READ_TOKENS: usage.cache_read_tokens,
        c.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
    }
