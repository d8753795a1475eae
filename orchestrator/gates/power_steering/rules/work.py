"""Rules about a session's obligations: its todo list, skills that the user called, git, and checks of CI."""

import re
from collections.abc import Iterator

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

_TAKEN_BACK = phrases(
    "forget", "instead", "never ?mind", "leave (?:it|that|the rest)", "skip", "drop", "stop",
    f"don{APOSTROPHE}t",
    "no longer", "cancel", "abandon", "put .{0,20}aside", "not needed", "changed my mind", "scrap", "rather",
)  # fmt: skip
_SKILL_NAMED = re.compile(
    r"\b(?:use|run|invoke|call|apply|follow|with)\s+(?:the\s+|my\s+|our\s+|your\s+)?"
    r"(?:[`\"'](?P<quoted>/?[\w:-]+)[`\"']|(?P<plain>/?\w+(?:[-:]\w+)+))\s+(?:skill"
    r"|(?:slash\s+)?command)\b",
    re.IGNORECASE,
)
_SLASHED = re.compile(  # a path of a web application looks the same: "/orders is slow"
    r"(?:\b(?:use|run|call|invoke|apply|follow|with|via|start|do|through)\s+(?:the\s+|my\s+|our\s+)?[`\"']?"
    r"|^[`\"']?(?=/\S+\s*$)|(?<![\w/.:`])(?=/\w+[-:_]))"
    r"/([a-z][a-z0-9]*(?:[-:_][a-z0-9]+)*)(?![\w/.*])",
    re.IGNORECASE | re.MULTILINE,
)
_OF_THE_CLI = frozenset({
    "help", "clear", "compact", "model", "config", "cost", "exit", "quit", "resume", "status", "login",
    "logout", "memory", "permissions", "hooks", "mcp", "agents", "doctor", "context", "export", "vim",
    "fast", "plan", "rewind", "usage",
})  # fmt: skip
_PATHS = frozenset({
    "etc", "tmp", "usr", "var", "opt", "home", "srv", "dev", "root", "bin", "api", "health", "v1", "v2",
    "users",
})  # fmt: skip
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


def todos_complete(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that every item of the todo list is closed after the last call."""
    facts = evidence.facts
    if not facts.todos:
        return not_applicable("there is no todo list")
    left = facts.open_todos
    if not left:
        return met(f"all {len(facts.todos)} items of the list are closed")
    if any(goal.turn > facts.todos_turn and _TAKEN_BACK.search(goal.text) for goal in facts.goals):
        return None
    return unmet(f"{len(left)} of {len(facts.todos)} todo items are open", left[0].text)


def skill_invocation(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that each skill or command that the user called was expanded, called, or its file read."""
    called = dict(_called(evidence))
    if not called:
        return not_applicable("the user called no skill")
    used = {skill.name.lower().rsplit(":", 1)[-1] for skill in evidence.facts.skills}
    read = [reading.path.lower() for reading in evidence.facts.reads]
    for name, expanded in called.items():
        short = name.rsplit(":", 1)[-1]
        files = (f"/{short}/skill.md", f"/{short}.md")
        if not (expanded or short in used or any(path.endswith(files) for path in read)):
            return unmet(f"the user called {name}, and it was not used")
    return met(f"used as the user called: {', '.join(called)}")


def _called(evidence: SessionEvidence) -> Iterator[tuple[str, bool]]:
    """The skills and commands that the user called, and whether the CLI expanded each."""
    for words in evidence.users_words:
        for named in _SKILL_NAMED.finditer(words):
            yield (named["quoted"] or named["plain"]).lstrip("/").lower(), False
        for named in _SLASHED.finditer(words):
            if named[1] not in _OF_THE_CLI and named[1] not in _PATHS:
                yield named[1], False
    for command in evidence.facts.typed_commands:
        name = command.name.lstrip("/").lower()
        if name not in _OF_THE_CLI and (command.is_expanded or command.text.strip() == f"/{name}"):
            yield name, command.is_expanded


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
