"""A run in short: its state, activity, cost, the command that resumes it, and why a task does not go on."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.running import commands_words
from orchestrator.views.models.spend import Spending
from orchestrator.views.words import Reason, clock, time_of_day
from state.journal.events.tasks import ENDED_STAGES, UNMERGED_ENDS, Stage, TaskView
from state.journal.phase import Phase, is_under_way, movable, phase_of
from state.journal.view import RunView
from state.outcome import Outcome
from state.words import asked_line


class Group(StrEnum):
    """The groups of tasks, in the order in which views show them."""

    NEEDS_YOU = "needs you"
    ENDED_BADLY = "not finished"
    WORKING = "working"
    WAITING = "waiting"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task in a line.

    `word` is its stage in a word. `now` is its present action, or the thing it waits for, or the reason of
    its end. `seconds` is the time in its present stage while it works, else from its start to its end, and
    None if it never began. `iteration` counts exchanges of the newest attempt. `seq` is the place of the
    event that brought its present stage. `needs` are the tasks on which it depends.
    """

    id: str
    title: str
    group: Group
    stage: Stage
    word: str
    now: str
    attempt: int
    iteration: int
    cost_usd: float
    seconds: float | None
    open_findings: int
    seq: int
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Something that a person has to look at. `seq` is the place of the event that says so.

    `what` says in sq's words which kind it is, `text` is the question or the reason, in an agent's words.
    `name` (q1) and the labels of its `options` are those of a question that waits for an answer.
    """

    what: str
    text: str
    task_id: str
    seq: int
    name: str = ""
    options: tuple[str, ...] = ()


_DOING = {
    Phase.BASELINE: "running the tests before any change",
    Phase.ANALYZE: "analyzing",
    Phase.QUESTIONS: "waiting for answers about the spec",
    Phase.APPROVAL: "waiting for `sq approve`",
    Phase.PLAN: "planning",
    Phase.FINAL_REVIEW: "final review",
    Phase.BRING_HOME: "finishing",
    Phase.END: "finishing",
}


class RunState(StrEnum):
    """Whether a process works on a run, and if not, why."""

    ENDED = "ended"
    ACTIVE = "active"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
    NEVER_BEGAN = "killed before it began"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run in short. `next_command` is "" if it cannot be resumed, `pull_request` its address or "".

    `waiting` counts the questions that wait for a person.
    """

    run_id: str
    state: RunState
    outcome: Outcome | None = None
    doing: str = ""
    problem: str = ""
    next_command: str = ""
    spec_name: str = ""
    pull_request: str = ""
    tasks_merged: int = 0
    tasks_total: int = 0
    cost_usd: float = 0.0
    rehearsal: bool = False
    started_at: datetime | None = None
    seconds: float = 0.0
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A run on one screen. `answered` counts the Developer's answers, `yours` those of people to Workers.

    `seq` is the newest event.
    """

    summary: RunSummary
    tasks: tuple[TaskRow, ...]
    needs: tuple[Need, ...]
    spending: Spending
    answered: int
    yours: int
    parked: int
    seq: int
    last_at: datetime | None


def summary_of(
    view: RunView, run_id: str, *, is_active: Callable[[], bool], now: datetime, options: str = ""
) -> RunSummary:
    """A run in short.

    Args:
        view: the fold of its events.
        is_active: whether a process is writing it. It is called only if the events do not show it.
        now: the time until which an active run has lasted.
        options: options for a command to find this run again, such as `--state-dir X`.
    """
    state = _state(view, is_active)
    resumable = state in {RunState.INTERRUPTED, RunState.KILLED}
    until = now if state is RunState.ACTIVE else view.clock.last_at
    made = view.checkout.pull_request
    started, begun = view.started, view.clock.started_at
    return RunSummary(
        run_id=run_id,
        state=state,
        outcome=view.ended.outcome if view.ended else None,
        doing=activity(view, now) if state is RunState.ACTIVE else "",
        next_command=f"sq resume {run_id}{options}" if resumable else "",
        spec_name=started.spec_name if started else "",
        pull_request=made.url if made else "",
        tasks_merged=sum(task.stage is Stage.MERGED for task in view.tasks.values()),
        tasks_total=len(view.tasks),
        cost_usd=view.cost_usd,
        rehearsal=bool(started and started.rehearsal),
        started_at=begun,
        seconds=(until - begun).total_seconds() if until and begun else 0.0,
        waiting=len(view.waiting_questions),
    )


def activity(view: RunView, now: datetime | None = None) -> str:
    """The present activity of a run, in a word or two, and what holds it up at `now`, if it is given."""
    held, does = held_up(view, now) if now else "", _activity(view)
    return f"{held} ({does})" if held else does


def held_up(view: RunView, now: datetime) -> str:
    """Return what holds the run up as a whole, with the time left if it ends by itself, or ""."""
    if paused := view.context.people.paused:
        return f"paused by {paused.by}: sq continue"
    process = view.process
    if process.quiet_until and (left_s := (process.quiet_until - now).total_seconds()) > 0:
        return f"no request before {time_of_day(process.quiet_until)}, in {clock(left_s)}"
    return f"landing until {time_of_day(process.landing.until)}" if process.landing else ""


def waiting_lines(view: RunView, answered: Collection[str] = ()) -> list[str]:
    """Return a line for each question that waits for a person, with its options and how it is answered.

    `answered` are the names of those with an answer that the run has not taken yet.
    """
    run_id = view.started.run_id if view.started else ""
    lines = []
    for name, (ask, question) in view.waiting_questions.items():
        asked = f"{ask.asked.task_id} waits for you ({name}): {asked_line(question)}"
        todo = f'Answer it: sq answer {run_id} {name} "…"'
        if name in answered:
            todo = f"An answer waits for: sq resume {run_id}"
        lines.append(f"{asked}. {todo}")
    return lines


def waits_for_person(view: RunView) -> str:
    """Return what the whole run waits for until a person acts, or ""."""
    if paused := view.context.people.paused:
        return f"paused by {paused.by}: sq continue"
    if (phase := phase_of(view)) in {Phase.QUESTIONS, Phase.APPROVAL}:
        return _DOING[phase]
    waiting = _waiting_tasks(view)
    return _activity(view) if waiting and {*waiting} >= {*_under_way(view)} else ""


def stage_word(view: RunView, task_id: str) -> str:
    """Return the stage of a task, or that it waits for a person, or that its claim is checked."""
    word = "claimed" if view.is_claimed(task_id) else str(view.tasks[task_id].stage)
    return "waits for you" if task_id in _waiting_tasks(view) else word


def _under_way(view: RunView) -> list[str]:
    return [id_ for id_ in movable(view.tasks) if view.tasks[id_].stage is not Stage.WAITING]


def _waiting_tasks(view: RunView) -> list[str]:
    return [*dict.fromkeys(ask.asked.task_id for ask, _ in view.waiting_questions.values())]


def _activity(view: RunView) -> str:
    phase = phase_of(view)
    whole = commands_words(view, "")
    if phase is not Phase.TASKS:
        return ": ".join(filter(None, (_DOING[phase], whole)))
    under_way = dict.fromkeys([*_under_way(view), *_waiting_tasks(view)])
    doing = [f"{id_} {_doing(stage_word(view, id_), commands_words(view, id_))}" for id_ in under_way]
    return "; ".join([*doing, *([f"the whole: {whole}"] if whole else [])]) or "between tasks"


def _doing(stage: str, commands: str) -> str:
    return commands if commands.startswith(f"{stage}, ") else ", ".join(filter(None, (stage, commands)))


def _state(view: RunView, is_active: Callable[[], bool]) -> RunState:
    if view.ended:
        return RunState.ENDED
    if is_active():
        return RunState.ACTIVE
    if view.started is None:
        return RunState.NEVER_BEGAN
    return RunState.INTERRUPTED if view.process.interrupted_by else RunState.KILLED


def why_not(story: RunFacts, task_id: str, now: datetime, *, active: bool = True) -> list[Reason]:
    """Return why a task does nothing now, nearest reason first. Empty for a task that works or is merged.

    Args:
        now: this moment, for waits that are over.
        active: whether a process works on the run.
    """
    view = story.view
    task = view.tasks[task_id]
    if task.stage is Stage.MERGED:
        return []
    reasons = list(_of_task(story, task, now, seen=set()))
    if not active and not view.ended and task.stage not in ENDED_STAGES:
        reasons.append(Reason(text="no process works on this run", seq=view.clock.last_seq))
    return reasons


def _of_task(story: RunFacts, task: TaskView, now: datetime, seen: set[str]) -> Iterator[Reason]:
    view, id_ = story.view, task.task.id
    if id_ in seen:
        return
    seen.add(id_)
    if task.stage in UNMERGED_ENDS:
        yield Reason(text=f"{id_} is {task.stage}: {task.end.reason}", seq=_since(story, id_))
        yield from _refusals(task)
        return
    if waits := _paused(view, now):
        yield waits
    if is_under_way(task) or task.stage in ENDED_STAGES:
        return
    needed = [one for one in task.task.dependencies if view.tasks[one].stage is not Stage.MERGED]
    for one in needed:
        other = view.tasks[one]
        yield Reason(text=f"{id_} needs {one}, which is {other.stage}", seq=_since(story, one))
        yield from _of_task(story, other, now, seen)
    if not needed:
        yield from _no_place(view, id_)


def _refusals(task: TaskView) -> Iterator[Reason]:
    for refusal in task.open.refusals[-1:]:
        first = refusal.for_people.strip().partition("\n")[0]
        times = len(task.open.refusals)
        yield Reason(
            text=f"its last claim was refused, {times} time{'s' * (times != 1)} in a row: {first}",
        )


def _paused(view: RunView, now: datetime) -> Reason | None:
    """Why no task of the run goes on, if so."""
    if view.process.limit:
        return Reason(text=f"a limit of the run is reached: {view.process.limit}")
    if view.process.interrupted_by:
        return Reason(text=f"the run was stopped by {view.process.interrupted_by}")
    if paused := view.context.people.paused:
        run_id = view.started.run_id if view.started else ""
        return Reason(text=f"{paused.by} paused the run. Go on with: sq continue {run_id}")
    if view.process.quiet_until and view.process.quiet_until > now:
        until = time_of_day(view.process.quiet_until)
        return Reason(text=f"no request goes to a model before {until}")
    return None


def _no_place(view: RunView, task_id: str) -> Iterator[Reason]:
    if phase_of(view) is not Phase.TASKS or view.settings is None:
        return
    taken = [id_ for id_, one in view.tasks.items() if is_under_way(one) and id_ != task_id]
    if len(taken) >= view.settings.places:
        yield Reason(
            text=f"{task_id} waits for a place ({len(taken)} of {view.settings.places} taken: "
            f"{', '.join(taken)})"
        )


def _since(story: RunFacts, task_id: str) -> int:
    spans = story.history.stages.get(task_id, [])
    return spans[-1].seq if spans else 0
