"""Power steering of a Worker that claims completion: a judge looks at its session, question by question.

Checks that nobody could make are told and never change the outcome alone.
"""

import json
from collections.abc import Mapping
from functools import partial

from agents.ask import Ask, Reply, room_of
from agents.connection import Credentials, Lane
from agents.transcript import transcript_of
from agents.transcript_rendering import rendered
from orchestrator.gates.power_steering.considerations import (
    Consideration,
    SessionType,
    Severity,
    load_considerations,
)
from orchestrator.gates.power_steering.decision import decide
from orchestrator.gates.power_steering.judging import Look, judge_all
from orchestrator.run.asking import asked, ended_with
from orchestrator.run.questions import whole_history
from orchestrator.run.record import Run
from state.events import ChecksDecided
from state.records import CallEnd, Role
from state.settings import Steering
from state.verdicts import GateResult, Verdict
from state.view import TaskView

STEERING = "power steering"
_CLI_AT_ONCE = 4  # a process costs 0.3 s of CPU and 180 MB


async def steering_gate(run: Run, task: TaskView) -> GateResult | None:
    """Have the effort's considerations judged, record what each found, and say whether the claim stands.

    None where the effort asks nothing.
    """
    considerations = {one.id: one for one in _asked_of(run)}
    if not considerations:
        return None
    session = rendered(transcript_of(whole_history(run, task)), _room(run))
    look = Look(
        session=session,
        model=run.platform.models[Role.JUDGE],
        lane=Lane(role=Role.JUDGE, task=task.task.id, attempt=task.attempt),
        ask=partial(_ask, run, task),
        before=_unmet_before(task),
        at_once=_CLI_AT_ONCE if run.platform.connection.credentials is Credentials.CLI_LOGIN else 64,
    )
    results = await judge_all(list(considerations.values()), look)
    run.record(
        ChecksDecided(
            task_id=task.task.id, attempt=task.attempt, iteration=task.iteration, results=tuple(results)
        )
    )
    decision = decide(results, considerations)
    if not decision.allows:
        return GateResult(gate=STEERING, verdict=Verdict.BLOCK, reason=decision.message, key=decision.key)
    told = f"{len(results)} considerations, {len(decision.warnings)} warning(s)"
    abstained = f", {len(decision.not_checked)} not checked" if decision.not_checked else ""
    return GateResult(gate=STEERING, verdict=Verdict.ALLOW, reason=told + abstained)


def _asked_of(run: Run) -> list[Consideration]:
    """What a Worker is asked; the user's own are read in the checkout, not in the Worker's workspace."""
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


def _room(run: Run) -> int:
    longest_question = 4_000
    return max(0, room_of(run.platform.models[Role.JUDGE]) - longest_question)


def _unmet_before(task: TaskView) -> Mapping[str, str]:
    newest = task.checks[-1].results if task.checks else ()
    return {result.consideration_id: result.reason for result in newest if not result.satisfied}


async def _ask(run: Run, task: TaskView, ask: Ask) -> Reply:
    """The judge's reply, recorded; what it had answered to the same before a crash is not asked again."""
    for call in run.view.calls_of(Role.JUDGE, task.task.id, task.attempt):
        same = call.started.prompt == ask.prompt and call.started.iteration == task.iteration
        if same and call.end and call.end.end is CallEnd.COMPLETED and call.end.answer:
            return Reply(end=CallEnd.COMPLETED, answer=json.loads(call.end.answer))
    call_id, reply = await asked(run, ask, iteration=task.iteration)
    run.record(ended_with(call_id, reply))
    return reply
