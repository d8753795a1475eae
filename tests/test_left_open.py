"""What a test leaves open fails it, by name: connections, files, sockets and processes."""

import subprocess
import sys
from pathlib import Path

import pytest
from language.tables import table

TESTS = Path(__file__).parent
LEAKY = table(__file__, "leaky")


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
