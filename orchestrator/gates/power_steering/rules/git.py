"""Rules about git and the hosting service, by the output of their commands."""

import re

from agents.shell import simple_commands
from agents.transcript.facts.records import HubAction, Outcome
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet
from orchestrator.gates.power_steering.rules.said.phrases import APOSTROPHE, phrases

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
_WANTS_ALL_ANSWERED = phrases(
    r"(?:each|every|all|both)\b[^.\n]{0,40}\b(?:comments?|threads?|points?|remarks?|findings?)",
    r"(?:answer|reply|respond)\w*\b[^.\n]{0,40}\b(?:each|every|all|threads?|them|comments?)",
    r"(?:address|handle|work through)\b[^.\n]{0,20}\b(?:review|comments?)",
)
_NUMBER = re.compile(r"(?<![\w.])\d{4,}(?![\w.])")
_LISTED = re.compile(r"^\W*(?:\"?id\"?\W+)?(\d{4,})\b.*", re.MULTILINE)
_ENOUGH_BODY = 40  # characters that can say what, why and how tested


def no_direct_main_commit(evidence: Evidence) -> Found | None:
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


def ci_status(evidence: Evidence) -> Found | None:
    """Check that the newest result of the required checks since the last push is a pass."""
    facts = evidence.facts
    seen = [
        action for action in facts.hub_actions if action.kind.startswith("run ") or action.kind == "pr checks"
    ]
    if not seen:
        return None if facts.hub_actions else not_applicable("no pull request was worked on")
    pushed = max((action.order for action in facts.git_actions if action.kind == "push"), default=0)
    told = [action for action in seen if action.order > pushed]
    told = [action for action in told if action.is_pending or action.outcome is not Outcome.UNKNOWN]
    if not told:
        return None
    newest = told[-1]
    if newest.is_pending:
        return unmet(f"`gh {newest.kind}` shows checks that still run")
    if newest.outcome is Outcome.FAILED:
        return unmet(f"`gh {newest.kind}` shows checks that fail", _failing_line(newest))
    return met(f"`gh {newest.kind}` shows that the checks pass")


def review_responses(evidence: Evidence) -> Found | None:
    """Check that each listed review comment has a reply, if the user wants all answered and some were.

    It compares the ids in the list that `gh api …/comments` printed with those in the calls that reply. A
    list printed after the first reply holds the session's own comments too and does not count.
    """
    if not any(_WANTS_ALL_ANSWERED.search(words) for words in evidence.users_words):
        return None
    listed: dict[str, str] = {}
    replied: set[str] = set()
    for command in evidence.facts.commands:
        calls = [
            one for one in simple_commands(command.line) if one.name == "gh" and one.plain[:1] == ("api",)
        ]
        if "replies" in command.line or "in_reply_to" in command.line:
            replied |= set(_NUMBER.findall(command.line))
        elif not replied and any("comments" in word for one in calls for word in one.words):
            listed |= {found[1]: found[0] for found in _LISTED.finditer(command.output)}
    left = [line for id_, line in listed.items() if id_ not in replied]
    if not replied & listed.keys() or len(listed) == 1:
        return None
    return unmet("a comment of the reviewer has no reply", left[0].strip()) if left else None


def branch_rebase(evidence: Evidence) -> Found | None:
    """Check that the branch is not behind, by the newest output of git or the hosting service about it."""
    match evidence.facts.is_behind:
        case True:
            return unmet("the branch is behind the one that it belongs to")
        case False:
            return met("the branch is up to date")
        case None:
            return None


def pr_description(evidence: Evidence) -> Found | None:
    """Check that the last `gh pr create` or `gh pr edit` with a body has words in it."""
    given = [
        action
        for action in evidence.facts.hub_actions
        if action.kind in {"pr create", "pr edit"} and action.body is not None
    ]
    if not given:
        opened = any(action.kind.startswith("pr ") for action in evidence.facts.hub_actions)
        return None if opened else not_applicable("no pull request was opened")
    body = (given[-1].body or "").strip()
    if not body:
        return unmet("the pull request's body is empty")
    return met("the pull request has a body", body) if len(body) >= _ENOUGH_BODY else None


def _failing_line(action: HubAction) -> str:
    rows = (line for line in action.output.splitlines() if "fail" in line.lower())
    return next(rows, "").strip()
