"""Whether a task's folder holds work: what differs from what it began with, and nothing else."""

import pytest

from orchestrator.git.trees import holds_work


@pytest.fixture
def base(repository, shell):
    """The repository on a commit with a module and a pattern to ignore."""
    (repository / "a.py").write_text("one\n")
    (repository / ".gitignore").write_text("*.log\n")
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Base")
    return shell(repository, "git", "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("commands", "works"),
    [
        ([], False),
        (["touch a.py"], False),
        (["echo x > build.log"], False),
        (["mkdir __pycache__; echo x > __pycache__/a.cpython-313.pyc"], False),
        (["echo two >> a.py"], True),
        (["echo two >> a.py", "git add a.py"], True),
        (["echo two > b.py"], True),
        (["rm a.py"], True),
        (["echo two >> a.py", "git commit -qam Two"], True),
        (["echo two >> a.py", "git commit -qam Two", "git revert --no-edit HEAD"], False),
        (["echo two >> a.py", "git add a.py", "git checkout -q HEAD -- a.py"], False),
    ],
)
def test_work_is_a_difference_of_files_committed_or_not(repository, base, shell, commands, works):
    for command in commands:
        shell(repository, "sh", "-c", command)
    before = (repository / ".git" / "index").read_bytes()
    assert holds_work(repository, base) is works
    assert (repository / ".git" / "index").read_bytes() == before


def test_uncommitted_files_that_were_there_at_the_beginning_are_no_work(repository, base, shell):
    (repository / "mine.txt").write_text("mine\n")
    shell(repository, "git", "add", "mine.txt")
    begun = shell(repository, "git", "commit-tree", shell(repository, "git", "write-tree"), "-m", "Begun")
    shell(repository, "git", "reset", "--quiet")
    assert holds_work(repository, base)
    assert not holds_work(repository, begun)


def test_a_folder_that_is_gone_holds_none_and_one_that_git_cannot_read_may(repository, base, tmp_path):
    assert not holds_work(repository / "gone", base)
    assert holds_work(repository, "0" * 40)
    (tmp_path / "plain").mkdir()
    assert holds_work(tmp_path / "plain", base)
