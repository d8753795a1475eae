"""revise: whose issue it is, which tasks are reopened, and when there is no point in going on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.run.evidence.worth import changes_of
from orchestrator.run.record import Run
from orchestrator.run.review.findings import disputes_of, final_known, in_folder, known_of, left_aside, settle
from orchestrator.run.review.ownership import changed_by_tasks, of_nobody, of_the_user
from state.journal.events import Event, ReviewRecorded, TaskReopened, TaskStuck
from state.journal.view import TaskView
from state.records import IssueType, ReviewIssue, ReviewReport, TestChange, TestRuling

FINAL = "the final review"


async def after_review(run: Run, task: TaskView, report: ReviewReport) -> list[Event]:
    """What follows from the review of one task: its issues are that task's, whatever the reviewer wrote.

    But for those about the user's uncommitted work, which are suggestions.
    """
    task_id = task.task.id
    changes = changes_of(run.view, task)
    rulings = rulings_on(changes, report.tests)
    refused = _refused_changes(task_id, changes, rulings)
    own = replace(report, issues=(*in_folder(report.issues, task.place.worktree, task_id), *refused))
    settled = settle(known_of(task), disputes_of(run.view, task), own, task.review.rounds + 1)
    settled = left_aside(settled, await of_the_user(run, task, settled.blocking))
    recorded = ReviewRecorded(
        task_id=task_id,
        attempt=task.attempt,
        commit=task.claim.commit,
        passed=not settled.blocking,
        issues=settled.blocking,
        suggestions=(*report.suggestions, *settled.suggestions),
        findings=settled.findings,
        tests=rulings,
    )
    if recorded.passed:
        return [recorded]
    by = f"the review of attempt {task.attempt}"
    return [recorded, send_back(run, task, settled.blocking, by=by)]


def rulings_on(changes: Sequence[TestChange], said: Sequence[TestRuling]) -> tuple[TestRuling, ...]:
    """A ruling for each changed test; one on which the reviewer is silent is let through and marked as that.

    It costs the run its code 0 either way.
    """
    known = {ruling.test: ruling for ruling in said}
    return tuple(
        known.get(change.name) or TestRuling(test=change.name, accepted=True, ruled=False)
        for change in changes
    )


def _refused_changes(
    task_id: str, changes: Sequence[TestChange], rulings: Sequence[TestRuling]
) -> list[ReviewIssue]:
    """What a Worker has to put right where the reviewer does not accept what it did to a test."""
    refused = {ruling.test: ruling.why for ruling in rulings if not ruling.accepted}
    return [
        ReviewIssue(
            task_id=task_id,
            file=change.path or "the tests",
            type=IssueType.SPEC_MISMATCH,
            description=(
                f"the test {change.name} {change.kind}, and the spec does not ask for it: "
                f"{refused[change.name]}"
            ),
            suggestion="Put the test back as it was before the task, and make the code pass it",
        )
        for change in changes
        if change.name in refused
    ]


async def after_final_review(run: Run, report: ReviewReport, folder: Path) -> list[Event]:
    """What follows from the final review, done in `folder`: exactly the tasks with issues are reopened.

    Which round is the last one the effort allows is looked at when nothing is left to build.
    """
    changed = await changed_by_tasks(run)
    head = run.view.whole.commit
    number = len(run.view.whole.reviews) + 1
    disputes = [dispute for task in run.view.tasks.values() for dispute in disputes_of(run.view, task)]
    read = replace(report, issues=tuple(in_folder(report.issues, str(folder))))
    settled = settle(final_known(run.view), disputes, read, number)
    paths = {path for own in changed.values() for path in own}
    settled = left_aside(settled, await of_nobody(run, settled.blocking, paths))
    issues = assign(settled.blocking, changed)
    recorded = ReviewRecorded(
        task_id="",
        attempt=number,
        commit=head,
        passed=not settled.blocking,
        issues=tuple(issues),
        suggestions=(*report.suggestions, *settled.suggestions),
        findings=settled.findings,
    )
    if recorded.passed or number >= run.effort.final_review_rounds:
        return [recorded]
    by_task: dict[str, list[ReviewIssue]] = {}
    for issue in issues:
        by_task.setdefault(issue.task_id, []).append(issue)
    return [
        recorded,
        *(
            send_back(run, run.task(id_), tuple(own), by=FINAL, base=head, start=head)
            for id_, own in by_task.items()
        ),
    ]


def assign(issues: Sequence[ReviewIssue], changed: Mapping[str, Sequence[str]]) -> list[ReviewIssue]:
    """The final review's issues with the tasks they belong to.

    To the task they name, else to those that changed the file, else to all: the file is one that is missing,
    or none was named. `changed`: the paths that each task changed.
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


def send_back(
    run: Run,
    task: TaskView,
    issues: tuple[ReviewIssue, ...],
    *,
    by: str,
    base: str = "",
    start: str = "",
) -> TaskReopened | TaskStuck:
    """A task goes back with these issues, or is stuck where its revisions are used up.

    `base` and `start`: as in `TaskReopened`, where it is built on newer work.
    """
    limit = run.effort.revisions_per_task
    if task.review.revisions >= limit:
        last = "; ".join(f"{issue.location}: {issue.description}" for issue in issues)
        reason = f"{limit} revisions are used up and {by} still finds: {last}"
        return TaskStuck(task_id=task.task.id, reason=reason)
    return TaskReopened(task_id=task.task.id, issues=issues, by=by, base=base, start=start)
