"""Lines of the run as a whole: its start, interruptions, its end."""

from typing import assert_never

from orchestrator.views.models.criteria import CriterionState, counted, criteria_of
from orchestrator.views.run.confined import confinement_lines, lacking_lines
from orchestrator.views.run.lines.checkout import git_lines
from orchestrator.views.run.lines.ending import retry_command, unchecked_lines, where_lines
from orchestrator.views.run.spending import cost_line, duration_line, spending_lines, spending_of
from orchestrator.views.words import short
from state.journal import events as e
from state.journal.events.tasks import Stage, TaskView
from state.journal.phase import saw_the_whole
from state.journal.view import RunView
from state.outcome import MEANINGS
from state.records.questions import Answer, Basis
from state.words import decision_line

_NOT_UNDER_WAY = frozenset({Stage.WAITING, Stage.MERGED})
REHEARSAL = "The model is a script: this is a rehearsal."


def lines(view: RunView, event: e.RunEvent) -> list[str]:
    """The lines that an event of the run as a whole adds to the story."""
    match event:
        case e.RunStarted():
            return _started(event)
        case e.RunResumed():
            return _resumed(view, event)
        case e.RunInterrupted():
            return _interrupted(view, event)
        case e.LimitReached():
            return _limit_reached(event)
        case e.RunEnded():
            return _ended(view, event)
        case e.NoticeSent():
            return _notice(event)
        case _:
            assert_never(event)


def _started(event: e.RunStarted) -> list[str]:
    if event.rehearsal:
        model = f"{REHEARSAL} Claude Code is real, no model is asked and nothing is charged."
    else:
        model = f"The model is real, reached by {event.credentials}."
    branch = event.base_branch or "a detached HEAD"
    where = f"on {branch} at {event.base_commit[:10]}"
    how = f"effort {event.effort}, contained by {event.confined.containment}"
    about = f"run {event.run_id}: {event.spec_name} in {event.repository} ({where}, {how})"
    return [model, about, *(f"note: {note}" for note in event.notes)]


def _resumed(view: RunView, event: e.RunResumed) -> list[str]:
    started = view.started
    again = f", and tries again: {', '.join(event.retry)}" if event.retry else ""
    goes_on = f"run {started.run_id if started else ''} goes on: {_place(view)}{again}"
    notes = [f"note: {line}" for line in confinement_lines(view)]
    return [*([REHEARSAL] if started and started.rehearsal else []), goes_on, *notes]


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


def _interrupted(view: RunView, event: e.RunInterrupted) -> list[str]:
    run_id = view.started.run_id if view.started else ""
    return [f"interrupted ({event.by}): the state is saved. Go on with: sq resume {run_id}"]


def _notice(event: e.NoticeSent) -> list[str]:
    if event.ok:
        return []
    return [f"the notice `{event.kind}` to {event.to} was not sent: {short(event.problem, 300)}"]


def _limit_reached(event: e.LimitReached) -> list[str]:
    return [f"limit: {event.cause}"]


def _ended(view: RunView, event: e.RunEnded) -> list[str]:
    why = event.cause or MEANINGS[event.outcome]
    return [
        f"{event.outcome} (exit code {event.outcome.exit_code}): {why}",
        *(["reviewed once: the review of the only task saw the whole"] if saw_the_whole(view) else []),
        *_criteria(view),
        *_assumptions(view),
        *unchecked_lines(view),
        *where_lines(view),
        *git_lines(view),
        *confinement_lines(view),
        *lacking_lines(view),
        *_again(view),
        cost_line(view),
        *spending_lines(spending_of(view)),
        *filter(None, [duration_line(view)]),
    ]


def _again(view: RunView) -> list[str]:
    """The command that retries tasks that ended unmerged. A plain resume would end the same."""
    command = retry_command(view)
    return [f"once the obstacle is gone: {command}"] if command else []


def _assumptions(view: RunView) -> list[str]:
    """The answers that held: those of the Developer's own judgement, then those with grounds."""
    answers = list(dict.fromkeys(answer for _, answer in view.decided()))
    assumed = [_decided(one) for one in answers if one.basis is Basis.JUDGEMENT]
    found = [_decided(one) for one in answers if one.basis is not Basis.JUDGEMENT]
    return [
        *(["assumptions made:", *assumed] if assumed else []),
        *(["answered from the spec, the code or the session:", *found] if found else []),
    ]


def _decided(answer: Answer) -> str:
    """A decision in one line, with the reason to look at it again."""
    doubts = [] if answer.reversible else ["not easy to undo"]
    return "    " + decision_line(answer) + (f" ({', '.join(doubts)})" if doubts else "")


def _criteria(view: RunView) -> list[str]:
    """The criteria of the spec, counted by their standing. Those that are not proven are named."""
    rows = criteria_of(view)
    counts = ", ".join(f"{number} {standing}" for standing, number in counted(rows).items())
    unproven = [
        f"    {row.id} {row.standing}: {short(row.text)}" + (f" ({row.note})" if row.note else "")
        for row in rows
        if row.standing is not CriterionState.PROVEN
    ]
    return [f"criteria of the spec: {counts}", *unproven] if rows else []
