"""conflict: a resolver session works on a merge that git cannot do. Its claims do not count as evidence.

Git (nothing unmerged, no markers) and the project's own commands, run by sq on the result, decide.
"""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import prompts
from agents.roles.resolver import resolver_session
from agents.session.permissions import protected_path
from agents.session.tools import CONFLICT_RESOLVED, CONFLICT_STUCK
from orchestrator.checks.results.verdict import has_failed
from orchestrator.git.command import door_now
from orchestrator.git.repository import named
from orchestrator.git.trees import changed_paths
from orchestrator.git.workspace import tree_of
from orchestrator.run.asking.briefing import decisions, suggestions
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.evidence.summary import failing_before, feedback, results, unanswered
from orchestrator.run.evidence.verification import commands_on, verify
from orchestrator.run.ports import MergeState
from orchestrator.run.record import Run
from state.journal.events import MergeConflicted, ResolutionRefused
from state.journal.events.calls import CallView
from state.journal.events.merges import MergeView
from state.journal.events.tasks import Stage, TaskView
from state.paths import scratch_folder
from state.roles import Role
from state.settings.presets import RETRY_LIMITS


@dataclass(frozen=True, slots=True)
class ResolvedConflict:
    """The conflict is resolved, and `tree` is the result.

    `summary` is the resolver's account of it, `noticed` its remarks on other code.
    """

    tree: str
    summary: str = ""
    noticed: str = ""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """The conflict stays, for this `reason`. `unchecked`: a check that should have answered did not."""

    reason: str
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class _Refused:
    reason: str


async def resolve(
    run: Run, task: TaskView, merge: MergeView, state: MergeState
) -> ResolvedConflict | Unresolved:
    """Have a conflict resolved, or return why it is not. Results in the journal are not asked for again.

    Raises:
        BudgetExhausted: the budget does not allow the call.
        ServiceError: the model cannot be asked at all.
    """
    if not merge.paths:
        conflicted = MergeConflicted(
            task_id=task.task.id,
            commit=merge.commit,
            onto=merge.onto,
            paths=state.unmerged or state.marked,
        )
        run.record(conflicted)
    async with scratch_folder() as temporary:
        spec_for = partial(
            resolver_session,
            run.platform,
            task_id=task.task.id,
            attempt=task.attempt,
            workspace=state.folder,
            temporary=temporary,
        )
        async with Conversation(
            run,
            role=Role.RESOLVER,
            task_id=task.task.id,
            attempt=task.attempt,
            subject=f"merge-{task.merges}",
            spec_for=spec_for,
        ) as talk:
            return await _talk(run, task, merge, talk)


async def _talk(
    run: Run, task: TaskView, merge: MergeView, talk: Conversation
) -> ResolvedConflict | Unresolved:
    while True:
        call = await talk.exchange(len(merge.refusals) + 1, _next_words(run, task, merge))
        if door_now() is None:  # what the session can still change is not read
            await talk.end_session()
        match await _look(run, task, merge, call):
            case _Refused(reason):
                refused = ResolutionRefused(
                    task_id=task.task.id, commit=merge.commit, onto=merge.onto, reason=reason
                )
                run.record(refused)
                if len(merge.refusals) >= RETRY_LIMITS.resolutions:
                    return Unresolved(
                        f"{RETRY_LIMITS.resolutions} resolutions did not hold. The last one: {reason}"
                    )
            case answer:
                return answer


def _next_words(run: Run, task: TaskView, merge: MergeView) -> str:
    if merge.refusals:
        return prompts.render("resolve_again", reason=merge.refusals[-1].reason)
    return prompts.render(
        "resolve",
        task=task.task,
        paths=merge.paths,
        decisions=decisions(run.view),
        suggestions=suggestions(run.view),
        merged=[one.task for one in run.view.tasks.values() if one.stage is Stage.MERGED],
        verification=commands_on(run, task),
        failing=failing_before(run.view),
        spec=run.started.spec_text,
    )


async def _look(
    run: Run, task: TaskView, merge: MergeView, call: CallView
) -> ResolvedConflict | Unresolved | _Refused:
    """Return the state of the conflict according to git and the verification."""
    if failure := call.failure:
        return Unresolved(failure)
    if call.report and call.report.name == CONFLICT_STUCK:
        return Unresolved(f"the resolver says: {json.loads(call.report.payload)['reason']}")
    state = await run.integration.merge_state(task, merge.onto)
    if problem := problem_of(state):
        if not state.under_way:
            await run.integration.begin_merge(task, merge.onto, uniting=False)
        return _Refused(problem)
    if problem := await _problem_of_tree(run, task, merge, state):
        return _Refused(problem)
    finished = await verify(run, task_id=task.task.id, folder=state.folder, tree=state.tree)
    judged = results(run, finished)
    if reason := unanswered(judged):
        return Unresolved(reason, unchecked=True)
    if has_failed(judged):
        said = feedback(judged)
        return _Refused(f"sq ran the project's own commands on your resolution.\n\n{said}")
    claim = _claim_of(call)
    return ResolvedConflict(state.tree, str(claim.get("summary", "")), str(claim.get("noticed", "")))


def _claim_of(call: CallView) -> dict[str, Any]:
    """Return the resolver's claim, empty if it made none."""
    claimed = call.report if call.report and call.report.name == CONFLICT_RESOLVED else None
    claim: dict[str, Any] = json.loads(claimed.payload) if claimed else {}
    return claim


def problem_of(state: MergeState) -> str:
    """Return in words for the resolver why git considers the merge unresolved, or "" if it is resolved."""
    if not state.under_way:
        return (
            "The merge was no longer under way: something committed, aborted or reset it. sq has begun it "
            "anew. Resolve it by editing the files, and leave the rest to sq."
        )
    if state.marked:
        return f"Conflict markers still stand in {named(state.marked)}."
    if state.unmerged:
        return (
            f"Git still holds {named(state.unmerged)} as unresolved. If the file is right as it is, "
            "`git add` it. If it has to go, `git rm` it."
        )
    return ""


async def _problem_of_tree(run: Run, task: TaskView, merge: MergeView, state: MergeState) -> str:
    """Return why git's resolved result cannot be right for both sides, or "" if it can."""
    if state.tree == await tree_of(state.folder, merge.onto):
        return "The result is the merged work from before: all work on this task is gone. Keep both sides."
    changed = await changed_paths(state.folder, merge.onto, state.tree)
    own = set(await changed_paths(state.folder, task.place.base_commit, merge.commit))
    protected = [path for path in changed if path not in own and protected_path(path, run.settings.protected)]
    if protected:
        return f"Protected paths were changed: {named(protected)}. Put them back as they were in HEAD."
    return ""
