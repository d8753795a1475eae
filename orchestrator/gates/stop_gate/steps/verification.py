"""`sq verify` of what a session changed, if `gate.verify` is set. Otherwise nothing is imported.

Its work is everything since the last commit before the session began, committed or not.
"""

import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.gates.session_state.diagnostics import top_of
from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.stop import ALLOWED, VERIFY_ENDS_S, VERIFY_S, StepResult, Stop

_WITHIN_S = 60  # of commands, after which no further question is asked
_HEAD_BYTES = 100_000  # of a transcript, in which its first time stands
_BEGAN = re.compile(rb'"timestamp":"([0-9T:.Z-]+)"')
_SHOWN = 5


def applies(stop: Stop) -> bool:
    """Whether it was asked for."""
    if not probe.may_verify(str(stop.project), stop.environ):
        return False
    from state.settings.config import load_config

    return load_config(top_of(stop.project), stop.environ).settings.gate_verify


def check(stop: Stop) -> StepResult:
    """Hold the session if something was seen that speaks against its work, or no test needs it."""
    if stop.waits:
        return ALLOWED
    top = top_of(stop.project)
    base = _base(stop, top)
    told = _verified(stop, top, base)
    if isinstance(told, str):
        return StepResult(note=f"`sq verify` did not answer: {told}")
    if not told["changed_files"]:
        return ALLOWED
    seen = [
        one
        for one in told["objections"]  # one without a subject says that nothing can be run here
        if one["subject"] and one["open"] and one["answered"] and not one["accepted_by"]
    ]
    if not seen:
        return StepResult(note=f"`sq verify`: {told['says']}") if told["exit_code"] else ALLOWED
    lines = [f"- {one['says']}{_at(one['place'])}. {one['do']}" for one in seen[:_SHOWN]]
    more = [f"- and {len(seen) - _SHOWN} more" for _ in seen[_SHOWN : _SHOWN + 1]]
    again = f"sq verify {base} --worktree".replace("  ", " ")
    words = [f"What was changed is not shown to be right. `{again}` says:", *lines, *more]
    return StepResult(blocks=True, reason="\n".join(words))


def _at(place: str) -> str:
    return f" ({place})" if place else ""


def _verified(stop: Stop, top: Path, base: str) -> dict[str, Any] | str:
    """Return the result of `sq verify`, or why it has none."""
    command = [sys.executable, "-I", "-m", "orchestrator.cli", "verify", *([base] if base else [])]
    process = subprocess.Popen(
        [*command, "--worktree", "--within", str(_WITHIN_S), "--json"],
        cwd=top,
        env=dict(stop.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        told, problem = process.communicate(timeout=VERIFY_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=VERIFY_ENDS_S)
        process.kill()
        process.communicate()
        return f"it had no result within {VERIFY_S:g} s"
    try:
        told_of: dict[str, Any] = json.loads(told)
    except ValueError:
        return problem.decode("utf-8", "replace").strip()[-300:] or f"it ended with {process.returncode}"
    return told_of


def _base(stop: Stop, top: Path) -> str:
    """Return the newest commit from before the session, "" if there is none or the session has no time."""
    from orchestrator.git.held import held_git

    began = None
    with suppress(OSError):
        if stop.transcript_path:
            with stop.transcript_path.open("rb") as file:
                began = _BEGAN.search(file.read(_HEAD_BYTES))
    if began is None:
        return ""
    before = ["rev-list", "-1", "--first-parent", f"--before={began[1].decode()}", "HEAD"]
    environ = {name: value for name, value in stop.environ.items() if not name.startswith("GIT_")}
    with held_git(top) as held, suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["git", "-C", str(top), *before],
            env={**environ, **held},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2,
            check=False,
        )
        return done.stdout.decode().strip() if done.returncode == 0 else ""
    return ""
