"""Rules: the fallback for a check without a judge's answer. They decide by facts, never by words alone.

A rule answers satisfied, not satisfied (only on clear evidence), or None, which means not checked.
"""

from collections.abc import Mapping

from orchestrator.gates.power_steering.rules import announced, code, testing
from orchestrator.gates.power_steering.rules.found import Rule, RuleOutcome

__all__ = ["RULES", "Rule", "RuleOutcome"]

RULES: Mapping[str, Rule] = {
    "todos_complete": announced.todos_complete,
    "next_steps": announced.next_steps,
    "philosophy_compliance": code.philosophy_compliance,
    "local_testing": testing.local_testing,
}
