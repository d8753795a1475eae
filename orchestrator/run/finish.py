"""finish: committing, bringing the work to the user's branch, and the outcome.

Nothing is `complete` here without a verification result for exactly the tree that was merged.
"""

from pathlib import Path

from orchestrator.checks.objecting import BASE_TESTS
from orchestrator.checks.of_tests.announced import unannounced
from orchestrator.git.messages import commit_message
from orchestrator.run.evidence.objections import (
    changes_of,
    gap_words,
    gaps_of_whole,
    policy_of,
    ruling_words,
)
from orchestrator.run.evidence.proof import take_proofs
from orchestrator.run.evidence.verification import verify
from orchestrator.run.merge.whole import catch_up, measure_whole, record_added
from orchestrator.run.places.protection import put_back_at_the_end
from orchestrator.run.record import Run
from orchestrator.run.review.criteria import judge_again
from orchestrator.run.tasks.steps import is_claimed
from state.journal.events import DeliveryStarted, RunEnded, TaskCommitted, WorkRescued
from state.journal.events.tasks import Stage
from state.journal.phase import is_parked, saw_the_whole
from state.journal.view import RunView
from state.outcome import Outcome, worst
from state.settings.records import Effort
from state.words import asked_line, groups_of, listed


async def commit(run: Run, task_id: str) -> None:
    """Commit a task's accepted tree."""
    task = run.task(task_id)
    title = f"{task.task.title} (revision {task.review.revisions})" if task.claim.commit else task.task.title
    about = f"Task {task_id}, attempt {task.attempt} of run {run.started.run_id}."
    message = commit_message(title, about, run_id=run.started.run_id, criteria=run.view.criteria_of(task_id))
    made = await run.places.commit(task, task.claim.accepted_tree, message)
    run.record(
        TaskCommitted(task_id=task_id, attempt=task.attempt, commit=made, tree=task.claim.accepted_tree)
    )


async def bring_home(run: Run) -> None:
    """Bring the merged work to the user, verified in its final form, or record why it stays where it is.

    The user's branch moves only for a run that is complete, or with `merge_unverified` also for one that
    could not be verified. When the time is over, or a signal asks for the end, it stays, so nothing more is
    verified than its merges were. Nor are proofs taken near the end of the time: those of a run that goes on
    would be about another whole.
    """
    landing = run.view.process.landing
    if run.view.process.limit:
        await _hand_over_claims(run)
    if run.view.whole.tree and not (run.view.process.is_late or (landing and landing.signal)):
        folder = await run.integration.show(run.view.whole.commit)
        finished = await verify(run, task_id="", folder=folder, tree=run.view.whole.tree)
        await measure_whole(run)
        reviewed = run.view.whole.tree
        if not landing:
            await take_proofs(run, finished, task_id="", base=run.view.baseline.tree)
            await record_added(run)
            await catch_up(run)
        if run.view.whole.tree != reviewed:
            folder = await run.integration.show(run.view.whole.commit)
        run.record(*await judge_again(run, reviewed=reviewed, folder=folder))
    outcome, _ = judge(run.view, run.effort)
    stays = (
        ""
        if outcome in _moving(run)
        else f"the outcome of the run is {outcome}, and the branch moves for complete work only"
    )
    branch = run.started.base_branch
    if run.view.whole.tree and run.settings.worktrees and run.settings.merge and branch and not stays:
        run.record(DeliveryStarted(branch=branch, commit=run.view.whole.commit))
    run.record(await run.integration.bring_home(run.view.whole, stays=stays))


async def _hand_over_claims(run: Run) -> None:
    """Commit the work that was claimed and not verified, on its task's branch, without a word for it."""
    for id_, task in run.view.tasks.items():
        if task.stage is not Stage.BUILDING or not run.settings.worktrees or not is_claimed(run.view, task):
            continue
        tree = await run.places.snapshot(Path(task.place.worktree))
        message = commit_message(
            f"Not verified: {task.task.title}",
            f"Task {id_} of run {run.started.run_id} was claimed to be complete, and the time was over.",
            run_id=run.started.run_id,
        )
        commit = await run.places.commit(task, tree, message)
        run.record(WorkRescued(task_id=id_, ref=task.place.branch, commit=commit, claimed=True))


def _moving(run: Run) -> set[Outcome]:
    """Return the outcomes for which the user's branch moves."""
    return {Outcome.COMPLETE, *([Outcome.UNVERIFIED] if run.settings.merge_unverified else [])}


async def end(run: Run) -> None:
    """Record the outcome, and remove the worktrees whose work is merged."""
    outcome, cause = judge(run.view, run.effort)
    if run.settings.dry_run and not run.view.process.limit:
        outcome, cause = Outcome.COMPLETE, "a dry run: this is the plan, nothing was built"
    if run.settings.check_only and not run.view.process.limit:
        outcome, cause = Outcome.COMPLETE, "the spec was checked, nothing was planned or built"
    await put_back_at_the_end(run)
    await run.integration.clear(
        run.view.tasks, run.view.whole, is_home=run.view.checkout.delivered is not None
    )
    resumable = outcome is Outcome.LIMIT or bool(run.view.waiting_questions)
    run.record(RunEnded(outcome=outcome, cause=cause, resumable=resumable))


def judge(view: RunView, effort: Effort) -> tuple[Outcome, str]:
    """Return the outcome that the events prove, and the cause if it is not `complete`."""
    causes: list[tuple[Outcome, str]] = [(Outcome.LIMIT, view.process.limit)] if view.process.limit else []
    for id_, task in view.tasks.items():
        match task.stage:
            case Stage.MERGED:
                pass
            case Stage.FAILED:
                causes.append((Outcome.FAILED, f"task {id_} failed: {task.end.reason}"))
            case Stage.STUCK:
                outcome = Outcome.LIMIT if task.end.at_limit else Outcome.STUCK
                causes.append((outcome, f"task {id_} is stuck: {task.end.reason}"))
            case Stage.UNVERIFIED:
                causes.append((Outcome.UNVERIFIED, f"task {id_} could not be verified: {task.end.reason}"))
            case _ if is_parked(task):
                causes.append((Outcome.STUCK, f"task {id_} waits for a person's answer: {_how(view, id_)}"))
            case _ if view.process.limit:
                pass  # the limit says why
            case _:
                not_built = "was not built again" if task.merged_commit else "was not built"
                waits = f"task {id_} {not_built}: it waits for {', '.join(task.task.dependencies)}"
                causes.append((Outcome.STUCK, waits))
    if not causes:
        causes += _whole(view, effort)
    outcome = worst(found for found, _ in causes)
    return outcome, "; ".join(cause for _, cause in causes)


def _how(view: RunView, task_id: str) -> str:
    """Return how a task's questions are answered."""
    run_id = view.started.run_id if view.started else ""
    asked = [
        f'{asked_line(question)}. Answer {name}: sq answer {run_id} {name} "…"'
        for name, (ask, question) in view.waiting_questions.items()
        if ask.asked.task_id == task_id
    ]
    return f"{', '.join(asked)}. Then go on with: sq resume {run_id}"


def _whole(view: RunView, effort: Effort) -> list[tuple[Outcome, str]]:
    """Return why a run whose tasks are all merged is not complete."""
    causes = []
    last = view.whole.reviews[-1] if view.whole.reviews else None
    if saw_the_whole(view):
        pass
    elif last is None or view.whole.merged_since_review:
        causes.append((Outcome.UNVERIFIED, "the final review did not report usably"))
    elif not last.passed:
        found = "; ".join(f"{issue.location}: {issue.description}" for issue in last.issues)
        rounds = effort.final_review_rounds
        causes.append((Outcome.STUCK, f"after {rounds} round(s) the final review still finds: {found}"))
    others = [one for one in gaps_of_whole(view, policy_of(effort)) if one.check != BASE_TESTS]
    gaps = [*map(gap_words, groups_of(others)), *_changed_tests(view)]
    return [*causes, *((Outcome.UNVERIFIED, why) for why in gaps)]


def _changed_tests(view: RunView) -> list[str]:
    """Return the tests that the work changed or removed without an announcement, and who accepted that."""
    whole = view.evidence.proofs.get(("", view.whole.tree))
    changes = [change for task in view.tasks.values() for change in changes_of(view, task)]
    changes += unannounced(whole.objections) if whole else []
    words = {change.subject: change.words for change in reversed(changes)}
    if not words:
        return []
    told = listed(f"{text} ({ruling_words(view, name)})" for name, text in reversed(words.items()))
    remedy = "look at these tests. A plan announces such a change in tests_that_change (`sq plan`)"
    return [f"tests of the base do not hold as they were, and nothing announced it: {told}. {remedy}"]
