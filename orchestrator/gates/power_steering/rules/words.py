"""Rules about a session's final message: work left for later, and unnecessary questions."""

import re

from orchestrator.gates.power_steering.evidence import Evidence, only_offers
from orchestrator.gates.power_steering.rules.found import Found, met, unmet
from orchestrator.gates.power_steering.rules.said.announced import announced_in
from orchestrator.gates.power_steering.rules.said.phrases import phrases

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ASKS_FOR_A_PLAN = phrases(
    r"(?:plan(?! (?:must|should|has|needs|shows?|file|output))|outline"
    r"|propos\w*|design|road ?map|strategy|approach|steps|estimate|how would you"
    r"|suggest\w*|next steps?)"
)
_STEP = r"(?:proceed|continue|go (?:ahead|on)|start|begin|run|fix|implement|apply|write|add|update)"
_ASKS_FOR_LEAVE = phrases(
    r"(?:shall|should) I",
    rf"(?:may|can) I (?:now )?{_STEP}",
    rf"(?:do you want|would you like) me to (?:now )?{_STEP}",
    r"(?:ready|okay|ok) (?:for me )?to (?:proceed|continue|start|go)",
)


_IS_NEEDED = phrases(  # a choice, or an action that cannot be undone
    "or", "which", "delete", "drop", "push", "deploy", "publish", "release", "merge", "remove", "overwrite",
    "force", "restart", "send",
)  # fmt: skip


def next_steps(evidence: Evidence) -> Found | None:
    """Check that the final message announces no unfinished work. Offers and negations do not count."""
    text = evidence.facts.final_text
    if not text.strip():
        return None
    if _hands_a_plan_over(evidence):
        return None
    if left := next(announced_in(text), ""):
        return unmet("the final message leaves work of its own for later", left)
    return met("the final message leaves nothing of its own for later")


def _hands_a_plan_over(evidence: Evidence) -> bool:
    """Whether the user asked for a plan and nothing was changed: the announced steps are the answer."""
    facts = evidence.facts
    asked = [goal.text for goal in facts.goals if goal.turn >= evidence.goal_turn]
    changed = any(edit.turn >= evidence.goal_turn for edit in facts.edits)
    return not changed and any(_ASKS_FOR_A_PLAN.search(text) for text in asked)


def unneeded_questions(evidence: Evidence) -> Found | None:
    """Check that the final message does not only ask for permission to go on."""
    if not evidence.facts.asks:
        return met("it did not end with a question")
    text = _FENCED.sub("\n", evidence.facts.final_text).strip()
    if only_offers(text):
        return met("it ended with an offer")
    last = next((each for each in reversed(_SENTENCE.split(text)) if each.strip()), "")
    if _ASKS_FOR_LEAVE.search(last) and not _IS_NEEDED.search(last):
        return unmet("it ended by asking for permission to go on", last.strip())
    return None
