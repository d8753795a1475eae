"""Writes a long transcript in Claude Code's format: a prompt, then steps of words, a call and its result."""

import json
import uuid
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

CODE = "    value = compute(previous, current)  # the next one follows from both\n"


def write_session(path: Path, entries: int) -> None:
    """Write this many entries of some 700 bytes."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(entry)}\n" for entry in _entries(entries))


def _entries(count: int) -> Iterator[dict[str, Any]]:
    """A session as Claude Code writes it: a prompt, then steps of words, a call, its result, and so on."""
    yield _entry("user", {"role": "user", "content": "Build the reports, module by module, and test them."})
    steps = cycle((_written, _read, _edited, _tested, _listed))
    made = 1
    for number, step in enumerate(steps):
        tool, given, output = step(number)
        id_ = f"toolu_{number:024}"
        call = {"type": "tool_use", "id": id_, "name": tool, "input": given}
        result = {"type": "tool_result", "tool_use_id": id_, "content": output}
        for entry in (
            _said({"type": "text", "text": f"Step {number}: I go on with the module that is next."}),
            _said(call),
            _entry("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": output[:1000]}),
            {"type": "tools-used", "tools": [tool], "sessionId": "bench"},
        ):
            if made == count:
                return
            made += 1
            yield entry


def _said(block: dict[str, Any]) -> dict[str, Any]:
    message = {
        "id": "msg_bench",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [block],
    }
    return _entry("assistant", {**message, "stop_reason": "tool_use"}, madeBy="model")


def _entry(kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    frame = {
        "parentUuid": str(uuid.uuid4()), "isSidechain": False, "type": kind, "message": message,
        "uuid": str(uuid.uuid4()), "timestamp": "2026-11-21T11:50:53.296Z", "userType": "external",
        "entrypoint": "cli", "cwd": "/project", "sessionId": "bench", "version": "2.1.329",
        "gitBranch": "main",
    }  # fmt: skip
    return {**frame, **more}


def _written(number: int) -> tuple[str, dict[str, Any], str]:
    path = f"/project/reports/module_{number}.py"
    return "Write", {"file_path": path, "content": CODE * 12}, f"File created successfully at: {path}"


def _read(number: int) -> tuple[str, dict[str, Any], str]:
    lines = "".join(f"{line}\t{CODE}" for line in range(1, 15))
    return "Read", {"file_path": f"/project/reports/module_{number - 1}.py"}, lines


def _edited(number: int) -> tuple[str, dict[str, Any], str]:
    path = f"/project/reports/module_{number - 2}.py"
    given = {
        "file_path": path,
        "old_string": CODE * 4,
        "new_string": CODE * 5,
        "replace_all": False,
    }
    return "Edit", given, f"The file {path} has been updated."


def _tested(number: int) -> tuple[str, dict[str, Any], str]:
    command = f"cd /project && python -m pytest -q tests/test_module_{number - 3}.py 2>&1 | tail -20"
    return "Bash", {"command": command, "description": "Test it"}, "." * 600 + f"\n{number} passed in 0.41s"


def _listed(number: int) -> tuple[str, dict[str, Any], str]:
    todos = [
        {"content": f"Module {each}", "status": "completed", "activeForm": f"Writing module {each}"}
        for each in range(max(0, number - 8), number)
    ]
    return "TodoWrite", {"todos": todos}, "Todos have been modified successfully."
