"""The criteria of the spec in a review: asked about, judged on sq's own evidence, and judged again later.

The final review gives the verdicts. If a run has one task and its review stands for the final one, that
review does. The review of a task among others gives them on the criteria of this task alone. They stand until
the final review, and after the end for a run that had no time for one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import prompts
from orchestrator.checks.of_files.constraints import computed
from orchestrator.checks.of_files.facts import facts_between
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.record import Run
from orchestrator.run.review.checked import BEFORE, CheckedTree, checked, lacking_in_tests
from state.journal.events import CriterionJudged
from state.journal.events.tasks import Stage
from state.journal.phase import is_reviewed_once
from state.journal.view import RunView
from state.records.commands import TestState
from state.records.plan import ConstraintKind, Criterion, CriterionKind
from state.records.reviews import (
    CriterionClaim,
    CriterionVerdict,
    Evidence,
    EvidenceKind,
    IssueType,
    JudgedBy,
    Mark,
    ReviewIssue,
)
from state.words import listed

_NAMES_SHOWN = 40  # new tests in a prompt
_WORST_FIRST = (CriterionVerdict.NOT_MET, CriterionVerdict.NOT_CHECKED, CriterionVerdict.MET)


def asked_of(view: RunView, task_id: str) -> tuple[Criterion, ...]:
    """Return the criteria on which the review of a task, or with "" of the whole, has to give a verdict."""
    whole = not task_id or is_reviewed_once(view)
    own = (task_id,) if len(view.tasks) > 1 else ()  # a lone task has its second review
    return tuple(one for one in view.plan.criteria if whole or one.task_ids == own)


def question(view: RunView, task_id: str, tree: str) -> str:
    """Return the part of a review's prompt that asks about the criteria, or "" if it does not."""
    criteria = asked_of(view, task_id)
    if not criteria:
        return ""
    names, new, others = _names_of_tests(view, tree)
    verified = view.evidence.verifications.get(tree)
    commands = [done.command for done in verified.runs if done.passed] if verified else []
    return prompts.render(
        "review_criteria", criteria=criteria, commands=commands, names=names, new=new, old_tests=others
    )


def _names_of_tests(view: RunView, tree: str) -> tuple[list[str], int, int]:
    """Return names of new tests that passed on a tree, how many new ones there are, and how many others."""
    verified = view.evidence.verifications.get(tree)
    every = {
        name: None
        for done in (verified.runs if verified else ())
        for name, state in done.count.tests.items()
        if state is TestState.PASSED
    }
    before = {name for check in view.baseline.checks.values() for name in check.run.count.tests}
    new = [name for name in every if name not in before]
    return new[:_NAMES_SHOWN], len(new), len(every) - len(new)


def unmet(view: RunView, claims: Iterable[CriterionClaim], task_id: str) -> tuple[ReviewIssue, ...]:
    """Return an issue for each criterion that the reviewer calls not met.

    They block a review that passes beside such a verdict. Such a report contradicts itself, and the work
    goes back rather than being believed. `task_id` is the task under review. The issues of a final review go
    to the last task that covers the criterion.
    """
    said = _by_id(claims)
    return tuple(
        _issue(view, one, task_id, said[one.id].reason)
        for one in asked_of(view, task_id)
        if one.id in said and said[one.id].verdict is CriterionVerdict.NOT_MET
    )


def _issue(view: RunView, criterion: Criterion, task_id: str, why: str) -> ReviewIssue:
    test = "" if criterion.constraint else ", and add a test that shows it"
    return ReviewIssue(
        task_id=task_id or next((id_ for id_ in reversed(view.tasks) if id_ in criterion.task_ids), ""),
        file="the spec",
        type=IssueType.SPEC_MISMATCH,
        description=f"the criterion {criterion.id} is not met: {criterion.text} ({why})",
        suggestion=f"Meet the criterion{test}",
    )


async def judge(
    run: Run,
    claims: Iterable[CriterionClaim],
    *,
    task_id: str,
    commit: str,
    tree: str,
    folder: Path,
    passed: bool,
) -> list[CriterionJudged]:
    """Return the verdict on each criterion that a review was asked about.

    A missing one is `not checked`. If the work does not pass, missing ones are left out, because the next
    review is asked again.

    Args:
        claims: the reviewer's verdicts.
        task_id: the task under review, or "" in the final review.
        commit: the commit that the reviewer read.
        tree: its tree, on which the evidence is checked.
        folder: the folder in which the reviewer read it.
        passed: whether the work passes the review.
    """
    on = _on(run, tree, folder)
    said = _by_id(claims)
    facts = await _computed(run, tree, folder)
    found = []
    for one in asked_of(run.view, task_id):
        if one.id not in said and not passed:
            continue
        claim = said.get(one.id, CriterionClaim(id=one.id, verdict=CriterionVerdict.NOT_CHECKED))
        verdict, fact = claim.verdict, facts.get(one.id)
        if fact and fact.holds is not None and verdict is not CriterionVerdict.NOT_MET:
            verdict = CriterionVerdict.MET if fact.holds else CriterionVerdict.NOT_MET
        found.append(
            CriterionJudged(
                criterion_id=one.id,
                verdict=verdict,
                by=JudgedBy.REVIEWER if verdict is claim.verdict else JudgedBy.RULE,
                commit=commit,
                tree=tree,
                task_id=task_id,
                claim=claim.reason,
                evidence=(*((fact,) if fact else ()), *await all_checked(on, claim.evidence, one)),
            )
        )
    return found


async def _computed(run: Run, tree: str, folder: Path) -> dict[str, Evidence]:
    """Return what sq computes of the constraints of the plan, by the id of the criterion."""
    criteria = [one for one in run.view.plan.criteria if one.constraint]
    if not criteria:
        return {}
    facts = await facts_between(run.repository, run.view.baseline.tree, tree)
    verified = run.view.evidence.verifications.get(tree)
    said = {one.id: computed(one, facts, verified.runs if verified else (), folder) for one in criteria}
    return {id_: fact for id_, fact in said.items() if fact}


async def contradicted(run: Run, task_id: str, tree: str, folder: Path) -> tuple[ReviewIssue, ...]:
    """Return an issue for each constraint that does not hold by what sq computes on a reviewed tree."""
    asked = asked_of(run.view, task_id)
    facts = await _computed(run, tree, folder) if asked else {}
    return tuple(
        _issue(run.view, one, task_id, facts[one.id].why)
        for one in asked
        if one.id in facts and facts[one.id].holds is False
    )


async def judge_again(run: Run, *, reviewed: str, folder: Path) -> list[CriterionJudged]:
    """Return the verdicts that have changed since the review, on the work as it is brought home.

    - On the tree that was reviewed, the evidence is checked against the newest verification.
    - What the review of a merged task said stays, with its evidence checked on the whole, if no commit of the
      user was merged into that.
    - A tree that the user's commits were merged into was not reviewed. A criterion is met there only if its
      evidence proves it there too, and else it is not checked any more.

    Args:
        reviewed: the tree before the user's newest commits were merged into it.
        folder: a folder that shows the work as it is now.
    """
    whole, found = run.view.whole, []
    known = {whole.tree, reviewed, whole.merged_tree}
    for one in run.view.plan.criteria:
        if not (before := whole.judged.get(one.id)):
            continue
        event, moved = before.event, before.event.tree != whole.tree
        of_task = whole.tree == whole.merged_tree and _is_of_a_merged_task(run.view, event)
        if not (of_task or event.tree in known):
            continue
        on = _on(run, whole.tree, folder, seen=event.tree if moved else "")
        now = await all_checked(on, event.evidence, one)
        again = replace(event, evidence=tuple(map(_with_former_mark, event.evidence, now)))
        if moved:
            again = replace(again, by=JudgedBy.RULE, commit=whole.commit, tree=whole.tree)
            if again.verdict is CriterionVerdict.MET and again.proof is None and not of_task:
                again = replace(again, verdict=CriterionVerdict.NOT_CHECKED)
        if again != event:
            found.append(again)
    return found


def _with_former_mark(then: Evidence, now: Evidence) -> Evidence:
    """Return a piece of evidence that still holds with the mark that it had where its worth was asked."""
    return replace(now, mark=then.mark) if now.holds and not now.mark else now


def _is_of_a_merged_task(view: RunView, event: CriterionJudged) -> bool:
    """Whether a verdict is about the work of a task exactly as it was merged."""
    task = view.tasks.get(event.task_id)
    return bool(task and task.stage is Stage.MERGED and task.claim.committed_tree == event.tree)


def _on(run: Run, tree: str, folder: Path, *, seen: str = "") -> CheckedTree:
    return CheckedTree(
        view=run.view,
        repository=run.repository,
        tree=tree,
        folder=folder,
        read_in=(str(folder), run.started.repository),
        seen=seen,
    )


async def all_checked(
    on: CheckedTree, evidence: Sequence[Evidence], criterion: Criterion
) -> tuple[Evidence, ...]:
    """Return pieces of evidence with sq's results.

    For a constraint a command counts if its words name it, and no test does. What held before the work too
    shows only that something stays, or that the command passes if that is asked. Tests of the work's author
    have to hold what the criterion names, and show nothing of a function that has to stay and does not.
    """
    found = [await checked(on, one) for one in evidence]
    words = f"{criterion.text} {criterion.quote}".lower()
    is_new = not criterion.stays
    if criterion.kind is CriterionKind.CONSTRAINT:
        asks_more = is_new and criterion.constraint is not ConstraintKind.COMMAND
        return tuple(
            replace(
                one,
                general=not _is_named(on, one, words) or (asks_more and BEFORE in one.why),
                mark=Mark.COMPUTED,
            )
            if one.kind is EvidenceKind.COMMAND
            else replace(one, mark=None)
            for one in found
        )
    found = [replace(one, general=one.general or (is_new and BEFORE in one.why)) for one in found]
    text = f"{criterion.text}\n{criterion.quote}"
    whys = []
    if lacking := await lacking_in_tests(on, text, found):
        whys.append(f"no test named as evidence holds {listed(lacking)}")
    if otherwise := [name for name in on.unlike_before if re.search(rf"\b{re.escape(name)}\b", text)]:
        whys.append(f"{listed(otherwise)} does not give what it gave before")
    return tuple(
        replace(one, mark=None, why=", and ".join([one.why, *whys]))
        if whys and one.mark is Mark.TESTED
        else one
        for one in found
    )


def _is_named(on: CheckedTree, evidence: Evidence, words: str) -> bool:
    suite = suite_of(evidence.ref.strip(" `"), on.folder)
    names = {run.simple.name.lower() for run in suite.runs} - {"cd", ""}
    return any(re.search(rf"\b{re.escape(name)}\b", words) for name in names)


def _by_id(claims: Iterable[CriterionClaim]) -> dict[str, CriterionClaim]:
    """Return the claims by id. Of several about one criterion the worst counts."""
    ordered = sorted(claims, key=lambda claim: _WORST_FIRST.index(claim.verdict), reverse=True)
    return {claim.id: claim for claim in ordered}
