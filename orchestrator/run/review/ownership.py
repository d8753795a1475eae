"""The owner of a finding: content of the checkout from before the run is not the run's work.

Without worktrees a reviewer sees the user's uncommitted work beside the run's. A finding on it is shown as a
suggestion, and no task is sent back for it.
"""

from collections.abc import Collection, Iterable

from orchestrator.git.command import git
from orchestrator.git.trees import changed_paths
from orchestrator.git.users.backup import look_at, read_backup
from orchestrator.git.users.files import users_line_numbers
from orchestrator.run.record import Run
from state.journal.events.tasks import Stage, TaskView
from state.records.reviews import Finding, ReviewIssue

USERS = "it is the user's uncommitted work, no part of this run"
UNCHANGED = "no task of this run has changed this file"


def users_paths(run: Run) -> tuple[str, ...]:
    """Return the paths of the user's uncommitted work, which is beside the work under review."""
    return run.view.checkout.users_work.paths if run.view.checkout.users_work else ()


async def changed_by_tasks(run: Run) -> dict[str, list[str]]:
    """Return the paths that each merged task has changed."""
    return {
        id_: await changed_paths(
            run.repository, view.merged_onto or view.place.base_commit, view.merged_commit
        )
        for id_, view in run.view.tasks.items()
        if view.stage is Stage.MERGED
    }


async def own_paths(run: Run) -> list[str] | None:
    """Return the paths of the run's own changes, the subject of the final review, or None for all changes.

    Without worktrees the checkout may change beside the run.
    """
    if run.settings.worktrees:
        return None
    return sorted({path for paths in (await changed_by_tasks(run)).values() for path in paths})


async def of_the_user(run: Run, task: TaskView, findings: Iterable[Finding]) -> dict[str, str]:
    """Return the findings of a task's review on the user's uncommitted work, by id, and why."""
    if run.view.checkout.users_work is None:
        return {}
    changed = await changed_paths(run.repository, task.place.base_commit, task.claim.commit)
    return {one.id: USERS for one in findings if await _is_users(run, one.issue, changed)}


async def of_nobody(run: Run, findings: Iterable[Finding], changed: Collection[str]) -> dict[str, str]:
    """Return which findings of the final review no task has to fix, by id, and why.

    They are about a file that existed before the run and that no task has changed. With worktrees they count
    only if the reviewer names no task, because a named task may have failed to change the file.
    """
    listed = list(findings)
    there = await _there_before(run, [one.issue.file for one in listed])
    found = {}
    for one in listed:
        issue = one.issue
        named = run.settings.worktrees and issue.task_id in run.view.tasks
        if issue.file in there and issue.file not in changed and not named:
            found[one.id] = UNCHANGED
        if run.view.checkout.users_work and await _is_users(run, issue, changed):
            found[one.id] = USERS
    return found


async def _is_users(run: Run, issue: ReviewIssue, changed: Collection[str]) -> bool:
    kept = run.view.checkout.users_work
    if kept is None or issue.file not in kept.paths:
        return False
    if issue.file not in changed:
        return True
    if not issue.line:
        return False
    backup = await read_backup(run.repository, kept.commit)
    now = (await look_at(run.repository, [issue.file]))[issue.file].content
    return now is not None and issue.line in await users_line_numbers(run.repository, backup, issue.file, now)


async def _there_before(run: Run, files: list[str]) -> set[str]:
    """Return those of these files that the repository (without worktrees the checkout) had before the run."""
    base = run.view.checkout.own_base or run.started.base_commit
    if not files:
        return set()
    listed = await git(run.repository, "ls-tree", "-r", "--name-only", "-z", base)
    return set(listed.split("\0")) & set(files)
