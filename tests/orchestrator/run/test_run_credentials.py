"""With a key or a login the same command reaches the model it is pointed at; the key stays out of everything."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import yaml
from language.scripted import SPEC, analyzes, call, completes, passes, plans, says, writes

from agents.gateway.scenario import load_scenario
from agents.gateway.server import Gateway, serve_scenario
from state.journal.events import QuestionsAnswered, RunStarted
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.sources import user_file

pytestmark = pytest.mark.claude

KEY = "sk-ant-a-key-that-nobody-may-see-0123456789"
QUESTION = {
    "question": "Which colour?", "header": "Colour", "multiSelect": False,
    "options": [{"label": "red", "description": "red"}, {"label": "blue", "description": "blue"}],
}  # fmt: skip
ANSWER = {
    "question": "Which colour?",
    "labels": ["blue"],
    "free_text": "",
    "reason": "So.",
    "reversible": True,
}


@asynccontextmanager
async def model_at_one_address(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A model that answers everything at one address, as the real one does."""
    builds = "# Build one task"
    caller = [
        {
            "structured": {"answers": [ANSWER]},
            "when": "# Questions from the Worker",
        },  # its history holds `builds`
        {**analyzes(), "when": "# Read this repository"},
        {**plans("notes"), "when": "# Turn a spec into tasks"},
        {**says(call("AskUserQuestion", questions=[QUESTION])), "when": builds},
        {**says(call("Bash", command="env > environment.txt")), "when": builds},
        {**writes("notes.txt", "blue\n"), "when": builds},
        {**completes(), "when": builds},
        {**passes(), "when": "# Review"},
    ]
    scenario = tmp_path / "model.yaml"
    scenario.write_text(
        yaml.safe_dump({"scenario": 1, "description": "all at one address", "callers": {"any/any/1": caller}})
    )
    async with serve_scenario(
        load_scenario(scenario), run_id="r", ledger=tmp_path / "model.jsonl"
    ) as gateway:
        yield gateway


async def run_sq(repository: Path, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    spec = tmp_path / "spec.md"
    spec.write_text(SPEC)
    user_file().parent.mkdir(
        parents=True, exist_ok=True
    )  # with a login each judge is a process: seconds of CPU
    user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
    command = [
        sys.executable,
        "-I",
        "-m",
        "orchestrator.cli",
        "--spec",
        str(spec),
        "--plain",
        "--verify",
        "! env | grep -q nobody-may-see",
    ]
    with anyio.fail_after(100):
        return await anyio.run_process(
            command, cwd=repository, env={**os.environ, **environment}, check=False
        )


@pytest.mark.late
@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", pytest.param("CLAUDE_CODE_OAUTH_TOKEN", marks=pytest.mark.slow)]
)
async def test_a_run_with_credentials_asks_the_model_and_no_secret_is_written_down(
    repository: Path, tmp_path: Path, name: str
) -> None:
    async with model_at_one_address(tmp_path) as model:
        url = model.caller_url("any", "any", 1, {"workspace": "."})
        environment = {name: KEY, "ANTHROPIC_BASE_URL": url, "MY_SERVICE_TOKEN": "another-secret-value"}
        done = await run_sq(repository, tmp_path, **environment)
    output = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, output + str(model.problems)
    run_folder = StateFolder(repository / ".sq").find(None)
    with JournalReader(run_folder) as journal:
        stored = journal.read()
    started = fold(stored).started
    assert started is not None
    assert started.credentials == {"ANTHROPIC_API_KEY": "api key"}.get(name, "cli login")
    assert [one.event.answers[0].text for one in stored if isinstance(one.event, QuestionsAnswered)] == [
        "blue"
    ]
    seen = (repository / "environment.txt").read_text()
    assert "another-secret-value" not in seen
    written = [
        (run_folder / "journal.db").read_bytes(),
        (run_folder / "sq.log").read_bytes(),
        output.encode(),
    ]
    assert all(KEY.encode() not in text and b"another-secret-value" not in text for text in written)
    assert isinstance(stored[0].event, RunStarted)


@pytest.mark.late
async def test_without_credentials_the_way_out_is_named_and_nothing_is_begun(
    repository: Path, tmp_path: Path
) -> None:
    done = await run_sq(repository, tmp_path)
    assert done.returncode == 2
    assert b"ANTHROPIC_API_KEY" in done.stderr
    assert b"auth login" in done.stderr
    assert b"sq demo" in done.stderr
    assert StateFolder(repository / ".sq").run_ids() == []
