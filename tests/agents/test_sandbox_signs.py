"""Signs of the sandbox: real commands in a real sandbox, each lacking something, and outputs of other programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from language.tables import table

from agents.process.containment import Containment
from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel, why_not_whole
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.signs import signs_in
from state.secrets import without_secrets

# A command, the program that it needs, what it lacks, and what opens it.
COMMANDS = table(__file__, "commands")
# Messages of programs that are seldom installed.
MESSAGES = table(__file__, "messages")
WITHOUT = (
    "AssertionError: 1 != 2",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/notes.txt'",
    "ModuleNotFoundError: No module named 'shop'",
    "E   assert 'connection' in 'refused'",
)


@pytest.mark.parametrize(("command", "program", "lacks", "opens"), COMMANDS)
def test_a_command_that_lacks_something_says_what_and_what_opens_it(
    command: str, program: str, lacks: str, opens: str, tmp_path: Path
) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    output = _in_sandbox(command, tmp_path)
    found = signs_in(output, home=str(tmp_path / "home"))
    assert lacks in found, output
    assert opens in found


@pytest.mark.parametrize(("message", "lacks"), MESSAGES)
def test_messages_of_other_programs(message: str, lacks: str) -> None:
    assert lacks in signs_in(message, home="/home/ann")


@pytest.mark.parametrize("message", WITHOUT)
def test_ordinary_failures_are_no_signs(message: str) -> None:
    assert signs_in(message, home="/home/ann") == ""


def test_a_command_that_had_the_network_does_not_lack_it() -> None:
    assert signs_in("curl: (6) Could not resolve host: example.invalid", home="/home/ann", online=True) == ""


def _in_sandbox(command: str, root: Path) -> str:
    if reason := why_not_whole(Containment.SUPERVISOR, os.environ):
        pytest.skip(reason)
    work, home = root / "work", root / "home"
    work.mkdir()
    home.mkdir()
    sandbox_policy = SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, program=shutil.which("bwrap") or ""),
        environ=os.environ,
        own_processes=True,
        home=home,
        programs=(Path(sys.executable),),
    )
    plan = sandbox_policy.plan(Needs(workspace=work, scratch=root / "scratch", path=os.environ["PATH"]))
    done = subprocess.run(
        bubblewrapped(["sh", "-c", command], plan),
        env={**without_secrets(os.environ), "HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0, done.stdout
    return done.stdout
