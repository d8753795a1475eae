"""Find a session's type from the actions for the current goal. Words only break ties.

In another program words decided: "async" and "checkout page" made a simple session, which was not checked.
"""

import re
from pathlib import PurePosixPath

from orchestrator.gates.power_steering.considerations import SessionType
from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.facts.records import Edit
from orchestrator.project.shell import simple_commands

_FEW_LOOKS = 1  # more looks are an investigation
_LOOKING_TOOLS = frozenset(
    {"Read", "Grep", "Glob", "WebFetch", "WebSearch", "Agent", "Task", "LSP", "NotebookRead"}
)
_LOOKING_PROGRAMS = frozenset(
    {"cat", "grep", "rg", "ag", "git", "head", "tail", "sed", "awk", "find", "less"}
)
_UPKEEP_NAMES = re.compile(
    r"(?:requirements.*\.(?:txt|in)|pyproject\.toml|setup\.cfg|tox\.ini|.*\.lock|package(?:-lock)?\.json|pnpm-lock\.yaml"
    r"|cargo\.toml|go\.(?:mod|sum)|gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|\..*|renovate\.json"
    r"|ruff\.toml|mypy\.ini|.*\.csproj|dependabot\.ya?ml)\Z",
    re.IGNORECASE,
)
_UPKEEP_FOLDERS = frozenset({".github", ".circleci", ".vscode"})
# Programs that change something outside the files of the project.
_OPERATIONS = {
    "git": (
        "commit", "push", "merge", "rebase", "tag", "cherry-pick", "revert", "branch", "stash", "checkout",
        "switch", "reset", "pull", "worktree", "clean",
    ),
    "gh": ("merge", "create", "edit", "close", "run", "rerun", "release", "workflow"),
    "docker": ("build", "push", "run", "stop", "rm", "restart", "compose", "prune"),
    "kubectl": ("apply", "delete", "rollout", "scale", "create", "patch", "restart"),
    "helm": ("install", "upgrade", "uninstall", "rollback"),
    "terraform": ("apply", "destroy", "import"),
    "systemctl": ("restart", "start", "stop", "enable", "disable", "reload"),
    "npm": ("publish",), "twine": ("upload",), "aws": (), "gcloud": (), "az": (), "ansible-playbook": (),
    "rm": (), "mv": (), "ssh": (), "scp": (), "rsync": (), "crontab": (), "kill": (), "pkill": (),
}  # fmt: skip
_HANDS_IN = frozenset({"pr create", "pr checks", "pr ready", "pr merge", "pr comment"})
_CODE_BY_GIT = frozenset({"revert", "cherry-pick", "apply", "am"})
_WANTS_TO_KNOW = re.compile(
    r"\b(?:investigat|analy[sz]|explain|find out|figure out|why|how does|look into|research|understand|compar"
    r"|audit|diagnos|report)",
    re.IGNORECASE,
)


def session_type_of(evidence: SessionEvidence) -> SessionType:
    """The type of a session: it changed code, only did upkeep, operated something, looked at it, or answered.

    Changes of any files for a pull request are development.
    """
    facts, start = evidence.facts, evidence.goal_turn
    edits = [edit for edit in facts.edits if edit.turn >= start]
    lines = [command.line for command in facts.commands if command.turn >= start]
    if any(_changes_code(line) for line in lines) or any(
        edit.is_code and not _is_upkeep(edit) for edit in edits
    ):
        return SessionType.DEVELOPMENT
    if edits and any(action.kind in _HANDS_IN for action in facts.hub_actions if action.turn >= start):
        return SessionType.DEVELOPMENT
    if edits:
        documents_only = all(edit.is_document or not edit.is_code for edit in edits)
        if documents_only and _wants_to_know(evidence):
            return SessionType.INVESTIGATION
        return SessionType.MAINTENANCE
    if any(_operates(line) for line in lines):
        return SessionType.OPERATIONS
    if not any(call.turn >= start for call in facts.calls):
        return SessionType.INFORMATIONAL
    looks = sum(call.turn >= start and call.tool in _LOOKING_TOOLS for call in facts.calls)
    looks += sum(_looks(line) for line in lines)
    return SessionType.INVESTIGATION if looks > _FEW_LOOKS else SessionType.SIMPLE


def _is_upkeep(edit: Edit) -> bool:
    pure = PurePosixPath(edit.path)
    return bool(_UPKEEP_NAMES.match(pure.name)) or not _UPKEEP_FOLDERS.isdisjoint(pure.parts)


def _changes_code(line: str) -> bool:
    """Whether git itself changes the code, as by a revert or a cherry-pick."""
    return any(
        simple.name == "git" and not _CODE_BY_GIT.isdisjoint(simple.plain[:1])
        for simple in simple_commands(line)
    )


def _operates(line: str) -> bool:
    for simple in simple_commands(line):
        verbs = _OPERATIONS.get(simple.name)
        if verbs is not None and (not verbs or not set(verbs).isdisjoint(simple.plain[:3])):
            return True
    return False


def _looks(line: str) -> bool:
    return any(simple.name in _LOOKING_PROGRAMS for simple in simple_commands(line)[:1])


def _wants_to_know(evidence: SessionEvidence) -> bool:
    asked = [goal.text for goal in evidence.facts.goals if goal.turn >= evidence.goal_turn]
    return any(_WANTS_TO_KNOW.search(text) for text in asked)
