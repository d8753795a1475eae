"""The live tests against a scripted model: they pass with a good one, fail with a bad one, and say why they skip."""

import os
import re
import sys
from pathlib import Path

import anyio
import pytest
from language.played import conversations, scenario
from language.rehearsed import messages_api
from language.sampled import sampled

pytestmark = pytest.mark.timeout(400)

ROOT = Path(__file__).parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-m", "live", "-p", "no:cacheprovider", "--color=no"]
KEY = "a-made-up-key"
JUDGES = ("tests/live/test_live_judge.py", "tests/live/test_live_stop_hook.py")
LOCAL = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


async def live_tests(tmp_path, *tests, **environ):
    """The live tests as a process in this environment: exit code, how many ended how, output."""
    command = [*PYTEST, f"--basetemp={tmp_path / 'live'}", *tests]
    with anyio.fail_after(360):
        done = await anyio.run_process(command, cwd=ROOT, env={**os.environ, **environ}, check=False)
    output = done.stdout.decode() + done.stderr.decode()
    summary = done.stdout.decode().splitlines()[-1].split(" in ")[0]
    return done.returncode, {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", summary)}, output


async def played(tmp_path, *tests, opposite=False):
    """The live tests with the scripted model in the place of the real one."""
    async with messages_api(scenario(opposite=opposite), conversations(), tmp_path / "ledger.jsonl") as api:
        access = {"SQ_LIVE": "1", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.base_url}
        ended = await live_tests(tmp_path, *tests, **LOCAL, **access)
    assert api.problems == [], ended[-1]
    return ended


@pytest.mark.parametrize(
    ("tests", "passed"),
    sampled([(("tests/live",), 6), (JUDGES, 4)], (JUDGES, 4)),
    ids=["all", "judges"],
)
@pytest.mark.late
async def test_the_live_tests_pass_with_a_model_that_works_well(tmp_path, tests, passed):
    code, counts, output = await played(tmp_path, *tests)
    assert (code, counts) == (0, {"passed": passed}), output


@pytest.mark.late
async def test_the_judge_and_the_stop_hook_fail_with_a_model_that_judges_against_the_labels(tmp_path):
    code, counts, output = await played(tmp_path, *JUDGES, opposite=True)
    assert (code, counts) == (1, {"failed": 3, "passed": 1}), output
    assert "0% of 14 judgements agree" in output
    assert "- recorded/skill_used, skill_invocation: met by its label, unmet by judge" in output
    assert "test_an_open_promise" not in output
    assert KEY not in output


@pytest.mark.slow
async def test_the_runs_fail_with_a_model_that_builds_something_else(tmp_path):
    code, counts, output = await played(tmp_path, "tests/live/test_live_runs.py", opposite=True)
    assert (code, counts) == (1, {"failed": 2}), output
    assert "[0, 1, 2, 0]" in output
    assert "'green'" in output
    assert KEY not in output


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, "SQ_LIVE=1 is not set"),
        ({"SQ_LIVE": "1"}, "ANTHROPIC_API_KEY is not set"),
    ],
)
async def test_without_being_asked_for_or_without_a_key_they_are_skipped_with_the_reason(
    tmp_path, given, why
):
    code, counts, output = await live_tests(tmp_path, "-rs", "tests/live", **given)
    assert (code, counts) == (0, {"skipped": 6}), output
    assert f"{why}: live tests ask a real model and cost money, see tests/live/README.md" in output
