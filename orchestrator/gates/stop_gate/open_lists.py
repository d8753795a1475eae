"""Whether a transcript's todo list may hold open items, by a fast search in its bytes.

It counts the same items as the step of todos, and parses only the calls of the list tools and their results.
A transcript in another form than Claude Code's counts as open, so that the step looks closely.
"""

import os
from stat import S_ISREG

from orchestrator.gates.stop_gate import quick_json

MOST_READ = 20_000_000  # bytes of a file, from its end
CLOSED = ("completed", "deleted", "cancelled")
_REQUEST = b'{"type":"api-request'  # whole requests, kept beside the conversation
_SPOKEN = b'"type":"assistant"'
_FEEDBACK = b" hook feedback:"
_WRITE, _TASK = b'"TodoWrite"', b'"Task'  # in calls of the list tools, and in few other lines


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


def may_be_open(path: str) -> bool:
    """Whether an item may be open, or left the list after a hook held the session. False without a file."""
    try:
        text = end_of(path)
    except (OSError, ValueError):
        return False
    if len(text) == MOST_READ and _SPOKEN not in text:
        return True
    try:
        return _is_open(text)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True


def _is_open(text: bytes) -> bool:
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
    entry = quick_json.loads(line)
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
