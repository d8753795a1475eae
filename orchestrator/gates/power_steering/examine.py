"""One examination of a session: what type it is, what each consideration finds, and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from agents.access import Lane
from agents.transcript.render import rendered
from orchestrator.gates.power_steering.considerations import Consideration, Kind, SessionType
from orchestrator.gates.power_steering.decision import Decision, decide
from orchestrator.gates.power_steering.evidence import Evidence, waits_for_user
from orchestrator.gates.power_steering.findings import Cut
from orchestrator.gates.power_steering.judging import AskJudge, Look, judge_all, room_for
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_type import session_type_of
from orchestrator.gates.session_state.records import CheckOutcome, CheckResults
from state.records import Role
from state.settings.records import Model
from state.truncation import completion_claims
from state.verdicts import CheckResult, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Who is asked. `ask` None: no judge is to be had, and rules answer; `groups` as in `Look`."""

    model: Model
    ask: AskJudge | None
    lane: Lane = field(default_factory=lambda: Lane(role=Role.JUDGE, task="session", attempt=1))
    groups: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found. `figures` are the last checks in seed 001's three figures."""

    session_type: SessionType
    results: tuple[CheckResult, ...]
    figures: CheckResults
    decision: Decision

    @property
    def cost_usd(self) -> float:
        """What all checks cost."""
        return sum(result.cost_usd for result in self.results)


async def examine(
    evidence: Evidence,
    considerations: Sequence[Consideration],
    judge: Judge,
    *,
    session_type: SessionType | None = None,
    before: Mapping[str, str] | None = None,
    cut: Cut = lambda cut: cut.text,
) -> Examination:
    """Check a session by the considerations that are for its type. Never raises for what a check does.

    Args:
        evidence: the session.
        considerations: all that may be asked; those for other types of session are not.
        judge: who is asked first.
        session_type: where it is known; else what was done tells it.
        before: by id, why a consideration was not met last time.
        cut: gets every reason and quote that is cut.
    """
    kind = session_type or session_type_of(evidence)
    asked = {one.id: one for one in considerations if one.is_for(kind)}
    room = room_for(judge.model, len(asked), judge.groups)
    look = Look(
        session=rendered(evidence.transcript, room) if judge.ask else "",
        model=judge.model,
        lane=judge.lane,
        ask=judge.ask,
        before=before or {},
        rules={name: partial(rule, evidence) for name, rule in RULES.items()},
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
    evidence: Evidence, asked: Mapping[str, Consideration], results: Sequence[CheckResult]
) -> CheckResults:
    """The results in seed 001's figures: checks that did not apply or were not made have no weight."""
    outcomes = [
        CheckOutcome(
            satisfied=result.satisfied,
            blocker=result.blocker,
            workflow=asked[result.consideration_id].kind is Kind.WORKFLOW,
        )
        for result in results
        if result.applies and result.source is not Source.NOT_CHECKED
    ]
    files = dict.fromkeys(edit.path for edit in evidence.facts.edits)
    return CheckResults.of(files, outcomes)


def waiting_for(evidence: Evidence) -> str:
    """What a session that has stopped waits for, so that it is not judged; empty: it claims to be done."""
    facts = evidence.facts
    if evidence.transcript.plan_mode:
        return "it is planning, and waits for its plan to be accepted"
    if asked := waits_for_user(facts):
        return asked
    return f"work is still running in the background: {facts.running[-1].what}" if facts.running else ""
