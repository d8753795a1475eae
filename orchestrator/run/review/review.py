"""review: a read-only session looks at the verified commit, and later, once, at the whole.

After an unusable report the reviewer is asked once more in the same session. If that report is unusable too,
the parser's synthetic issue is recorded and nothing passes.
"""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path

import prompts
from agents.roles.reviewer import get_review_prompt
from agents.roles.worker import signal_of
from orchestrator.checks.objecting import BASE_TESTS, CODE_BEFORE, WITHOUT_WORK
from orchestrator.checks.of_files.facts import facts_between
from orchestrator.git.command import git_succeeds
from orchestrator.git.repository import tracked_files
from orchestrator.git.trees import changed_paths, diff_text, resolution_text, shown_once
from orchestrator.project.agent_files import is_instruction
from orchestrator.run.asking.briefing import conventions, decisions, not_run, others, suggestions
from orchestrator.run.evidence.objections import changes_of, ruling_words
from orchestrator.run.evidence.summary import results, with_output
from orchestrator.run.record import Run
from orchestrator.run.review.checked import passed_before
from orchestrator.run.review.criteria import asked_of, question
from orchestrator.run.review.findings import (
    as_findings,
    disputes_of,
    final_known,
    known_of,
    undecided,
    with_disputes,
    with_new,
)
from orchestrator.run.review.ownership import own_paths, users_paths
from orchestrator.run.review.report import DIFF_LIMIT, ReviewSubject, report_on
from orchestrator.run.review.revise import after_final_review, after_review
from orchestrator.run.review.tokens import tokens_of
from prompts.marking import line
from state.journal.events import TaskUnverified
from state.journal.events.merges import MergeView
from state.journal.events.tasks import TaskView
from state.records.calls import TASK_COMPLETE
from state.records.objections import Objection, Weight
from state.records.reviews import Finding, IssueType, ReviewIssue
from state.settings.presets import RETRY_LIMITS
from state.words import facts_words, listed, sentences

_REFUSALS, _REFUSAL_SHOWN = 3, 600  # claims of the attempt, and characters of each refusal
_RESOLUTION_LIMIT = 10_000  # characters of one resolution's diff


async def review_task(run: Run, task_id: str) -> None:
    """Have a task's commit reviewed, exactly as verified, and record the consequences of the report."""
    task = run.task(task_id)
    if task.review.unusable - task.review.unusable_forgiven >= RETRY_LIMITS.unusable_reports:
        reason = f"the reviewer did not report usably, {RETRY_LIMITS.unusable_reports} times"
        run.record(TaskUnverified(task_id=task_id, reason=reason))
        return
    known = await _with_instructions(run, task)
    folder = await run.places.show_commit(task)
    shown = await run.places.snapshot(folder)
    subject = ReviewSubject(
        task_id=task_id,
        attempt=task.attempt,
        commit=task.claim.commit,
        folder=folder,
        unusable=task.review.unusable,
        findings=_undecided_of(run, task, known),
        tests=_names(changes_of(run.view, task)),
        depth=run.effort.review_depth,
        unlike=partial(_unlike_what_was_verified, run, task, folder, shown),
    )
    report = await report_on(run, subject, partial(_task_prompt, run, task, folder, known))
    if report:
        run.record(*await after_review(run, task, report, folder, known))


async def review_whole(run: Run) -> None:
    """Do the final review of everything merged. Its issues go to the tasks that have to fix them."""
    number = len(run.view.whole.reviews) + 1
    commit = run.view.whole.commit
    folder = await run.integration.show(commit)
    subject = ReviewSubject(
        task_id="",
        attempt=number,
        commit=commit,
        folder=folder,
        unusable=len(run.view.whole.unusable),
        findings=_undecided_of_whole(run),
        tests=_names(one for task in run.view.tasks.values() for one in changes_of(run.view, task)),
        depth=run.effort.review_depth,
    )
    report = await report_on(run, subject, partial(_final_prompt, run, folder))
    if report:
        run.record(*await after_final_review(run, report, folder))


async def _unlike_what_was_verified(run: Run, task: TaskView, folder: Path, shown: str) -> str:
    """Return why a report is not about the verified commit. `shown` is the tree given to the reviewer."""
    if task.claim.committed_tree not in run.view.evidence.verifications:
        return f"commit {task.claim.commit[:12]} holds a tree that sq has not verified"
    if await run.places.snapshot(folder) != shown:
        return f"the workspace did not hold commit {task.claim.commit[:12]} any more when its review was over"
    return ""


async def _task_prompt(run: Run, task: TaskView, folder: Path, known: Iterable[Finding]) -> str:
    findings = _undecided_of(run, task, known)
    reviewed = task.review.commit if task.review.rounds else ""
    proofs = run.view.evidence.proofs.get((task.task.id, task.claim.committed_tree))
    needed = [one for one in (proofs.proofs if proofs else ()) if one.check == WITHOUT_WORK]
    needing = {one for found in needed for one in found.tests}
    objections = proofs.objections if proofs else ()
    before = passed_before(run.view) - {one.subject for one in objections if one.check == BASE_TESTS}
    whole = (task.place.base_commit, task.claim.commit)
    earlier = await _earlier(folder, findings, reviewed, whole)
    tokens = await tokens_of(folder, *whole)
    return prompts.render(
        "review_task",
        instructions=get_review_prompt(run.effort.review_depth),
        fix=task.is_in_merged_work,
        task=task.task,
        criteria=run.view.plan.criteria,
        spec=run.started.spec_text,
        others=[f"{one.id} ({one.title})" for one in others(run.view, task)],
        conventions=conventions(run.view),
        decisions=decisions(run.view),
        suggestions=suggestions(run.view, task),
        said=_said(run, task),
        verification=_seen(run, task.claim.committed_tree),
        not_run=not_run(run.view),
        facts=facts_words(await facts_between(run.repository, *whole)),
        proven=bool(proofs and proofs.proven),
        emptied=any(": " in name for one in needed for name in one.functions),
        small=[words for one in needed for words in one.small],
        unasked=[one.words for one in proofs.silent if one.check == WITHOUT_WORK]
        if proofs and needed
        else [],
        needing=listed(sorted(needing - before)),
        old=listed(sorted(needing & before)),
        refused=[one.for_people[:_REFUSAL_SHOWN] for one in task.open.refusals[-_REFUSALS:]],
        untold=[one.words for one in proofs.silent] if proofs else [],
        changed_tests=changes_of(run.view, task),
        announced=[one for one in objections if one.check == BASE_TESTS and one.because],
        doubts=sentences(one for one in objections if one.weight is Weight.ONCE and one.check != BASE_TESTS),
        unproven=[
            one.subject for one in objections if one.check == CODE_BEFORE and one.weight is Weight.NOTE
        ],
        earlier=earlier,
        asked=asked_of(run.view, task.task.id),
        on_criteria=question(run.view, task.task.id, task.claim.committed_tree),
        tokens=tokens.places,
        unread=tokens.unread,
        diff=shown_once(await diff_text(folder, *whole, limit=DIFF_LIMIT), earlier),
        users=users_paths(run),
    )


async def _final_prompt(run: Run, folder: Path) -> str:
    view = run.view
    findings = _undecided_of_whole(run)
    reviewed = view.whole.reviews[-1].commit if view.whole.reviews else ""
    whole = (view.checkout.own_base or run.started.base_commit, view.whole.commit)
    paths = await own_paths(run)
    earlier = await _earlier(folder, findings, reviewed, whole, paths)
    return prompts.render(
        "review_final",
        instructions=get_review_prompt(run.effort.review_depth),
        spec=run.started.spec_text,
        conventions=conventions(view),
        tasks=[task.task for task in view.tasks.values()],
        decisions=decisions(view),
        suggestions=suggestions(view),
        conflicts=[await _resolution(folder, merge) for merge in view.whole.resolved],
        united=view.whole.united,
        verification=_seen(run, view.whole.tree),
        not_run=not_run(view),
        facts=facts_words(await facts_between(run.repository, *whole)),
        let_through=[
            (id_, change, ruling_words(view, change.subject))
            for id_, task in view.tasks.items()
            for change in changes_of(view, task)
        ],
        earlier=earlier,
        on_criteria=question(view, "", view.whole.tree),
        diff=shown_once(await diff_text(folder, *whole, limit=DIFF_LIMIT, paths=paths), earlier),
        users=users_paths(run),
    )


def _undecided_of(run: Run, task: TaskView, known: Iterable[Finding]) -> list[Finding]:
    return undecided(with_disputes(known, disputes_of(run.view, task)))


def _undecided_of_whole(run: Run) -> list[Finding]:
    view = run.view
    disputes = [dispute for task in view.tasks.values() for dispute in disputes_of(view, task)]
    return undecided(with_disputes(final_known(view), disputes))


def _names(changes: Iterable[Objection]) -> list[str]:
    """Return the names of changed tests as prompts print them, each once."""
    return list(dict.fromkeys(line(change.subject) for change in changes))


def _said(run: Run, task: TaskView) -> str:
    """Return the words about the work and its tests in the newest claim of completion."""
    reports = [signal_of(run.view.calls[id_]) for id_ in task.open.calls]
    claims = [said for name, said in reports if name == TASK_COMPLETE]
    last = claims[-1] if claims else {}
    tests = f"Tests: {last['tests']}" if last.get("tests") else ""
    return "\n\n".join(filter(None, (last.get("summary"), tests, last.get("notes"))))


async def _resolution(folder: Path, merge: MergeView) -> dict[str, object]:
    """Return a resolved conflict for the final review."""
    assert merge.conflict  # noqa: S101  only resolved conflicts are listed
    assert merge.built  # noqa: S101  and merged work
    return {
        "task_id": merge.conflict.task_id,
        "paths": merge.paths,
        "summary": merge.built.summary,
        "noticed": merge.built.noticed,
        "diff": await resolution_text(folder, merge.built.commit, limit=_RESOLUTION_LIMIT),
    }


def _seen(run: Run, tree: str) -> str:
    """Return the results of sq's own commands on a tree, each with the end of its output."""
    verified = run.view.evidence.verifications.get(tree)
    return with_output(results(run, verified)) if verified else "sq has not verified this commit."


async def _earlier(
    folder: Path,
    findings: list[Finding],
    reviewed: str,
    whole: tuple[str, str],
    paths: list[str] | None = None,
) -> str:
    """Return the results of earlier rounds for this one, or "" in the first round.

    The changes since the last round are shown separately if its commit is between the two ends of the whole.
    """
    if not findings and not reviewed:
        return ""
    base, commit = whole
    changed, untouched = "", set[str]()
    if reviewed == commit:
        changed = "Nothing: it is the same commit."
    elif reviewed and await _follow(folder, base, reviewed, commit):
        changed = await diff_text(folder, reviewed, commit, limit=DIFF_LIMIT, paths=paths)
        now = await tracked_files(folder)
        same = {*now} - {*await changed_paths(folder, reviewed, commit)}
        untouched = {one.id for one in findings if one.issue.file in same}
    return prompts.render(
        "review_changes", findings=findings, reviewed=reviewed, changed=changed, untouched=untouched
    )


async def _follow(folder: Path, *commits: str) -> bool:
    """Whether each of these commits is based on the one before."""
    asked = [("merge-base", "--is-ancestor", *pair) for pair in pairwise(commits)]
    return all([await git_succeeds(folder, *arguments) for arguments in asked])


async def _with_instructions(run: Run, task: TaskView) -> tuple[Finding, ...]:
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
