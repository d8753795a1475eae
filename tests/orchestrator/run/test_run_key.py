"""Runs with an API key: agents ask through the gateway, no process of theirs has the key, and sq says what is left."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
import yaml
from language.sampled import sampled
from language.scripted import SPEC, call, completes, passes, says

from agents.gateway.scenario import load_scenario
from agents.gateway.server import Gateway, serve_scenario
from agents.process.containment import Containment, detect_containment
from state.journal.events import RunStarted
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.sources import user_file

pytestmark = pytest.mark.claude

MARK = f"may-find-{os.getpid():010}"  # its own: other tests with keys run beside this process
KEY = f"sk-ant-a-key-that-no-agent-{MARK}"
NAMESPACES = detect_containment() is Containment.NAMESPACES
SCAN = (
    "env > environment.txt; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' > seen.txt; "
    f"grep -c {MARK} seen.txt > hits.txt; rm seen.txt; true"
)


@dataclass
class Ran:
    """A run that has ended."""

    code: int
    output: str
    started: RunStarted
    repository: Path

    @property
    def variables(self) -> str:
        return (self.repository / "environment.txt").read_text()

    @property
    def hits(self) -> int:
        return int((self.repository / "hits.txt").read_text())


@asynccontextmanager
async def model(tmp_path: Path) -> AsyncIterator[Gateway]:
    builds = "Build one task"
    caller = [
        {**says(call("Bash", command=SCAN)), "when": builds},
        {**completes(), "when": builds},
        {**passes(), "when": "# Review"},
    ]
    scenario = tmp_path / "model.yaml"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": {"any/any/1": caller}}))
    served = serve_scenario(load_scenario(scenario), run_id="r", ledger=tmp_path / "model.jsonl")
    async with served as gateway:
        yield gateway


async def run_sq(repository: Path, tmp_path: Path, *flags: str, **environment: str) -> Ran:
    spec = tmp_path / "spec.md"
    spec.write_text(SPEC)
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
    command = [sys.executable, "-I", "-m", "orchestrator.cli", "--spec", str(spec), "--plain"]
    command += ["--workflow", "direct", "--effort", "low", "--verify", "true", *flags]
    with anyio.fail_after(100):
        async with model(tmp_path) as api:
            url = api.caller_url("any", "any", 1, {"workspace": "."})
            done = await anyio.run_process(
                command,
                cwd=repository,
                env={**os.environ, "ANTHROPIC_BASE_URL": url, **environment},
                check=False,
                stderr=subprocess.STDOUT,
            )
            problems = api.problems
    output = " ".join(done.stdout.decode().split())
    folder = StateFolder(repository / ".sq").find(None)
    with JournalReader(folder) as journal:
        started = fold(journal.read()).started
    assert started is not None
    assert KEY.encode() not in (folder / "journal.db").read_bytes() + (folder / "sq.log").read_bytes()
    assert KEY not in output
    assert done.returncode == 0, (output, problems)
    return Ran(done.returncode, output, started, repository)


@pytest.mark.late
@pytest.mark.skipif(not NAMESPACES, reason="there are no PID namespaces here")
@pytest.mark.parametrize("name", sampled(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"], "ANTHROPIC_API_KEY"))
async def test_no_process_that_an_agent_sees_has_the_key_where_a_pid_namespace_holds(
    repository: Path, tmp_path: Path, name: str
) -> None:
    ran = await run_sq(repository, tmp_path, "--sandbox", "off", **{name: KEY})
    assert ran.hits == 0
    assert "ANTHROPIC_API_KEY=sqk_" in ran.variables
    assert KEY not in ran.variables
    assert (ran.started.credentials, ran.started.confined.key_exposed) == ("api key", "")
    assert "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL" not in ran.variables  # the API is not Anthropic's


@pytest.mark.late
async def test_where_no_pid_namespace_holds_the_run_says_that_the_key_can_be_read_and_the_remedy(
    repository: Path, tmp_path: Path
) -> None:
    ran = await run_sq(
        repository, tmp_path, "--sandbox", "off", ANTHROPIC_API_KEY=KEY, SQ_CONTAINMENT="supervisor"
    )
    assert KEY not in ran.variables
    assert "commands can read it from /proc" in ran.started.confined.key_exposed
    assert "set ANTHROPIC_API_KEY_FILE to its path" in ran.started.confined.key_exposed
    assert ran.started.confined.key_exposed in ran.started.notes
    assert f"note: {ran.started.confined.key_exposed}" in ran.output
    if os.geteuid() == 0:  # else the kernel shows this user sq's memory no more, but still its shell's
        assert ran.hits > 0


@pytest.mark.late
async def test_a_key_from_a_file_is_in_no_environment_at_all(repository: Path, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    ran = await run_sq(
        repository,
        tmp_path,
        "--sandbox",
        "off",
        ANTHROPIC_API_KEY_FILE=str(file),
        SQ_CONTAINMENT="supervisor",
    )
    assert ran.hits == 0
    assert ran.started.confined.key_exposed == ""
    assert "ANTHROPIC_API_KEY_FILE" not in ran.variables


@pytest.mark.late
async def test_in_the_strongest_sandbox_that_holds_a_run_works_and_finds_no_key(
    repository: Path, tmp_path: Path
) -> None:
    ran = await run_sq(repository, tmp_path, ANTHROPIC_API_KEY=KEY)
    assert ran.started.confined.sandbox is not None
    assert ran.hits == 0 or ran.started.confined.key_exposed
    assert KEY not in ran.variables
    # without network a package manager does not try for a minute
    assert ("npm_config_offline=true" in ran.variables) == (ran.started.confined.sandbox.level == "whole")


@pytest.mark.late
async def test_without_the_gateway_the_agents_have_the_key_and_the_run_says_so(
    repository: Path, tmp_path: Path
) -> None:
    ran = await run_sq(repository, tmp_path, "--no-gateway", ANTHROPIC_API_KEY=KEY)
    assert KEY in ran.variables
    assert "the gateway is off: agents have the API key in their environment" in ran.output
    assert ran.started.settings is not None
    assert not ran.started.settings.gateway
    assert ran.started.confined.sandbox is not None
    assert ran.started.confined.sandbox.level != "whole"  # it would have no way to the model


@pytest.mark.late
async def test_first_party_is_set_for_claude_code_where_it_was_asked_for(
    repository: Path, tmp_path: Path
) -> None:
    ran = await run_sq(
        repository, tmp_path, "--sandbox", "off", ANTHROPIC_API_KEY=KEY, SQ_GATEWAY_FIRST_PARTY="true"
    )
    assert "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL=1" in ran.variables
    assert "ENABLE_TOOL_SEARCH=true" in ran.variables
