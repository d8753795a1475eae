"""revise: which task owns an issue, which tasks are reopened, and when further attempts are pointless."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.run.evidence.objections import changes_of
from orchestrator.run.record import Run
from orchestrator.run.review.criteria import contradicted, judge, unmet
from orchestrator.run.review.findings import (
    Settled,
    disputes_of,
    final_known,
    in_folder,
    left_aside,
    settle,
)
from orchestrator.run.review.ownership import changed_by_tasks, of_nobody, of_the_user
from orchestrator.run.review.tokens import tokens_of
from prompts.marking import line
from state.journal.events import Event, ReviewRecorded, TaskReopened, TaskStuck
from state.journal.events.tasks import TaskView
from state.records.objections import Objection
from state.records.reviews import (
    Dispute,
    Finding,
    IssueType,
    ReviewIssue,
    ReviewReport,
    TestRuling,
)
from state.words import alike

FINAL = "the final review"


async def after_review(
    run: Run, task: TaskView, report: ReviewReport, folder: Path, known: tuple[Finding, ...]
) -> list[Event]:
    """Return the consequences of the review of one task in `folder`. Its issues are always that task's.

    `known` are the findings that its prompt listed, and settled ones.

    Issues about the user's uncommitted work are suggestions instead.
    """
    task_id = task.task.id
    changes = changes_of(run.view, task)
    rulings = rulings_on(changes, report.tests)
    refused = _refused_changes(task_id, changes, rulings)
    refused += await contradicted(run, task_id, task.claim.committed_tree, folder)
    own = replace(report, issues=(*in_folder(report.issues, task.place.worktree, task_id), *refused))
    settled = _settled(run, own, known, disputes_of(run.view, task), task_id)
    if run.view.checkout.users_work:
        settled = left_aside(settled, await of_the_user(run, task, settled.blocking))
    recorded = ReviewRecorded(
        task_id=task_id,
        attempt=task.attempt,
        commit=task.claim.commit,
        passed=not settled.blocking,
        issues=tuple(one.issue for one in settled.blocking),
        suggestions=(*report.suggestions, *settled.suggestions, *await _credentials_in(task)),
        findings=settled.findings,
        tests=rulings,
    )
    judged = await judge(
        run,
        report.criteria,
        passed=recorded.passed,
        task_id=task_id,
        commit=task.claim.commit,
        tree=task.claim.committed_tree,
        folder=folder,
    )
    if recorded.passed:
        return [recorded, *judged]
    by = f"the review of attempt {task.attempt}"
    return [recorded, *judged, send_back(run, task, settled.blocking, by=by)]


def _settled(
    run: Run, report: ReviewReport, known: tuple[Finding, ...], disputes: list[Dispute], task_id: str = ""
) -> Settled:
    """Return the findings after a report. If none blocks, the criteria that it calls not met do."""
    number = (run.task(task_id).review.rounds if task_id else len(run.view.whole.reviews)) + 1
    settled = settle(known, disputes, report, number)
    if settled.blocking or not (more := unmet(run.view, report.criteria, task_id)):
        return settled
    return settle(known, disputes, replace(report, issues=(*report.issues, *more)), number)


async def _credentials_in(task: TaskView) -> list[str]:
    """Return a remark for people on each token that sq did not know, and on what it did not read."""
    found = await tokens_of(Path(task.place.worktree), task.place.base_commit, task.claim.commit)
    places = [f"{place} looks like a real credential: if it is one, revoke it" for place in found.places]
    return [*places, *(f"sq did not look through {one} for credentials" for one in found.unread)]


def rulings_on(changes: Sequence[Objection], said: Sequence[TestRuling]) -> tuple[TestRuling, ...]:
    """Return a ruling for each changed test, by its name as prompts print it. Of several a refusal counts.

    Without the reviewer's ruling the test is let through and marked. The run does not end with code 0 then.
    """
    known = {ruling.test: ruling for ruling in sorted(said, key=lambda one: not one.accepted)}
    names = dict.fromkeys(change.subject for change in changes)
    return tuple(
        replace(known[line(name)], test=name)
        if line(name) in known
        else TestRuling(test=name, accepted=True, ruled=False)
        for name in names
    )


def _refused_changes(
    task_id: str, changes: Sequence[Objection], rulings: Sequence[TestRuling]
) -> list[ReviewIssue]:
    """Return the issues for a Worker whose changes to tests the reviewer does not accept."""
    refused = {ruling.test: ruling.why for ruling in rulings if not ruling.accepted}
    return [
        ReviewIssue(
            task_id=task_id,
            file=change.place or "the tests",
            type=IssueType.SPEC_MISMATCH,
            description=(f"{change.words}, and the spec does not ask for it: {refused[change.subject]}"),
            suggestion="Put the test back as it was before the task, and make the code pass it",
        )
        for change in changes
        if change.subject in refused
    ]


async def after_final_review(run: Run, report: ReviewReport, folder: Path) -> list[Event]:
    """Return the consequences of the final review in `folder`: exactly the tasks with issues are reopened.

    The number of rounds that the effort allows is checked when nothing is left to build.
    """
    changed = await changed_by_tasks(run)
    head, number = run.view.whole.commit, len(run.view.whole.reviews) + 1
    disputes = [dispute for task in run.view.tasks.values() for dispute in disputes_of(run.view, task)]
    changes = [(id_, one) for id_, task in run.view.tasks.items() for one in changes_of(run.view, task)]
    rulings = rulings_on([change for _, change in changes], report.tests)
    refused = [issue for id_, change in changes for issue in _refused_changes(id_, [change], rulings)]
    broken = await contradicted(run, "", run.view.whole.tree, folder)
    read = replace(report, issues=(*in_folder(report.issues, str(folder)), *refused, *broken))
    settled = _settled(run, read, final_known(run.view), disputes)
    paths = {path for own in changed.values() for path in own}
    settled = left_aside(settled, await of_nobody(run, settled.blocking, paths))
    assigned = assign(settled.blocking, changed)
    recorded = ReviewRecorded(
        task_id="",
        attempt=number,
        commit=head,
        passed=not settled.blocking,
        issues=tuple(one.issue for one in assigned),
        suggestions=(*report.suggestions, *settled.suggestions),
        findings=settled.findings,
        tests=rulings,
    )
    judged = await judge(
        run,
        report.criteria,
        passed=recorded.passed,
        task_id="",
        commit=head,
        tree=run.view.whole.tree,
        folder=folder,
    )
    if recorded.passed or number >= run.effort.final_review_rounds:
        return [recorded, *judged]
    by_task = alike(assigned, lambda one: one.issue.task_id)
    back = [
        send_back(run, run.task(own[0].issue.task_id), tuple(own), by=FINAL, base=head, start=head)
        for own in by_task
    ]
    return [recorded, *judged, *back]


def assign(findings: Sequence[Finding], changed: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return the final review's findings with the tasks they belong to.

    A finding belongs to the task that it names, else to those that changed the file, else to all, if the file
    is a missing one or none was named. `changed`: the paths that each task changed.
    """
    assigned = []
    for one in findings:
        issue = one.issue
        file = _meant(issue.file, {path for paths in changed.values() for path in paths})
        owners = [issue.task_id] if issue.task_id in changed else []
        owners = owners or [id_ for id_, paths in changed.items() if file in paths] or list(changed)
        assigned += [replace(one, issue=replace(issue, task_id=owner)) for owner in owners]
    return assigned


def _meant(file: str, known: Iterable[str]) -> str:
    """Return the changed path that a reviewer names: relative, or absolute in the worktree that was read."""
    path = Path(file)
    if not path.is_absolute():
        return path.as_posix()
    ends = [each for each in known if path.as_posix().endswith(f"/{each}")]
    return max(ends, key=len, default=file)


def send_back(
    run: Run,
    task: TaskView,
    findings: tuple[Finding, ...],
    *,
    by: str,
    base: str = "",
    start: str = "",
) -> TaskReopened | TaskStuck:
    """Send a task back with these findings, or end it as stuck if its revisions are used up.

    `base` and `start`: as in `TaskReopened`, if it is built on newer work.
    """
    issues = tuple(one.issue for one in findings)
    limit = run.effort.revisions_per_task
    if task.review.revisions >= limit:
        last = "; ".join(f"{issue.location}: {issue.description}" for issue in issues)
        reason = f"{limit} revisions are used up and {by} still finds: {last}"
        return TaskStuck(task_id=task.task.id, reason=reason)
    return TaskReopened(task_id=task.task.id, issues=issues, findings=findings, by=by, base=base, start=start)
