"""An examination of a session: the judge that is asked, and the result."""

from dataclasses import dataclass, field

from agents.caller import Caller
from agents.roles.judge import AskJudge
from orchestrator.gates.power_steering.considerations import SessionType
from orchestrator.gates.power_steering.decision import SteeringDecision
from orchestrator.gates.session_state.records import CheckResults
from state.roles import Role
from state.settings.records import Model
from state.verdicts import CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The judge to ask. With `ask` None there is no judge, and rules answer. `groups` is as in `Look`."""

    model: Model
    ask: AskJudge | None
    lane: Caller = field(default_factory=lambda: Caller(role=Role.JUDGE, task="session", attempt=1))
    groups: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The result of an examination. `figures` are the checks in seed 001's three figures."""

    session_type: SessionType
    results: tuple[CheckResult, ...]
    figures: CheckResults
    decision: SteeringDecision

    @property
    def cost_usd(self) -> float:
        """The cost of all checks."""
        return sum(result.cost_usd for result in self.results)
