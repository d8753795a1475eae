"""What bubblewrap itself bounds: folders in memory, and the families of sockets."""

import errno
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.plan import Access, Mount, SandboxPlan
from agents.process.sandbox.system_calls import filter_program
from agents.process.sandbox.toolchains import system_mounts

pytestmark = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")


def run(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    empty = tmp_path / "empty"
    empty.touch()
    mounts = (*system_mounts(empty), Mount(target=tmp_path, access=Access.WRITE))
    (tmp_path / "calls").write_bytes(filter_program())
    plan = SandboxPlan(workspace=tmp_path, mounts=mounts, own_processes=True, filter=tmp_path / "calls")
    inside = bubblewrapped(["sh", "-c", script], plan)
    return subprocess.run(inside, capture_output=True, text=True, check=False)


def test_a_folder_in_memory_is_full_at_its_size(tmp_path: Path) -> None:
    done = run("head -c 700M /dev/zero > /var/tmp/big; stat -c %s /var/tmp/big; rm /var/tmp/big", tmp_path)
    assert "No space left on device" in done.stderr
    assert int(done.stdout) == 512 * 2**20


def test_only_sockets_that_a_namespace_separates_can_be_opened(tmp_path: Path) -> None:
    attempt = (
        "import errno, socket\n"
        "for family in range(64):\n"
        "    try:\n"
        "        socket.socket(family, socket.SOCK_STREAM).close()\n"
        "    except OSError as error:\n"
        "        if error.errno == errno.EAFNOSUPPORT: continue\n"
        "    print(family, end=' ')\n"
    )
    done = run(f"/usr/bin/python3 -c {shlex.quote(attempt)}", tmp_path)
    opened = {*map(int, done.stdout.split())}
    assert {1, 2} <= opened <= {0, 1, 2, 10, 16, 17}, done.stderr
    ring = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(425, 1, 0), ctypes.get_errno())"
    assert run(f"/usr/bin/python3 -c {shlex.quote(ring)}", tmp_path).stdout == f"-1 {errno.ENOSYS}\n"
