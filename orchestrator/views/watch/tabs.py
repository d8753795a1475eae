"""The chosen task from its sides: what happens in it now, its checks, its reviews, its prompt, its cost."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import COMMAND, Described, Place, Tone
from orchestrator.views.models.history import AttemptHistory, EventLines, Snapshot
from orchestrator.views.models.spend import SpendRow, money, spending
from orchestrator.views.watch.panel import MOST_LINES
from orchestrator.views.watch.text import ScreenLine, line, text_of
from orchestrator.views.words import percent, subject_of, time_of_day, tool_call
from state.hidden import without_codes
from state.journal import events as e
from state.journal.events import MessageReceived, Stored
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.records.reviews import Finding, FindingState
from state.words import baseline_words, not_run_words

_TEXT_SHOWN, _RESULT_SHOWN = 20, 6  # lines of a message
_BEFORE = " " * 4  # of further lines


Messages = Callable[[Snapshot, str, int], list[Stored]]  # the newest ones of a task at a moment, in order


def stream(messages_of: Messages, moment: Snapshot, task_id: str, most: int = MOST_LINES) -> list[ScreenLine]:
    """Return the newest lines of a task, oldest first, of at most so many messages. "" is the whole run."""
    messages = messages_of(moment, task_id, most)
    told = [one for one in moment.told if one.task_id == task_id]
    first = messages[0].seq if len(messages) == most else 0
    pieces = [(one.seq, message_of(moment.story.view, one)) for one in messages]
    pieces += [(one.seq, story_of(one)) for one in told if one.seq >= first]
    lines = [each for _, piece in sorted(pieces, key=lambda pair: pair[0]) for each in piece]
    return lines[-MOST_LINES:]


def stream_of(
    moment: Snapshot, new: Iterable[Stored], told: Iterable[EventLines], task_id: str
) -> list[ScreenLine]:
    """Return the lines that new events add to a task's stream."""
    view = moment.story.view
    pieces = [
        (one.seq, message_of(view, one))
        for one in new
        if isinstance(one.event, MessageReceived) and _told_task(view, one.event) == task_id
    ]
    pieces += [(one.seq, story_of(one)) for one in told if one.task_id == task_id]
    return [each for _, piece in sorted(pieces, key=lambda pair: pair[0]) for each in piece]


def feed(told: Iterable[EventLines]) -> list[ScreenLine]:
    """Return the story of the run: a line for each of its first lines, with its time."""
    return [
        line((f"{time_of_day(one.at)} ", "dim"), (one.lines[0].strip(), ""), indent=len(_BEFORE))
        for one in told
    ]


def story_of(one: EventLines) -> list[ScreenLine]:
    """Return the lines of one event in the story of its task."""
    first, *further = (part for text in one.lines for part in text.split("\n"))
    return [
        line(
            (f"{time_of_day(one.at)} ", "dim"), ("· ", "work"), (first.strip(), "strong"), indent=len(_BEFORE)
        ),
        *(line((f"{_BEFORE}{part}", ""), indent=len(_BEFORE)) for part in further),
    ]


def message_of(view: RunView, stored: Stored) -> list[ScreenLine]:
    """Return the lines of one message. Long ones are cut."""
    event = stored.event
    if not isinstance(event, MessageReceived):
        return []
    message, at = event.message, (f"{time_of_day(stored.at)} ", "dim")
    role = view.calls[event.call_id].started.role if event.call_id in view.calls else "agent"
    match message.kind:
        case MessageKind.TOOL_CALL:
            tool, _, rest = tool_call(view.root, message).partition(" ")
            return [line(at, (tool, "work"), (f"  {rest}", ""), indent=len(_BEFORE))]
        case MessageKind.TOOL_RESULT:
            style = "bad" if message.is_error else "dim"
            sign = f"{_BEFORE}✗ " if message.is_error else f"{_BEFORE}  "
            return text_of(without_codes(message.text).strip("\n"), style, before=sign, most=_RESULT_SHOWN)
        case _:
            verb = "is asked" if message.kind is MessageKind.PROMPT else "says"
            first, *further = text_of(message.text.strip(), "agent", before=_BEFORE, most=_TEXT_SHOWN)
            said = (first.plain.removeprefix(_BEFORE), "agent")
            return [line(at, (f"{role} {verb}: ", "work"), said, indent=len(_BEFORE)), *further]


def _told_task(view: RunView, event: MessageReceived) -> str:
    started = view.calls[event.call_id].started if event.call_id in view.calls else None
    return started.task_id if started and started.task_id in view.tasks else ""


_TAIL = 12  # lines of a command's output
_INDENT = "    "
_LOOKS = {
    Tone.GOOD: ("✓", "good"),
    Tone.BAD: ("✗", "bad"),
    Tone.WARN: ("—", "warn"),
    Tone.CALM: ("·", ""),
}
_SHOWN = {Place.LINE, Place.BELOW, Place.BLOCK}
_CHECKS = (
    e.VerificationFinished,
    e.ProofsTaken,
    e.GateDecided,
    e.ChecksDecided,
    e.CompletionRefused,
    e.CompletionAccepted,
)
_FINDINGS = {
    FindingState.OPEN: ("✗", "bad"),
    FindingState.FIXED: ("✓", "good"),
    FindingState.DISPUTED: ("?", "warn"),
    FindingState.WONT_FIX: ("—", "warn"),
}


def checks(moment: Snapshot, task_id: str) -> list[ScreenLine]:
    """Return the checks of a task: commands that sq ran, gates, considerations. Of the run: its baseline."""
    view = moment.story.view
    if not task_id:
        found = [line(baseline_words(check), indent=4) for check in view.baseline.checks.values()]
        found += [line(note, indent=4) for note in view.baseline.notes]
        if view.baseline.not_run:
            found.append(line(not_run_words(view.baseline.not_run), indent=4))
        found += [one for stored in moment.story.history.notable for one in _check(view, stored, of="")]
        return found or _nothing("no command of the project has run yet")
    lines = [
        one
        for attempt in moment.story.history.attempts.get(task_id, [])
        for one in (_heading(attempt), *(each for stored in attempt.events for each in _check(view, stored)))
    ]
    return lines or _nothing("nothing was checked yet")


def _heading(attempt: AttemptHistory) -> ScreenLine:
    ended = f": {attempt.ended}" if attempt.ended else ""
    return line((f"attempt {attempt.number}", "title"), (ended, "warn"), indent=4)


def _check(view: RunView, stored: Stored, of: str | None = None) -> Iterator[ScreenLine]:
    if isinstance(stored.event, _CHECKS) and of in {None, getattr(stored.event, "task_id", None)}:
        for one in describe(view, stored):
            yield from _described(one)


def _described(one: Described) -> Iterator[ScreenLine]:
    """Yield a statement with its quotes. The end of a command's output is its last lines."""
    words, (sign, style) = one.words, _LOOKS[one.words.tone]
    of = f"  {words.of}" if words.of else ""
    head = ((f"{time_of_day(one.at)} ", "dim"), (f"{sign} {words.text}", style))
    yield line(*head, (of, "dim"), (f"  #{one.seq}", "dim"), indent=4)
    wanted = {Place.MORE} if one.name == e.ChecksDecided.__name__ else _SHOWN
    for quote in words.quotes:
        if quote.place in wanted and quote.text:
            text = "\n".join(quote.text.split("\n")[-_TAIL:]) if quote.who == COMMAND else quote.text
            most = 0 if quote.place is Place.MORE else _TAIL
            yield from text_of(
                text, "dim" if quote.who == COMMAND else "agent", before=_INDENT * 2, most=most
            )


def review(moment: Snapshot, task_id: str) -> list[ScreenLine]:
    """Return the reviews of a task, or of the whole, and its findings by their state."""
    view = moment.story.view
    if task_id:
        findings, suggestions = view.tasks[task_id].review.findings, view.tasks[task_id].review.suggestions
    else:
        findings, suggestions = view.whole.findings, ()
    lines = [
        next(_described(described))
        for one in moment.story.history.notable
        if isinstance(one.event, e.ReviewRecorded | e.ReviewUnusable | e.CheckpointReviewed)
        and _is_about(one.event.task_id, task_id, view)
        for described in describe(view, one)
    ]
    for finding in findings:
        lines += _finding(finding)
    if suggestions:
        lines.append(line(("suggestions", "title")))
        lines += [line(("· ", "dim"), (one, "agent"), indent=2) for one in suggestions]
    return lines or _nothing("no review yet")


def _is_about(of_event: str, task_id: str, view: RunView) -> bool:
    return of_event == task_id if task_id else of_event not in view.tasks


def _finding(finding: Finding) -> list[ScreenLine]:
    sign, style = _FINDINGS[finding.state]
    issue = finding.issue
    lines = [
        line((f"{sign} {finding.state}", style), (f"  {issue.location}  {issue.type}", "dim"), indent=4),
        *text_of(issue.description, "agent", before=_INDENT),
        *text_of(f"Fix: {issue.suggestion}", "agent", before=_INDENT),
    ]
    return [*lines, line((f"{_INDENT}{finding.note}", "warn"), indent=4)] if finding.note else lines


def prompt(moment: Snapshot, task_id: str) -> list[ScreenLine]:
    """Return the prompt of a task's newest call, in full, and which calls were made before."""
    view = moment.story.view
    calls = [call for call in view.calls.values() if _is_about(call.started.task_id, task_id, view)]
    if not calls:
        return _nothing("no agent was asked yet")
    newest = calls[-1].started
    about = f", attempt {newest.attempt}, iteration {newest.iteration}, model {newest.model}"
    lines = [line((f"{newest.role}, {subject_of(newest.task_id)}{about}", "title"), indent=4)]
    lines += text_of(newest.prompt, "agent")
    if newest.system:
        lines += [line(("system prompt", "title")), *text_of(newest.system, "agent")]
    earlier = [f"{call.started.role} {call.started.attempt}.{call.started.iteration}" for call in calls[:-1]]
    if earlier:
        lines.append(line((f"before it, role attempt.iteration: {', '.join(earlier)}", "dim"), indent=4))
    return lines


def cost(moment: Snapshot, task_id: str) -> list[ScreenLine]:
    """Return the cost of a task by role and model, and that of the run by task."""
    found = spending(moment.story.view)
    rows = [row for row in found.rows if row.task_id == task_id]
    lines = [line((f"{task_id or 'the run as a whole'}: {_sum(rows)}", "title"), indent=4)]
    lines += [_spent(row) for row in sorted(rows, key=lambda one: -one.cost_usd)]
    lines += [line(""), line((f"together: {found.in_words}", "title"), indent=4)]
    by_task = {
        of: list(each) for of, each in groupby(sorted(found.rows, key=_task_of), key=_task_of)
    }  # in the order of names
    for of, each in sorted(by_task.items(), key=lambda pair: -sum(row.cost_usd for row in pair[1])):
        lines.append(line((f"{_sum(each):>9}  ", ""), (of or "the run as a whole", "dim"), indent=4))
    return lines


def _task_of(row: SpendRow) -> str:
    return row.task_id


def _sum(rows: list[SpendRow]) -> str:
    return money(sum(row.cost_usd for row in rows)) + ("+" if any(row.at_least for row in rows) else "")


def _spent(row: SpendRow) -> ScreenLine:
    usage = row.usage
    cached = f" ({percent(usage.cache_read_share)} from the cache)"
    tokens = f"{usage.prompt_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
    return line(
        (f"{_sum([row]):>9}  ", ""),
        (f"{row.role} ({row.model})", "work"),
        (f"  {row.calls} call{'s' * (row.calls != 1)}, {row.seconds:.0f} s, {tokens}", "dim"),
        indent=11,
    )


def _nothing(why: str) -> list[ScreenLine]:
    return [line((why, "dim"))]
