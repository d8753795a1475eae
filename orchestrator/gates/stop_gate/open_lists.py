"""Whether a transcript's todo list may hold open items: a look at its bytes, for a stop that has no time.

What the step of todos would count is counted here, and no more of the file is parsed than the calls of the
list tools and their results. What is not as Claude Code writes it counts as open: the step looks closely.
"""

import os
from stat import S_ISREG

from orchestrator.gates.stop_gate import quick_json

MOST_READ = 20_000_000  # bytes of a file, from its end
CLOSED = ("completed", "deleted", "cancelled")
_REQUEST = b'{"type":"api-request'  # whole requests, kept beside the conversation: none of its words
_SPOKEN = b'"type":"assistant"'
_FEEDBACK = b" hook feedback:"
_WRITE, _TASK = b'"TodoWrite"', b'"Task'  # the list tools; and few lines besides


def end_of(path: str) -> bytes:
    """The end of a file, as much as is looked at. OSError: it cannot be read, or is no plain file."""
    with open(path, "rb", opener=_opened) as file:
        about = os.fstat(file.fileno())
        if not S_ISREG(about.st_mode):  # a named pipe would be waited for
            raise OSError(f"{path} is no file")
        file.seek(max(0, about.st_size - MOST_READ))
        return file.read(MOST_READ)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def may_be_open(path: str) -> bool:
    """Whether an item may be open, or went off the list after a hook held the session; no file: no."""
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
    """The items that TodoWrite wrote last; None where it wrote nothing."""
    start = len(text)
    while (at := text.rfind(_WRITE, 0, start)) >= 0:
        line, end = _line_around(text, at)
        start = end - len(line)
        for call in reversed(_calls(line, "TodoWrite")):
            if text.find(_quoted(call["id"]), 0, start) >= 0:
                raise ValueError(line)  # the call stands there twice
            if _answer(text, call["id"], end):
                return list(call["input"]["todos"])
    return None


def _follow(tasks: dict[str, str], call: dict, words: object, data: dict) -> None:  # type: ignore[type-arg]
    """Note in `tasks` what a call of a task tool did, by its result."""
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
    """The line that a place is in, and where it ends."""
    end = text.find(b"\n", at)
    end = end if end >= 0 else len(text)
    return text[text.rfind(b"\n", 0, at) + 1 : end], end


def _entry(line: bytes, kind: str) -> dict:  # type: ignore[type-arg]
    """The line, if it is one of this kind; else nothing. ValueError: it is a subagent's."""
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
    """A call's result: its text, and what the CLI notes beside it; None where it failed or has none."""
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
    """An id as it stands in the file. ValueError: nobody knows how."""
    if not id_.isascii() or not id_.replace("_", "").replace("-", "").isalnum():
        raise ValueError(id_)
    return b'"%s"' % id_.encode()
