"""The work of a run as the checks see it: a `Change`."""

from orchestrator.checks.change import Baseline, Change
from orchestrator.run.record import Trial
from state.journal.events.tasks import Stage
from state.journal.view import RunView
from state.records.plan import TestThatChanges


def baseline_of(run: Trial) -> Baseline:
    """Return what is known of the commands at the base of a run."""
    known, settings = run.view.baseline, run.settings
    return Baseline(tree=known.tree, checks=known.checks, verify=settings.verify, also=settings.verify_also)


def change_of(run: Trial, *, task_id: str, base: str, tree: str) -> Change:
    """Return the work of a task, or with "" of the whole, that began with the tree `base`."""
    view = run.view
    before = view.evidence.verifications.get(base)
    return Change(
        repository=run.repository,
        base=base,
        tree=tree,
        own="" if task_id else view.whole.merged_tree,
        spec=view.spec_words,
        own_words=_words_of(view, task_id),
        criteria=view.plan.criteria,
        announced=_announced(run),
        readings=view.plan.readings,
        is_part=bool(task_id) and len(view.tasks) != 1,
        is_whole=not task_id or _is_the_last(run, task_id),
        is_final=not task_id,
        was_asked=not task_id and bool(view.tasks),
        baseline=baseline_of(run),
        earlier={done.command: done for done in before.runs} if before else {},
    )


def _is_the_last(run: Trial, task_id: str) -> bool:
    """Whether a task is built on the merged work of all the others."""
    view = run.view
    others = [one for id_, one in view.tasks.items() if id_ != task_id]
    base = view.tasks[task_id].place.base_commit
    on_it = not others or not run.settings.worktrees or base == view.whole.commit
    return on_it and all(one.stage is Stage.MERGED for one in others)


def _words_of(view: RunView, task_id: str) -> str:
    """Return the words about a task alone."""
    if task_id not in view.tasks:
        return ""
    task = view.tasks[task_id].task
    criteria = [one.text for one in view.plan.criteria if task_id in one.task_ids]
    return "\n".join([task.title, task.description, *task.acceptance_criteria, *criteria])


def _announced(run: Trial) -> tuple[TestThatChanges, ...]:
    """Return the announcements of a reviewed plan."""
    return run.view.plan.tests_that_change if run.view.plan.reviewed else ()
