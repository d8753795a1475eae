"""Examine a session: find its type, check each consideration, and decide.

The type follows from the actions for the current goal, and words only break ties. In another program words
decided: "async" and "checkout page" made a simple session, which was not checked.

Commands outside a run have a judge by key, by the login of the CLI, or none.
"""

import re
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from agents.access import Credentials, find_connection
from agents.api_key import read_key
from agents.asker import make_asker
from agents.claude_code.executable import find_cli
from agents.process.containment import detect_containment
from agents.sdks import AGENT_SDK, API_SDK, import_sdks
from agents.transcript.render import rendered
from orchestrator.gates.power_steering.considerations import Consideration, PromptKind, SessionType
from orchestrator.gates.power_steering.examination import Examination, Judge, decide
from orchestrator.gates.power_steering.facts import Edit, RuleOutcome, SessionEvidence, waits_for_user
from orchestrator.gates.power_steering.judging import TOGETHER, Cut, SessionLook, judge_all, room_for
from orchestrator.gates.session_state.records import CheckOutcome, CheckResults
from orchestrator.project.shell import simple_commands
from state.errors import UsageError
from state.settings.records import Model
from state.truncation import completion_claims
from state.verdicts import CheckResult, Source

Rules = Mapping[str, Callable[[SessionEvidence], RuleOutcome | None]]
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


async def examine(
    evidence: SessionEvidence,
    considerations: Sequence[Consideration],
    judge: Judge,
    rules: Rules,
    *,
    session_type: SessionType | None = None,
    before: Mapping[str, str] | None = None,
    cut: Cut = lambda cut: cut.text,
) -> Examination:
    """Check a session by the considerations for its type. An error in a check is never raised.

    Args:
        considerations: all that may be asked. Those for other types of session are left out.
        judge: the judge, which is asked first.
        rules: by name, the fallbacks for checks without a judge's answer.
        session_type: the type if it is known. Otherwise it is derived from the session's actions.
        before: by id, why a consideration was not met last time.
        cut: receives every reason and quote that is cut.
    """
    kind = session_type or session_type_of(evidence)
    asked = {one.id: one for one in considerations if one.is_for(kind)}
    room = room_for(judge.model, min(judge.together, len(asked)))
    look = SessionLook(
        session=rendered(evidence.transcript, room) if judge.ask else "",
        model=judge.model,
        caller=judge.caller,
        ask=judge.ask,
        before=before or {},
        rules={name: partial(rule, evidence) for name, rule in rules.items()},
        together=judge.together,
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
    evidence: SessionEvidence, asked: Mapping[str, Consideration], results: Sequence[CheckResult]
) -> CheckResults:
    """The results in seed 001's figures. Checks that did not apply have no weight."""
    outcomes = [
        CheckOutcome(
            satisfied=result.satisfied,
            blocker=result.blocker,
            workflow=asked[result.consideration_id].kind is PromptKind.WORKFLOW,
            made=result.source is not Source.NOT_CHECKED,
        )
        for result in results
        if result.applies
    ]
    files = dict.fromkeys(edit.path for edit in evidence.facts.edits)
    return CheckResults.of(files, outcomes)


def waiting_for(evidence: SessionEvidence) -> str:
    """Return what a stopped session waits for, so that it is not judged, or "" if it claims to be done."""
    facts = evidence.facts
    if evidence.transcript.plan_mode:
        return "it is planning, and waits for its plan to be accepted"
    if asked := waits_for_user(facts):
        return asked
    return f"work is still running in the background: {facts.running[-1].what}" if facts.running else ""


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
    if edits and any(_hands_in(line) for line in lines):
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


def _hands_in(line: str) -> bool:
    """Whether a command works on a pull request."""
    called = (" ".join(simple.plain[:2]) for simple in simple_commands(line) if simple.name == "gh")
    return not _HANDS_IN.isdisjoint(called)


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


@asynccontextmanager
async def judge_here(model: Model, environ: Mapping[str, str], *, rules_only: bool) -> AsyncIterator[Judge]:
    """Provide the judge while the block runs. There is none without credentials or if `rules_only`."""
    if rules_only:
        yield Judge(model=model, ask=None)
        return
    with tempfile.TemporaryDirectory(prefix="sq-judge-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        cli = find_cli()
        try:
            connection = find_connection(read_key(environ), environ, cli=cli, config_dir=folder / "claude")
        except UsageError:
            yield Judge(model=model, ask=None)
            return
        is_cli = connection.credentials is Credentials.CLI_LOGIN  # a process of 180 MB for each call
        import_sdks(AGENT_SDK if is_cli else API_SDK)
        _, asker = make_asker(
            connection, cli=cli, folder=folder, containment=detect_containment(environ), environ=environ
        )
        yield Judge(model=model, ask=asker.ask, together=TOGETHER if is_cli else 1)
