"""The means of a run as the checks see them: a `Bench`."""

from functools import partial
from pathlib import Path

from orchestrator.checks import objecting
from orchestrator.checks.bench import Bench
from orchestrator.run.places.set_up import have_outputs, scratch_worktree
from orchestrator.run.record import Trial
from state.settings.records import Effort


def needed_by(effort: Effort) -> frozenset[str]:
    """Return the names of the checks that are asked at this effort whatever the time."""
    return objecting.NEEDED_FROM_MEDIUM if effort.block_unasked_work else objecting.NEEDED


def bench_of(run: Trial) -> Bench:
    """Return the places and commands of a run, with what it knows already."""
    settings = run.settings

    def look_again(folder: Path) -> None:
        run.scratch.shown.pop(folder, None)

    return Bench(
        commands=run.commands,
        scratch=partial(scratch_worktree, run),
        have_outputs=partial(have_outputs, run),
        look_again=look_again,
        has_places=settings.worktrees,
        within_s=run.limits.verify_total_s,
        needed=needed_by(run.settings.effort),
        answered=run.answered,
        settings=f"{settings.sandbox.mode} {settings.sandbox.network} {settings.worktree_setup}",
        included=settings.worktree_include,
        state=run.folder.parents[1],
    )
