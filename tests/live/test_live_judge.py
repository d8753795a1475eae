"""The judge of power steering with a real model, on sessions of which a careful reader said what is true."""

import os

import pytest
from language.sessions_to_judge import sessions_to_judge

from orchestrator.gates.power_steering.examine import examine, judge_here
from orchestrator.gates.power_steering.facts import SessionEvidence
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_facts import facts_of
from state.roles import Role
from state.settings.presets import usual_settings
from state.verdicts import Source

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

AGREEMENT = 0.8


async def test_the_judge_agrees_with_the_labels(access):
    model = usual_settings().models[Role.JUDGE]
    results = []
    async with judge_here(model, {**os.environ, **access}, rules_only=False) as judge:
        for session in sessions_to_judge():
            examination = await examine(
                SessionEvidence(transcript=session.transcript, facts=facts_of(session.transcript)),
                session.considerations,
                judge,
                RULES,
                session_type=session.session_type,
            )
            results += [(session, result) for result in examination.results]
    wrong = [told(session, result) for session, result in results if not agrees(session, result)]
    share = 1 - len(wrong) / len(results)
    assert share >= AGREEMENT, "\n".join([f"{share:.0%} of {len(results)} judgements agree:", *wrong])


def agrees(session, result):
    """Whether the model itself said what the label says: a rule's word, or none, does not count."""
    return result.source is Source.JUDGE and result.satisfied is session.met


def told(session, result):
    labelled = f"{session.name}, {result.consideration_id}: {'met' if session.met else 'unmet'} by its label"
    found = f"{'met' if result.satisfied else 'unmet'} by {result.source}"
    return f"- {labelled}, {found}: {result.reason} [{result.evidence}]"
