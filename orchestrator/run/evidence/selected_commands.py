"""Which commands vouch for a tree, and the meaning of their results."""

from pathlib import Path

from orchestrator.project.detection.commands import detect
from orchestrator.run.evidence.verdict import Judged, judged, usable
from orchestrator.run.record import Run
from state.journal.events import VerificationFinished


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
