"""Rules: the fallback for a check without a judge's answer. They decide by facts, never by words alone.

A rule answers satisfied, not satisfied (only on clear evidence), or None, which means not checked.
"""

from collections.abc import Mapping

from orchestrator.gates.power_steering.rules import code, files, git, testing, words, work
from orchestrator.gates.power_steering.rules.found import Found, Rule

__all__ = ["RULES", "Found", "Rule"]

RULES: Mapping[str, Rule] = {
    "todos_complete": work.todos_complete,
    "next_steps": words.next_steps,
    "unneeded_questions": words.unneeded_questions,
    "documentation_updates": files.documentation_updates,
    "dev_workflow_complete": testing.dev_workflow_complete,
    "skill_invocation": work.skill_invocation,
    "no_direct_main_commit": git.no_direct_main_commit,
    "philosophy_compliance": code.philosophy_compliance,
    "shortcuts": code.shortcuts,
    "local_testing": testing.local_testing,
    "interactive_testing": testing.interactive_testing,
    "root_pollution": files.root_pollution,
    "pr_description": git.pr_description,
    "ci_status": git.ci_status,
    "review_responses": git.review_responses,
    "branch_rebase": git.branch_rebase,
}
