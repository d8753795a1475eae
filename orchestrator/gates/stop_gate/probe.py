"""A cheap check that runs on every stop: whether any step of the gate can apply to it.

It imports only modules that read files. In doubt a step applies and looks closely itself.
"""

import os

from orchestrator.gates.stop_gate import open_lists, quick_json

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from collections.abc import Mapping

_PROMISES = (".claude", "completion-state", "promises")
_ENDED = ("completed", "failed", "killed", "stopped")


def runs_on(given: dict[str, object]) -> bool:
    """Whether work goes on without the session: running background tasks, or scheduled prompts."""
    tasks, crons = given.get("background_tasks"), given.get("session_crons")
    running = isinstance(tasks, list) and any(_is_running(task) for task in tasks)
    return running or bool(crons)


def _is_running(task: object) -> bool:
    return not isinstance(task, dict) or task.get("status") not in _ENDED


def project_of(given: "Mapping[str, object]", environ: "Mapping[str, str]" = os.environ) -> str:
    """The folder that Claude Code began in if it exists, else the one that it works in."""
    for folder in (environ.get("CLAUDE_PROJECT_DIR"), given.get("cwd")):
        if isinstance(folder, str) and os.path.isdir(folder):
            return os.path.abspath(folder)
    return os.getcwd()


def may_apply(given: dict[str, object]) -> bool:
    """Whether a step besides power steering can apply. Raises `OSError` if the working folder is gone."""
    session = os.environ.get("CLAUDE_SESSION_ID") or given.get("session_id")
    if isinstance(session, str) and session.startswith(("orch-", "system3-")):
        return True
    if _holds_work(project_of(given)):
        return True
    return has_open_tasks(given.get("session_id")) or has_open_todos(given.get("transcript_path"))


def _holds_work(project: str) -> bool:
    return os.path.isdir(os.path.join(project, ".beads")) or has_promises(project)


def has_promises(project: str) -> bool:
    """Whether the checkout around a folder has any file of a promise."""
    top = here = os.path.realpath(project)
    while not os.path.exists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            top = here
            break
        top = os.path.dirname(top)
    try:
        return any(name.endswith(".json") for name in os.listdir(os.path.join(top, *_PROMISES)))
    except (OSError, ValueError):
        return False


def has_open_tasks(session: object) -> bool:
    """Whether one of Claude Code's task files has an open task."""
    if not isinstance(session, str) or not session.replace("-", "").isalnum():
        return False
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.environ.get("HOME", "/"), ".claude")
    folder = os.path.join(config, "tasks", session)
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except (OSError, ValueError):
        return False
    return any(_is_open(os.path.join(folder, name)) for name in names)


def _is_open(file: str) -> bool:
    try:
        task = quick_json.loads(open_lists.end_of(file))
    except (OSError, ValueError, RecursionError):
        return True  # in doubt the step looks closely
    return not isinstance(task, dict) or task.get("status") not in open_lists.CLOSED


def has_open_todos(path: object) -> bool:
    """Whether the transcript may hold an open item, or one that left the list after the gate held it."""
    return isinstance(path, str) and bool(path) and open_lists.may_be_open(path)
