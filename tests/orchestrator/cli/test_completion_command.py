"""Completion as a shell asks for it, and the scripts that make it ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from language.programs import ran

from orchestrator.cli.main import COMMANDS

SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]
LAUNCHER = Path(__file__).parents[3] / "bin" / "sq"


def complete(folder, *words, command=SQ):
    """What bash is offered for the last of these words."""
    environ = {
        "_SQ_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["sq", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.fixture
def runs(tmp_path):
    """A folder with two runs."""
    ids = ["20260101-000000-aaaa", "20260102-000000-bbbb"]
    for run in ids:
        (tmp_path / ".sq" / "runs" / run).mkdir(parents=True)
        (tmp_path / ".sq" / "runs" / run / "journal.db").touch()
    return ids


def test_nothing_typed_yet_offers_every_command(tmp_path):
    assert complete(tmp_path, "") == list(COMMANDS)
    assert complete(tmp_path, "st") == ["status"]


def test_the_launcher_of_a_checkout_completes_too(tmp_path):
    if sys.prefix != str(LAUNCHER.parents[1] / ".venv"):
        pytest.skip("the launcher would make another environment")
    assert complete(tmp_path, "res", command=[str(LAUNCHER)]) == ["resume"]


def test_flags_of_a_command_and_commands_of_a_group_are_offered(tmp_path):
    assert complete(tmp_path, "logs", "--fo") == ["--follow"]
    assert complete(tmp_path, "config", "") == ["show"]
    assert complete(tmp_path, "config", "show", "--j") == ["--json"]
    assert complete(tmp_path, "completion", "") == ["bash", "zsh", "fish"]


def test_options_without_a_command_are_those_of_run(tmp_path):
    assert complete(tmp_path, "--sp") == ["--spec"]
    assert complete(tmp_path, "--spec", "x.md", "--ef") == ["--effort"]
    offered = complete(tmp_path, "--")
    assert {"--spec", "--effort", "--version", "--help"} <= set(offered)
    assert offered.count("--help") == 1


@pytest.mark.parametrize("words", [("--effort",), ("run", "--effort")])
def test_effort_offers_the_shipped_presets_and_those_of_the_users_own(repository, words):
    (repository / "sq.toml").write_text("[efforts.mild]\nlike = 'low'\n")
    assert complete(repository, *words, "m") == ["medium", "max", "mild"]


def test_effort_offers_the_shipped_presets_while_the_configuration_has_problems(repository):
    (repository / "sq.toml").write_text("efort = 'low'\n")
    assert complete(repository, "run", "--effort", "") == ["low", "medium", "high", "max"]


@pytest.mark.parametrize("command", ["resume", "status", "logs"])
def test_a_run_is_offered_by_its_id_newest_first(tmp_path, runs, command):
    assert complete(tmp_path, command, "") == runs[::-1]
    assert complete(tmp_path, command, "20260101") == runs[:1]


def test_runs_of_another_state_folder_are_offered_after_its_option(tmp_path, runs):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert complete(elsewhere, "resume", "") == []
    assert complete(elsewhere, "resume", "--state-dir", str(tmp_path / ".sq"), "") == runs[::-1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_sq_and_is_one_that_the_shell_can_read(tmp_path, shell):
    done = subprocess.run([*SQ, "completion", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_SQ_COMPLETE={shell}_complete" in done.stdout
    if program := shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(done.stdout)
        subprocess.run([program, "-n", str(script)], check=True)


def test_bash_completes_with_the_script(tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    (tmp_path / "sq").write_text(f'#!/bin/sh\nexec {" ".join(SQ)} "$@"\n')
    (tmp_path / "sq").chmod(0o755)
    words = 'COMP_WORDS=(sq dem); COMP_CWORD=1; _sq_completion sq; echo "${COMPREPLY[@]}"'
    done = ran(
        [bash, "-c", f'eval "$(sq completion bash)"; {words}'],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert (done.stdout, done.stderr) == ("demo\n", "")


def test_an_unknown_shell_is_refused_with_the_known_ones(tmp_path):
    done = subprocess.run([*SQ, "completion", "ksh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "bash" in done.stderr
