"""The size of the work, stored when it is merged, so that it is known when the commits are gone."""

import structlog

from orchestrator.git.changes import sizes
from orchestrator.run.record import Run
from orchestrator.run.review.ownership import own_paths
from state.errors import GitError
from state.journal.events import WorkMeasured

log = structlog.get_logger(__name__)

_FILES_KEPT = 300


async def measured(
    run: Run, task_id: str, base: str, commit: str, paths: list[str] | None = None
) -> list[WorkMeasured]:
    """Return the size of a change, or nothing if git cannot say it. `paths`: only of these.

    A size is for people only, so work is not held up by it.
    """
    try:
        files = await sizes(run.repository, base, commit)
    except GitError as error:
        log.warning("work.unmeasured", task_id=task_id, error=str(error))
        return []
    own = [one for one in files if paths is None or one.path in paths]
    return [
        WorkMeasured(
            task_id=task_id,
            base=base,
            commit=commit,
            files=tuple(own[:_FILES_KEPT]),
            added=sum(one.added or 0 for one in own),
            removed=sum(one.removed or 0 for one in own),
            left_out=max(0, len(own) - _FILES_KEPT),
        )
    ]


async def measure_whole(run: Run) -> None:
    """Record the size of everything merged, before commits of the user are merged into it."""
    view = run.view
    before = view.whole.measured.get("", [])
    if view.whole.tree != view.whole.merged_tree or (before and before[-1].commit == view.whole.commit):
        return
    base = view.checkout.own_base or run.started.base_commit
    run.record(*await measured(run, "", base, view.whole.commit, await own_paths(run)))
