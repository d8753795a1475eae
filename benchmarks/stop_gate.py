"""Measures the cost of the stop gate: the hook as Claude Code calls it, a process each time.

    python -m benchmarks.stop_gate
    python -m benchmarks.stop_gate --floor    # the ordinary stop alone: exit code 1 if it is too slow

- Ordinary: `sq hook stop` by `sh -c`, with a transcript of 5 MB as Claude Code writes it (requests and tools
  beside the conversation, every task closed), power steering off. Compared with `python -I -c pass`.
- Judge: the whole hook of a System 3 session with the same transcript, compared with `claude -p --model
haiku`,
  the former judge. Both ask one server here, whose model takes no time. The same over TLS.
- A model that takes 3 seconds, and the memory of the hook with the judge (its largest resident set).

The sides take turns, and the medians are reported. The last line is JSON.
"""

import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

import click

from agents.access import OURS, QUIET
from agents.gateway import wire
from agents.gateway.position import Due
from agents.gateway.script import ScriptReply, ScriptUsage
from agents.session.claude_code import find_cli
from benchmarks.long_session import write_session

PASS = [sys.executable, "-I", "-c", "pass"]
MODULE = f'"{sys.executable}" -I -m orchestrator.cli hook stop'
SCRIPT = Path(sys.executable).with_name("sq")  # the console script, where sq is installed and no checkout
SESSION = "3b0f6c1e-1111-4222-8333-444455556666"
ENTRIES = 7_000  # some 5 MB
TASKS = 60
MOST_ORDINARY = 6.0  # times a bare Python: twice the goal, so that a busy machine does not matter
_KEPT = ("PATH", "LANG", "TZ")
_BYTES = 1 << 20
ENDS = ScriptReply(structured={"should_continue": False, "reason": "All of it is closed.", "suggestion": ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRun:
    """A process from start to end: seconds, and its largest resident set in MB."""

    seconds: float
    rss_mb: float


@click.command()
@click.option("--times", default=20, show_default=True, help="Processes of each kind.")
@click.option("--model-s", default=3.0, show_default=True, help="Seconds that the slow model takes.")
@click.option("--entries", default=ENTRIES, show_default=True, help="Entries of the transcript.")
@click.option("--floor", is_flag=True, help="Measure the ordinary stop alone. Exit code 1 if it is too slow.")
def main(times: int, model_s: float, entries: int, *, floor: bool) -> None:
    """Measure the cost of the stop gate."""
    if floor:
        _hold_the_floor(times, entries)
        return
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
        folder = Path(name)
        transcript = _transcript(folder, entries)
        ordinary = _ordinary(folder, times)
        with _serving() as address:
            plain = _judged(folder, times, {"ANTHROPIC_BASE_URL": address})
        secured = _secured(folder, times)
        with _serving(seconds=model_s) as address:
            slow = [_hook(folder, _system3(folder, {"ANTHROPIC_BASE_URL": address})) for _ in range(3)]
        print(f"a transcript of {transcript / _BYTES:.1f} MB, {times} processes of each kind")
    print(f"{'ms':<28} {'median':>8} {'least':>8} {'most':>8}")
    for what, spans in {**ordinary, **plain, **secured, f"judge, model of {model_s:g} s": slow}.items():
        ms = [1000 * one.seconds for one in spans]
        print(f"{what:<28} {median(ms):8.1f} {min(ms):8.1f} {max(ms):8.1f}")
    ratios = {
        "ordinary_ratio": _ratio(ordinary["ordinary stop"], ordinary["python -c pass"]),
        "judge_ratio": _ratio(plain["judge"], plain["claude -p"]),
    }
    if secured:
        ratios["judge_tls_ratio"] = _ratio(secured["judge, TLS"], secured["claude -p, TLS"])
    figures = {
        **{name: round(value, 3) for name, value in ratios.items()},
        "ordinary_ms": round(1000 * _middle(ordinary["ordinary stop"]), 1),
        "judge_ms": round(1000 * _middle(plain["judge"]), 1),
        "judge_slow_model_s": round(_middle(slow), 2),
        "rss_mb": round(max(one.rss_mb for one in plain["judge"]), 1),
    }
    print(json.dumps(figures))


def _hold_the_floor(times: int, entries: int) -> None:
    """Measure the ordinary stop and end with 1 if its ratio to the bare interpreter is too large."""
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
        folder = Path(name)
        _transcript(folder, entries)
        ordinary = _ordinary(folder, times)
    ratio = _ratio(ordinary["ordinary stop"], ordinary["python -c pass"])
    print(json.dumps({"ordinary_ratio": round(ratio, 3), "most": MOST_ORDINARY}))
    if ratio > MOST_ORDINARY:
        sys.exit(1)


def _ordinary(folder: Path, times: int) -> dict[str, list[ProcessRun]]:
    """Measure the bare interpreter and the hook in turn, and the console script if there is one."""
    found: dict[str, list[ProcessRun]] = {"python -c pass": [], "ordinary stop": []}
    environ = _environ(folder)
    if SCRIPT.exists():
        found["ordinary stop, console script"] = []
    for _ in range(times):
        found["python -c pass"].append(_run(PASS, folder, environ, b""))
        found["ordinary stop"].append(_hook(folder, environ))
        if SCRIPT.exists():
            found["ordinary stop, console script"].append(_hook(folder, environ, f'"{SCRIPT}" hook stop'))
    return found


def _judged(
    folder: Path, times: int, environ: Mapping[str, str], kind: str = ""
) -> dict[str, list[ProcessRun]]:
    """Measure the hook of a System 3 session and Claude Code as the judge, in turn."""
    found: dict[str, list[ProcessRun]] = {f"judge{kind}": [], f"claude -p{kind}": []}
    claude = [str(find_cli()), "-p", "--model", "haiku", "Should the session go on?"]
    asking = {**_environ(folder), **QUIET, **environ, "ANTHROPIC_API_KEY": "benchmark"}
    _run(claude, folder, asking, b"")  # the first start makes its folders
    for _ in range(times):
        found[f"judge{kind}"].append(_hook(folder, _system3(folder, environ)))
        found[f"claude -p{kind}"].append(_run(claude, folder, asking, b""))
    return found


def _secured(folder: Path, times: int) -> dict[str, list[ProcessRun]]:
    """Measure the same over TLS, with a certificate that both trust. Empty without openssl."""
    certificate, key = folder / "own.pem", folder / "own.key"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-days", "1", "-subj", "/CN=benchmark", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        made = [*command, "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(made, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    with _serving(tls=(certificate, key)) as address:
        trust = {"SSL_CERT_FILE": str(certificate), "NODE_EXTRA_CA_CERTS": str(certificate)}
        return _judged(folder, times, {"ANTHROPIC_BASE_URL": address, **trust}, ", TLS")


# --- processes --------------------------------------------------------------------------------------------


def _hook(folder: Path, environ: Mapping[str, str], command: str = MODULE) -> ProcessRun:
    return _run(["sh", "-c", command], folder, environ, json.dumps(_stop(folder)).encode(), silent=True)


def _run(
    command: list[str], folder: Path, environ: Mapping[str, str], said: bytes, *, silent: bool = False
) -> ProcessRun:
    """Run a process to its end. A failure or an unexpected output is an error, not a measurement."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command,
        cwd=folder / "project",
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
    if child.returncode or (silent and told):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}: {told.decode(errors='replace')}")
    return ProcessRun(seconds=seconds, rss_mb=usage.ru_maxrss / 1024)


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
        "cwd": str(folder / "project"), "permission_mode": "default", "hook_event_name": "Stop",
        "stop_hook_active": False, "last_assistant_message": "All of it is done.", "background_tasks": [],
        "session_crons": [],
    }  # fmt: skip


def _ratio(one: list[ProcessRun], other: list[ProcessRun]) -> float:
    return _middle(one) / _middle(other)


def _middle(spans: list[ProcessRun]) -> float:
    return median(one.seconds for one in spans)


# --- the transcript ---------------------------------------------------------------------------------------


def _transcript(folder: Path, entries: int) -> int:
    """Write a session in Claude Code's own compact lines, with tasks made and closed. Returns its bytes."""
    (folder / "project").mkdir()
    (folder / "home").mkdir()
    write_session(folder / "loose.jsonl", entries)
    lines = [json.loads(line) for line in (folder / "loose.jsonl").read_text("utf-8").splitlines()]
    every = max(1, len(lines) // (TASKS + 1))
    with (folder / "session.jsonl").open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            if number % every == 0:
                for more in _task(number // every + 1):
                    file.write(json.dumps(more, separators=(",", ":")) + "\n")
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return (folder / "session.jsonl").stat().st_size


def _task(number: int) -> Iterator[dict[str, object]]:
    """The entries of a task that is made and done, and the request that Claude Code keeps beside it."""
    tools = [{"name": name, "description": "x" * 2_000} for name in ("TaskCreate", "TaskUpdate", "TodoWrite")]
    yield {"type": "api-request-shape", "sessionId": SESSION, "shape": {"tools": tools}}
    made = {"task": {"id": str(number), "subject": f"Task {number}", "description": "d"}}
    yield from _call(
        f"create{number}", "TaskCreate", {"subject": f"Task {number}"}, f"Task #{number} created", made
    )
    given = {"taskId": str(number), "status": "completed"}
    yield from _call(
        f"update{number}", "TaskUpdate", given, f"Updated task #{number} status", {"success": True}
    )


def _call(
    id_: str, tool: str, given: Mapping[str, str], output: str, data: Mapping[str, object]
) -> Iterator[dict[str, object]]:
    call = {"type": "tool_use", "id": id_, "name": tool, "input": given}
    result = {"tool_use_id": id_, "type": "tool_result", "content": output}
    frame = {"isSidechain": False, "sessionId": SESSION}
    yield {
        **frame,
        "type": "assistant",
        "uuid": f"a-{id_}",
        "message": {"role": "assistant", "content": [call]},
    }
    yield {**frame, "type": "user", "uuid": f"u-{id_}", "message": {"role": "user", "content": [result]},
           "toolUseResult": data}  # fmt: skip


# --- the model --------------------------------------------------------------------------------------------


@contextmanager
def _serving(*, seconds: float = 0, tls: tuple[Path, Path] | None = None) -> Iterator[str]:
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

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


if __name__ == "__main__":
    main()
