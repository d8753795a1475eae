"""The story of a run, kept current event by event, and the lines that each event adds to it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import Place, Words
from orchestrator.views.models.criteria import counted, criteria_of
from orchestrator.views.models.history import EventLines, RunFacts, Snapshot
from orchestrator.views.models.spend import cost_line, duration_line, spending, spending_lines, spending_of
from orchestrator.views.run.ending import (
    confinement_lines,
    git_lines,
    lacking_lines,
    retry_command,
    strength_lines,
    unchecked_lines,
    unheard_lines,
    where_lines,
)
from orchestrator.views.screen import shown
from orchestrator.views.words import local_time, short
from state.errors import JournalError
from state.journal import events as e
from state.journal.events import MessageReceived, Stored
from state.journal.events.calls import CallView
from state.journal.events.tasks import Stage, TaskView
from state.journal.fold.fold import apply
from state.journal.phase import saw_the_whole
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.records.questions import Answer, Basis
from state.roles import Role
from state.words import decision_line, without_ids


class RunStory(RunFacts):
    """The fold of a run for views. It holds nothing that is not in the journal.

    Events of the kind `MessageReceived` may be left out: then only the present actions of agents are unknown.
    """

    __slots__ = ()

    def add(self, stored: Stored) -> None:
        """Add one more event, the next of the journal."""
        apply(self.view, stored)
        self.history.apply(self.view, stored)

    def add_all(self, events: Iterable[Stored]) -> None:
        """Add several events."""
        for stored in events:
            self.add(stored)


_DETAIL = "    "
_FIELD_SHOWN = 48  # characters of a field of an event that the story leaves out


def lines_of(view: RunView, stored: Stored) -> list[str]:
    """The lines that an event adds. `view` already includes it."""
    event = stored.event
    if isinstance(event, e.CallRetried | e.CallEnded) and _is_said(view, event):
        return []
    told = (one.words for one in describe(view, stored) if one.words.is_told)
    lines = [line for words in told for line in _lines(words)]
    if isinstance(event, e.RunResumed):
        lines += resumed_lines(view)
    if isinstance(event, e.RunEnded):
        lines += ending_lines(view)
    return lines


class ReadRun:
    """A run with its open journal. `problem`: why that cannot be read any more."""

    def __init__(self, folder: Path) -> None:
        """Open the journal. Nothing is read yet.

        Raises:
            UsageError: there is no journal in this folder.
        """
        self.folder = folder
        self.story = RunStory()
        self.newest = Snapshot(self.story)
        self.active = False
        self.problem = ""
        self.reader = JournalReader(folder)

    def close(self) -> None:
        self.reader.__exit__(None, None, None)

    def take_message(self, stored: Stored) -> None:
        """Take a message of an agent, which is its present action."""
        if isinstance(stored.event, MessageReceived):
            self.story.history.doing[stored.event.call_id] = stored.event

    def add(self, events: Iterable[Stored]) -> None:
        """Fold events, each with the lines that it adds to the story."""
        for stored in events:
            self.newest.seq = stored.seq
            if isinstance(stored.event, MessageReceived):
                self.take_message(stored)
                continue
            self.story.add(stored)
            if lines := lines_of(self.story.view, stored):
                task_id = self.story.view.task_of(stored.event)
                self.newest.told.append(EventLines(stored.seq, stored.at, task_id, tuple(lines)))

    def messages_of(self, call_id: str, after: int, until: int, newest: int) -> list[Stored]:
        """Return the newest messages of a call, none if the journal cannot be read any more."""
        try:
            return self.reader.messages(call_id, after=after, until=until, newest=newest)
        except JournalError as error:
            self.problem = f"the journal cannot be read further: {error}"
            return []

    def find_present_actions(self, moment: Snapshot) -> None:
        """Read the newest message of each open call."""
        doing = moment.story.history.doing
        for span in moment.story.history.spans:
            call = moment.story.view.calls.get(span.key)
            if call and call.end is None and span.ended_at is None and span.key not in doing:
                for one in self.messages_of(span.key, span.seq, moment.seq, 1):
                    if isinstance(one.event, MessageReceived):
                        doing[span.key] = one.event


def log_lines(view: RunView, stored: Stored) -> list[str]:
    """The lines of one event, at least one, each with its time. `view` already includes the event."""
    told = lines_of(view, stored) or [_in_short(view, stored)]
    at = local_time(stored.at)
    return [f"{at}  {line}" for text in told for line in shown(text)]


def _lines(words: Words) -> Iterator[str]:
    until = f", at {words.until.astimezone():%H:%M}" if words.until else ""
    yield f"{_DETAIL if words.is_detail else ''}{words.line}{until}"
    for quote in words.quotes:
        if quote.place is Place.BELOW:
            yield from (f"{_DETAIL}{text}" for text in quote.texts)


def _in_short(view: RunView, stored: Stored) -> str:
    if isinstance(stored.event, e.MessageReceived):
        return "\n".join(f"{_DETAIL}{one.words.line}" for one in describe(view, stored))
    return f"  · {type(stored.event).__name__} {' '.join(_fields(stored.event))}"


def _fields(event: object) -> Iterator[str]:
    for name, value in msgspec.to_builtins(event).items():
        if value not in ("", None, [], ()):
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            yield f"{name}={short(text, _FIELD_SHOWN)}"


def _is_said(view: RunView, event: e.CallRetried | e.CallEnded) -> bool:
    """Whether another request to the judge about the same claim has failed alike, and its line shows it."""
    call = view.calls[event.call_id]
    others = _beside(view, call)
    if isinstance(event, e.CallEnded):
        return any(one.end and _is_same(event, one.end) for one in others)
    tries = len(call.retries)
    return any(_is_same(event, one.retries[tries - 1]) for one in others if len(one.retries) >= tries)


def _beside(view: RunView, call: CallView) -> list[CallView]:
    """The other requests to the judge about the same claim, since one line can show a common error."""
    mine = call.started
    if mine.role is not Role.JUDGE:
        return []
    calls = view.calls_of(Role.JUDGE, mine.task_id, mine.attempt)
    return [one for one in calls if one is not call and one.started.iteration == mine.iteration]


def _is_same(one: e.CallEnded | e.CallRetried, other: e.CallEnded | e.CallRetried) -> bool:
    return (one.end, without_ids(one.detail)) == (other.end, without_ids(other.detail))


_NOT_UNDER_WAY = frozenset({Stage.WAITING, Stage.MERGED})


def resumed_lines(view: RunView) -> list[str]:
    """Where an interrupted run goes on, and how its agents are held."""
    return [f"    from: {_place(view)}", *(f"note: {line}" for line in confinement_lines(view))]


def ending_lines(view: RunView) -> list[str]:
    """The state of a run at its end."""
    return [
        *(["reviewed once: the review of the only task saw the whole"] if saw_the_whole(view) else []),
        *_criteria(view),
        *_assumptions(view),
        *strength_lines(view),
        *unchecked_lines(view),
        *unheard_lines(view),
        *where_lines(view),
        *git_lines(view),
        *confinement_lines(view),
        *lacking_lines(view),
        *_again(view),
        cost_line(view),
        *spending(view).outlook[1:],
        *spending_lines(spending_of(view)),
        *filter(None, [duration_line(view)]),
    ]


def _place(view: RunView) -> str:
    """Where an interrupted run goes on: its analysis, its plan, or the stages of its tasks."""
    if not view.tasks:
        return "the plan" if view.plan.analysis else "the analysis"
    begun = [_place_of(id_, task) for id_, task in view.tasks.items() if task.stage not in _NOT_UNDER_WAY]
    merged = sum(task.stage is Stage.MERGED for task in view.tasks.values())
    return ", ".join([*begun, f"{merged} of {len(view.tasks)} tasks merged"])


def _place_of(id_: str, task: TaskView) -> str:
    if task.merge and task.merge.paths and not task.merge.built:
        return f"{id_} conflict being resolved in {', '.join(task.merge.paths)}"
    at = f" (attempt {task.attempt}, iteration {task.iteration})" if task.stage is Stage.BUILDING else ""
    return f"{id_} {task.stage}{at}"


def _again(view: RunView) -> list[str]:
    """The command that retries tasks that ended unmerged. A plain resume would end the same."""
    command = retry_command(view)
    return [f"once the obstacle is gone: {command}"] if command else []


def _assumptions(view: RunView) -> list[str]:
    """The answers that held: of the Developer's own judgement, then those with grounds, then a person's."""
    answers = list(dict.fromkeys(answer for _, answer in view.decided()))
    assumed = [_decided(one) for one in answers if one.basis is Basis.JUDGEMENT]
    found = [_decided(one) for one in answers if one.basis not in {Basis.JUDGEMENT, Basis.PERSON}]
    own = [_decided(one) for one in answers if one.basis is Basis.PERSON]
    return [
        *(["assumptions made:", *assumed] if assumed else []),
        *(["answered from the spec, the code or the session:", *found] if found else []),
        *(["decided by a person:", *own] if own else []),
    ]


def _decided(answer: Answer) -> str:
    """A decision in one line, with the reason to look at it again."""
    doubts = [] if answer.reversible or answer.basis is Basis.PERSON else ["not easy to undo"]
    return "    " + decision_line(answer) + (f" ({', '.join(doubts)})" if doubts else "")


def _criteria(view: RunView) -> list[str]:
    """The criteria of the spec, counted by their state. Those of which sq has seen nothing are named."""
    rows = criteria_of(view)
    counts = ", ".join(f"{number} {state}" for state, number in counted(rows).items())
    others = [
        f"    {row.id} {row.state}: {short(row.text)}" + (f" ({row.note})" if row.note else "")
        for row in rows
        if not row.state.is_seen
    ]
    return [f"criteria of the spec: {counts}", *others] if rows else []


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
    return list(_told_lines(told))


def _told_lines(told: CallPrompts) -> Iterator[str]:
    call = told.started
    subject = call.task_id or "the whole"
    yield (
        f"=== {local_time(told.at)}  {call.role}, {subject}, attempt {call.attempt}, "
        f"iteration {call.iteration}, model {call.model}, call {call.call_id}"
    )
    yield from _in_full("system prompt", call.system)
    yield from _in_full("prompt", call.prompt)
    for prompt in told.resumed:
        yield from _in_full("prompt after an interruption", prompt)
    for report in told.reports:
        yield from _in_full(f"reported by {report.name}", _pretty(report.payload))
    if told.end and told.end.answer:
        yield from _in_full("answered", _pretty(told.end.answer))
    if told.last_words:
        yield from _in_full("last words", told.last_words)
    yield f"--- {_how_ended(told.end)}"
    yield ""


def _in_full(title: str, text: str) -> Iterator[str]:
    yield f"--- {title}"
    yield from (f"    {line}".rstrip() for line in text.split("\n"))


def _pretty(payload: str) -> str:
    try:
        return json.dumps(json.loads(payload), indent=2, ensure_ascii=False)
    except ValueError:
        return payload


def _how_ended(end: e.CallEnded | None) -> str:
    if end is None:
        return "not ended: under way, or its process died"
    why = f": {end.detail}" if end.detail else ""
    return f"ended: {end.end}{why}, {end.turns} turn(s), {end.seconds:.1f} s, ${end.cost_usd:.4f}"
