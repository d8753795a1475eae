"""Sends notices beside the work of a run: a task for each target, and for each notice a process that ends.

The process itself takes the claim of the notice, a file that is made once, in the moment before it begins. So
a notice that was recorded nowhere because sq was killed is sent by the next process if its claim is free, and
never twice.
"""

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anyio
import structlog
from anyio.abc import TaskGroup

from agents.process.containment import Containment
from agents.process.tree import CommandResult, run_command
from orchestrator.notices.due import DueNotice, NoticeMessage, Occasions, message_of
from state.errors import JournalError
from state.journal.events import Event, NoticeSent, RunEnded, RunInterrupted, Stored
from state.journal.view import RunView
from state.secrets import without_secrets
from state.settings.integrations import NoticeTarget

LIMIT_S = 10.0  # for one notice by a command, and at the end of a run for the last ones
ADDRESS_S = 30.0  # with an address, since a process that imports Apprise starts slowly on a busy machine
_TAKEN = "sq: this notice is claimed"  # the output if the claim is taken
_OUTPUT_KEPT = 2_000  # bytes
# `set -C`: the shell makes the file only if there is none.
_CLAIM = f'set -C; (: > "$0") 2>&- || {{ echo "{_TAKEN}"; exit 1; }}; set +C; exec "$@"'
_BY_APPRISE = (sys.executable, "-I", str(Path(__file__).with_name("apprise_child.py")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """How notices leave this machine. `folder` holds the claims. `addresses` are values by variable.

    Commands run in `home` with `environ`, without its secrets, so that no relative path of theirs leads to
    files of an agent.
    """

    folder: Path
    home: Path
    environ: Mapping[str, str]
    containment: Containment
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)
    redact: Callable[[str], str] = str

    def is_claimed(self, due: DueNotice) -> bool:
        """Whether an earlier process began to send it."""
        return self._claim(due).exists()

    async def send(self, due: DueNotice, message: NoticeMessage) -> NoticeSent:
        """Send a notice, within its limit, and return the event about it. Problems are no exceptions."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            return outcome_of(due, f"{self.folder} cannot be made: {error.strerror}")
        if (name := due.target.variable) and not self.addresses.get(name):
            return outcome_of(due, f"{name} is not set")
        argv, given, variables = self._process(due.target, message)
        result = await run_command(
            ["sh", "-c", _CLAIM, str(self._claim(due)), *argv],
            cwd=self.home if self.home.is_dir() else self.folder,
            env={**without_secrets(self.environ), **variables},
            deadline_s=_limit_s(due.target),
            containment=self.containment,
            output_limit=_OUTPUT_KEPT,
            given=json.dumps(given).encode(),
        )
        return outcome_of(due, self.redact(_problem(result, _limit_s(due.target))))

    def _process(
        self, target: NoticeTarget, message: NoticeMessage
    ) -> tuple[tuple[str, ...], dict[str, object], dict[str, str]]:
        if target.command:
            variables = {"SQ_TITLE": message.title, "SQ_TEXT": message.text}
            return ("sh", "-c", target.command), asdict(message), variables
        address = self.addresses.get(target.variable, "")
        return _BY_APPRISE, {"url": address, "title": message.title, "text": message.text}, {}

    def _claim(self, due: DueNotice) -> Path:
        return self.folder / f"{due.notice.of_seq} {due.to}".replace("/", "_")


def is_address(address: str) -> bool:
    """Whether Apprise knows such an address, as far as its form shows. Blocks for about a second."""
    given = json.dumps({"url": address}).encode()
    try:
        done = subprocess.run(_BY_APPRISE, input=given, capture_output=True, timeout=ADDRESS_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True  # the notice itself will show it
    return done.returncode == 0


def outcome_of(due: DueNotice, problem: str) -> NoticeSent:
    """Return the event for a notice that was sent, or was not for a reason."""
    notice = due.notice
    return NoticeSent(kind=notice.kind, of_seq=notice.of_seq, to=due.to, ok=not problem, problem=problem)


def _limit_s(target: NoticeTarget) -> float:
    return ADDRESS_S if target.url else LIMIT_S


def _problem(result: CommandResult, limit_s: float) -> str:
    if result.exit_code == 0:
        return ""
    said = " ".join(result.output.split())
    if result.timed_out:
        return f"it did not end within {limit_s:g} s" + (f": {said}" if said else "")
    if said == _TAKEN:
        return UNCERTAIN
    return result.error or f"exit code {result.exit_code}" + (f": {said}" if said else "")


UNCERTAIN = "sq was ended while it was being sent, so it may not have arrived"


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
        every = tuple(targets)
        self._occasions = Occasions(every)
        self._last_s = max(map(_limit_s, every), default=LIMIT_S)  # that an end waits
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
        """Wait until all is sent, as long as one notice may take. What is not sent then is recorded."""
        with anyio.move_on_after(self._last_s) as limit:
            while self._seen < self._view().clock.last_seq or self._waiting:
                await self._moved.wait()
        if limit.cancelled_caught:
            for due in list(self._waiting.values()):
                self._over(due, f"it was not sent within {self._last_s:g} s after the end of the run")

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
