"""The full prompts and reports of each agent: one record for each call, oldest first."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.views.words import local_time
from state.journal import events as e
from state.journal.events import Stored
from state.records.calls import MessageKind


@dataclass(slots=True, kw_only=True)
class CallPrompts:
    """One call. `resumed` are the prompts that resumed it. `end` is None while it is open."""

    at: datetime
    started: e.CallStarted
    resumed: list[str] = field(default_factory=list)
    reports: list[e.SignalReceived] = field(default_factory=list)
    last_words: str = ""
    end: e.CallEnded | None = None


def told_in(events: Iterable[Stored]) -> list[CallPrompts]:
    """The calls of a run with their prompts, reports and last words."""
    calls: dict[str, CallPrompts] = {}
    for stored in events:
        match stored.event:
            case e.CallStarted() as started:
                calls[started.call_id] = CallPrompts(at=stored.at, started=started)
            case e.CallResumed(call_id=call_id, prompt=prompt):
                calls[call_id].resumed.append(prompt)
            case e.SignalReceived() as report:
                calls[report.call_id].reports.append(report)
            case e.MessageReceived(call_id=call_id, message=message) if message.kind is MessageKind.TEXT:
                calls[call_id].last_words = message.text
            case e.CallEnded() as end:
                calls[end.call_id].end = end
            case _:
                pass
    return list(calls.values())


def told_lines(told: CallPrompts) -> list[str]:
    """A call for people, every text in full."""
    return list(_lines(told))


def _lines(told: CallPrompts) -> Iterator[str]:
    call = told.started
    subject = call.task_id or "the whole"
    yield (
        f"=== {local_time(told.at)}  {call.role}, {subject}, attempt {call.attempt}, "
        f"iteration {call.iteration}, model {call.model}, call {call.call_id}"
    )
    yield from _text("system prompt", call.system)
    yield from _text("prompt", call.prompt)
    for prompt in told.resumed:
        yield from _text("prompt after an interruption", prompt)
    for report in told.reports:
        yield from _text(f"reported by {report.name}", _pretty(report.payload))
    if told.end and told.end.answer:
        yield from _text("answered", _pretty(told.end.answer))
    if told.last_words:
        yield from _text("last words", told.last_words)
    yield f"--- {_ended(told.end)}"
    yield ""


def _text(title: str, text: str) -> Iterator[str]:
    yield f"--- {title}"
    yield from (f"    {line}".rstrip() for line in text.split("\n"))


def _pretty(payload: str) -> str:
    try:
        return json.dumps(json.loads(payload), indent=2, ensure_ascii=False)
    except ValueError:
        return payload


def _ended(end: e.CallEnded | None) -> str:
    if end is None:
        return "not ended: under way, or its process died"
    why = f": {end.detail}" if end.detail else ""
    return f"ended: {end.end}{why}, {end.turns} turn(s), {end.seconds:.1f} s, ${end.cost_usd:.4f}"
