"""The project's own commands, run by sq itself: in a process tree of their own, no secrets, for one tree.

No agent's claim that tests pass is worth anything; the exit codes seen here are.
"""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from agents.process import run_command
from orchestrator.run.record import Run
from state.events import VerificationFinished, VerificationStarted
from state.records import CommandRun
from state.secrets import without_secrets

_OUTPUT_KEPT = 4_000
# What a shell answers for a command that is not there or not executable.
_NOT_STARTED = {126, 127}
_MAKE_TARGETS = ("check", "test")
_PYTEST = re.compile(r"^\s*(import|from) pytest\b|^(async )?def test_", re.MULTILINE)


async def verify(run: Run, *, task_id: str, folder: Path, tree: str) -> VerificationFinished:
    """The result for this tree: the recorded one, or that of running the commands now in `folder`.

    `task_id` "" is the merged whole.
    """
    commands = commands_for(run, folder)
    known = run.view.verifications.get(tree)
    answered = known and all(done.answered for done in known.runs)
    if known and answered and tuple(done.command for done in known.runs) == commands:
        return known
    run.record(VerificationStarted(task_id=task_id, tree=tree, commands=commands))
    runs = [await run_contained(run, command, folder) for command in commands]
    finished = VerificationFinished(task_id=task_id, tree=tree, runs=tuple(runs))
    run.record(finished)
    return finished


def commands_for(run: Run, folder: Path) -> tuple[str, ...]:
    """The user's commands; else those that the tree itself shows; else those that the analysis named."""
    if run.settings.verify:
        return run.settings.verify
    named = run.view.analysis.verification_commands if run.view.analysis else ()
    return detect(folder) or named


def detect(folder: Path) -> tuple[str, ...]:
    """Verification commands that a repository shows without being asked; empty where it shows none."""
    found = []
    if _has_npm_test(folder / "package.json"):
        found.append("npm test")
    if (folder / "Cargo.toml").is_file():
        found.append("cargo test")
    if (folder / "go.mod").is_file():
        found.append("go test ./...")
    if not found and (target := _make_target(folder)):
        found.append(f"make {target}")
    if not found and (tests := _python_tests(folder)):
        found += _python_commands(folder, tests)
    return tuple(found)


def summary(finished: VerificationFinished) -> str:
    """What sq saw, as reviewers and people read it."""
    if not finished.runs:
        return "There is nothing to verify with: no command was given and the repository shows none."
    return "\n".join(f"- `{done.command}`: {_said(done)} ({done.seconds:.1f} s)" for done in finished.runs)


def unanswered(finished: VerificationFinished) -> str:
    """Which commands could not answer, and why; empty where all did."""
    silent = [done for done in finished.runs if not done.answered]
    return "; ".join(f"`{done.command}` {done.problem}" for done in silent)


def feedback(finished: VerificationFinished) -> str:
    """What failed, with the output, for the agent that has to put it right."""
    parts = [
        f"`{done.command}` {_said(done)}. Its output ends:\n\n```\n{done.output_tail.strip()}\n```"
        for done in finished.runs
        if not done.passed
    ]
    return "\n\n".join(parts)


def _said(done: CommandRun) -> str:
    if done.passed:
        return "passed"
    return done.problem or f"failed with exit code {done.exit_code}"


async def run_contained(run: Run, command: str, folder: Path) -> CommandRun:
    """One command, run in a process tree of its own, without secrets, under a deadline."""
    result = await run_command(
        ["sh", "-c", command],
        cwd=folder,
        env={**without_secrets(run.environ), "PYTHONDONTWRITEBYTECODE": "1"},
        deadline_s=run.limits.verify_s,
        containment=run.platform.containment,
        output_limit=_OUTPUT_KEPT,
    )
    exit_code, problem = result.exit_code, result.error
    if result.timed_out:
        problem = f"did not end within {run.limits.verify_s:g} s"
    elif exit_code in _NOT_STARTED:
        exit_code, problem = None, f"could not start: {result.output.strip()[-300:] or 'command not found'}"
    return CommandRun(
        command=command,
        exit_code=exit_code,
        seconds=result.duration_s,
        output_tail=result.output,
        problem=problem,
    )


def _has_npm_test(manifest: Path) -> bool:
    try:
        script = json.loads(manifest.read_text("utf-8")).get("scripts", {}).get("test", "")
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(script, str) and bool(script) and "no test specified" not in script


def _make_target(folder: Path) -> str | None:
    try:
        text = (folder / "Makefile").read_text("utf-8", errors="replace")
    except OSError:
        return None
    return next(
        (target for target in _MAKE_TARGETS if re.search(rf"^{target}\s*:(?!:?=)", text, re.MULTILINE)), None
    )


def _python_tests(folder: Path) -> list[Path]:
    patterns = ("test_*.py", "*_test.py", "tests/**/test_*.py", "test/**/test_*.py")
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def _python_commands(folder: Path, tests: Sequence[Path]) -> list[str]:
    configured = any((folder / name).is_file() for name in ("pytest.ini", "conftest.py", "tests/conftest.py"))
    project = folder / "pyproject.toml"
    configured = configured or (project.is_file() and "[tool.pytest" in project.read_text("utf-8", "replace"))
    uses_pytest = any(_PYTEST.search(test.read_text("utf-8", errors="replace")) for test in tests)
    if configured or uses_pytest:
        return ["python3 -m pytest"]
    return _unittest_commands(folder, tests)


def _unittest_commands(folder: Path, tests: Sequence[Path]) -> list[str]:
    """One command a folder where discovery has to begin: it enters packages and nothing else."""
    found: dict[tuple[Path, Path, str], None] = {}
    for test in tests:
        start = top = test.parent
        while top != folder and (top / "__init__.py").is_file():
            start, top = top, top.parent
        found[start, top, "" if test.name.startswith("test") else "*_test.py"] = None
    commands = []
    for start, top, pattern in found:
        if top == folder != start and (folder, folder, pattern) in found:
            continue  # a package in the root: the root's own discovery enters it
        words = ["python3", "-m", "unittest"]
        words += ["discover"] if start != folder or pattern else []
        words += ["-s", str(start.relative_to(folder))] if start != folder else []
        words += ["-t", str(top.relative_to(folder))] if start != top else []
        words += ["-p", pattern] if pattern else []
        commands.append(shlex.join(words))
    return commands
