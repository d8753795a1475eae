"""A cheap check that runs on every stop: whether any step of the gate can apply to it.

It imports only modules that read files. In doubt a step applies and looks closely itself. It counts the same
open items as the step of todos, by a fast search in the bytes of the transcript, and parses only the calls of
the list tools and their results.
"""

import json
import os
from stat import S_ISREG

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST_READ = 20_000_000  # bytes of a file, from its end
CLOSED = ("completed", "deleted", "cancelled")
_WRITE, _TASK = b'"TodoWrite"', b'"Task'  # in calls of the list tools, and in few other lines
_REQUEST = b'{"type":"api-request'  # whole requests, kept beside the conversation
_SPOKEN = b'"type":"assistant"'
_FEEDBACK = b" hook feedback:"
_VERIFY_VARIABLE = "SQ_GATE_VERIFY"
_USERS = ("sq", "config.toml")  # as state.settings.sources.user_file
_ON_A_MAC = ("Library", "Application Support")
_PROMISES = (".claude", "completion-state", "promises")
NO_KEY = "the System 3 judge was skipped: ANTHROPIC_API_KEY is not set"
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
    session = _session_of(given)
    return (
        session.startswith(("orch-", "system3-"))
        or _holds_work(given, session)
        or may_verify(project_of(given))
    )


def only_lacks_a_key(given: dict[str, object]) -> bool:
    """Whether no step but the System 3 judge can apply, which is skipped with `NO_KEY`."""
    session = _session_of(given)
    is_plain = f"{session}{given.get('session_id')}{given.get('prompt_id')}".isprintable()  # or it is refused
    without = session.startswith("system3-") and not os.environ.get("ANTHROPIC_API_KEY")
    return without and is_plain and not _holds_work(given, session)


def _session_of(given: dict[str, object]) -> str:
    session = os.environ.get("CLAUDE_SESSION_ID") or given.get("session_id")
    return session if isinstance(session, str) else ""


def _holds_work(given: dict[str, object], session: str) -> bool:
    project = project_of(given)
    if os.path.isdir(os.path.join(project, ".beads")):
        return True
    if not all(_is_settled(file, session) for file in _promise_files(project)):
        return True
    transcript = transcript_of(given)
    if given.get("transcript_path") and not transcript:
        return True  # which is said
    return has_open_tasks(given.get("session_id")) or has_open_todos(transcript)


def transcript_of(given: "Mapping[str, object]", environ: "Mapping[str, str]" = os.environ) -> str:
    """Return the session's transcript, "" without one: the one that is named, else that of the session's id.

    In a worktree Claude Code may name a folder of the worktree, and write to that of the main checkout
    (anthropics/claude-code #44450).
    """
    path, session = given.get("transcript_path"), given.get("session_id")
    if not isinstance(path, str) or not path or os.path.exists(path):
        return path if isinstance(path, str) else ""
    if not isinstance(session, str) or not session.replace("-", "").isalnum():
        return ""
    projects = os.path.join(config_folder(environ), "projects")
    try:
        found = [os.path.join(projects, name, f"{session}.jsonl") for name in os.listdir(projects)]
    except (OSError, ValueError):
        return ""
    return next((file for file in found if os.path.isfile(file)), "")


def config_folder(environ: "Mapping[str, str]") -> str:
    """As `agents.login.config_folder`, which costs more to import."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME", "/"), ".claude")


def _is_settled(file: str, session: str) -> bool:
    from orchestrator.gates.promise_seals import is_settled

    try:
        return is_settled(parse_json(end_of(file)), os.path.basename(file), session)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def has_promises(project: str) -> bool:
    """Whether the checkout around a folder has any file of a promise."""
    return bool(_promise_files(project))


def may_verify(project: str, environ: "Mapping[str, str]" = os.environ) -> bool:
    """Whether `gate.verify` may be set for a folder. False outside of a checkout."""
    top = _top_of(project)
    if not os.path.exists(os.path.join(top, ".git")):
        return False
    if _VERIFY_VARIABLE in environ:
        return True
    home = environ.get("HOME", "/")
    folders = (
        environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        os.path.join(home, *_ON_A_MAC),
    )
    return any(
        map(_sets_verify, (os.path.join(top, "sq.toml"), *(os.path.join(one, *_USERS) for one in folders)))
    )


def _sets_verify(file: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        text = end_of(file)
    except (OSError, ValueError):
        return False
    return b"gate" in text and b"verify" in text


def _top_of(project: str) -> str:
    top = here = os.path.realpath(project)
    while not os.path.exists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            return here
        top = os.path.dirname(top)
    return top


def _promise_files(project: str) -> list[str]:
    folder = os.path.join(_top_of(project), *_PROMISES)
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json")]
    except (OSError, ValueError):
        return []


def has_open_tasks(session: object) -> bool:
    """Whether one of Claude Code's task files has an open task."""
    if not isinstance(session, str) or not session.replace("-", "").isalnum():
        return False
    folder = os.path.join(config_folder(os.environ), "tasks", session)
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except (OSError, ValueError):
        return False
    return any(_is_open(os.path.join(folder, name)) for name in names)


def _is_open(file: str) -> bool:
    try:
        task = parse_json(end_of(file))
    except (OSError, ValueError, RecursionError):
        return True  # in doubt the step looks closely
    return not isinstance(task, dict) or task.get("status") not in CLOSED


def has_open_todos(path: object) -> bool:
    """Whether the transcript may hold an open item, or one that left the list after the gate held it."""
    return isinstance(path, str) and bool(path) and may_be_open(path)


def may_be_open(path: str) -> bool:
    """Whether an item may be open, or left the list after a hook held the session. False without a file."""
    try:
        text = end_of(path)
    except (OSError, ValueError):
        return False
    if len(text) == MOST_READ and _SPOKEN not in text:
        return True
    try:
        return _has_open_item(text)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True


def end_of(path: str) -> bytes:
    """Return the end of a file, at most `MOST_READ` bytes. Raises `OSError` if it is not a readable file."""
    with open(path, "rb", opener=_opened) as file:
        about = os.fstat(file.fileno())
        if not S_ISREG(about.st_mode):  # reading a named pipe would wait
            raise OSError(f"{path} is no file")
        file.seek(max(0, about.st_size - MOST_READ))
        return file.read(MOST_READ)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _has_open_item(text: bytes) -> bool:
    todos = _last_list(text)
    tasks: dict[str, str] = {}
    seen: set[str] = set()
    end = 0
    while (at := text.find(_TASK, end)) >= 0:
        line, end = _line_around(text, at)
        for call in _calls(line, "TaskCreate", "TaskUpdate", "TaskList"):
            if call["id"] not in seen and (answer := _answer(text, call["id"], end)):
                _follow(tasks, call, *answer)
            seen.add(call["id"])
    states = [*(todo["status"] for todo in todos or ()), *tasks.values()]
    if any(state not in CLOSED for state in states):
        return True
    gone = todos is not None or any(state != "completed" for state in states)
    return gone and _FEEDBACK in text


def _last_list(text: bytes) -> list[dict] | None:  # type: ignore[type-arg]  # typing would be imported
    """The items that TodoWrite wrote last, or None if it wrote nothing."""
    start = len(text)
    while (at := text.rfind(_WRITE, 0, start)) >= 0:
        line, end = _line_around(text, at)
        start = end - len(line)
        for call in reversed(_calls(line, "TodoWrite")):
            if text.find(_quoted(call["id"]), 0, start) >= 0:
                raise ValueError(line)  # the call is there twice
            if _answer(text, call["id"], end):
                return list(call["input"]["todos"])
    return None


def _follow(tasks: dict[str, str], call: dict, words: object, data: dict) -> None:  # type: ignore[type-arg]
    """Update `tasks` by one call of a task tool and its result."""
    given = call["input"]
    if call["name"] == "TaskCreate":
        tasks[_name(data["task"])] = "pending"
    elif call["name"] == "TaskList":
        for task in data["tasks"]:
            tasks.setdefault(_name(task), task["status"])
    elif isinstance(words, str) and words.startswith("Updated task"):
        task = _name({"id": given["taskId"]})
        tasks[task] = given.get("status") or tasks.get(task, "pending")


def _name(task: dict) -> str:  # type: ignore[type-arg]
    name = task["id"]
    if not isinstance(name, str) or not name:
        raise TypeError(name)
    return name


def _line_around(text: bytes, at: int) -> tuple[bytes, int]:
    """The line around a position, and where it ends."""
    end = text.find(b"\n", at)
    end = end if end >= 0 else len(text)
    return text[text.rfind(b"\n", 0, at) + 1 : end], end


def _entry(line: bytes, kind: str) -> dict:  # type: ignore[type-arg]
    """Parse a line of this kind. Returns {} for another kind. Raises `ValueError` for a subagent's line."""
    if line.startswith(_REQUEST):
        return {}
    entry = parse_json(line)
    if entry.get("isSidechain") is True:
        raise ValueError(kind)
    return entry if entry.get("type") == kind else {}


def _calls(line: bytes, *tools: str) -> list[dict]:  # type: ignore[type-arg]
    entry = _entry(line, "assistant")
    blocks = entry["message"]["content"] if entry else ()
    return [block for block in blocks if block.get("type") == "tool_use" and block.get("name") in tools]


def _answer(text: bytes, call: str, start: int) -> tuple[object, dict] | None:  # type: ignore[type-arg]
    """A call's result: its text, and the data that the CLI adds. None if the call failed or has no result."""
    mark = _quoted(call)
    while (at := text.find(mark, start)) >= 0:
        line, start = _line_around(text, at)
        entry = _entry(line, "user")
        for block in entry["message"]["content"] if entry else ():
            if block.get("tool_use_id") == call and block.get("is_error") is not True:
                words, data = block["content"], entry.get("toolUseResult")
                words = words[0].get("text") if isinstance(words, list) else words
                return words, data if isinstance(data, dict) else {}
    return None


def _quoted(id_: str) -> bytes:
    """Return an id as the file has it. Raises `ValueError` for an id that JSON would escape."""
    if not id_.isascii() or not id_.replace("_", "").replace("-", "").isalnum():
        raise ValueError(id_)
    return b'"%s"' % id_.encode()


def parse_json(data: bytes) -> "Any":  # noqa: ANN401  JSON
    """The value in UTF-8 text. Raises `ValueError` if it is not JSON, `RecursionError` if too deep."""
    return json.loads(data.decode("utf-8", "surrogatepass").strip(" \t\n\r"))
