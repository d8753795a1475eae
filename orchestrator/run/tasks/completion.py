"""The completion gates on a Worker's claim, in order: diff, sq's own verification, power steering.

Evidence decides, not claims: a task is accepted for exactly the tree that was checked. Checks of power
steering that could not run are reported and never change the outcome alone.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.ask.port import Ask, Reply
from agents.caller import Caller
from agents.roles.worker import signal_of
from agents.session.permissions import protected_path
from agents.transcript.read import transcript_of, with_command_runs
from agents.transcript.records import Transcript
from orchestrator.checks.objecting import BASE_TESTS
from orchestrator.checks.of_files import constraints
from orchestrator.checks.of_tests.announced import are_explained, unannounced
from orchestrator.checks.outcome import blocking, unheard
from orchestrator.checks.results.verdict import Judged, has_failed
from orchestrator.gates.power_steering.considerations import (
    Consideration,
    SessionType,
    Severity,
    considerations_of_run,
)
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.examine import examine
from orchestrator.gates.power_steering.facts import SessionEvidence
from orchestrator.gates.power_steering.judging import TOGETHER
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_facts import facts_of
from orchestrator.git.trees import changed_paths
from orchestrator.git.users.submodules import new_repositories
from orchestrator.git.workspace import tree_of
from orchestrator.project.readiness.checkout import ignored_and_missed
from orchestrator.run.asking.answer import asked, ended_with
from orchestrator.run.asking.conversation import whole_history
from orchestrator.run.evidence.change import change_of
from orchestrator.run.evidence.objections import policy_of, way_on
from orchestrator.run.evidence.proof import take_proofs
from orchestrator.run.evidence.summary import (
    failures,
    feedback,
    results,
    said,
    unanswered,
)
from orchestrator.run.evidence.verification import verify
from orchestrator.run.places.protection import refused_changes
from orchestrator.run.record import Run
from orchestrator.run.review.findings import disputes_of, undisputed
from prompts.marking import line
from state.journal.events import (
    ChecksDecided,
    CompletionAccepted,
    CompletionRefused,
    GateDecided,
    TaskUnverified,
)
from state.journal.events.tasks import TaskView
from state.records.calls import CallEnd
from state.records.objections import Objection
from state.roles import Role
from state.settings.records import Steering
from state.verdicts import GateResult, Verdict
from state.words import alike, sentences

DIFF = "diff"
_NAMED = 10  # paths
VERIFICATION = "verification"


async def check_completion(run: Run, task: TaskView) -> None:
    """Ask the gates about a claim, and record that it is accepted, refused, or could not be checked."""
    folder = Path(task.place.worktree)
    tree = await run.places.snapshot(folder)
    results = [await _diff_gate(run, task, folder, tree)]
    if results[-1].verdict is Verdict.ALLOW:
        results.append(await _verification_gate(run, task, folder, tree))
    if results[-1].verdict is Verdict.ALLOW and (steered := await steering_gate(run, task, tree)):
        results.append(steered)
    last = results[-1]
    decided = [
        GateDecided(
            task_id=task.task.id,
            attempt=task.attempt,
            iteration=task.iteration,
            gate=result.gate,
            verdict=result.verdict,
            reason=result.reason,
            tree=tree,
        )
        for result in results
    ]
    match last.verdict:
        case Verdict.NOT_CHECKED if last.gate != STEERING:
            run.record(*decided, TaskUnverified(task_id=task.task.id, reason=last.reason))
        case Verdict.ALLOW | Verdict.NOT_CHECKED:
            consequence = CompletionAccepted(task_id=task.task.id, attempt=task.attempt, tree=tree)
            run.record(*decided, consequence)
        case Verdict.BLOCK:
            refused = CompletionRefused(
                task_id=task.task.id,
                attempt=task.attempt,
                iteration=task.iteration,
                feedback=last.to_agent,
                fingerprint=fingerprint(last),
                reason=last.reason if last.feedback else "",
                heard=last.heard,
            )
            run.record(*decided, refused)


def fingerprint(result: GateResult) -> str:
    """Return a hash that is equal for the same failure: the same gate and words, without numbers."""
    words = "".join("#" if character.isdigit() else character for character in result.to_agent)
    return hashlib.sha256(f"{result.gate}\n{result.key or words}".encode()).hexdigest()[:16]


async def _diff_gate(run: Run, task: TaskView, folder: Path, tree: str) -> GateResult:
    if users := await refused_changes(run):
        return GateResult(gate=DIFF, verdict=Verdict.BLOCK, reason=users)
    undisputed_ones = undisputed(task.review.open, disputes_of(run.view, task))
    may_be_empty = bool(task.review.open) and not undisputed_ones and task.is_in_merged_work
    odd = run.places.take_oddities(folder)
    if odd.left_out:
        named = "; ".join(f"{line(path)}: {why}" for path, why in odd.left_out.items())
        reason = f"git cannot take these into a commit: {named}. Remove them, or make them ordinary content."
        return GateResult(gate=DIFF, verdict=Verdict.BLOCK, reason=reason)
    if inner := await new_repositories(folder, task.place.base_commit, tree):
        reason = (
            f"{', '.join(map(line, inner))} is a git repository of its own: a commit holds a link to it and "
            "none of its files. Remove its .git, so that they are part of the work, or have it ignored."
        )
        return GateResult(gate=DIFF, verdict=Verdict.BLOCK, reason=reason)
    if tree == await tree_of(folder, task.place.base_commit) and not may_be_empty:
        return GateResult(
            gate=DIFF,
            verdict=Verdict.BLOCK,
            reason="The workspace holds no change at all: the task cannot be complete with an empty diff.",
        )
    if undisputed_ones and tree == task.claim.committed_tree:
        return GateResult(
            gate=DIFF,
            verdict=Verdict.BLOCK,
            reason="Nothing has changed since the review that sent this task back: its findings still stand. "
            f"There is no evidence against {', '.join(undisputed_ones)}.",
        )
    changed = await changed_paths(folder, task.place.base_commit, tree)
    if protected := [path for path in changed if protected_path(path, run.settings.protected)]:
        named = ", ".join(map(line, protected))
        return GateResult(
            gate=DIFF,
            verdict=Verdict.BLOCK,
            reason=f"Protected paths were changed: {named}. Put them back as they were.",
        )
    named = ", ".join(map(line, odd.removed[:_NAMED]))
    more = f", {len(odd.removed)} removed that no commit can hold: {named}" if odd.removed else ""
    return GateResult(gate=DIFF, verdict=Verdict.ALLOW, reason=f"{len(changed)} file(s) changed{more}")


async def _verification_gate(run: Run, task: TaskView, folder: Path, tree: str) -> GateResult:
    id_, base = task.task.id, await tree_of(run.repository, task.place.base_commit)
    known = await constraints.ask(change_of(run, task_id=id_, base=base, tree=tree))
    if broken := known.objections:  # the files alone say it, which costs no command
        return _refusal(broken, "")
    finished = await verify(run, task_id=id_, folder=folder, tree=tree)
    judged = results(run, finished)
    if not judged and not any(one.constraint for one in run.view.plan.criteria):
        reason = "nothing to verify with: no command was given and the repository shows none"
        return GateResult(gate=VERIFICATION, verdict=Verdict.ALLOW, reason=reason)
    if reason := unanswered(judged):
        return GateResult(gate=VERIFICATION, verdict=Verdict.NOT_CHECKED, reason=reason)
    if has_failed(judged):
        told, reason = (
            f"sq ran the project's own commands on your work.\n\n{feedback(judged)}",
            failures(judged),
        )
        if hidden := await _hidden_by_git(folder, judged):
            told, reason = f"{told}\n\n{hidden}", f"{reason}. {hidden}"
        return GateResult(gate=VERIFICATION, verdict=Verdict.BLOCK, reason=reason, feedback=told)
    proofs = await take_proofs(run, finished, task_id=id_, base=base)
    if lost := blocking(proofs.objections):
        return _refusal(lost, "")
    if once := _said_once(run, task, proofs.objections):
        return once
    reason = "; ".join(f"`{one.run.command}` {said(one)}" for one in judged)
    return GateResult(gate=VERIFICATION, verdict=Verdict.ALLOW, reason=reason)


async def _hidden_by_git(folder: Path, judged: Sequence[Judged]) -> str:
    """Return what to do about files that a failing command misses, because git ignores them, or ""."""
    failing = [one.run for one in judged if one.run.exit_code != 0]
    text = "\n".join(f"{done.problem}\n{done.failing_part}\n{done.output_tail}" for done in failing)
    if not (missed := await ignored_and_missed(folder, text)):
        return ""
    return (
        f"git ignores {', '.join(map(line, missed[:_NAMED]))}, so no commit has it and sq's commands do not "
        "find it: change .gitignore, or put it elsewhere."
    )


def _said_once(run: Run, task: TaskView, objections: Sequence[Objection]) -> GateResult | None:
    """Return a refusal with the objections that the attempt's Worker has to hear now, or None without any."""
    _, claim = signal_of(run.view.calls[task.open.calls[-1]])
    if are_explained(unannounced(objections), str(claim.get("notes") or ""), run.view.spec_words):
        objections = [one for one in objections if one.check != BASE_TESTS]
    heard = {check for refusal in task.open.refusals for check in refusal.heard}
    new = unheard(objections, heard, policy_of(run.effort))
    return _refusal(new, way_on(new)) if new else None


def _refusal(objections: Sequence[Objection], more: str) -> GateResult:
    """Return a refusal that has the objections of each check with their remedies."""
    of_checks = alike(objections, lambda one: one.check)
    parts = [
        " ".join(
            [f"{'; '.join(sentences(group))}.", *dict.fromkeys(one.remedy for one in group if one.remedy)]
        )
        for group in of_checks
    ]
    reason = "\n\n".join([*parts, more] if more else parts)
    heard = tuple(group[0].check for group in of_checks)
    return GateResult(
        gate=VERIFICATION, verdict=Verdict.BLOCK, reason=reason, key=", ".join(heard), heard=heard
    )


STEERING = "power steering"


async def steering_gate(run: Run, task: TaskView, tree: str) -> GateResult | None:
    """Have the effort's considerations judged, record each result, and return whether the claim stands.

    Returns None if the effort asks nothing, and `not checked` if no check could run. Then sq's own
    verification decides on the claim.
    """
    considerations = _asked_of(run)
    if not considerations:
        return None
    judge = Judge(
        model=run.platform.models[Role.JUDGE],
        ask=partial(_ask, run, task),
        caller=Caller(role=Role.JUDGE, task=task.task.id, attempt=task.attempt),
        together=TOGETHER,
    )
    session = _session_of(run, task, tree)
    evidence = SessionEvidence(transcript=session, facts=facts_of(session), project=run.repository)
    examination = await examine(
        evidence,
        considerations,
        judge,
        RULES,
        session_type=SessionType.DEVELOPMENT,
        before=_unmet_before(task),
    )
    run.record(
        ChecksDecided(
            task_id=task.task.id,
            attempt=task.attempt,
            iteration=task.iteration,
            results=examination.results,
        )
    )
    decision, results = examination.decision, examination.results
    if not decision.allows:
        return GateResult(
            gate=STEERING, verdict=Verdict.BLOCK, reason=decision.message, key=",".join(decision.failures)
        )
    told = f"{len(results)} considerations, {len(decision.warnings)} warning(s)"
    abstained = f", {len(decision.not_checked)} not checked" if decision.not_checked else ""
    looked = Verdict.NOT_CHECKED if len(decision.not_checked) == len(results) else Verdict.ALLOW
    return GateResult(gate=STEERING, verdict=looked, reason=told + abstained)


def _asked_of(run: Run) -> list[Consideration]:
    """Return a Worker's considerations. The user's own come from the checkout, not from the workspace."""
    steering = run.effort.power_steering
    if steering is Steering.NONE:
        return []
    everything = considerations_of_run(run.repository).considerations
    return [
        one
        for one in everything
        if one.is_for(SessionType.DEVELOPMENT)
        and one.in_runs
        and (steering is Steering.ALL or one.severity is Severity.BLOCKER)
    ]


def _session_of(run: Run, task: TaskView, tree: str) -> Transcript:
    """Return the task's sessions, with the results of sq's own verification of this tree."""
    session = transcript_of(whole_history(run, task), cwd=task.place.worktree)
    verified = run.view.evidence.verifications.get(tree)
    ran = [one for one in verified.runs if not one.broken] if verified else []
    return with_command_runs(session, ran) if ran else session


def _unmet_before(task: TaskView) -> Mapping[str, str]:
    newest = task.open.checks[-1].results if task.open.checks else ()
    return {result.consideration_id: result.reason for result in newest if not result.satisfied}


async def _ask(run: Run, task: TaskView, ask: Ask) -> Reply:
    """Return the judge's reply, recorded, with the cost of all tries.

    A reply to the same request from before a crash is used again. A group of checks is one request.
    """
    for call in run.view.calls_of(Role.JUDGE, task.task.id, task.attempt):
        same = call.started.prompt == ask.prompt and call.started.iteration == task.iteration
        if same and call.end and call.end.end is CallEnd.COMPLETED and call.end.answer:
            answer = json.loads(call.end.answer)
            return Reply(end=CallEnd.COMPLETED, answer=answer, cost_usd=call.cost_usd)
    if refused := run.view.process.judge_refused:  # it answers no other question either
        why = run.view.calls[refused].end
        return Reply(end=CallEnd.API_ERROR, detail=why.detail if why else "")
    call_id, reply = await asked(run, ask, iteration=task.iteration)
    run.record(ended_with(call_id, reply))
    return replace(reply, cost_usd=run.view.calls[call_id].cost_usd)
