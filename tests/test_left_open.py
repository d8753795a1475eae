"""What a test leaves open fails it, by name: connections, files, sockets and processes."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LEAKY = """
import socket, sqlite3, subprocess, threading, pytest
kept = []

def test_connection(tmp_path):
    kept.append(sqlite3.connect(tmp_path / "kept.db"))

def test_connection_that_nothing_refers_to(tmp_path):
    sqlite3.connect(tmp_path / "forgotten.db")

def test_connection_of_a_thread(tmp_path):
    thread = threading.Thread(target=lambda: kept.append(sqlite3.connect(tmp_path / "thread.db")))
    thread.start(); thread.join()

def test_file(tmp_path):
    kept.append((tmp_path / "kept.txt").open("w"))

def test_socket():
    kept.append(socket.socket())

def test_process():
    kept.append(subprocess.Popen(["sleep", "60"]))

@pytest.fixture
def server(tmp_path):
    kept.append((tmp_path / "fixture.txt").open("w"))
    yield
    (tmp_path / "late.txt").touch()

def test_fixture(server):
    pass

@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    with (tmp_path_factory.mktemp("wide") / "wide.txt").open("w") as file, sqlite3.connect(":memory:") as db:
        yield file
    db.close()

def test_with_a_wide_fixture(wide):
    wide.write("x")

def test_another_with_it(wide):
    wide.write("y")

def test_clean(tmp_path):
    connection = sqlite3.connect(tmp_path / "closed.db")
    connection.close()
    subprocess.run(["true"], check=True)

def teardown_module():
    for one in kept:
        if isinstance(one, subprocess.Popen):
            one.kill(); one.wait()
"""


@pytest.mark.late
def test_each_is_named_and_what_is_closed_or_of_a_wider_scope_is_not(tmp_path):
    (tmp_path / "test_leaky.py").write_text(LEAKY)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "left_open",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        tmp_path,
        "--basetemp",
        tmp_path / "folders",
    ]
    done = subprocess.run(
        [*command, tmp_path], cwd=tmp_path, env={"PYTHONPATH": str(TESTS), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    failed = {}
    for part in done.stdout.split("_ ERROR at teardown of ")[1:]:
        name, _, rest = part.partition(" _")
        failed[name] = rest.partition("the test leaves open:\n")[2].split("\n", 1)[0].strip()
    names = {name: Path(words).name for name, words in failed.items()}
    assert names.pop("test_socket").startswith("socket:[")
    assert failed["test_process"].endswith(": sleep 60")
    names.pop("test_process")
    assert names == {
        "test_connection": "kept.db",
        "test_connection_that_nothing_refers_to": "forgotten.db",
        "test_connection_of_a_thread": "thread.db",
        "test_file": "kept.txt",
        "test_fixture": "fixture.txt",
    }, done.stdout
    assert failed["test_connection"].startswith("connection to /")
    assert failed["test_file"].startswith("file /")
