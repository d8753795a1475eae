"""`bin/test --quick` runs no test that starts a process or takes long, and knows the next time which ones did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from language.tables import table

ROOT = Path(__file__).parents[1]
TESTS = table(__file__, "tests")


@pytest.mark.late
def test_a_test_with_a_process_is_skipped_once_and_left_out_after_that_and_so_is_a_long_one(tmp_path):
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
    assert "1 failed, 4 passed, 4 skipped" in last[0]
    assert "1 failed, 3 passed, 5 deselected" in last[1]
