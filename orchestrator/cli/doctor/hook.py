"""The gate's check of `sq doctor`: it simulates a stop of an unfinished and of a finished session."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic

from orchestrator.views.checks import DoctorCheck, fail, ok

_DEADLINE_S = 20.0
_GATE = (sys.executable, "-I", "-m", "orchestrator.cli", "hook", "stop")
_NAME = "stop gate"
_ADVICE = "an installed gate would let every session stop: report this with the output of `sq hook stop`"


def checks_of_hook(environ: Mapping[str, str], *, gate: Sequence[str] = _GATE) -> Iterator[DoctorCheck]:
    """Check that the gate holds a session with an open todo, and is silent for one without.

    `gate` is the command that gets the simulated stops.
    """
    began = monotonic()
    try:
        held, silent = (_answer(gate, status, environ) for status in ("pending", "completed"))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        yield fail(_NAME, f"a simulated stop failed: {error}", _ADVICE)
        return
    if held.get("decision") != "block" or silent:
        found = f"a simulated stop was answered with {held or 'nothing'} and {silent or 'nothing'}"
        yield fail(_NAME, found, _ADVICE)
    else:
        each_ms = 1000 * (monotonic() - began) / 2
        yield ok(_NAME, f"a simulated stop is held only while a todo is open ({each_ms:.0f} ms each)")


def _answer(gate: Sequence[str], status: str, environ: Mapping[str, str]) -> dict[str, str]:
    todos = [{"content": "a simulated todo", "status": status, "activeForm": "simulating"}]
    call = {"type": "tool_use", "id": "toolu_1", "name": "TodoWrite", "input": {"todos": todos}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Todos have been modified"}
    entries = (
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Do it."}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "uuid": "3", "message": {"role": "user", "content": [result]}},
    )
    with tempfile.TemporaryDirectory(prefix="sq-doctor-", ignore_cleanup_errors=True) as name:
        transcript = Path(name) / "session.jsonl"
        transcript.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
        given = {"session_id": "doctor", "transcript_path": str(transcript), "cwd": name, "prompt_id": "1"}
        done = subprocess.run(
            gate,
            input=json.dumps(given).encode(),
            env={key: value for key, value in environ.items() if not key.startswith(("CLAUDE", "SQ_"))},
            cwd=name,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    if done.returncode:
        raise ValueError(f"exit code {done.returncode}: {os.fsdecode(done.stderr)[-300:]}")
    answer = json.loads(done.stdout or b"{}")
    return answer if isinstance(answer, dict) else {}
