"""Where the work of a run is, its checks without an answer, and how its tasks are tried again."""

from pathlib import Path

from orchestrator.git.changes import holds_work
from state.hidden import visible
from state.journal.events.tasks import UNMERGED_ENDS, Stage, TaskView
from state.journal.view import RunView
from state.verdicts import Source
from state.words import listed, not_run_words


def where_lines(view: RunView) -> list[str]:
    """Lines that name the place of a run's work."""
    if not view.started:
        return []
    where = []
    if view.checkout.delivered:
        where.append(
            f"where the work is: branch {view.checkout.delivered.branch} of {view.started.repository}"
        )
    elif view.checkout.left:
        where.append(f"where the work is: the checkout {view.started.repository}, uncommitted")
    elif view.checkout.kept and view.whole.tree:
        where.append(f"where the work is: branch {view.checkout.kept.branch} of {view.started.repository}")
    unfinished = [
        f"unfinished work of {id_} is in {task.place.worktree}"
        for id_, task in view.tasks.items()
        if task.place.worktree and task.stage is not Stage.MERGED and _has_work(view, task)
    ]
    return where + unfinished


def _has_work(view: RunView, task: TaskView) -> bool:
    """Whether a task's folder has work of it. In the checkout that is work of the last task begun."""
    later = any(
        one.place.worktree == task.place.worktree and one.place.begun > task.place.begun
        for one in view.tasks.values()
    )
    return not later and holds_work(Path(task.place.worktree), task.place.base_commit)


def retry_command(view: RunView) -> str:
    """The command that retries the tasks that ended unmerged for good, or "" if there are none."""
    if not view.started:
        return ""
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS and not task.end.at_limit]
    retries = " ".join(f"--retry {id_}" for id_ in ended)
    return f"sq resume {view.started.run_id} {retries}" if ended else ""


def unchecked_lines(view: RunView) -> list[str]:
    """The checks of each task's newest claim, and of the merged work, that had no answer or prove nothing."""
    lines = []
    for id_, task in view.tasks.items():
        newest = task.open.checks[-1].results if task.open.checks else ()
        open_ = [one.consideration_id for one in newest if one.source is Source.NOT_CHECKED]
        if open_:
            lines.append(f"    {id_}: power steering: {len(open_)} of {len(newest)} checks: {listed(open_)}")
    for task_id, taken in {task_id: taken for (task_id, _), taken in view.evidence.proofs.items()}.items():
        of = task_id or "the merged work"
        lines += [f"    {of}: {visible(one)}" for one in taken.untold]
        if taken.unproven:
            lines.append(
                f"    {of}: new tests that pass without the work too: {visible(listed(taken.unproven))}"
            )
    if view.baseline.not_run:
        lines.append(f"    {visible(not_run_words(view.baseline.not_run))}")
    return ["not checked:", *lines] if lines else []
