"""The description of each event of a run. mypy refuses an event without a case here or in its noun's file."""

from datetime import timedelta
from typing import assert_never

from orchestrator.views.descriptions.before import before_words
from orchestrator.views.descriptions.description import (
    AGAIN,
    RETRY,
    SQ,
    WHOLE,
    Described,
    Place,
    Quote,
    Tone,
    Words,
)
from orchestrator.views.descriptions.evidence import evidence_words
from orchestrator.views.descriptions.run import (
    checkout_words,
    people_words,
    plan_words,
    question_words,
    run_words,
)
from orchestrator.views.descriptions.tasks import merge_words, review_words, task_words
from orchestrator.views.words import duration, short, subject_of, tool_call
from state.hidden import without_codes
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView
from state.records.calls import CallEnd, MessageKind
from state.roles import ROLES, Role


def describe(view: RunView, stored: Stored) -> list[Described]:
    """Return the statements about an event, usually one. `view` already includes the event."""
    event = stored.event
    name, task_id = type(event).__name__, view.task_of(event)
    return [
        Described(seq=stored.seq, at=stored.at, name=name, task_id=task_id, words=words)
        for words in _words(view, stored)
    ]


def _words(view: RunView, stored: Stored) -> list[Words]:  # noqa: C901  one case a noun
    event = stored.event
    match event:
        case _ if isinstance(event, e.RunEvent):
            return run_words(view, event)
        case _ if isinstance(event, e.CallEvent):
            return [call_words(view, event, stored)]
        case _ if isinstance(event, e.BeforeEvent):
            return before_words(view, event)
        case _ if isinstance(event, e.PlanEvent):
            return [plan_words(event)]
        case _ if isinstance(event, e.EvidenceEvent):
            return evidence_words(view, event)
        case _ if isinstance(event, e.TaskEvent):
            return [task_words(view, event)]
        case _ if isinstance(event, e.ReviewEvent):
            return [review_words(view, event)]
        case _ if isinstance(event, e.MergeEvent):
            return merge_words(event)
        case _ if isinstance(event, e.QuestionEvent):
            return question_words(view, event)
        case _ if isinstance(event, e.PeopleEvent):
            return [people_words(view, event)]
        case _ if isinstance(event, e.CheckoutEvent):
            return checkout_words(view, event)
        case _:
            assert_never(event)


_MINUTE_S = 60
_UNAUTHORIZED = 401
_QUIET_TOOLS = {"AskUserQuestion"}  # shown as questions


def call_words(view: RunView, event: e.CallEvent, stored: Stored) -> Words:  # noqa: C901  one case an event
    match event:
        case e.CallStarted():
            return _started(event)
        case e.CallRetried():
            return _retried(view, event, stored)
        case e.CallInterrupted():
            text = f"{_role(view, event)}: cut off when the run stopped, ${event.cost_usd:.4f} so far"
            return Words(kind="call", text=text, tone=Tone.WARN, is_told=False)
        case e.CallResumed():
            return Words(kind=AGAIN, text=f"{_role(view, event)}: asked to go on", is_told=False)
        case e.MessageReceived():
            return _message(view, event)
        case e.SignalReceived():
            return Words(kind="report", text=f"{_role(view, event)}: reported by {event.name}", is_told=False)
        case e.ReportRefused():
            text = f"{_role(view, event)}: its report was refused once: {short(event.reason)}"
            return Words(kind="report", text=text, is_detail=True, is_told=False)
        case e.ActionRefused():
            reason = Quote(who=SQ, texts=(event.reason,), most=100)
            text = f"refused: {event.tool}"
            return Words(
                kind="refused",
                subject=_who(view, event),
                text=text,
                quotes=(reason,),
                tone=Tone.WARN,
                is_detail=True,
            )
        case e.SpendDiffered():
            return _spend_differed(view, event)
        case e.ToolServersListed():
            tone = Tone.CALM if all(one.tools for one in event.servers) else Tone.WARN
            return Words(kind="tools", text="; ".join(event.lines), tone=tone)
        case e.CallEnded():
            return _ended(view, event)
        case _:
            assert_never(event)


def _started(event: e.CallStarted) -> Words:
    begins, subject = ROLES[event.role].begins, event.task_id
    text = begins or f"{event.role}, attempt {event.attempt}, iteration {event.iteration}"
    match event.role:
        case Role.WORKER:
            again = "" if event.iteration == 1 else f", iteration {event.iteration}"
            text += f", attempt {event.attempt}{again}"
        case Role.REVIEWER:
            subject = subject_of(event.task_id)
            text = "reviewed at a checkpoint" if event.subject else text
        case _:
            pass
    text = f"{text} ({event.model})"
    return Words(kind="call", subject=subject, text=text, call_id=event.call_id, is_told=bool(begins))


def _retried(view: RunView, event: e.CallRetried, stored: Stored) -> Words:
    text = f"{_role(view, event)}: {event.end} ({short(event.detail)})"
    by_login = view.started is not None and view.started.credentials == "cli login"
    if by_login and event.api_status == _UNAUTHORIZED:
        text = f"{text}, the login has expired: sign in to {view.agent} again, the run waits for it"
        refused = [one for one in view.calls[event.call_id].retries if one.api_status == _UNAUTHORIZED]
        return Words(kind=RETRY, text=text, tone=Tone.WARN, is_told=len(refused) == 1)
    if event.resets_at:
        known = [one.resets_at for one in view.calls[event.call_id].retries if one.resets_at]
        text = f"{text}, its limit ends and the run waits (reset {len(known)})"
    if event.wait_s < _MINUTE_S:
        return Words(kind=RETRY, text=f"{text}, again in {event.wait_s:.1f} s", tone=Tone.WARN)
    until = stored.at + timedelta(seconds=event.wait_s)
    text = f"{text}, again in {event.wait_s / _MINUTE_S:.0f} min"
    return Words(kind=RETRY, text=text, tone=Tone.WARN, until=until)


def _spend_differed(view: RunView, event: e.SpendDiffered) -> Words:
    """Describe a difference. The story has the first of a run, and the line of its cost adds up all."""
    cut = f" (answers that were cut, counted at the most: {event.cut})" if event.cut else ""
    counted, own = f"${event.gateway_usd:.4f} by the gateway{cut}", f"${event.agent_usd:.4f}"
    text = f"the session cost {counted}, and {own} by {view.agent}. The larger figure counts"
    return Words(kind="cost", subject=_role(view, event), text=text, is_told=len(view.differences) < 2)  # noqa: PLR2004  the first


def _message(view: RunView, event: e.MessageReceived) -> Words:
    message, who, refused = event.message, _who(view, event), view.calls[event.call_id].refused.action
    match message.kind:
        case MessageKind.TOOL_CALL:
            text, is_told = tool_call(view.root, message), message.tool not in _QUIET_TOOLS
        case MessageKind.TOOL_RESULT:
            # The line of a refusal has said it.
            text = f"→ {short(without_codes(message.text))}"
            is_told = message.is_error and not (refused and refused in message.text)
        case _:
            verb = "says" if message.kind is MessageKind.TEXT else str(message.kind)
            text = f"{_role(view, event)} {verb}: {short(message.text)}"
            return Words(kind="message", text=text, is_detail=True, is_told=False)
    return Words(kind="message", subject=who, text=text, is_detail=True, is_told=is_told)


def _ended(view: RunView, event: e.CallEnded) -> Words:
    about, spent = view.calls[event.call_id].started, f"${event.cost_usd:.4f}, {duration(event.seconds)}"
    text = f"{about.role}: {event.end}"
    if event.end.is_good:
        turns = f", {event.turns} turn{'' if event.turns == 1 else 's'}" if event.turns else ""
        return Words(kind="call", text=f"{text}{turns}, {spent}", is_told=False)
    if event.end is CallEnd.UNANSWERED and any(
        ask.parked and ask.asked.call_id == event.call_id for ask in view.asks.values()
    ):
        text = f"{about.role}: parked, it goes on with the answer of a person"
        return Words(kind="call", subject=about.task_id or WHOLE, text=f"{text}, {spent}", is_told=False)
    is_last = event.call_id == view.process.judge_refused
    no_more = ". The judge is not asked again in this run, and rules decide" if is_last else ""
    return Words(
        kind="call",
        subject=about.task_id or WHOLE,
        text=f"{text}: {short(event.detail, 400)}{no_more}",
        quotes=(Quote(who=SQ, texts=(event.detail,), place=Place.MORE, title=spent),),
        tone=Tone.BAD,
    )


def _role(view: RunView, event: e.CallEvent) -> str:
    return str(view.calls[event.call_id].started.role)


def _who(view: RunView, event: e.MessageReceived | e.ActionRefused) -> str:
    """Return the role of a session, with its task if there are several, since they run in parallel."""
    call = view.calls[event.call_id].started
    several = len(view.tasks) > 1 and call.task_id in view.tasks
    return f"{call.task_id}: {call.role}" if several else str(call.role)
