"""Which commands are run on a task's work, and their newest results, as shown to agents."""

from pathlib import Path

from orchestrator.run.evidence.selected_commands import commands_for, results
from orchestrator.run.evidence.summary import with_output
from orchestrator.run.record import Run
from state.journal.events.tasks import TaskView
from state.words import baseline_words


def commands_on(run: Run, task: TaskView) -> tuple[str, ...]:
    """Return the commands that sq runs when the task is claimed to be complete."""
    return commands_for(run, Path(task.place.worktree))


def seen_of(run: Run, task: TaskView) -> str:
    """Return the newest results on this task's work, or before any those on the untouched commit."""
    verifications = run.view.evidence.verifications
    newest = next((tree for tree in reversed(task.open.trees) if tree in verifications), "")
    if newest:
        newer = "" if newest == task.open.trees[-1] else " The workspace has changed since."
        where = (
            "the work that this attempt began with" if newest == task.open.trees[0] else "this task's work"
        )
        return f"On {where}.{newer}\n\n{with_output(results(run, verifications[newest]))}"
    lines = [f"- {baseline_words(check)}" for check in run.view.baseline.checks.values()]
    return "\n".join(["On the commit that the run began with:", *lines]) if lines else ""
