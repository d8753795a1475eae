"""Power steering of a person's session, if it is switched on for the hook. Otherwise nothing is imported."""

from typing import TYPE_CHECKING

from orchestrator.gates.session_state.diagnostics import top_of
from orchestrator.gates.session_state.store import SteeringStore
from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.examination import Examination
    from orchestrator.gates.power_steering.facts import SessionEvidence


def applies(stop: Stop) -> bool:
    """Whether it was asked for, and there is a session to examine."""
    return stop.with_steering and stop.session.transcript is not None


def check(stop: Stop) -> StepResult:
    """Examine the session and answer by the result. A session that waits, or switched it off, may stop."""
    import anyio

    from orchestrator.gates.power_steering.examination import answer_stop
    from orchestrator.gates.power_steering.facts import SessionEvidence

    store = SteeringStore.of_project(stop.project, stop.session_id, environ=stop.environ)
    if stop.waits or store.disabled_until():
        return ALLOWED
    project = top_of(stop.project)
    if stop.session.transcript is None:
        return ALLOWED
    evidence = SessionEvidence(transcript=stop.session.transcript, facts=stop.session.facts, project=project)
    examination = anyio.run(_examined, stop, evidence, store)
    answer = answer_stop(store, examination, prompt_id=stop.prompt)
    if answer.allows:
        return StepResult(note=answer.message)
    return StepResult(blocks=True, reason=answer.message, is_counted=True)


async def _examined(stop: Stop, evidence: "SessionEvidence", store: SteeringStore) -> "Examination":
    from orchestrator.gates.power_steering.considerations import load_considerations
    from orchestrator.gates.power_steering.examine import examine, judge_here
    from orchestrator.gates.power_steering.rules import RULES
    from orchestrator.gates.power_steering.usage import record_verdicts
    from state.roles import Role
    from state.settings.config import load_config

    model = load_config(evidence.project, stop.environ).settings.models[Role.JUDGE]
    considerations = load_considerations(evidence.project).considerations
    async with judge_here(model, stop.environ, rules_only=False) as judge:
        examination = await examine(
            evidence,
            considerations,
            judge,
            RULES,
            before=store.load().state.unmet,
            cut=store.diagnostics.truncation,
        )
    had_judge = judge.ask is not None
    record_verdicts(store.diagnostics, evidence, considerations, examination, RULES, had_judge=had_judge)
    return examination
