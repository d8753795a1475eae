"""Exchanges of a session as a run records them: a start before, an end after, resumed where they broke off.

A `Conversation` is one role's talk about one attempt. Its process starts with the first prompt that has to
be sent; what the journal already holds is not asked again.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Protocol, Self

import structlog

import prompts
from agents.exchange import Exchange, Listener, OnQuestions, SessionSpec, SessionStartError
from agents.session import Session, open_session
from orchestrator.run.record import Run
from state.events import (
    ActionRefused,
    CallEnded,
    CallResumed,
    CallStarted,
    MessageReceived,
    SignalReceived,
)
from state.fold import CallView
from state.ids import new_call_id, new_session_id
from state.records import CallEnd, Message, Role

log = structlog.get_logger(__name__)


class SpecFor(Protocol):
    """Makes the spec of a session with this id."""

    def __call__(self, *, session_id: str, resume: bool, cost: float) -> SessionSpec:
        """`resume`: the conversation of that id goes on, having cost `cost` USD so far."""
        ...


class Conversation:
    """One role's exchanges about one attempt at one task, through as few processes as possible."""

    def __init__(
        self,
        run: Run,
        *,
        role: Role,
        task_id: str,
        attempt: int,
        spec_for: SpecFor,
        session_id: str = "",
        questions: Callable[[str], OnQuestions] | None = None,
    ) -> None:
        """Prepare; nothing is started.

        Args:
            run: where it is recorded.
            role: whose conversation.
            task_id: about which task, or the subject of a run-level call.
            attempt: which attempt.
            spec_for: makes the session's spec.
            session_id: the id that a first session gets; empty: a new one.
            questions: given a call's id, the callback that answers its questions.
        """
        self._run = run
        self._role = role
        self._task_id = task_id
        self._attempt = attempt
        self._spec_for = spec_for
        self._first_session_id = session_id or new_session_id()
        self._questions = questions
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._call_id = ""

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    @property
    def calls(self) -> list[CallView]:
        """The calls of this conversation so far, those of earlier processes included."""
        return self._run.view.calls_of(self._role, self._task_id, self._attempt)

    async def ask(self, prompt: str, *, iteration: int = 1) -> CallView:
        """One exchange: a new one, or the one that the process before this left open.

        Never raises for what the model or its process does: that is in the call's end.
        """
        calls = self.calls
        if calls and calls[-1].end is None:
            return await self._go_on(calls[-1])
        try:
            session = await self._open_session()
        except SessionStartError as error:
            return self._never_started(prompt, iteration, str(error))
        self._call_id = new_call_id()
        self._run.record(self._started(session.session_id, prompt, iteration))
        return self._ended(await session.exchange(prompt))

    async def _go_on(self, call: CallView) -> CallView:
        self._call_id = call.started.call_id
        if call.signals:  # it had reported; only the process's last words are missing
            self._run.record(CallEnded(call_id=self._call_id, end=CallEnd.SIGNALLED))
            return call
        log.info("call.resume", call_id=self._call_id, role=self._role, task_id=self._task_id)
        prompt = call.started.prompt
        try:
            session = await self._open_session()
            if session.session_id == call.session_id:
                prompt = prompts.render("resumed", prompt=prompt)
        except SessionStartError as error:
            return self._ended(Exchange(end=CallEnd.DIED, detail=str(error)))
        self._run.record(CallResumed(call_id=self._call_id, session_id=session.session_id, prompt=prompt))
        return self._ended(await session.exchange(prompt))

    async def _open_session(self) -> Session:
        if self._session and not self._session.is_over:
            return self._session
        calls = self.calls
        if calls and self._run.platform.has_transcript(calls[-1].session_id, self._run.environ):
            session_id = calls[-1].session_id
            cost = sum(call.end.cost_usd for call in calls if call.end and call.session_id == session_id)
            try:
                return await self._enter(self._spec_for(session_id=session_id, resume=True, cost=cost))
            except SessionStartError as error:  # a transcript without a message cannot be resumed
                log.warning("session.resume.failed", session_id=session_id, error=str(error))
        session_id = new_session_id() if calls else self._first_session_id
        return await self._enter(self._spec_for(session_id=session_id, resume=False, cost=0.0))

    async def _enter(self, spec: SessionSpec) -> Session:
        self._session = await self._stack.enter_async_context(open_session(spec, self._listener()))
        return self._session

    def _listener(self) -> Listener:
        record = self._run.record

        def on_message(message: Message) -> None:
            record(MessageReceived(call_id=self._call_id, message=message))

        def on_signal(name: str, payload: str) -> None:
            record(SignalReceived(call_id=self._call_id, name=name, payload=payload))

        def on_refusal(tool: str, reason: str) -> None:
            record(ActionRefused(call_id=self._call_id, tool=tool, reason=reason))

        async def on_question(ask_id: str, arguments: object) -> object:
            assert self._questions is not None  # noqa: S101  only handed out where there is one
            return await self._questions(self._call_id)(ask_id, arguments)  # type: ignore[arg-type]

        return Listener(
            on_message=on_message,
            on_signal=on_signal,
            on_refusal=on_refusal,
            on_question_callback=on_question if self._questions else None,  # type: ignore[arg-type]
        )

    def _started(self, session_id: str, prompt: str, iteration: int) -> CallStarted:
        spec = self._spec_for(session_id=session_id, resume=False, cost=0.0)
        return CallStarted(
            call_id=self._call_id,
            role=self._role,
            task_id=self._task_id,
            attempt=self._attempt,
            iteration=iteration,
            session_id=session_id,
            model=spec.model,
            prompt=prompt,
            system=spec.system,
        )

    def _never_started(self, prompt: str, iteration: int, why: str) -> CallView:
        self._call_id = new_call_id()
        self._run.record(
            self._started(self._first_session_id, prompt, iteration),
            CallEnded(call_id=self._call_id, end=CallEnd.DIED, detail=why),
        )
        return self._run.view.calls[self._call_id]

    def _ended(self, exchange: Exchange) -> CallView:
        self._run.record(
            CallEnded(
                call_id=self._call_id,
                end=exchange.end,
                detail=exchange.detail,
                api_status=exchange.api_status,
                cost_usd=exchange.cost_usd,
                usage=exchange.usage,
                seconds=exchange.seconds,
                turns=exchange.turns,
            )
        )
        return self._run.view.calls[self._call_id]


def failure_of(call: CallView) -> str:
    """Why a call did not end as it should, for people; empty where it did."""
    if call.end is None or call.end.end in {CallEnd.COMPLETED, CallEnd.SIGNALLED}:
        return ""
    return f"{call.started.role}: {call.end.end}: {call.end.detail or 'no details'}"
