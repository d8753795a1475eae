"""`bin/test --quick` runs no test that starts a process, and knows the next time which ones did."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = """
import subprocess, sys

def test_alone():
    assert True

def test_wrong():
    assert False

def test_with_a_process():
    subprocess.run([sys.executable, "-c", ""], check=True)
"""


def test_a_test_with_a_process_is_skipped_once_and_left_out_after_that(tmp_path):
    (tmp_path / "test_some.py").write_text(TESTS)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.quick",
        "--quick",
        "--rootdir",
        str(tmp_path),
        "-q",
    ]
    command += [
        "--noconftest",
        "-c",
        os.devnull,
        f"{tmp_path}/test_some.py",
        "-o",
        f"cache_dir={tmp_path}/cache",
    ]
    last = [
        subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False).stdout
        for _ in range(2)
    ]
    assert "1 failed, 1 passed, 1 skipped" in last[0]
    assert "1 failed, 1 passed, 1 deselected" in last[1]
