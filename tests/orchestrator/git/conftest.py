"""A repository as a user might have it, and a run at work in worktrees of it."""

import pytest
from run_at_work import RUN, RunAtWork


@pytest.fixture
def project(tmp_path, shell):
    """A repository with one commit (a README) on main, in a folder with spaces in its name."""
    folder = tmp_path / "my project ä"
    folder.mkdir()
    shell(folder, "git", "init", "--quiet", "--initial-branch=main")
    for setting, value in (("user.name", "Owner"), ("user.email", "owner@localhost")):
        shell(folder, "git", "config", setting, value)
    (folder / "README.md").write_text("# A project\n")
    shell(folder, "git", "add", "README.md")
    shell(folder, "git", "commit", "--quiet", "-m", "First commit")
    return folder


@pytest.fixture
async def work(project, tmp_path, shell):
    """A run at work."""
    run = RunAtWork(project, tmp_path / "state of mine" / RUN, shell)
    await run.places.prepare(run.view.whole)
    return run
