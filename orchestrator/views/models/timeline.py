"""The time of a run: as bars in lanes, a lane a task, with long idle times folded away, and by its uses."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from orchestrator.views.models.history import RunFacts, SpanKind, TimeSpan
from orchestrator.views.models.lanes import OWN_USES, Bar, Fold, Timeline, TimelineLane, TimePart, TimeUse
from state.journal import events as e
from state.journal.events.tasks import Stage

_IDLE = timedelta(seconds=60)  # a longer time without any span is folded
_FOLDED = timedelta(seconds=5)  # its width then
_MOST_BARS = 120  # in a lane. Neighbours of the same kind are joined until they fit


def timeline(story: RunFacts, now: datetime, *, most_bars: int = _MOST_BARS) -> Timeline:
    """Return the time of a run. Spans that go on end at `now`, or at the last event if the run has ended.

    `most_bars`: neighbours in a lane are joined until it has no more bars than this.
    """
    view = story.view
    until = view.clock.last_at if view.ended or view.process.interrupted_by else now
    spans = story.history.spans
    if not spans or until is None:
        return Timeline(lanes=(), folds=(), seconds=0.0, began_at=None)
    axis = _Axis(spans, until)
    lanes: dict[str, list[Bar]] = {task_id: [] for task_id in ("", *view.tasks)}
    for span in spans:
        lane = span.task_id if span.task_id in lanes else ""
        lanes[lane].append(axis.bar(span))
    return Timeline(
        lanes=tuple(
            TimelineLane(task_id=id_, bars=_joined(bars, most_bars)) for id_, bars in lanes.items() if bars
        ),
        folds=tuple(axis.folds()),
        seconds=(axis.last - axis.first).total_seconds(),
        began_at=axis.first,
        parts=_parts(story, until),
    )


def end_of(story: RunFacts) -> datetime | None:
    """Return the time of a run's end, which notices may follow, or that of its newest event."""
    clock = story.view.clock
    ends = (stored.at for stored in story.history.notable if stored.seq == clock.ended_seq)
    return next(ends, clock.last_at) if story.view.ended else clock.last_at


def _parts(story: RunFacts, until: datetime) -> tuple[TimePart, ...]:
    """Return what the time from a run's start until then went to, or nothing before its start."""
    began, end = story.view.clock.started_at, (story.view.ended and end_of(story)) or until
    if began is None:
        return ()
    changes = [(began, 0, TimeUse.SQ), (end, 0, TimeUse.SQ)]
    for use, start, stop in _uses(story, end):
        if (first := max(start, began)) < (last := min(stop, end)):
            changes += [(first, 1, use), (last, -1, use)]
    shares, added_up = dict.fromkeys(TimeUse, 0.0), dict.fromkeys(TimeUse, 0.0)
    under_way = Counter[TimeUse]()
    for (at, step, use), (following, *_) in pairwise(sorted(changes)):
        under_way[use] += step
        own = Counter({one: under_way[one] for one in under_way if one in OWN_USES})
        seconds, now = (following - at).total_seconds(), (under_way - own) or +own or Counter({TimeUse.SQ: 1})
        count = now.total()
        for one, places in now.items():
            shares[one] += seconds * places / count
            added_up[one] += seconds * places
    return tuple(TimePart(use=use, seconds=shares[use], added_up_s=added_up[use]) for use in TimeUse)


_OWN = {
    Stage.BUILDING: TimeUse.CHECKING,
    Stage.ACCEPTED: TimeUse.CHECKING,
    Stage.COMMITTED: TimeUse.CHECKING,
    Stage.APPROVED: TimeUse.MERGING,
}
_PERSON = "a person"  # no folder has this name: they are absolute


def _uses(  # noqa: C901, PLR0912  one case an event
    story: RunFacts, until: datetime
) -> Iterator[tuple[TimeUse, datetime, datetime]]:
    """Yield each time of something that sq waited for, by the events' own times."""
    retries: dict[str, list[tuple[datetime, datetime]]] = {}
    turns, running = dict[str, datetime](), dict[int, tuple[TimeUse, datetime]]()
    last = until
    for stored in story.history.notable:
        at = stored.at
        match stored.event:
            case e.CallRetried(call_id=call_id, wait_s=wait_s):
                retries.setdefault(call_id, []).append((at, at + timedelta(seconds=wait_s)))
            case e.RunResumed():
                turns.clear()
                yield from ((use, begun, last) for use, begun in running.values())
                running.clear()
                yield TimeUse.WAITING, last, at
            case e.CommandStarted(number=number, purpose=purpose):
                running[number] = TimeUse.SET_UP if purpose == "set-up" else TimeUse.COMMANDS, at
            case e.CommandEnded(number=number) if number in running:
                yield *running.pop(number), at
            case e.SetUpStarted(folder=folder, waits=True):
                turns[folder] = at
            case e.SetUpStarted(folder=folder) if folder in turns:
                yield TimeUse.WAITING, turns.pop(folder), at
            case e.ApprovalAwaited() | e.SpecQuestionsShown():
                turns[_PERSON] = at
            case e.PlanApproved() | e.SpecQuestionDecided() | e.RunEnded() if _PERSON in turns:
                yield TimeUse.WAITING, turns.pop(_PERSON), at
        last = at
    yield from ((use, begun, until) for use, begun in running.values())
    stages = [one for every in story.history.stages.values() for one in every]
    if merged := [one.since for one in stages if one.stage is Stage.MERGED]:
        yield TimeUse.CHECKING, max(merged), until  # of the whole
    yield from ((_OWN[one.stage], one.since, one.until or until) for one in stages if one.stage in _OWN)
    for span in story.history.spans:
        start, end = span.began_at, span.ended_at or until
        if span.kind is SpanKind.COMMANDS:
            yield TimeUse.CHECKING if span.what == "verification" else TimeUse.PLACES, start, end
        elif span.kind is SpanKind.CALL:
            for failed, again in retries.get(span.key, ()):
                if start <= failed <= end:
                    yield TimeUse.MODEL, start, failed
                    yield TimeUse.WAITING, failed, min(again, end)
                    start = again
            yield TimeUse.MODEL, start, end


class _Axis:
    """Places moments on a line on which long idle times are short."""

    def __init__(self, spans: list[TimeSpan], until: datetime) -> None:
        self.until = until
        self.first = min(span.began_at for span in spans)
        self.last = max(self.first, *(span.ended_at or until for span in spans))
        self._gaps = _gaps(spans, until)
        self._total = self._offset(self.last) or 1.0

    def _offset(self, moment: datetime) -> float:
        """Seconds from the start to a moment, with folded idle times."""
        cut = sum(
            max(0.0, (min(moment, end) - start - _FOLDED).total_seconds())
            for start, end in self._gaps
            if moment > start
        )
        return (moment - self.first).total_seconds() - cut

    def bar(self, span: TimeSpan) -> Bar:
        start, end = self._offset(span.began_at), self._offset(span.ended_at or self.until)
        return Bar(
            what=span.what,
            start=start / self._total,
            width=max(0.0, end - start) / self._total,
            seconds=span.seconds(self.until),
            good=span.good,
            seq=span.seq,
        )

    def folds(self) -> list[Fold]:
        width = _FOLDED.total_seconds() / self._total
        return [
            Fold(start=self._offset(start) / self._total, width=width, seconds=(end - start).total_seconds())
            for start, end in self._gaps
        ]


def _gaps(spans: list[TimeSpan], until: datetime) -> list[tuple[datetime, datetime]]:
    """Return the long times in which nothing was under way."""
    gaps = []
    busy_until: datetime | None = None
    for span in sorted(spans, key=lambda one: one.began_at):
        if busy_until and span.began_at - busy_until > _IDLE:
            gaps.append((busy_until, span.began_at))
        end = span.ended_at or until
        busy_until = max(busy_until, end) if busy_until else end
    return gaps


def _joined(bars: list[Bar], most: int) -> tuple[Bar, ...]:
    """Join the neighbours that are closest to each other until a lane has few enough bars."""
    while len(bars) > most:
        bars = [
            _union(bars[i], bars[i + 1]) if i + 1 < len(bars) else bars[i] for i in range(0, len(bars), 2)
        ]
    return tuple(bars)


def _union(one: Bar, other: Bar) -> Bar:
    end = max(one.start + one.width, other.start + other.width)
    what = one.what if one.what == other.what else f"{one.what} and others"
    results = {one.good, other.good}
    return Bar(
        what=what if len(what) <= len("verification and others") else "several",
        start=one.start,
        width=end - one.start,
        seconds=one.seconds + other.seconds,
        good=False if False in results else None if None in results else True,
        seq=one.seq,
        spans=one.spans + other.spans,
    )
