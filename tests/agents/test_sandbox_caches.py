"""Caches of packages that the user has not: one set-up fills them, all that follow only read them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy

CACHE = "$HOME/.cache/yarn"


@pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed")
def test_what_a_set_up_downloads_is_there_for_the_next_one_and_read_only_for_an_agent(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    policy = SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or ""),
        environ={},
        own_processes=True,
        home=home,
    )

    def run(script: str, *, fills: bool) -> subprocess.CompletedProcess[str]:
        number = len(list(tmp_path.iterdir()))
        workspace, scratch = tmp_path / f"work-{number}", tmp_path / f"scratch-{number}"
        workspace.mkdir()
        plan = policy.plan(
            Needs(workspace=workspace, scratch=scratch, path="/usr/bin:/bin", with_credentials=fills)
        )
        argv = ["sh", "-c", f"export HOME={home}; {script}"]
        return subprocess.run(bubblewrapped(argv, plan), capture_output=True, text=True, check=False)

    assert run(f"echo package > {CACHE}/one", fills=True).returncode == 0
    assert run(f"cat {CACHE}/one", fills=True).stdout == "package\n"
    of_an_agent = run(f"cat {CACHE}/one; echo other > {CACHE}/one", fills=False)
    assert (of_an_agent.stdout, of_an_agent.returncode != 0) == ("package\n", True)
    assert run(f"cat {CACHE}/one", fills=False).stdout == "package\n"
    assert not (home / ".cache" / "yarn").exists()
