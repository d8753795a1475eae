"""Folders of a sandbox that lie in memory hold a bounded amount."""

import shutil
import subprocess
from pathlib import Path

import pytest

from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.plan import Access, Mount, SandboxPlan
from agents.process.sandbox.system_calls import filter_program
from agents.process.sandbox.toolchains import system_mounts


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_a_folder_in_memory_is_full_at_its_size(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    mounts = (*system_mounts(empty), Mount(target=tmp_path, access=Access.WRITE))
    (tmp_path / "calls").write_bytes(filter_program())
    plan = SandboxPlan(workspace=tmp_path, mounts=mounts, own_processes=True, filter=tmp_path / "calls")
    script = "head -c 700M /dev/zero > /var/tmp/big; stat -c %s /var/tmp/big; rm /var/tmp/big"
    done = subprocess.run(
        bubblewrapped(["sh", "-c", script], plan), capture_output=True, text=True, check=False
    )
    assert "No space left on device" in done.stderr
    assert int(done.stdout) == 512 * 2**20
