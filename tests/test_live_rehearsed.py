"""The live tests against a scripted model: they pass with a good one, fail with a bad one, and say why they skip."""

import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from played import conversations, scenario
from rehearsed import messages_api

ROOT = Path(__file__).parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-m", "live", "-p", "no:cacheprovider", "--color=no"]
LOCAL = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


async def played(tmp_path, *tests, opposite=False):
    """The live tests as a process, with the scripted model in the place of the real one."""
    command = [*PYTEST, f"--basetemp={tmp_path / 'live'}", *tests]
    async with messages_api(scenario(opposite=opposite), conversations(), tmp_path / "ledger.jsonl") as api:
        access = {"SQ_LIVE": "1", "ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": api.base_url}
        with anyio.fail_after(110):
            done = await anyio.run_process(
                command, cwd=ROOT, env={**os.environ, **LOCAL, **access}, check=False
            )
    assert api.problems == []
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def outcomes(output):
    """How many tests ended how: `{"passed": 6}`."""
    return {
        kind: int(count)
        for count, kind in re.findall(r"(\d+) (\w+)", output.splitlines()[-1].split(" in ")[0])
    }


async def test_the_live_tests_pass_with_a_model_that_works_well(tmp_path):
    code, output = await played(tmp_path, "tests/live")
    assert (code, outcomes(output)) == (0, {"passed": 6}), output


async def test_the_judge_and_the_stop_hook_fail_with_a_model_that_judges_against_the_labels(tmp_path):
    tests = ("tests/live/test_live_judge.py", "tests/live/test_live_stop_hook.py")
    code, output = await played(tmp_path, *tests, opposite=True)
    assert (code, outcomes(output)) == (1, {"failed": 3, "passed": 1}), output
    assert "0% of 14 judgements agree" in output
    assert output.count("by its label, ") >= 14
    assert "test_an_open_promise" not in output


@pytest.mark.slow
async def test_the_runs_fail_with_a_model_that_builds_something_else(tmp_path):
    code, output = await played(tmp_path, "tests/live/test_live_runs.py", opposite=True)
    assert (code, outcomes(output)) == (1, {"failed": 2}), output
    assert "[0, 1, 2, 0]" in output
    assert "'green'" in output


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"ANTHROPIC_API_KEY": "made-up"}, "SQ_LIVE=1 is not set"),
        ({"SQ_LIVE": "1"}, "ANTHROPIC_API_KEY is not set"),
    ],
)
def test_without_being_asked_for_or_without_a_key_they_are_skipped_with_the_reason(given, why):
    command = [*PYTEST, "-rs", "tests/live"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, outcomes(done.stdout)) == (
        0,
        {
            "skipped": 6,
        },
    ), done.stdout + done.stderr
    assert f"{why}: live tests ask a real model and cost money, see tests/live/README.md" in done.stdout
