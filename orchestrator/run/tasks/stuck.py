"""A Worker reports that it is stuck: sq finds out whether only a check that cannot run here is the cause.

If the untouched commit could not run that check either, the work is unverified, not stuck, because no Worker
can mend the machine.
"""

from pathlib import Path

from orchestrator.git.workspace import tree_of
from orchestrator.run.evidence.selected_commands import results
from orchestrator.run.evidence.summary import has_failed
from orchestrator.run.evidence.verdict import usable
from orchestrator.run.record import Run
from state.journal.events import TaskStuck, TaskUnverified
from state.journal.events.tasks import TaskView
from state.records.commands import BaselineCheck, BaselineStanding
from state.words import baseline_words


async def end_stuck(run: Run, task: TaskView, reason: str) -> None:
    """Record how a task ends whose Worker gives up with this reason."""
    said = f"the Worker says: {reason}"
    named = [
        check
        for check in run.view.baseline.checks.values()
        if _could_not_run(check) and is_named(check, reason)
    ]
    if named and await _holds_without(run, task):
        seen = "; ".join(map(baseline_words, named))
        unverified = f"{said}. sq looked: the commit that the run began with could not run it either: {seen}"
        run.record(TaskUnverified(task_id=task.task.id, reason=unverified))
    else:
        run.record(TaskStuck(task_id=task.task.id, reason=said))


def is_named(check: BaselineCheck, reason: str) -> bool:
    """Whether a reason names a command, the program that it lacks, or the runner that stopped."""
    words, runner = reason.casefold(), check.run.broken.partition(":")[0]
    return any(name and name.casefold() in words for name in (check.run.command, check.run.missing, runner))


def _could_not_run(check: BaselineCheck) -> bool:
    return not usable(check) or check.standing is BaselineStanding.BROKEN


async def _holds_without(run: Run, task: TaskView) -> bool:
    """Whether there is work, and the commands that can run do not speak against it."""
    folder = Path(task.place.worktree)
    tree = await run.places.snapshot(folder)
    if tree == await tree_of(folder, task.place.base_commit):
        return False
    finished = await run.verify(task_id=task.task.id, folder=folder, tree=tree)
    return not has_failed(results(run, finished))
