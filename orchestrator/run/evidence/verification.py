"""The verification of a run: the project's commands on a tree, asked of the checks, and recorded."""

from collections.abc import Sequence
from pathlib import Path

from orchestrator.checks.results.commands import has_lost, results_of, runs_again
from orchestrator.checks.results.environment import fingerprint_of
from orchestrator.checks.results.verdict import has_failed
from orchestrator.checks.results.vouching import commands_for
from orchestrator.run.evidence.change import baseline_of, change_of
from orchestrator.run.evidence.summary import results
from orchestrator.run.purpose import run_for
from orchestrator.run.record import Trial
from state.journal.events import VerificationFinished, VerificationStarted
from state.journal.events.tasks import Stage, TaskView


def commands_on(run: Trial, task: TaskView, tree: str = "") -> tuple[str, ...]:
    """Return the commands that sq runs when the task is claimed to be complete. `tree` is its worktree's."""
    return commands_for(baseline_of(run), Path(task.place.worktree), tree)


async def verify(
    run: Trial, *, task_id: str, folder: Path, tree: str, mends: bool = True
) -> VerificationFinished:
    """Return the result for this tree: this process's earlier one in the same environment, or a new one.

    Args:
        run: the run.
        task_id: the task of this tree, or "" for the merged whole.
        folder: the folder in which commands run without worktrees: the checkout.
        tree: the tree to verify.
        mends: a place that lacks something of its set-up is made anew, and used once more.
    """
    run_for("verification", task_id)
    task, bench = run.view.tasks.get(task_id), run.bench
    base = task.place.base_commit if task else run.view.baseline.tree
    change = change_of(run, task_id=task_id, base=base, tree=tree)
    async with bench.place(folder, tree) as scratch:
        commands = commands_for(change.baseline, scratch.folder, tree)
        environment = await fingerprint_of(bench, run.repository, scratch, commands)
        known = _known(run, tree, environment)
        if known and tuple(done.command for done in known.runs) == commands:
            return known
        run.record(VerificationStarted(task_id=task_id, tree=tree, commands=commands))
        # The claim that follows a refusal is asked everything: a test may fail alone and nowhere else.
        is_claim = task is not None and task.stage is Stage.BUILDING and not _was_cut(run, task_id, commands)
        runs = await results_of(change, bench, scratch, commands, until_one_fails=is_claim)
        lost = mends and await has_lost(bench, scratch, runs)
        again = (
            [] if lost else [one for done in runs for one in await runs_again(change, bench, scratch, done)]
        )
    if lost:
        return await verify(run, task_id=task_id, folder=folder, tree=tree, mends=False)
    finished = VerificationFinished(
        task_id=task_id,
        tree=tree,
        runs=tuple(runs),
        environment=environment,
        flaky=tuple(one.test for one in again if one.is_flaky),
        reruns=tuple(again),
    )
    run.record(finished)
    return finished


def _was_cut(run: Trial, task_id: str, commands: Sequence[str]) -> bool:
    """Whether the newest verification of a task ended before its last command."""
    earlier = (one for one in run.view.evidence.verifications.values() if one.task_id == task_id)
    newest = next(reversed([*earlier]), None)
    return newest is not None and len(newest.runs) < len(commands)


def _known(run: Trial, tree: str, environment: str) -> VerificationFinished | None:
    """Return the record of a tree in this environment if every command answered.

    That of an earlier process holds if it does not speak against the work: its cause may be mended by now.
    """
    known = run.view.evidence.verifications.get(tree)
    if known is None or known.environment != environment or not all(one.answered for one in known.runs):
        return None
    is_earlier = run.view.evidence.verified_at[tree] < run.view.process.resumed_seq
    return None if is_earlier and has_failed(results(run, known)) else known
