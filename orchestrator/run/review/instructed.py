"""Changes of the files that instruct agents are findings until a reviewer rules on them."""

from orchestrator.git.trees import changed_paths
from orchestrator.project.agent_files import is_instruction
from orchestrator.run.record import Run
from orchestrator.run.review.findings import as_findings, known_of, with_new
from state.journal.events.tasks import TaskView
from state.records.reviews import Finding, IssueType, ReviewIssue


async def with_instructions(run: Run, task: TaskView) -> tuple[Finding, ...]:
    """Return the findings on a task, with those on instruction files that it changed since its last review.

    Files that instruction files of the base import count too.
    """
    found = run.view.context.instructions
    read = found.files if found else ()
    base, commit = task.place.base_commit, task.claim.commit
    since = task.review.commit if task.review.rounds else base
    new = set(await changed_paths(run.repository, since, commit))
    issues = [
        ReviewIssue(
            task_id=task.task.id,
            file=path,
            type=IssueType.SPEC_MISMATCH,
            description="the task changes a file that instructs agents",
            suggestion="Put it back as it was, unless the spec asks for exactly this change",
        )
        for path in await changed_paths(run.repository, base, commit)
        if path in new and (path in read or is_instruction(path))
    ]
    return with_new(known_of(task), as_findings(*issues), task.review.rounds + 1)
