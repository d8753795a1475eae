"""Commands that never end are known by their words or by what they print."""

import json
from pathlib import Path

import pytest

from orchestrator.project.runners.endless import is_waiting, never_ends
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.command_limits import exceeded
from state.records.commands import CommandUse
from state.settings.records import Limits


@pytest.mark.parametrize(
    ("script", "waits"),
    [
        ("jest --watch", True),
        ("jest --watchAll=false --watch", False),
        ("vitest watch", True),
        ("vitest --run", False),
        ("vitest", False),  # without a terminal it runs once
        ("vite", True),
        ("vite build", False),
        ("next dev", True),
        ("react-scripts test", True),
        ("CI=1 react-scripts test --watchAll=false", False),
        ("mocha -w", True),
        ("mocha", False),
        ("tsc -w", True),
        ("tsc --noEmit", False),
        ("node check.js ''", False),
    ],
)
def test_a_script_that_waits_for_changes_or_requests_is_known(
    tmp_path: Path, script: str, *, waits: bool
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": script}}))
    assert bool(never_ends(suite_of("npm test", tmp_path), {})) is waits


@pytest.mark.parametrize(
    ("command", "waits"),
    [
        ("cargo watch -x test", True),
        ("cargo test", False),
        ("ptw", True),
        ("pytest -q", False),
        ("mix test.watch", True),
        ("mix test", False),
        ("dotnet watch test", True),
        ("./gradlew test -t", True),
        ("./gradlew test", False),
        ("go test ./...", False),
    ],
)
def test_a_command_that_waits_is_known_in_other_languages(
    tmp_path: Path, command: str, *, waits: bool
) -> None:
    assert bool(never_ends(suite_of(command, tmp_path), {})) is waits


def test_a_runner_that_watches_in_a_ci_ends(tmp_path: Path) -> None:
    suite = suite_of("npx react-scripts test", tmp_path)
    assert never_ends(suite, {})
    assert not never_ends(suite, {"CI": "1"})


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("ok 3\n\nWatch Usage\n > Press a to run all tests.\n", "Watch Usage"),
        (
            "VITE v5 ready in 300 ms\n  ➜  Local:   http://localhost:5173/\n",
            "Local:   http://localhost:5173/",
        ),
        ("Listening on http://127.0.0.1:3000\n", "Listening on http://127.0.0.1:3000"),
        ("Waiting for file changes before starting…\n", "Waiting for file changes before starting…"),
        ("12 passed in 3 s\n", ""),
    ],
)
def test_a_silent_command_that_says_that_it_waits_is_not_waited_out(output: str, line: str) -> None:
    assert is_waiting(output) == line
    silent = CommandUse(seconds=30.0, silent_s=20.0)
    assert bool(exceeded(Limits(), None, 2, silent, output)) is bool(line)
    assert not exceeded(Limits(), None, 2, CommandUse(seconds=30.0, silent_s=1.0), output)
