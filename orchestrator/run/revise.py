"""revise: whose issue it is, which tasks are reopened, and when there is no point in going on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.git.workspace import changed_paths
from orchestrator.run.record import Run
from state.events import Event, ReviewRecorded, TaskReopened, TaskStuck
from state.records import ReviewIssue, ReviewReport
from state.view import Stage, TaskView

FINAL = "the final review"


def after_review(run: Run, task: TaskView, report: ReviewReport) -> list[Event]:
    """What follows from the review of one task: its issues are that task's, whatever the reviewer wrote."""
    task_id = task.task.id
    issues = tuple(replace(issue, task_id=task_id) for issue in report.issues)
    recorded = ReviewRecorded(
        task_id=task_id,
        attempt=task.attempt,
        commit=task.commit,
        passed=report.passed,
        issues=issues,
        suggestions=report.suggestions,
    )
    if report.passed:
        return [recorded]
    return [recorded, _back(run, task, issues, by=f"the review of attempt {task.attempt}")]


async def after_final_review(run: Run, report: ReviewReport) -> list[Event]:
    """What follows from the final review: exactly the tasks with issues are reopened.

    Which round is the last one the effort allows is looked at when nothing is left to build.
    """
    changed = {
        id_: await changed_paths(run.repository, view.merged_onto or view.base_commit, view.merged_commit)
        for id_, view in run.view.tasks.items()
        if view.stage is Stage.MERGED
    }
    issues = assign(report.issues, changed)
    number = len(run.view.final_reviews) + 1
    recorded = ReviewRecorded(
        task_id="",
        attempt=number,
        commit=run.view.head_commit,
        passed=report.passed,
        issues=tuple(issues),
        suggestions=report.suggestions,
    )
    if report.passed or number >= run.effort.final_review_rounds:
        return [recorded]
    by_task: dict[str, list[ReviewIssue]] = {}
    for issue in issues:
        by_task.setdefault(issue.task_id, []).append(issue)
    return [
        recorded,
        *(
            _back(run, run.task(id_), tuple(own), by=FINAL, base=run.view.head_commit)
            for id_, own in by_task.items()
        ),
    ]


def assign(issues: Sequence[ReviewIssue], changed: Mapping[str, Sequence[str]]) -> list[ReviewIssue]:
    """The final review's issues with the tasks they belong to.

    To the task they name, else to those that changed the file, else to all. `changed`: the paths that
    each task changed.
    """
    assigned = []
    for issue in issues:
        file = _meant(issue.file, {path for paths in changed.values() for path in paths})
        owners = [issue.task_id] if issue.task_id in changed else []
        owners = owners or [id_ for id_, paths in changed.items() if file in paths] or list(changed)
        assigned += [replace(issue, task_id=owner) for owner in owners]
    return assigned


def _meant(file: str, known: Iterable[str]) -> str:
    """The changed path that a reviewer names: relative, or absolute in the worktree it was read in."""
    path = Path(file)
    if not path.is_absolute():
        return path.as_posix()
    ends = [each for each in known if path.as_posix().endswith(f"/{each}")]
    return max(ends, key=len, default=file)


def _back(
    run: Run, task: TaskView, issues: tuple[ReviewIssue, ...], *, by: str, base: str = ""
) -> TaskReopened | TaskStuck:
    limit = run.effort.revisions_per_task
    if task.revisions >= limit:
        last = "; ".join(f"{issue.location}: {issue.description}" for issue in issues)
        reason = f"{limit} revisions are used up and the review still finds: {last}"
        return TaskStuck(task_id=task.task.id, reason=reason)
    return TaskReopened(task_id=task.task.id, issues=issues, by=by, base=base, start=base)
