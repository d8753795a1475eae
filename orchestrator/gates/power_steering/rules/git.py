"""Rules about git and the hosting service, by the output of their commands."""

from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.facts.facts import HubAction, RunOutcome
from orchestrator.gates.power_steering.rules.found import (
    APOSTROPHE,
    RuleOutcome,
    met,
    not_applicable,
    phrases,
    unmet,
)

_MAIN = frozenset({"main", "master"})
_FORBIDS_MAIN = phrases(
    rf"(?:never|do not|don{APOSTROPHE}t|must not|may not|nobody)\b[^.:;\n]{{0,60}}\b(?:commit|push"
    rf"|work)\w*\b"
    r"[^.:;\n]{0,40}\b(?:main|master)",
    r"no (?:direct )?(?:commits?|pushes|pushing|committing|work) (?:directly |straight )?"
    r"(?:to|on) (?:the )?(?:main|master)",
    r"(?:main|master)\b[^.\n]{0,40}\b(?:is|are) (?:a )?(?:protected|off.limits|locked)",
    r"no direct (?:commits?|pushes)",
    r"nothing (?:is|gets|may be|goes) (?:ever )?(?:committed|pushed|merged"
    r"|in)?\b[^.\n]{0,30}\b(?:main|master)",
    r"(?:work|changes?|commits?|everything)\b[^.\n]{0,20}\b(?:on|in|goes? through) (?:a "
    r"|an )?(?:own |short )?"
    r"(?:[`\"'](?:fix|feat|topic|feature)/|(?:topic |feature )?branch\w*\b[^.\n]{0,30}\b(?:merge"
    r"|pull) request)",
    r"(?:only|always)\b[^.\n]{0,40}\b(?:feature branch|branch and|(?:through|via) (?:a )?pull requests?)",
)
_ASKS_FOR_MAIN = phrases(
    r"(?:commit|push|merge)\b[^.\n]{0,60}\b(?:to|on|onto|into) (?:the )?[`\"']?(?:main|master)",
)


def no_direct_main_commit(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that nothing went straight to the main branch if the project or the user forbids it."""
    straight = [action for action in evidence.facts.git_actions if action.branch in _MAIN]
    if not straight:
        return met("nothing was committed or pushed straight to the main branch")
    said = [*evidence.instructions, *evidence.users_words]
    forbids = next((found[0] for text in said if (found := _FORBIDS_MAIN.search(text))), "")
    if forbids:
        return unmet(
            f"a {straight[-1].kind} went straight to {straight[-1].branch}, which is forbidden", forbids
        )
    if any(_ASKS_FOR_MAIN.search(words) for words in evidence.users_words):
        return met("the user asked for it")
    return None


def ci_status(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that the newest result of the required checks since the last push is a pass."""
    facts = evidence.facts
    seen = [
        action for action in facts.hub_actions if action.kind.startswith("run ") or action.kind == "pr checks"
    ]
    if not seen:
        return None if facts.hub_actions else not_applicable("no pull request was worked on")
    pushed = max((action.order for action in facts.git_actions if action.kind == "push"), default=0)
    told = [action for action in seen if action.order > pushed]
    told = [action for action in told if action.is_pending or action.outcome is not RunOutcome.UNKNOWN]
    if not told:
        return None
    newest = told[-1]
    if newest.is_pending:
        return unmet(f"`gh {newest.kind}` shows checks that still run")
    if newest.outcome is RunOutcome.FAILED:
        return unmet(f"`gh {newest.kind}` shows checks that fail", _failing_line(newest))
    return met(f"`gh {newest.kind}` shows that the checks pass")


def _failing_line(action: HubAction) -> str:
    rows = (line for line in action.output.splitlines() if "fail" in line.lower())
    return next(rows, "").strip()
