"""Measures the cost of the stop gate: the hook as Claude Code calls it, a process each time.

    python -m benchmarks.stop_gate
    python -m benchmarks.stop_gate --floor    # stops without a model alone: exit code 1 if one is too slow

- Ordinary: `sq hook stop` by `sh -c`, with a transcript of 5 MB as Claude Code writes it (requests and tools
  beside the conversation, every task closed), power steering off. Compared with `python -I -c pass`.
- Promises: the same in a project with a kept promise of this session and one of another.
- No key: the same of a System 3 session without `ANTHROPIC_API_KEY`, in milliseconds beside the ordinary one
  (the least of each).
- Judge: the whole hook of a System 3 session with the same transcript, compared with `claude -p --model
  haiku`. Both ask one server here, whose model takes no time.
- A model that takes 3 seconds, and the memory of the hook with the judge (its largest resident set).

The sides take turns, and the medians are reported. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import click

from agents.access import OURS, QUIET
from agents.claude_code.executable import find_cli
from agents.gateway import wire
from agents.gateway.position import Due
from agents.gateway.script import ScriptReply, ScriptUsage
from benchmarks.figures import print_figures, print_spans, served
from orchestrator.gates.promise_evidence import evidence_now
from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion, PromiseStore
from orchestrator.gates.stop_gate.probe import NO_KEY

PASS = [sys.executable, "-I", "-c", "pass"]
MODULE = f'"{sys.executable}" -I -m orchestrator.cli hook stop'
SCRIPT = Path(sys.executable).with_name("sq")  # the console script, where sq is installed and no checkout
ORDINARY, PROMISED = "project", "promises"  # the folders of the two projects
SKIPPED = f'{{"systemMessage": "{NO_KEY}"}}\n'
ENTRIES = 7_000  # some 5 MB
TASKS = 60
MOST_ORDINARY = 6.0  # times a bare Python
# The floor is above the goals, so that a busy machine does not matter.
GOALS = {"ordinary_ratio": 3.0, "promise_ratio": 3.0, "no_key_more_ms": 10.0}
FLOOR = {"ordinary_ratio": MOST_ORDINARY, "promise_ratio": 5.0, "no_key_more_ms": 40.0}
_KEPT = ("PATH", "LANG", "TZ")
_BYTES = 1 << 20
ENDS = ScriptReply(structured={"should_continue": False, "reason": "All of it is closed.", "suggestion": ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRun:
    """A process from start to end: seconds, its largest resident set in MB, and what it printed."""

    seconds: float
    rss_mb: float
    told: str = ""


@click.command()
@click.option("--times", default=20, show_default=True, help="Processes of each kind.")
@click.option("--model-s", default=3.0, show_default=True, help="Seconds that the slow model takes.")
@click.option("--entries", default=ENTRIES, show_default=True, help="Entries of the transcript.")
@click.option("--floor", is_flag=True, help="Measure no judge. Exit code 1 if a stop is too slow.")
def main(times: int, model_s: float, entries: int, *, floor: bool) -> None:
    """Measure the cost of the stop gate."""
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
        folder = Path(name)
        for home in (ORDINARY, PROMISED, "home"):
            (folder / home).mkdir()
        _make_promises(folder / PROMISED)
        write_session(folder / "session.jsonl", entries, tasks=TASKS)
        size = (folder / "session.jsonl").stat().st_size / _BYTES
        found = _ordinary(folder, times)
        least = {name: 1000 * min(one.seconds for one in ones) for name, ones in found.items()}
        figures = {
            "ordinary_ratio": _ratio(found, "ordinary stop", "python -c pass"),
            "promise_ratio": _ratio(found, "promises", "python -c pass"),
            "no_key_more_ms": round(least["no key"] - least["ordinary stop"], 1),
        }
        if floor:
            print_figures({**figures, "most": MOST_ORDINARY}, FLOOR)
            sys.exit(any(figures[name] > most for name, most in FLOOR.items()))
        with _serving() as address:
            found |= _judged(folder, times, {"ANTHROPIC_BASE_URL": address})
        with _serving(seconds=model_s) as address:
            slow = [_hook(folder, _system3(folder, {"ANTHROPIC_BASE_URL": address})) for _ in range(3)]
    print(f"a transcript of {size:.1f} MB, {times} processes of each kind")
    spans = {**found, f"judge, model of {model_s:g} s": slow}
    print_spans({name: [1000 * one.seconds for one in ones] for name, ones in spans.items()})
    print_figures(
        {
            **figures,
            "judge_ratio": _ratio(found, "judge", "claude -p"),
            "ordinary_ms": round(1000 * _middle(found["ordinary stop"]), 1),
            "judge_ms": round(1000 * _middle(found["judge"]), 1),
            "judge_slow_model_s": round(_middle(slow), 2),
            "rss_mb": round(max(one.rss_mb for one in found["judge"]), 1),
        },
        GOALS,
    )


def _ordinary(folder: Path, times: int) -> dict[str, list[ProcessRun]]:
    """Measure the bare interpreter and the hook in turn, and the console script if there is one."""
    environ = _environ(folder)
    ways: dict[str, Callable[[], ProcessRun]] = {
        "python -c pass": lambda: _run(PASS, folder, environ, b""),
        "ordinary stop": lambda: _hook(folder, environ),
        "promises": lambda: _hook(folder, environ, project=PROMISED),
        "no key": lambda: _hook(folder, {**environ, "CLAUDE_SESSION_ID": "system3-benchmark"}, says=SKIPPED),
    }
    if SCRIPT.exists():
        ways["ordinary stop, console script"] = lambda: _hook(folder, environ, f'"{SCRIPT}" hook stop')
    return _in_turn(ways, times)


def _in_turn(ways: Mapping[str, Callable[[], ProcessRun]], times: int) -> dict[str, list[ProcessRun]]:
    found: dict[str, list[ProcessRun]] = {name: [] for name in ways}
    for _ in range(times):
        for name, run in ways.items():
            found[name].append(run())
    return found


def _judged(folder: Path, times: int, environ: Mapping[str, str]) -> dict[str, list[ProcessRun]]:
    """Measure the hook of a System 3 session and Claude Code as the judge, in turn."""
    claude = [str(find_cli()), "-p", "--model", "haiku", "Should the session go on?"]
    asking = {**_environ(folder), **QUIET, **environ, "ANTHROPIC_API_KEY": "benchmark"}
    _run(claude, folder, asking, b"")  # the first start makes its folders
    ways: dict[str, Callable[[], ProcessRun]] = {
        "judge": lambda: _hook(folder, _system3(folder, environ)),
        "claude -p": lambda: _run(claude, folder, asking, b""),
    }
    return _in_turn(ways, times)


# --- processes --------------------------------------------------------------------------------------------


def _hook(
    folder: Path,
    environ: Mapping[str, str],
    command: str = MODULE,
    project: str = ORDINARY,
    says: str | None = "",
    prompt_id: str = "p-1",
) -> ProcessRun:
    about = {"cwd": str(folder / project), "prompt_id": prompt_id}
    said = json.dumps({**_stop(folder), **about}).encode()
    return _run(["sh", "-c", command], folder, environ, said, says=says)


def _run(
    command: list[str], folder: Path, environ: Mapping[str, str], said: bytes, *, says: str | None = None
) -> ProcessRun:
    """Run a process to its end. A failure or an unexpected output is an error, not a measurement."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command,
        cwd=folder / ORDINARY,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if child.stdin is None or child.stdout is None:
        raise AssertionError
    with child.stdin, child.stdout:
        child.stdin.write(said)
        child.stdin.close()
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if child.returncode or (says is not None and says != told.decode()):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}: {told.decode(errors='replace')}")
    return ProcessRun(seconds=seconds, rss_mb=usage.ru_maxrss / 1024, told=told.decode())


def _environ(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "HOME": str(folder / "home")}


def _system3(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    own = {"CLAUDE_SESSION_ID": "system3-benchmark", "ANTHROPIC_API_KEY": "benchmark"}
    found = {**_environ(folder), **own, **environ}
    found.pop(OURS, None)
    return found


def _stop(folder: Path) -> dict[str, object]:
    return {
        "session_id": SESSION, "transcript_path": str(folder / "session.jsonl"), "prompt_id": "p-1",
        "permission_mode": "default", "hook_event_name": "Stop",
        "stop_hook_active": False, "last_assistant_message": "All of it is done.", "background_tasks": [],
        "session_crons": [],
    }  # fmt: skip


def _ratio(found: Mapping[str, list[ProcessRun]], one: str, other: str) -> float:
    return round(_middle(found[one]) / _middle(found[other]), 3)


def _middle(spans: list[ProcessRun]) -> float:
    return median(one.seconds for one in spans)


def _make_promises(project: Path) -> None:
    """Make two promises in a project that are kept: one of this session, one of another."""
    store = PromiseStore.of_project(project)
    (project / "guide.md").touch()
    guide = PromiseCriterion(text="there is a guide", kind=CriterionCheck.FILE, target="guide.md")
    for owner in (SESSION, "another"):
        promise = store.add(Promise.new(text="A guide", criteria=[guide], owner=owner, base=""))
        kept = promise.with_evidence(anyio.run(evidence_now, project, promise, [1])).closed()
        store.change(promise.id, partial(lambda kept, _: kept, kept))


# --- the model --------------------------------------------------------------------------------------------


@contextmanager
def _serving(*, seconds: float = 0) -> Iterator[str]:
    """Serve the Messages API with a model that takes these seconds. Yields the address."""

    class Answering(BaseHTTPRequestHandler):
        """Gives the judge's answer to every request, streamed if asked."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = wire.message(ENDS, Due(number=1), model=asked["model"], offered=(), usage=ScriptUsage())
            time.sleep(seconds)
            streamed = bool(asked.get("stream"))
            body = b"".join(wire.events(said)) if streamed else json.dumps(wire.body(said)).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if streamed else "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with served(Answering) as address:
        yield address


# --- a long transcript ------------------------------------------------------------------------------------

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


if __name__ == "__main__":
    main()
