"""Examine a session: find its type, check each consideration, and decide."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from agents.transcript.render import rendered
from orchestrator.gates.power_steering.considerations import Consideration, PromptKind, SessionType
from orchestrator.gates.power_steering.decision import decide
from orchestrator.gates.power_steering.evidence import SessionEvidence, waits_for_user
from orchestrator.gates.power_steering.examination import Examination, Judge
from orchestrator.gates.power_steering.findings import Cut, RuleAnswer
from orchestrator.gates.power_steering.judging import SessionLook, judge_all, room_for
from orchestrator.gates.power_steering.session_type import session_type_of
from orchestrator.gates.session_state.records import CheckOutcome, CheckResults
from state.truncation import completion_claims
from state.verdicts import CheckResult, Source

Rules = Mapping[str, Callable[[SessionEvidence], RuleAnswer | None]]


async def examine(
    evidence: SessionEvidence,
    considerations: Sequence[Consideration],
    judge: Judge,
    rules: Rules,
    *,
    session_type: SessionType | None = None,
    before: Mapping[str, str] | None = None,
    cut: Cut = lambda cut: cut.text,
) -> Examination:
    """Check a session by the considerations for its type. An error in a check is never raised.

    Args:
        evidence: the session.
        considerations: all that may be asked. Those for other types of session are left out.
        judge: the judge, which is asked first.
        rules: by name, the fallbacks for checks without a judge's answer.
        session_type: the type if it is known. Otherwise it is derived from the session's actions.
        before: by id, why a consideration was not met last time.
        cut: receives every reason and quote that is cut.
    """
    kind = session_type or session_type_of(evidence)
    asked = {one.id: one for one in considerations if one.is_for(kind)}
    room = room_for(judge.model, len(asked), judge.groups)
    look = SessionLook(
        session=rendered(evidence.transcript, room) if judge.ask else "",
        model=judge.model,
        lane=judge.lane,
        ask=judge.ask,
        before=before or {},
        rules={name: partial(rule, evidence) for name, rule in rules.items()},
        groups=judge.groups,
        cut=cut,
    )
    results = tuple(await judge_all(list(asked.values()), look))
    figures = figures_of(evidence, asked, results)
    return Examination(
        session_type=kind,
        results=results,
        figures=figures,
        decision=decide(results, asked, figures, claims=completion_claims([evidence.facts.final_text])),
    )


def figures_of(
    evidence: SessionEvidence, asked: Mapping[str, Consideration], results: Sequence[CheckResult]
) -> CheckResults:
    """The results in seed 001's figures. Checks that did not apply or were not made have no weight."""
    outcomes = [
        CheckOutcome(
            satisfied=result.satisfied,
            blocker=result.blocker,
            workflow=asked[result.consideration_id].kind is PromptKind.WORKFLOW,
        )
        for result in results
        if result.applies and result.source is not Source.NOT_CHECKED
    ]
    files = dict.fromkeys(edit.path for edit in evidence.facts.edits)
    return CheckResults.of(files, outcomes)


def waiting_for(evidence: SessionEvidence) -> str:
    """Return what a stopped session waits for, so that it is not judged, or "" if it claims to be done."""
    facts = evidence.facts
    if evidence.transcript.plan_mode:
        return "it is planning, and waits for its plan to be accepted"
    if asked := waits_for_user(facts):
        return asked
    return f"work is still running in the background: {facts.running[-1].what}" if facts.running else ""
