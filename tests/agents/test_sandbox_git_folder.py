"""The git folder in a sandbox: what git reads is there, and nothing that people and tools keep beside it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy

pytestmark = pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed")
MINE = "mine-and-secret"
KEPT = {
    **dict.fromkeys((".git-credentials", "cookies", "deploy_key", "hooks/pre-push", "config.bak", "FETCH_HEAD"), MINE),
    **dict.fromkeys(("logs/old", "annex/creds/a", "lfs/cookies", "worktrees/other/x", "info/notes"), MINE),
    "config.worktree": f'[http "https://a.invalid"]\n\textraHeader = "{MINE}"\n',
    "modules/sub/config": f"[remote]\n\turl = https://x:{MINE}@a.invalid/\n[sendemail]\n\tsmtpPass = {MINE}\n",
}  # fmt: skip


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("is_worktree", [True, False])
def test_credentials_beside_what_git_reads_are_not_there(
    tmp_path: Path, repository: Path, shell: Callable[..., str], *, is_worktree: bool, writes: bool
) -> None:
    work = tmp_path / "work" if is_worktree else repository
    if is_worktree:
        shell(repository, "git", "worktree", "add", "-q", str(work), "-b", "work")
    for name, text in KEPT.items():
        (repository / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / ".git" / name).write_text(text)
    (work / "a").write_text("a\n")
    choice = Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or "")
    policy = SandboxPolicy(choice=choice, environ=os.environ, own_processes=True, home=tmp_path / "home")
    needs = Needs(workspace=work, scratch=tmp_path / "scratch", path=os.environ["PATH"], writes=writes)
    looks = f"grep -rlF {MINE} {repository}/.git {work}/.git; git log --format=%s; git status --short"
    done = subprocess.run(
        bubblewrapped(["sh", "-c", looks], policy.plan(needs)), capture_output=True, text=True, check=False
    )
    assert done.stdout == "First commit\n?? a\n", done.stderr
    assert not done.stderr
