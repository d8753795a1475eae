"""Exchanges of a session as a run records them: a start before, an end after, resumed where they broke off.

A `Conversation` is one role's talk about one attempt. Its process starts with the first prompt that has to
be sent; what the journal already holds is not asked again. A call is made only if the budget has room for it
(`orchestrator.run.asking.budget`), and tried again where its failure may pass
(`orchestrator.run.asking.retries`).
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Protocol, Self

import anyio
import structlog

import prompts
from agents.session.port import (
    Agent,
    Difference,
    Listener,
    OnQuestions,
    Session,
    SessionSpec,
    SessionStartError,
)
from orchestrator.run.asking.briefing import minutes_of, verified_by
from orchestrator.run.asking.budget import (
    BudgetExhausted,
    BudgetHeld,
    Reservation,
    SessionShare,
    Wanted,
    reserve,
    task_tokens,
)
from orchestrator.run.asking.people import answered_in, is_unpaused, unheard, with_answers, with_words
from orchestrator.run.asking.retries import persistently, raise_if_hopeless
from orchestrator.run.record import Run
from state.ids import new_call_id, new_session_id
from state.journal.events import (
    ActionRefused,
    CallEnded,
    CallInterrupted,
    CallResumed,
    CallStarted,
    MessageReceived,
    ReportRefused,
    SignalReceived,
    SpendDiffered,
    ToolServersListed,
    call_ended,
    call_retried,
)
from state.journal.events.calls import CallView
from state.journal.events.tasks import TaskView
from state.records.calls import CallEnd, CallResult, Message, MessageKind, ToolServer
from state.roles import ROLES, Role

log = structlog.get_logger(__name__)

Prompt = Callable[[], Awaitable[str]]


class SpecFor(Protocol):
    """Makes the spec of a session with this id."""

    def __call__(self, *, session_id: str, resume: bool, cost: float) -> SessionSpec:
        """`resume`: the conversation of that id goes on, having cost `cost` USD so far."""
        ...


class Conversation:
    """One role's exchanges about one attempt at one task, through as few processes as possible.

    `reported` is set once a report of the exchange under way is recorded, and the agent can do nothing more.
    """

    def __init__(
        self,
        run: Run,
        *,
        role: Role,
        task_id: str,
        attempt: int,
        spec_for: SpecFor,
        session_id: str = "",
        subject: str = "",
        questions: Callable[[str], OnQuestions] | None = None,
        refuse: Callable[[str], str | None] | None = None,
    ) -> None:
        """Prepare; nothing is started.

        Args:
            run: where it is recorded.
            role: whose conversation.
            task_id: about which task, or the subject of a run-level call.
            attempt: which attempt.
            spec_for: makes the session's spec.
            session_id: the id that a first session gets; empty: a new one.
            subject: what it is about, where a role has several conversations about one attempt.
            questions: given a call's id, the callback that answers its questions.
            refuse: given a report's JSON, returns why it has to be made anew in the same turn, or None.
        """
        self._run = run
        self._role = role
        self._task_id = task_id
        self._attempt = attempt
        self._subject = subject
        self._spec_for = spec_for
        self._first_session_id = session_id or new_session_id()
        self._questions = questions
        self._refuse = refuse
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._full_id = ""  # of a conversation that takes no more
        self._call_id = ""
        self._share = SessionShare()
        self.reported = anyio.Event()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return await self._stack.__aexit__(kind, error, trace)
        finally:
            self._note_what_was_cut_off()
            self._run.record_hosts()

    async def end_session(self) -> None:
        """End the live process. The conversation goes on in another one, with another cap."""
        self._session = None
        self._share.end_session()
        await self._stack.aclose()

    @property
    def calls(self) -> list[CallView]:
        """The calls of this conversation so far, those of earlier processes included."""
        return self._run.view.calls_of(self._role, self._task_id, self._attempt, self._subject)

    @property
    def ended(self) -> int:
        """How many of its exchanges have ended."""
        return sum(call.end is not None for call in self.calls)

    async def exchange(
        self, number: int, prompt: str | Prompt, *, iteration: int = 0, planning: bool = False
    ) -> CallView:
        """Return an exchange by its number: from the journal if it ended, resumed if open, else made now.

        The end of the call says how the model and its process ended.

        Args:
            number: which exchange of the conversation, from 1. Those before it have ended.
            prompt: the prompt, or a function that makes it, which is called only if the exchange is made now.
            iteration: the task's iteration that it is about. 0: the same as `number`.
            planning: the agent may read, ask and hand over a plan. Other actions are refused.

        Raises:
            BudgetExhausted: the call may not be paid for, or used up the budget.
            ServiceError: no model can be asked at all.
            ValueError: the number is below 1, or an exchange before it was never made.
        """
        self.reported = anyio.Event()
        calls = self.calls
        if not 1 <= number <= len(calls) + 1:
            raise ValueError(f"exchange {number} was asked for, and the conversation holds {len(calls)}")
        if number <= len(calls):
            call = calls[number - 1]
            return call if call.end else await self._go_on(call)
        await self._run.until(is_unpaused)
        words = self._with_commands(prompt if isinstance(prompt, str) else await prompt())
        self._call_id = ""
        reserved = await self._hold(words)
        if self._share.give(reserved):
            await self.end_session()
        session_id = calls[-1].session_id if calls else self._first_session_id
        said = unheard(self._run.view, self._task_id, calls)
        started = self._started(session_id, with_words(words, said), iteration or number, reserved)
        started = replace(started, planning=planning, words=tuple(word.word_id for word in said))
        self._call_id = started.call_id
        self._run.record(started)
        # As it is stored, without secrets.
        return await self._to_its_end(self._open_call.started.prompt, sent_before=False)

    async def _go_on(self, call: CallView) -> CallView:
        self._call_id = call.started.call_id
        if call.report:  # it stands, and the turn was over with it
            self._run.record(CallEnded(call_id=self._call_id, end=CallEnd.SIGNALLED))
            return call
        await self._run.until(is_unpaused)
        log.info("call.resume", call_id=self._call_id, role=self._role)
        return await self._to_its_end(call.started.prompt, sent_before=True)

    async def _to_its_end(self, prompt: str, *, sent_before: bool) -> CallView:
        async def try_once(number: int) -> CallResult:
            again = sent_before or number > 1
            reserved = await self._hold(prompt) if again else None
            if reserved:
                self._share.give(reserved)
            try:
                session = await self._open_session(again=again)
            except SessionStartError as error:
                return CallResult(end=CallEnd.NOT_STARTED, detail=str(error))
            words = prompt
            if again or session.session_id != self._open_call.session_id:
                words = self._resumed(session, prompt, reserved)
            made = await session.exchange(words, planning=self._open_call.started.planning)
            if made.end is not CallEnd.API_ERROR:
                return made
            return replace(made, api_code=self._agent.error_code(session.session_id))

        used_up: BudgetExhausted | None = None
        tried = partial(
            persistently,
            try_once,
            call_id=self._call_id,
            view=self._run.view,
            retries=self._run.settings.retries,
            record=self._run.record,
        )
        exchange = await tried()
        while exchange.end is CallEnd.BUDGET:
            if used_up := self._end_of_budget(prompt, exchange.cost_usd):
                break
            await self._end_share(exchange)
            sent_before = True
            exchange = await tried()
        if exchange.end is CallEnd.SESSION_FULL and self._role is not Role.WORKER:
            self._run.record(call_retried(self._call_id, exchange))
            await self.end_session()
            sent_before, self._full_id = True, self.calls[-1].session_id
            exchange = await tried()
        self._share.spend(exchange.cost_usd)
        self._run.record(call_ended(self._call_id, exchange))
        raise_if_hopeless(exchange, self._run.view)
        if used_up:
            raise used_up
        return self._open_call

    @property
    def _agent(self) -> Agent:
        return self._run.platform.agents[self._role]

    @property
    def _open_call(self) -> CallView:
        return self._run.view.calls[self._call_id]

    async def _hold(self, prompt: str) -> Reservation:
        """Hold the probable cost of a call. Wait while other sessions hold the rest of the budget."""
        while True:
            changed = self._run.changed
            try:
                return reserve(self._run.view, self._run.settings, self._wanted(prompt))
            except BudgetHeld:
                await changed.wait()

    def _end_of_budget(self, prompt: str, spent_usd: float) -> BudgetExhausted | None:
        """Return why a call at its session's cap cannot go on with another share, or None if it can."""
        try:
            reserve(self._run.view, self._run.settings, self._wanted(prompt, spent_usd))
        except BudgetHeld:
            return None
        except BudgetExhausted as error:
            return error
        return None

    def _wanted(self, prompt: str, spent_usd: float = 0.0) -> Wanted:
        spec = self._spec_for(session_id="", resume=False, cost=0.0)
        return Wanted(
            task_id=self._task_id,
            model=spec.model,
            text=spec.system + prompt,
            earlier=self.calls,
            again=self._call_id,
            spent_usd=spent_usd,
            session=True,
        )

    async def _end_share(self, exchange: CallResult) -> None:
        """A session that has reached its cap does nothing more: another one goes on."""
        self._run.record(
            call_retried(
                self._call_id, replace(exchange, detail="its share of the budget is used up; it gets another")
            )
        )
        await self.end_session()

    def _resumed(self, session: Session, prompt: str, reserved: Reservation | None) -> str:
        """The prompt with which the open call goes on in this session; stored before it is sent."""
        knows = session.session_id == self._open_call.session_id
        about = {"prompt": prompt, "writes": ROLES[self._role].writes}
        if knows:
            heard = self._agent.has_heard(prompt, session.session_id)
            stages = self._role is Role.RESOLVER
            words = prompts.render(
                "resumed", asks=self._questions is not None, stages=stages, whole=not heard, **about
            )
        elif first := self._first_prompt():
            words = prompts.render("begun_anew", first=first, **about)
        else:
            words = prompt
        resumed = CallResumed(
            call_id=self._call_id,
            session_id=session.session_id,
            prompt=self._with_commands(words),
            reserved_usd=reserved.usd if reserved else 0.0,
            allowed_usd=(reserved.allowed_usd or 0.0) if reserved else 0.0,
        )
        self._run.record(self._with_people(resumed))
        return self._open_call.resumed[self._open_call.resumed_at].prompt  # as it is stored

    def _with_commands(self, prompt: str) -> str:
        """Return a prompt with the commands that verify the work now, if others stood in earlier prompts."""
        view, calls = self._run.view, self.calls
        changed = view.process.verify_changed
        if self._role not in {Role.WORKER, Role.PLANNER} or not calls or changed is None:
            return prompt
        seq, at = changed
        if any(call.at >= at or call.resumed_at > seq for call in calls):
            return prompt
        told = prompts.render(
            "commands_changed",
            verification=verified_by(view),
            builds=self._role is Role.WORKER,
            minutes=minutes_of(view),
        )
        return f"{prompt}\n\n{told}"

    def _with_people(self, resumed: CallResumed) -> CallResumed:
        """Return it with the words and the answers of people that the session has not been told."""
        call, agent = self._open_call, self._agent
        lost = [
            one
            for one in call.resumed.values()
            if (one.words or one.answers) and not agent.has_heard(one.prompt, resumed.session_id)
        ]
        again = {word for one in lost for word in one.words}
        told = {ask_id for one in call.resumed.values() if one not in lost for ask_id in one.answers}
        new = unheard(self._run.view, self._task_id, self.calls)
        said = [one for one in self._run.view.context.people.said if one in new or one.word_id in again]
        asks = [ask for ask in answered_in(self._run.view, call) if ask.asked.ask_id not in told]
        return replace(
            resumed,
            prompt=with_words(with_answers(resumed.prompt, asks), said),
            words=tuple(word.word_id for word in said),
            answers=tuple(ask.asked.ask_id for ask in asks),
        )

    def _first_prompt(self) -> str:
        """How the conversation began; empty if the open call is its first."""
        first = self.calls[0].started
        return "" if first.call_id == self._call_id else first.prompt

    async def _open_session(self, *, again: bool) -> Session:
        if self._session and not self._session.is_over:
            return self._session
        await self.end_session()  # one process at a time has a conversation
        calls = self.calls
        last = calls[-1].session_id
        if last != self._full_id and self._agent.has_transcript(last):
            cost = (
                0.0
                if self._counts_from_nothing
                else sum(call.cost_usd for call in calls if call.session_id == last)
            )
            try:
                return await self._enter(self._spec_for(session_id=last, resume=True, cost=cost))
            except SessionStartError as error:  # a transcript without a message cannot be resumed
                log.warning("session.resume.failed", session_id=last, error=str(error))
        unused = len(calls) == 1 and not again
        session_id = last if unused else new_session_id()
        return await self._enter(self._spec_for(session_id=session_id, resume=False, cost=0.0))

    @property
    def _counts_from_nothing(self) -> bool:
        """Whether the agent has forgotten what the conversation cost: its process did not end in order."""
        died = any(one.end is CallEnd.DIED for one in self._open_call.retries)
        return died or self._open_call.killed

    async def _enter(self, spec: SessionSpec) -> Session:
        tokens = task_tokens(spec.model, self._run.view.process.deadline, datetime.now(UTC))
        capped = replace(
            spec,
            max_cost_usd=self._share.begin_session(spec.cost_before_usd),
            task_tokens=tokens,
        )
        async with self._run.platform.starts:  # a start takes a core: all at once would only slow each other
            self._session = await self._stack.enter_async_context(self._agent.open(capped, self._listener()))
        return self._session

    def _note_what_was_cut_off(self) -> None:
        """The cost of an exchange that ended with the run's stop, so that it is counted."""
        cut = self._session.cut_off if self._session else None
        if cut and self._call_id and self._open_call.end is None:
            self._run.record(CallInterrupted(call_id=self._call_id, cost_usd=cut.cost_usd, usage=cut.usage))

    def _listener(self) -> Listener:
        record = self._run.record

        def on_message(message: Message) -> None:
            record(MessageReceived(call_id=self._call_id, message=message))

        def on_signal(name: str, payload: str) -> str | None:
            if refusal := self._refuse(payload) if self._refuse else None:
                record(ReportRefused(call_id=self._call_id, payload=payload, reason=refusal))
                return refusal
            record(SignalReceived(call_id=self._call_id, name=name, payload=payload))
            self.reported.set()
            return None

        def on_refusal(tool: str, reason: str) -> None:
            record(ActionRefused(call_id=self._call_id, tool=tool, reason=reason))

        def on_servers(servers: tuple[ToolServer, ...]) -> None:
            before = self._run.view.context.servers
            if before is None or servers != before.servers:
                record(ToolServersListed(call_id=self._call_id, servers=servers))

        def on_difference(found: Difference) -> None:
            record(
                SpendDiffered(
                    call_id=self._call_id,
                    agent_usd=found.agent_usd,
                    gateway_usd=found.gateway_usd,
                    cut=found.cut,
                )
            )

        async def on_question(ask_id: str, arguments: object) -> object:
            assert self._questions is not None  # noqa: S101  only handed out where there is one
            return await self._questions(self._call_id)(ask_id, arguments)  # type: ignore[arg-type]

        return Listener(
            on_message=on_message,
            on_signal=on_signal,
            on_refusal=on_refusal,
            on_difference=on_difference,
            on_servers=on_servers,
            on_question_callback=on_question if self._questions else None,  # type: ignore[arg-type]
        )

    def _started(self, session_id: str, prompt: str, iteration: int, reserved: Reservation) -> CallStarted:
        spec = self._spec_for(session_id=session_id, resume=False, cost=0.0)
        return CallStarted(
            call_id=new_call_id(),
            role=self._role,
            task_id=self._task_id,
            attempt=self._attempt,
            iteration=iteration,
            session_id=session_id,
            model=spec.model.name,
            prompt=prompt,
            system=spec.system,
            reserved_usd=reserved.usd,
            allowed_usd=reserved.allowed_usd or 0.0,
            subject=self._subject,
        )


def whole_history(run: Run, task: TaskView) -> list[Message]:
    """Everything that was said in the attempt's session, prompts included, from the journal."""
    calls = set(task.open.calls)
    prompts = {id_: run.view.calls[id_].started.prompt for id_ in calls}
    told: list[Message] = []
    for stored in run.recorder.read():
        event = stored.event
        if isinstance(event, MessageReceived) and event.call_id in calls:
            if prompt := prompts.pop(event.call_id, ""):
                told.append(Message(kind=MessageKind.PROMPT, text=prompt))
            told.append(event.message)
    return told
