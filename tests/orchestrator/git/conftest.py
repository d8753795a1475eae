"""A repository as a user might have it."""

import pytest


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
