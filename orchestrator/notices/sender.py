"""Sends the notices of a run beside its work: one task for each target, so that a slow one delays nothing."""

from collections import deque
from collections.abc import Callable, Iterable

import anyio
import structlog
from anyio.abc import TaskGroup

from orchestrator.notices.due import DueNotice, Occasions
from orchestrator.notices.sending import UNCERTAIN, Post, outcome_of
from orchestrator.notices.words import message_of
from state.errors import JournalError
from state.journal.events import Event, RunEnded, RunInterrupted, Stored
from state.journal.view import RunView
from state.settings.integrations import NoticeTarget

LAST_S = 10.0  # that the end of a run waits for its last notices

log = structlog.get_logger(__name__)


class Sender:
    """The notices of one process of a run. The run keeps `view` current, and `record` stores an event."""

    def __init__(
        self,
        targets: Iterable[NoticeTarget],
        post: Post,
        *,
        view: Callable[[], RunView],
        record: Callable[[Event], None],
    ) -> None:
        self._occasions = Occasions(tuple(targets))
        self._post = post
        self._view = view
        self._record = record
        self._first = view().clock.last_seq
        self._known: set[tuple[int, str]] = set()
        self._waiting: dict[tuple[int, str], DueNotice] = {}  # for their turn, or for their end
        self._queues: dict[str, deque[DueNotice]] = {}
        self._seen = 0
        self._moved = anyio.Event()
        self.ended_at = 0  # the place of the event with which the process of the run ends

    def hear(self, stored: Stored, tasks: TaskGroup) -> None:
        """Take the next event, and begin to send what it calls for, in `tasks`.

        Events from before this process are only counted, because a resumption may have taken them back.
        """
        self._occasions.apply(stored)
        if isinstance(stored.event, RunEnded | RunInterrupted):
            self.ended_at = stored.seq
        if stored.seq >= self._first:
            for due in self._occasions.due():
                self._begin(due, tasks)
        self._seen = stored.seq
        self._tell()

    async def finish(self) -> None:
        """Wait until all is sent, ten seconds at most. What is not sent then is recorded as such."""
        with anyio.move_on_after(LAST_S) as limit:
            while self._seen < self._view().clock.last_seq or self._waiting:
                await self._moved.wait()
        if limit.cancelled_caught:
            for due in list(self._waiting.values()):
                self._over(due, f"it was not sent within {LAST_S:g} s after the end of the run")

    def _begin(self, due: DueNotice, tasks: TaskGroup) -> None:
        if _place(due) in self._known:
            return
        self._known.add(_place(due))
        self._waiting[_place(due)] = due
        if due.to in self._queues:
            self._queues[due.to].append(due)
            return
        self._queues[due.to] = deque([due])
        tasks.start_soon(self._serve, due.to)

    async def _serve(self, to: str) -> None:
        """Send the notices of one target in turn, until there are none."""
        queue = self._queues[to]
        while queue:
            due = queue[0]
            self._over(due, await self._sent(due))
            queue.popleft()
        del self._queues[to]

    async def _sent(self, due: DueNotice) -> str:
        """Send a notice. Returns why it was not sent, or "". No error of it reaches the run."""
        if self._post.is_claimed(due):
            return UNCERTAIN
        try:
            sent = await self._post.send(due, message_of(self._view(), due.notice))
        except Exception as error:
            log.exception("notice.failed", kind=due.notice.kind, to=due.to)
            return f"an error inside sq: {error!r}"
        return sent.problem

    def _over(self, due: DueNotice, problem: str) -> None:
        if self._waiting.pop(_place(due), None) is None:
            return
        try:
            self._record(outcome_of(due, problem))
        except JournalError as error:  # the run notices it too
            log.warning("notice.not_recorded", kind=due.notice.kind, to=due.to, error=str(error))
        self._tell()

    def _tell(self) -> None:
        moved, self._moved = self._moved, anyio.Event()
        moved.set()


def _place(due: DueNotice) -> tuple[int, str]:
    return due.notice.of_seq, due.to
