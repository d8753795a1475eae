"""Signs of the sandbox: real commands in a real sandbox, each lacking something, and outputs of other programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.process.containment import Containment
from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel, why_not_whole
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.signs import signs_in
from state.secrets import without_secrets

NETWORK = 'sandbox.network = "full"'
OFF = "--sandbox off"
# A command, the program that it needs, what it lacks, and what opens it.
COMMANDS = (
    ("curl -sS http://example.com/", "curl", "the network", NETWORK),
    ("git ls-remote https://example.com/a.git", "git", "the network", NETWORK),
    ("node -e \"fetch('http://example.com').catch(e => { throw e.cause })\"", "node", "the network", NETWORK),
    ("node -e \"require('net').connect(5432, '127.0.0.1')\"", "node", "a service on port 5432", NETWORK),
    ("node -e \"require('net').connect('/var/run/docker.sock')\"", "node", "/var/run/docker.sock", OFF),
    ("curl -sS http://127.0.0.1:6379/", "curl", "a service on port 6379", NETWORK),
    ("python3 -c \"import socket; socket.create_connection(('example.com', 80))\"", "python3", "the network", NETWORK),
    ("python3 -c \"import urllib.request as u; u.urlopen('http://192.0.2.1/')\"", "python3", "the network", NETWORK),
    ("touch /usr/here", "touch", "a place to write", OFF),
    ("python3 -c \"open('/opt/here', 'w')\"", "python3", "a place to write", OFF),
    ('cat "$HOME/.config/service.json"', "cat", ".config/service.json", OFF),
    ("python3 -c \"import os; open(os.path.expanduser('~/data.csv'))\"", "python3", "data.csv", OFF),
)  # fmt: skip
# Messages of programs that are seldom installed.
MESSAGES = (
    ('psql: error: connection to server at "127.0.0.1", port 5432 failed: Connection refused', "port 5432"),
    (
        'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory',
        "/var/run/postgresql/.s.PGSQL.5432",
    ),
    ("Could not connect to Redis at 127.0.0.1:6379: Connection refused", "port 6379"),
    ("dial tcp 127.0.0.1:27017: connect: connection refused", "port 27017"),
    ("dial unix /var/run/docker.sock: connect: no such file or directory", "/var/run/docker.sock"),
    ("npm error code EAI_AGAIN", "the network"),
    ("error: failed to lookup address information: Temporary failure in name resolution", "the network"),
    ("java.net.UnknownHostException: repo.example.com", "the network"),
    ("Error: EROFS: read-only file system, mkdir '/usr/lib/x'", "a place to write"),
)
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
    boundary = SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, program=shutil.which("bwrap") or ""),
        environ=os.environ,
        own_processes=True,
        home=home,
        programs=(Path(sys.executable),),
    )
    plan = boundary.plan(Needs(workspace=work, scratch=root / "scratch", path=os.environ["PATH"]))
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
