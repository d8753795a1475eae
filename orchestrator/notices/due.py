"""Which notices a run owes, and their words: a fold over its events, without input or output.

A resumption cancels notices that are still due: the wait of the process before, and a stuck task that is
tried again. Its first exchange with a model cancels the end before. A run that ends the same without one has
not ended anew. Other stuck tasks stay due, the wait for an approval until it is given, and parked questions
until they are answered. The words are facts of sq, and of
agents' words only the title of a task and a parked question with its options, cut and escaped.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath

from orchestrator.views.run.ending import retry_command
from state.hidden import visible
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.tasks import Stage
from state.journal.view import RunView
from state.outcome import MEANINGS, Outcome
from state.settings.integrations import NoticeKind, NoticeTarget
from state.words import question_key

LONG = timedelta(minutes=15)  # a shorter wait is no occasion
_BY_THE_USER = "SIGINT"
_UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An occasion: the event at `of_seq`, about a task if it is about one. `until`: the end of a wait.

    `ask_id`: the call of a parked question. `of_plan`: the plan waits for its approval.
    """

    kind: NoticeKind
    of_seq: int
    task_id: str = ""
    until: datetime | None = None
    ask_id: str = ""
    of_plan: bool = False


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
        self._asks: dict[str, tuple[str, set[str]]] = {}  # by call: its task, and the questions that wait
        self._end: tuple[e.RunEnded, Notice] | None = None  # of the process before, until this one does more
        self._parked: set[tuple[str, str]] = set()  # by task: a Worker asks again after a kill
        self._waits_until: datetime | None = None
        self._expired_at: datetime | None = None  # when a request was last refused for its login

    def apply(self, stored: Stored) -> None:
        """Add one more event."""
        match stored.event:
            case e.QuestionsAsked(ask_id=ask_id, task_id=task_id):
                self._asks[ask_id] = task_id, {one.text for one in stored.event.questions}
            case e.PersonAnswered(ask_id=ask_id, answer=answer):
                self._asks[ask_id][1].discard(answer.question)
                if not self._asks[ask_id][1]:
                    self._drop(lambda one: one.ask_id == ask_id)
            case e.PlanApproved():
                self._drop(lambda one: one.of_plan)
            case e.CallStarted() | e.CallResumed():
                self._end = None
            case e.NoticeSent(of_seq=of_seq, to=to):
                self._sent.add((of_seq, to))
            case e.RunResumed(retry=retried):
                self._resume(retried)
            case e.RunEnded() if self._end and _is_same(self._end[0], stored.event):
                self._open[self._end[1].of_seq] = self._end[1]
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

    def _resume(self, retried: Collection[str]) -> None:
        self._waits_until = None
        self._parked = {(task_id, key) for task_id, key in self._parked if task_id not in retried}
        self._drop(
            lambda one: (
                one.kind is NoticeKind.ENDED
                or (one.kind is NoticeKind.WAITING and not one.of_plan)
                or (one.kind is NoticeKind.STUCK and one.task_id in retried)
            )
        )

    def _drop(self, is_over: Callable[[Notice], bool]) -> None:
        self._open = {seq: one for seq, one in self._open.items() if not is_over(one)}

    def _occasion(self, stored: Stored) -> Notice | None:
        match stored.event:
            case e.RunEnded():
                self._end = stored.event, Notice(kind=NoticeKind.ENDED, of_seq=stored.seq)
                return self._end[1]
            case e.RunInterrupted(by=by) if by != _BY_THE_USER:
                return Notice(kind=NoticeKind.ENDED, of_seq=stored.seq)
            case e.QuestionsParked(ask_id=ask_id, question=question):
                task_id, waiting = self._asks.get(ask_id, ("", set()))
                waiting -= {answer.question for answer in stored.event.answers if answer.is_covered}
                if (place := (task_id, question_key(question))) in self._parked:
                    return None
                self._parked.add(place)
                return Notice(kind=NoticeKind.PARKED, of_seq=stored.seq, task_id=task_id, ask_id=ask_id)
            case e.PullRequestMade(is_new=True):
                return Notice(kind=NoticeKind.PULL_REQUEST, of_seq=stored.seq)
            case e.TaskStuck(task_id=task_id):
                return Notice(kind=NoticeKind.STUCK, of_seq=stored.seq, task_id=task_id)
            case e.ApprovalAwaited(until=until):
                self._drop(lambda one: one.of_plan)
                return Notice(kind=NoticeKind.WAITING, of_seq=stored.seq, until=until, of_plan=True)
            case e.CallRetried(api_status=status) if status == _UNAUTHORIZED:
                known, self._expired_at = self._expired_at, stored.at
                is_new = known is None or stored.at - known > LONG
                return Notice(kind=NoticeKind.WAITING, of_seq=stored.seq) if is_new else None
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


def _is_same(one: e.RunEnded, other: e.RunEnded) -> bool:
    return (one.outcome, one.cause) == (other.outcome, other.cause)


def due(events: Iterable[Stored], targets: Sequence[NoticeTarget]) -> list[DueNotice]:
    """Return the notices that these events call for and that were not sent, oldest first."""
    occasions = Occasions(targets)
    for stored in events:
        occasions.apply(stored)
    return occasions.due()


def name_of(number: int, target: NoticeTarget) -> str:
    """Return the name of the target that is the `number`th of a run, the same in each of its processes."""
    return f"command {number}" if target.command else f"{target.url} {number}"


TITLE_KEPT = 120  # characters of a task's title
_QUESTION_KEPT = 400  # and of a question
# Characters that steer shells, scripts, markup, links and mentions, and others that look like them.
_HARMLESS = str.maketrans(
    '<>@#&$*|\\:`"[]', "\u2039\u203a\uff20\uff03\uff06\uff04\u2217\u00a6\uff3c\u2236''()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeMessage:
    """A notice for its target: a command gets it as JSON. `id` is the same if it should come twice.

    `exit_code` and `outcome` are None and "" while the run goes on. `needs` is the first thing that needs a
    person, `command` what to type.
    """

    id: str
    kind: str
    run_id: str
    repository: str
    spec: str
    outcome: str
    exit_code: int | None
    tasks_merged: int
    tasks_total: int
    cost_usd: float
    task_id: str
    task_title: str
    needs: str
    command: str
    title: str
    text: str


def message_of(view: RunView, notice: Notice) -> NoticeMessage:
    """Return a notice in words. `view` includes the event that it is about."""
    started = view.started
    run_id = started.run_id if started else ""
    outcome = _outcome(view) if notice.kind is NoticeKind.ENDED else None
    merged = sum(task.stage is Stage.MERGED for task in view.tasks.values())
    needs, command = _needs(view, notice, outcome)
    made = view.checkout.pull_request
    spec, where = (_last(started.spec_name), _last(started.repository)) if started else ("", "")
    lines = [
        f"{spec} in {where}",
        f"{merged} of {len(view.tasks)} tasks merged, ${view.cost_usd:.2f} so far",
        visible(made.url) if made else "",
        "this is a rehearsal: nothing was charged" if started and started.rehearsal else "",
        needs,
        command,
    ]
    return NoticeMessage(
        id=f"{run_id}/{notice.of_seq}",
        kind=notice.kind,
        run_id=run_id,
        repository=visible(started.repository) if started else "",
        spec=visible(started.spec_name) if started else "",
        outcome=outcome or "",
        exit_code=outcome.exit_code if outcome else None,
        tasks_merged=merged,
        tasks_total=len(view.tasks),
        cost_usd=round(view.cost_usd, 4),
        task_id=visible(notice.task_id),
        task_title=_title(view, notice.task_id),
        needs=needs,
        command=command,
        title=f"sq: {_headline(view, notice, outcome)} ({spec})",
        text="\n".join(filter(None, lines)),
    )


def end_title(view: RunView) -> str:
    """Return the title of the end of a run, or of its process."""
    return message_of(view, Notice(kind=NoticeKind.ENDED, of_seq=view.clock.last_seq)).title


def _last(path: str) -> str:
    return visible(PurePath(path).name)


def _outcome(view: RunView) -> Outcome:
    return view.ended.outcome if view.ended else Outcome.INTERRUPTED


def _headline(view: RunView, notice: Notice, outcome: Outcome | None) -> str:
    match notice.kind:
        case NoticeKind.ENDED:
            return str(outcome or _outcome(view))
        case NoticeKind.PARKED:
            return "a question waits for you"
        case NoticeKind.STUCK:
            return f"task {visible(notice.task_id)} is stuck"
        case NoticeKind.WAITING:
            return "the run waits"
        case NoticeKind.PULL_REQUEST:
            return f"pull request #{_number(view)} was opened"


def _number(view: RunView) -> int:
    return view.checkout.pull_request.number if view.checkout.pull_request else 0


def _needs(view: RunView, notice: Notice, outcome: Outcome | None) -> tuple[str, str]:
    """Return the first thing that needs a person, and the command to type."""
    run_id = view.started.run_id if view.started else ""
    match notice.kind:
        case NoticeKind.PARKED:
            return _question(view, notice, run_id)
        case NoticeKind.STUCK:
            return f"{_named(view, notice.task_id)} is stuck", f"sq logs {run_id}"
        case NoticeKind.WAITING if view.plan.before.awaited and not view.plan.before.approved:
            return f"the plan waits for your approval {_until(notice)}", f"sq approve {run_id}"
        case NoticeKind.WAITING:
            if notice.until is None:
                return "the login of Claude Code has expired, and the run waits for it", "claude auth login"
            return f"nothing goes on {_until(notice)}", f"sq status {run_id}"
        case NoticeKind.PULL_REQUEST:
            return "it waits for a review", f"sq follow {_number(view)}"
        case NoticeKind.ENDED:
            return _at_the_end(view, outcome or _outcome(view), run_id)


def _at_the_end(view: RunView, outcome: Outcome, run_id: str) -> tuple[str, str]:
    goes_on = f"sq resume {run_id}"
    if outcome is Outcome.INTERRUPTED:
        return MEANINGS[outcome], goes_on
    if outcome is not Outcome.COMPLETE and (waiting := [*view.waiting_questions]):
        text = "\n".join(_asked(view, name) for name in waiting)
        return text, ", ".join([*(_answer_command(run_id, name) for name in waiting), f"then {goes_on}"])
    parked = [ask.asked.task_id for ask in view.asks.values() if ask.parked and not ask.answered]
    if outcome is not Outcome.COMPLETE and parked:
        return f"a question of {_named(view, parked[0])} waits for a person", f"sq decisions {run_id}"
    ends = {Stage.STUCK: "is stuck", Stage.FAILED: "failed", Stage.UNVERIFIED: "could not be verified"}
    for stage, words in ends.items():
        for id_, task in view.tasks.items():
            if task.stage is stage:
                return f"{_named(view, id_)} {words}", retry_command(view) or goes_on
    command = goes_on if view.ended and view.ended.resumable else f"sq status {run_id}"
    return MEANINGS[outcome], command


def _question(view: RunView, notice: Notice, run_id: str) -> tuple[str, str]:
    """Return a parked question with its options, and the command that answers it."""
    names = [name for name, (ask, _) in view.waiting_questions.items() if ask.asked.task_id == notice.task_id]
    if not names:
        return f"a question of {_named(view, notice.task_id)} waits for a person", f"sq decisions {run_id}"
    commands = [_answer_command(run_id, name) for name in names]
    return "\n".join(_asked(view, name) for name in names), "\n".join(commands)


def _asked(view: RunView, name: str) -> str:
    ask, question = view.waiting_questions[name]
    lines = [f"{_named(view, ask.asked.task_id)} asks ({name}): {_harmless(question.text, _QUESTION_KEPT)}"]
    lines += [
        f"  {number} {_harmless(option.label, TITLE_KEPT)}"
        for number, option in enumerate(question.options, 1)
    ]
    return "\n".join(lines)


def _answer_command(run_id: str, name: str) -> str:
    return f'sq answer {run_id} {name} "…"'


def _harmless(text: str, most: int) -> str:
    """Return an agent's words in one visible line that steers nothing, cut."""
    plain = " ".join(visible(text).split()).translate(_HARMLESS)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _until(notice: Notice) -> str:
    return f"until {notice.until.astimezone():%Y-%m-%d %H:%M}" if notice.until else "for a while"


def _named(view: RunView, task_id: str) -> str:
    title = _title(view, task_id).translate(_HARMLESS)
    return f"task {visible(task_id)}" + (f" ({title})" if title else "")


def _title(view: RunView, task_id: str) -> str:
    """Return a task's title in one visible line of at most 120 characters."""
    task = view.tasks.get(task_id)
    title = visible(task.task.title).replace("\t", " ") if task else ""
    return title if len(title) <= TITLE_KEPT else f"{title[: TITLE_KEPT - 1]}…"
