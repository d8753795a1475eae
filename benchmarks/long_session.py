"""Writes a long transcript in Claude Code's format: a prompt, then steps of words, a call and its result."""

import json
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

CODE = "    value = compute(previous, current)  # the next one follows from both\n"
SESSION = "3b0f6c1e-1111-4222-8333-444455556666"
_MESSAGE = {"id": "msg_bench", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
_TOOLS = [{"name": name, "description": "x" * 2_000} for name in ("TaskCreate", "TaskUpdate", "TodoWrite")]


def write_session(path: Path, entries: int, *, tasks: int = 0) -> None:
    """Write this many entries of some 700 bytes, and evenly between them those of so many closed tasks."""
    every = max(1, entries // (tasks + 1))
    with path.open("w", encoding="utf-8") as file:
        for number, entry in enumerate(islice(_entries(), entries)):
            more = _task(number // every + 1) if tasks and number % every == 0 else ()
            file.writelines(f"{json.dumps(one, separators=(',', ':'))}\n" for one in (*more, entry))


def _entries() -> Iterator[dict[str, Any]]:
    """A session as Claude Code writes it: a prompt, then steps of words, a call, its result, and so on."""
    yield _entry("user", {"role": "user", "content": "Build the reports, module by module, and test them."})
    number = 0
    while True:
        for tool, given, output in _steps(number):
            yield _said({"type": "text", "text": f"Step {number}: I go on with the module that is next."})
            yield from _called(f"toolu_{number:024}", tool, given, output, {"stdout": output[:1000]})
            yield {"type": "tools-used", "tools": [tool], "sessionId": SESSION}
            number += 1


def _steps(number: int) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Five calls in a row: writing, reading, editing and testing a module, and the list of what is done."""
    path = f"/project/reports/module_{number}.py"
    yield "Write", {"file_path": path, "content": CODE * 12}, f"File created successfully at: {path}"
    yield "Read", {"file_path": path}, "".join(f"{line}\t{CODE}" for line in range(1, 15))
    edit = {"old_string": CODE * 4, "new_string": CODE * 5, "replace_all": False}
    yield "Edit", {"file_path": path, **edit}, f"The file {path} has been updated."
    command = f"cd /project && python -m pytest -q tests/test_module_{number}.py 2>&1 | tail -20"
    output = "." * 600 + f"\n{number} passed in 0.41s"
    yield "Bash", {"command": command, "description": "Test it"}, output
    todos = [
        {"content": f"Module {each}", "status": "completed", "activeForm": f"Writing module {each}"}
        for each in range(max(0, number - 4), number + 4)
    ]
    yield "TodoWrite", {"todos": todos}, "Todos have been modified successfully."


def _task(number: int) -> Iterator[dict[str, Any]]:
    """The entries of a task that is made and done, and the request that Claude Code keeps beside it."""
    yield {"type": "api-request-shape", "sessionId": SESSION, "shape": {"tools": _TOOLS}}
    title = {"subject": f"Task {number}"}
    made = {"task": {"id": str(number), "description": "d", **title}}
    yield from _called(f"create{number}", "TaskCreate", title, f"Task #{number} created", made)
    done = {"taskId": str(number), "status": "completed"}
    yield from _called(
        f"update{number}", "TaskUpdate", done, f"Updated task #{number} status", {"success": True}
    )


def _called(
    id_: str, tool: str, given: dict[str, Any], output: str, data: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    yield _said({"type": "tool_use", "id": id_, "name": tool, "input": given})
    result = {"type": "tool_result", "tool_use_id": id_, "content": output}
    yield _entry("user", {"role": "user", "content": [result]}, toolUseResult=data)


def _said(block: dict[str, Any]) -> dict[str, Any]:
    return _entry("assistant", {**_MESSAGE, "content": [block], "stop_reason": "tool_use"}, madeBy="model")


def _entry(kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    return {
        "parentUuid": str(uuid.uuid4()), "isSidechain": False, "type": kind, "message": message,
        "uuid": str(uuid.uuid4()), "timestamp": "2026-11-21T11:50:53.296Z", "userType": "external",
        "entrypoint": "cli", "cwd": "/project", "sessionId": SESSION, "version": "2.1.329",
        "gitBranch": "main", **more,
    }  # fmt: skip
