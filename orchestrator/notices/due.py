"""Which notices a run owes: a fold over its events, without input or output.

A resumption cancels notices that are still due: the end and the wait of the process before, and a stuck task
that is tried again. Other stuck tasks and parked questions stay due.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from state.journal import events as e
from state.journal.events import Stored
from state.settings.integrations import NoticeKind, NoticeTarget
from state.words import question_key

LONG = timedelta(minutes=15)  # a shorter wait is no occasion
_BY_THE_USER = "SIGINT"
_OF_A_PROCESS = {NoticeKind.ENDED, NoticeKind.WAITING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An occasion: the event at `of_seq`, about a task if it is about one. `until`: the end of a wait."""

    kind: NoticeKind
    of_seq: int
    task_id: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNotice:
    """A notice and the target that it has not been sent to. `to` names the target in events."""

    notice: Notice
    target: NoticeTarget
    to: str


class Occasions:
    """The occasions of a run so far, and what was sent."""

    def __init__(self, targets: Sequence[NoticeTarget]) -> None:
        self._named = [(name_of(number, target), target) for number, target in enumerate(targets, start=1)]
        self._open: dict[int, Notice] = {}
        self._sent: set[tuple[int, str]] = set()
        self._asked_by: dict[str, str] = {}  # task by question
        self._parked: set[tuple[str, str]] = set()  # by task: a Worker asks again after a kill
        self._waits_until: datetime | None = None

    def apply(self, stored: Stored) -> None:
        """Add one more event."""
        match stored.event:
            case e.QuestionsAsked(ask_id=ask_id, task_id=task_id):
                self._asked_by[ask_id] = task_id
            case e.NoticeSent(of_seq=of_seq, to=to):
                self._sent.add((of_seq, to))
            case e.RunResumed(retry=retried):
                self._waits_until = None
                self._parked = {(task_id, key) for task_id, key in self._parked if task_id not in retried}
                self._open = {
                    seq: one
                    for seq, one in self._open.items()
                    if one.kind not in _OF_A_PROCESS
                    and not (one.kind is NoticeKind.STUCK and one.task_id in retried)
                }
            case _:
                if notice := self._occasion(stored):
                    self._open[stored.seq] = notice

    def due(self) -> list[DueNotice]:
        """Return what is still to be sent, oldest first."""
        return [
            DueNotice(notice=notice, target=target, to=to)
            for notice in self._open.values()
            for to, target in self._named
            if notice.kind in target.on and (notice.of_seq, to) not in self._sent
        ]

    def _occasion(self, stored: Stored) -> Notice | None:
        match stored.event:
            case e.RunEnded():
                return Notice(kind=NoticeKind.ENDED, of_seq=stored.seq)
            case e.RunInterrupted(by=by) if by != _BY_THE_USER:
                return Notice(kind=NoticeKind.ENDED, of_seq=stored.seq)
            case e.QuestionsParked(ask_id=ask_id, question=question):
                task_id = self._asked_by.get(ask_id, "")
                if (place := (task_id, question_key(question))) in self._parked:
                    return None
                self._parked.add(place)
                return Notice(kind=NoticeKind.PARKED, of_seq=stored.seq, task_id=task_id)
            case e.TaskStuck(task_id=task_id):
                return Notice(kind=NoticeKind.STUCK, of_seq=stored.seq, task_id=task_id)
            case e.CallRetried(wait_s=wait_s) if timedelta(seconds=wait_s) > LONG:
                return self._wait(stored, stored.at + timedelta(seconds=wait_s))
            case _:
                return None

    def _wait(self, stored: Stored, until: datetime) -> Notice | None:
        """Return the notice of a wait, or None if there is one about nearly the same: calls wait together."""
        known = self._waits_until
        if known and stored.at < known and until <= known + LONG:
            return None
        self._waits_until = until
        return Notice(kind=NoticeKind.WAITING, of_seq=stored.seq, until=until)


def due(events: Iterable[Stored], targets: Sequence[NoticeTarget]) -> list[DueNotice]:
    """Return the notices that these events call for and that were not sent, oldest first."""
    occasions = Occasions(targets)
    for stored in events:
        occasions.apply(stored)
    return occasions.due()


def name_of(number: int, target: NoticeTarget) -> str:
    """Return the name of the target that is the `number`th of a run, the same in each of its processes."""
    return f"command {number}" if target.command else f"{target.url} {number}"
