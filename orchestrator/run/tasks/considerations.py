"""Power steering of a Worker that claims completion: a judge examines its session, check by check.

Checks that could not run are reported and never change the outcome alone.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from agents.access import Credentials
from agents.ask.port import Ask, Reply
from agents.caller import Caller
from agents.transcript.read import Transcript, transcript_of, with_command_runs
from orchestrator.gates.power_steering.considerations import Consideration, SessionType, Severity
from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.examine import examine
from orchestrator.gates.power_steering.facts.session import facts_of
from orchestrator.gates.power_steering.judging import CLI_GROUPS
from orchestrator.gates.power_steering.loading import load_considerations
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.run.asking.answer import asked, ended_with
from orchestrator.run.asking.history import whole_history
from orchestrator.run.record import Run
from state.journal.events import ChecksDecided
from state.journal.events.tasks import TaskView
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.records import Steering
from state.verdicts import GateResult, Verdict

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
        lane=Caller(role=Role.JUDGE, task=task.task.id, attempt=task.attempt),
        groups=CLI_GROUPS if run.platform.connection.credentials is Credentials.CLI_LOGIN else None,
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
    everything = load_considerations(run.repository).considerations
    return [
        one
        for one in everything
        if one.is_for(SessionType.DEVELOPMENT)
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
