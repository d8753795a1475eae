"""The checks of `sq doctor` on settings: sq's own, notices and telemetry, and the stop gate in Claude Code's.

The gate's check simulates a stop of an unfinished and of a finished session.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from agents.api_key import read_key
from agents.process.sandbox.choice import SandboxLevel
from agents.session.permissions import rule_names
from orchestrator.cli.doctor.checks import DoctorCheck, fail, ok, warn
from orchestrator.cli.runs.notes import (
    host_lines,
    problems_of,
)
from orchestrator.cli.runs.opened_hosts import has_other_proxy, registries_to_open, signed_in_at
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.session_state.diagnostics import KEPT, SteeringSettings, old_sessions, sessions_folder
from orchestrator.gates.stop_gate.install import HookState, states, warnings_of
from orchestrator.gates.stop_gate.settings_text import this_sq
from state.errors import UsageError
from state.settings.config import load_config
from state.settings.integrations import Integrations, Telemetry
from state.settings.records import SandboxHeld, SandboxSettings

_PROBLEM = "\n  - "  # before each problem, if a configuration has several
_DEADLINE_S = 20.0
_GATE = (sys.executable, "-I", "-m", "orchestrator.cli", "hook", "stop")
_STOP_GATE = "stop gate"
_ADVICE = "an installed gate would let every session stop: report this with the output of `sq hook stop`"


def checks_of_settings(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    """Check the configuration and the considerations, each problem alone, and the hooks of Claude Code."""
    yield from _configuration(environ, repository)
    yield from _considerations(repository)
    yield _hooks(states(environ, repository, this_sq(sys.argv[0], sys.executable)))


def _configuration(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    name = "configuration"
    try:
        resolved = load_config(repository, environ, rules=rule_names())
    except UsageError as error:
        first, *others = str(error).split(_PROBLEM)
        for problem in others or [first]:
            yield fail(name, problem, "correct it, since no run begins before, then see `sq config show`")
        return
    read = [str(file) for file in resolved.files if file.is_file()]
    sources = ", ".join(read) or "no file, shipped defaults"
    yield ok(name, f"{sources}, effort {resolved.settings.effort.name}. All of it: `sq config show`")


def _considerations(repository: Path | None) -> Iterator[DoctorCheck]:
    name = "considerations"
    loaded = load_considerations(repository)
    for problem in loaded.problems:
        yield warn(name, problem, "correct it: power steering leaves it out. See `sq gate considerations`")
    if not loaded.problems:
        enabled = sum(one.enabled for one in loaded.considerations)
        yield ok(name, f"{enabled} are asked by power steering: `sq gate considerations`")


def _hooks(gates: Sequence[HookState]) -> DoctorCheck:
    """Report where the stop gate is installed, and problems of Claude Code's settings."""
    name = "hooks"
    installed = [f"{gate.scope} ({gate.file})" for gate in gates if gate.installed]
    where = f"installed for {', '.join(installed)}" if installed else "not installed"
    found = (
        f"the stop gate is {where}. sq's sessions load no settings of Claude Code and run none of their hooks"
    )
    problems = [gate.problem for gate in gates if gate.problem]
    problems = list(warnings_of(gates)) if installed else problems
    return warn(name, found, "; ".join(problems)) if problems else ok(name, found)


def checks_of_integrations(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    """Check the tables `[[notify]]` and the keys of telemetry. Nothing is sent."""
    try:
        settings = load_config(repository, environ, rules=rule_names()).settings
    except UsageError:  # another check names the problems
        return
    yield _hosts(settings.sandbox, environ, repository)
    yield from _notices(settings.integrations, environ)
    yield from _telemetry(settings.integrations.telemetry, environ, gateway=settings.gateway)


def _hosts(settings: SandboxSettings, environ: Mapping[str, str], repository: Path | None) -> DoctorCheck:
    """Report which hosts the sandboxes of a run here would reach."""
    name, held = "hosts", SandboxHeld(level=SandboxLevel.WHOLE, commands=True)
    if has_other_proxy(environ):
        found = "sandboxes reach none, because the proxy of HTTPS_PROXY is not one of HTTP"
        return warn(name, found, "name one of HTTP, or `sandbox.services`")
    registries = registries_to_open(repository, settings, held, environ) if repository else ()
    signed_in = signed_in_at(repository, settings, environ) if repository and registries else ()
    told = host_lines(registries, settings, held, environ, signed_in)
    lines = [line.partition(": ")[2] for line in told]
    return ok(name, "; ".join(lines) or "sandboxes reach none: `sandbox.hosts`, and the project's manifests")


def _notices(integrations: Integrations, environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    name = "notices"
    problems = list(problems_of(Integrations(notify=integrations.notify), environ))
    for problem in problems:
        yield fail(name, problem, "no run begins before it is put right")
    if not integrations.notify:
        yield ok(name, "none: `[[notify]]` in the settings sends some")
    elif not problems:
        each = [f"{', '.join(one.on)} by {one.variable or 'a command'}" for one in integrations.notify]
        yield ok(name, "; ".join(each))
    if any(target.command for target in integrations.notify) and not shutil.which("sh"):
        yield fail(name, "there is no sh, which runs the command of a notice", "install a shell")


def _telemetry(telemetry: Telemetry, environ: Mapping[str, str], *, gateway: bool) -> Iterator[DoctorCheck]:
    name = "telemetry"
    problems = list(problems_of(Integrations(telemetry=telemetry), environ))
    for problem in problems:
        yield fail(name, problem, "no run begins before it is put right")
    if not telemetry.otlp:
        yield ok(name, "off: `telemetry.otlp` in the settings sends spans")
    elif telemetry.headers and not (gateway and _has_key(environ)):
        yield warn(
            name,
            f"spans of runs go to {telemetry.traces_url}, but not those of Claude Code: only sq's gateway "
            "may add the headers, and there is none without an API key or with gateway = false",
            "name a collector without headers, such as one on this machine, or use an API key",
        )
    elif not problems:
        yield ok(name, f"spans of runs and of Claude Code go to {telemetry.traces_url}")


def _has_key(environ: Mapping[str, str]) -> bool:
    try:
        return read_key(environ) is not None
    except UsageError:
        return False


def checks_of_hook(environ: Mapping[str, str], *, gate: Sequence[str] = _GATE) -> Iterator[DoctorCheck]:
    """Check that the gate holds a session with an open todo, and is silent for one without.

    `gate` is the command that gets the simulated stops.
    """
    began = monotonic()
    try:
        held, silent = (_answer(gate, status, environ) for status in ("pending", "completed"))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        yield fail(_STOP_GATE, f"a simulated stop failed: {error}", _ADVICE)
        return
    if held.get("decision") != "block" or silent:
        found = f"a simulated stop was answered with {held or 'nothing'} and {silent or 'nothing'}"
        yield fail(_STOP_GATE, found, _ADVICE)
    else:
        each_ms = 1000 * (monotonic() - began) / 2
        yield ok(_STOP_GATE, f"a simulated stop is held only while a todo is open ({each_ms:.0f} ms each)")


def checks_of_sessions() -> Iterator[DoctorCheck]:
    """Warn of folders of sessions that `sq clean --sessions` would remove."""
    sessions = sessions_folder(Path.cwd(), SteeringSettings.of(os.environ))
    if old := old_sessions(sessions, datetime.now(UTC)):
        count = f"{len(old)} session folder{'' if len(old) == 1 else 's'}"
        found = f"{count} in {sessions} without a stop for {KEPT.days} days"
        yield warn(_STOP_GATE, found, "remove them with `sq clean --sessions`")


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
