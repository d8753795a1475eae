"""Which commands vouch for a tree, the meaning of their results, and the newest ones as shown to agents."""

from pathlib import Path

from orchestrator.project.detection.detect import detect
from orchestrator.run.evidence.summary import with_output
from orchestrator.run.evidence.verdict import Judged, judged, usable
from orchestrator.run.record import Run
from state.journal.events import VerificationFinished
from state.journal.events.tasks import TaskView
from state.words import baseline_words


def commands_for(run: Run, folder: Path) -> tuple[str, ...]:
    """Return the commands that vouch for a tree, without those that give no result on this machine.

    These are the user's, or else those of the baseline, which the repository shows or the analysis named, and
    those that the tree itself shows.
    """
    baseline = run.view.baseline.checks
    if run.settings.verify:
        return tuple(command for command in run.settings.verify if usable(baseline.get(command)))
    found = dict.fromkeys(
        [
            *(
                command
                for command, check in baseline.items()
                if check.run.count.ran or not check.run.nothing_yet
            ),
            *(one.command for one in detect(folder)),
        ]
    )
    return tuple(command for command in found if usable(baseline.get(command)))


def results(run: Run, finished: VerificationFinished) -> list[Judged]:
    """Return the meaning of each command's result on a tree, compared with its result on the base."""
    return [
        judged(run.view.baseline.checks.get(done.command), done, flaky=finished.flaky)
        for done in finished.runs
    ]


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
