"""Measures the cost of the stop gate: the hook as Claude Code calls it, a process each time.

    python -m benchmarks.stop_gate
    python -m benchmarks.stop_gate --floor    # the ordinary stop alone: exit code 1 if it is too slow

- Ordinary: `sq hook stop` by `sh -c`, with a transcript of 5 MB as Claude Code writes it (requests and tools
  beside the conversation, every task closed), power steering off. Compared with `python -I -c pass`.
- Judge: the whole hook of a System 3 session with the same transcript, compared with `claude -p --model
haiku`, the
  former judge. Both ask one server here, whose model takes no time. The same over TLS.
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
from collections.abc import Callable, Iterator, Mapping
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
from benchmarks.figures import print_figures, print_spans
from benchmarks.long_session import SESSION, write_session

PASS = [sys.executable, "-I", "-c", "pass"]
MODULE = f'"{sys.executable}" -I -m orchestrator.cli hook stop'
SCRIPT = Path(sys.executable).with_name("sq")  # the console script, where sq is installed and no checkout
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
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
        folder = Path(name)
        for home in ("project", "home"):
            (folder / home).mkdir()
        write_session(folder / "session.jsonl", entries, tasks=TASKS)
        size = (folder / "session.jsonl").stat().st_size / _BYTES
        found = _ordinary(folder, times)
        ratio = _ratio(found, "ordinary stop", "python -c pass")
        if floor:
            print_figures({"ordinary_ratio": ratio, "most": MOST_ORDINARY})
            sys.exit(ratio > MOST_ORDINARY)
        with _serving() as address:
            found |= _judged(folder, times, {"ANTHROPIC_BASE_URL": address})
        found |= _secured(folder, times)
        with _serving(seconds=model_s) as address:
            slow = [_hook(folder, _system3(folder, {"ANTHROPIC_BASE_URL": address})) for _ in range(3)]
    print(f"a transcript of {size:.1f} MB, {times} processes of each kind")
    spans = {**found, f"judge, model of {model_s:g} s": slow}
    print_spans({name: [1000 * one.seconds for one in ones] for name, ones in spans.items()})
    ratios = {"ordinary_ratio": ratio, "judge_ratio": _ratio(found, "judge", "claude -p")}
    if "judge, TLS" in found:
        ratios["judge_tls_ratio"] = _ratio(found, "judge, TLS", "claude -p, TLS")
    print_figures(
        {
            **ratios,
            "ordinary_ms": round(1000 * _middle(found["ordinary stop"]), 1),
            "judge_ms": round(1000 * _middle(found["judge"]), 1),
            "judge_slow_model_s": round(_middle(slow), 2),
            "rss_mb": round(max(one.rss_mb for one in found["judge"]), 1),
        }
    )


def _ordinary(folder: Path, times: int) -> dict[str, list[ProcessRun]]:
    """Measure the bare interpreter and the hook in turn, and the console script if there is one."""
    environ = _environ(folder)
    ways: dict[str, Callable[[], ProcessRun]] = {
        "python -c pass": lambda: _run(PASS, folder, environ, b""),
        "ordinary stop": lambda: _hook(folder, environ),
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


def _judged(
    folder: Path, times: int, environ: Mapping[str, str], kind: str = ""
) -> dict[str, list[ProcessRun]]:
    """Measure the hook of a System 3 session and Claude Code as the judge, in turn."""
    claude = [str(find_cli()), "-p", "--model", "haiku", "Should the session go on?"]
    asking = {**_environ(folder), **QUIET, **environ, "ANTHROPIC_API_KEY": "benchmark"}
    _run(claude, folder, asking, b"")  # the first start makes its folders
    ways: dict[str, Callable[[], ProcessRun]] = {
        f"judge{kind}": lambda: _hook(folder, _system3(folder, environ)),
        f"claude -p{kind}": lambda: _run(claude, folder, asking, b""),
    }
    return _in_turn(ways, times)


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
        "-days",
        "1",
    ]
    command += ["-subj", "/CN=benchmark", "-addext", "subjectAltName=IP:127.0.0.1"]
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


def _ratio(found: Mapping[str, list[ProcessRun]], one: str, other: str) -> float:
    return round(_middle(found[one]) / _middle(found[other]), 3)


def _middle(spans: list[ProcessRun]) -> float:
    return median(one.seconds for one in spans)


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
