"""A stop that no step applies to: counted is the work of it, in calls, files, modules and bytes."""

import ast
import json
import subprocess
import sys

from language.stop_inputs import CLAUDE, Lines
from language.tables import table

from orchestrator.gates.stop_gate import probe

# Runs the hook's entry as a process that Claude Code would start; every call that the gate makes is counted.
COUNTED = table(__file__, "counted")


def plain(tmp_path, tasks):
    """The counted work of a stop with this many closed tasks in its transcript."""
    lines = Lines()
    lines.user("Do it.")
    for number in range(tasks):
        lines.assistant({"type": "text", "text": f"Now number {number}."})
    done = [{"content": "a", "status": "completed"}]
    lines.call("TodoWrite", {"todos": done}, output="Todos have been modified")
    lines.assistant({"type": "text", "text": "All is done."})
    (tmp_path / "session.jsonl").write_bytes(lines.data)
    (tmp_path / ".git").mkdir(exist_ok=True)
    told = {
        "session_id": CLAUDE,
        "transcript_path": str(tmp_path / "session.jsonl"),
        "cwd": str(tmp_path),
        "prompt_id": "p",
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", COUNTED],
        input=json.dumps(told).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    return ast.literal_eval(done.stderr.decode())


def test_a_plain_stop_loads_little_opens_little_and_calls_little(tmp_path):
    cost = plain(tmp_path, tasks=3)
    assert cost["modules"] < 32  # those of `json` among them
    assert cost["files"] <= 2
    assert cost["calls"] < 200


def test_a_long_session_costs_a_plain_stop_no_more_calls_than_a_short_one(tmp_path):
    short, long = plain(tmp_path, tasks=3), plain(tmp_path, tasks=3_000)
    assert long["calls"] <= short["calls"] + 10
    assert long["files"] == short["files"]


def test_no_more_of_a_transcript_is_read_than_its_last_20_mb(tmp_path):
    lines = Lines()
    lines.call("TodoWrite", {"todos": [{"content": "long ago", "status": "pending"}]})
    file = tmp_path / "session.jsonl"
    told = {"session_id": CLAUDE, "transcript_path": str(file), "cwd": str(tmp_path)}
    words = b'{"type":"assistant","message":{"role":"assistant","content":[]}}\n'
    file.write_bytes(lines.data + words * (15_000_000 // len(words)))
    assert probe.may_apply(told)
    file.write_bytes(lines.data + words * (25_000_000 // len(words)))
    assert not probe.may_apply(told)
