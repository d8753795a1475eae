"""Rules: the fallback for a check without a judge's answer. They decide by facts, never by words alone.

A rule answers satisfied, not satisfied (only on clear evidence), or None, which means not checked.
"""

from collections.abc import Mapping

from orchestrator.gates.power_steering.facts import Rule, RuleOutcome
from orchestrator.gates.power_steering.rules import testing, unfinished

__all__ = ["RULES", "Rule", "RuleOutcome"]

RULES: Mapping[str, Rule] = {
    "todos_complete": unfinished.todos_complete,
    "next_steps": unfinished.next_steps,
    "philosophy_compliance": unfinished.philosophy_compliance,
    "local_testing": testing.local_testing,
}
