"""With an API key: no agent's process and no file in its reach holds it, and a caller's token opens nothing else."""

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import yaml
from hostile_runs import SQ, call, make_repository, signals, write
from language.tables import table
from rows import ROOT

from agents.gateway.scenario import load_scenario
from agents.gateway.server import Gateway, serve_scenario

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(300)]

KEY = "sk-ant-api03-hostile-key-0123456789abcdef"
# The mark is put together here, so that neither this script nor a transcript of it is a hit.
LOOK = table(__file__, "look")
# A command that notices nothing would end the run with 5.
NOTICES = "! test -e look.sh || grep -qF 'hits=$((hits + $1))' look.sh"


@asynccontextmanager
async def model(root: Path) -> AsyncIterator[Gateway]:
    """The API: a scripted one, to which the real key is due."""
    builds = "Build one task"
    caller = [
        {**write("look.sh", LOOK), "when": builds},
        {"tools": [call("Bash", command="sh look.sh")], "when": builds},
        {**signals("task_complete", summary="Done.", tests="All tests pass."), "when": builds},
        {**signals("report_review", passed=True, issues=[], suggestions=[]), "when": "# Review"},
    ]
    scenario = root / "model.yaml"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": {"any/any/1": caller}}))
    served = serve_scenario(load_scenario(scenario), run_id="r", ledger=root / "model.jsonl")
    async with served as gateway:
        yield gateway


async def _run(root: Path, home: Path, *flags: str, **more: str) -> tuple[int, dict[str, int], str]:
    repository = make_repository(root / "project")
    spec = root / "spec.md"
    spec.write_text("# Notes\n\nCreate notes.txt with a line of text.\n")
    config = home / ".config" / "sq" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[efforts.low]\npower_steering = "none"\n')
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    command = [
        *SQ,
        "--spec",
        str(spec),
        "--plain",
        "--workflow",
        "direct",
        "--effort",
        "low",
        "--verify",
        NOTICES,
        *flags,
    ]
    async with model(root) as api:
        url = api.caller_url("any", "any", 1, {"workspace": "."})
        environ = {**kept, "HOME": str(home), "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, **more}
        done = await anyio.run_process(
            command, cwd=repository, env=environ, check=False, stderr=subprocess.STDOUT
        )
    output = done.stdout.decode()
    assert KEY not in output
    stored = b"".join(path.read_bytes() for path in (repository / ".sq").rglob("*") if path.is_file())
    assert KEY.encode() not in stored
    hits = repository / "hits.txt"
    assert hits.exists(), output
    answers: dict[str, int] = yaml.safe_load((repository / "answers.json").read_text())
    return int(hits.read_text()), answers, output


async def test_in_whole_the_key_is_nowhere_and_the_token_opens_its_own_caller_only(
    tmp_path: Path, home: Path
) -> None:
    hits, answers, output = await _run(tmp_path, home, "--sandbox", "whole")
    assert "sandbox: whole" in output
    assert hits == 0
    assert answers["another model"] == 403
    assert answers["another path"] == 404
    assert answers["a wrong token"] == 401
    assert answers["another caller"] in {401, 404}


@pytest.mark.skipif(not ROOT, reason="only root can read sq's environment then")
async def test_without_gateway_and_sandbox_the_same_worker_finds_the_key(tmp_path: Path, home: Path) -> None:
    hits, _, output = await _run(
        tmp_path, home, "--sandbox", "off", "--no-gateway", SQ_CONTAINMENT="supervisor"
    )
    assert hits > 0
    assert "agents have the API key in their environment" in output
