"""The user's repository is looked at and never changed, except by the announced last step."""

import pytest

from orchestrator.git.command import git
from orchestrator.git.repository import (
    base_commit,
    deliver,
    find_repository,
    ignore_locally,
    tracked_files,
    uncommitted,
)
from orchestrator.git.workspace import commit_tree, ensure_worktree, run_branch, snapshot
from state.errors import GitError, UsageError

BRANCH = run_branch("r-1")


@pytest.fixture
def finished(project, tmp_path):
    """Finishes work in a worktree of the run's branch; returns its commit."""

    async def work(files=None):
        found = await find_repository(project)
        folder = tmp_path / "worktree"
        await ensure_worktree(project, folder, branch=BRANCH, commit=found.head)
        for name, content in (files or {"a.py": "x = 1\n"}).items():
            (folder / name).write_text(content)
        return found, await commit_tree(folder, branch=BRANCH, tree=await snapshot(folder), message="Work")

    return work


def delivered(found, commit, **more):
    facts = {"commit": commit, "base_branch": "main", "not_dirt": []}
    return deliver(found, **{**facts, **more})


# --- finding it -----------------------------------------------------------------------------------------


async def test_a_repository_is_found_from_any_folder_inside_it(project, shell):
    (project / "src" / "deep").mkdir(parents=True)
    found = await find_repository(project / "src" / "deep")
    assert found == await find_repository(project)
    assert (found.root, found.branch) == (project, "main")
    assert found.head == shell(project, "git", "rev-parse", "HEAD")


async def test_a_repository_without_commits_has_no_head_and_a_detached_one_no_branch(
    project, tmp_path, shell
):
    shell(project, "git", "checkout", "--quiet", "--detach")
    assert (await find_repository(project)).branch is None
    fresh = tmp_path / "fresh"
    shell(tmp_path, "git", "init", "--quiet", "--initial-branch=main", str(fresh))
    found = await find_repository(fresh)
    assert (found.head, found.branch) == (None, "main")


@pytest.mark.parametrize("kind", ["plain", "bare", "missing", "git folder"])
async def test_a_folder_without_a_working_tree_is_a_usage_error_that_says_what_to_do(
    tmp_path, project, shell, kind
):
    folder = {"git folder": project / ".git"}.get(kind, tmp_path / kind)
    if kind == "plain":
        folder.mkdir()
    if kind == "bare":
        shell(tmp_path, "git", "init", "--quiet", "--bare", str(folder))
    with pytest.raises(UsageError, match="git init"):
        await find_repository(folder)


# --- what is not committed ------------------------------------------------------------------------------


async def test_every_kind_of_change_is_found_whatever_its_name(project, shell):
    for name in ("old.py", "gone.py", "staged.py"):
        (project / name).write_text(f"{name} with enough text to be recognised\n")
    shell(project, "git", "add", ".")
    shell(project, "git", "commit", "--quiet", "-m", "Second")
    (project / "README.md").write_text("changed\n")
    (project / "gone.py").unlink()
    shell(project, "git", "mv", "old.py", "new name.py")
    (project / "staged.py").write_text("staged\n")
    shell(project, "git", "add", "staged.py")
    (project / "neu und ünï.txt").write_text("new\n")
    found = await find_repository(project)
    assert set(await uncommitted(found, not_dirt=[])) == {
        "README.md",
        "gone.py",
        "new name.py",
        "staged.py",
        "neu und ünï.txt",
    }


async def test_a_clean_checkout_has_nothing_uncommitted_and_ignored_files_are_none(project):
    (project / ".git" / "info" / "exclude").write_text("*.log\n")
    (project / "a.log").write_text("x\n")
    assert await uncommitted(await find_repository(project), not_dirt=[]) == []


async def test_the_spec_and_the_state_folder_are_no_dirt(project, tmp_path):
    (project / "spec.md").write_text("# Spec\n")
    (project / ".sq" / "runs").mkdir(parents=True)
    (project / ".sq" / "runs" / "journal.db").touch()
    (project / "spec.md.bak").write_text("x\n")
    (tmp_path / "link.md").symlink_to(project / "spec.md")
    found = await find_repository(project)
    for spec in (project / "spec.md", tmp_path / "link.md"):
        assert await uncommitted(found, not_dirt=[spec, project / ".sq"]) == ["spec.md.bak"]


async def test_a_run_starts_from_the_head(project, shell):
    found = await find_repository(project)
    (project / "new.py").write_text("x\n")
    assert await base_commit(found, not_dirt=[]) == found.head


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
async def test_an_empty_repository_gets_an_empty_start_on_no_branch(tmp_path, shell, object_format):
    folder = tmp_path / "fresh"
    shell(tmp_path, "git", "init", "--quiet", f"--object-format={object_format}", str(folder))
    (folder / "spec.md").write_text("# Spec\n")
    found = await find_repository(folder)
    commit = await base_commit(found, not_dirt=[folder / "spec.md"])
    assert await git(folder, "ls-tree", "-r", commit) == ""
    assert shell(folder, "git", "for-each-ref") == ""


async def test_files_in_a_repository_without_commits_are_a_usage_error_that_names_them(tmp_path, shell):
    folder = tmp_path / "fresh"
    shell(tmp_path, "git", "init", "--quiet", str(folder))
    for number in range(7):
        (folder / f"file{number}.py").write_text("x\n")
    with pytest.raises(UsageError, match=r"7 uncommitted.*file0.py.*file4.py ….*git commit"):
        await base_commit(await find_repository(folder), not_dirt=[])


async def test_the_tracked_files_are_listed_whatever_their_names(project, shell):
    (project / "ä b.py").write_text("x\n")
    shell(project, "git", "add", ".")
    (project / "untracked.py").write_text("x\n")
    assert await tracked_files(project) == ["README.md", "ä b.py"]


# --- the state folder out of git's sight ----------------------------------------------------------------


@pytest.mark.parametrize("name", [".sq", "my state", "odd [x]*?", "deep/er", "#state", "!state"])
@pytest.mark.parametrize("exists", [True, False])
async def test_a_state_folder_is_ignored_by_one_line_of_info_exclude_and_no_tracked_file(
    project, shell, name, exists
):
    exclude = project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("*.log")  # without an end of line
    folder = project / name
    if exists:
        folder.mkdir(parents=True)
    found = await find_repository(project)
    for _ in range(3):
        await ignore_locally(found, folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "journal.db").touch()
    await ignore_locally(found, folder)
    lines = exclude.read_text().splitlines()
    assert len(lines) == 2
    assert lines[0] == "*.log"
    assert shell(project, "git", "status", "--porcelain", "--untracked-files=all") == ""


async def test_a_folder_that_git_ignores_already_needs_no_line(project):
    (project / ".gitignore").write_text(".sq/\n")
    exclude = project / ".git" / "info" / "exclude"
    before = exclude.read_text() if exclude.exists() else None
    await ignore_locally(await find_repository(project), project / ".sq")
    assert (exclude.read_text() if exclude.exists() else None) == before


async def test_a_folder_outside_the_checkout_or_the_checkout_itself_is_left_alone(project, tmp_path):
    exclude = project / ".git" / "info" / "exclude"
    before = exclude.read_text() if exclude.exists() else None
    found = await find_repository(project)
    for folder in (tmp_path / "state", project, tmp_path / "my project ä and more"):
        await ignore_locally(found, folder)
    assert (exclude.read_text() if exclude.exists() else None) == before


async def test_a_state_folder_reached_through_a_link_is_ignored_too(project, tmp_path, shell):
    (tmp_path / "alias").symlink_to(project)
    await ignore_locally(await find_repository(project), tmp_path / "alias" / ".sq")
    (project / ".sq").mkdir()
    (project / ".sq" / "x").touch()
    assert shell(project, "git", "status", "--porcelain") == ""


async def test_in_a_linked_worktree_of_the_users_the_state_folder_is_ignored_as_well(
    project, tmp_path, shell
):
    linked = tmp_path / "linked"
    shell(project, "git", "worktree", "add", "--quiet", str(linked))
    await ignore_locally(await find_repository(linked), linked / ".sq")
    (linked / ".sq").mkdir()
    (linked / ".sq" / "x").touch()
    assert shell(linked, "git", "status", "--porcelain") == ""


# --- the announced last step ----------------------------------------------------------------------------


async def test_finished_work_moves_a_clean_checkouts_branch_forward(project, finished, shell):
    found, commit = await finished()
    assert await delivered(found, commit) == ""
    assert shell(project, "git", "rev-parse", "main") == commit
    assert (project / "a.py").read_text() == "x = 1\n"
    assert shell(project, "git", "status", "--porcelain") == ""
    assert await delivered(found, commit) == ""


async def test_the_spec_that_is_not_committed_does_not_stand_in_the_way(project, finished):
    (project / "spec.md").write_text("# Spec\n")
    found, commit = await finished()
    assert await delivered(found, commit, not_dirt=[project / "spec.md"]) == ""


async def refused(project, shell, found, commit, **more):
    """Why it was refused; and that nothing was touched by that."""
    before = [shell(project, "git", "status", "--porcelain"), shell(project, "git", "for-each-ref")]
    why = await delivered(found, commit, **more)
    assert why
    assert [shell(project, "git", "status", "--porcelain"), shell(project, "git", "for-each-ref")] == before
    assert not (project / "a.py").exists()
    return why


async def test_uncommitted_changes_keep_the_work_on_its_branch_and_are_named(project, finished, shell):
    found, commit = await finished()
    (project / "README.md").write_text("mine\n")
    assert "uncommitted changes (README.md)" in await refused(project, shell, found, commit)
    assert (project / "README.md").read_text() == "mine\n"


async def test_untracked_files_stand_in_the_way_only_where_the_work_would_write(project, finished, shell):
    found, commit = await finished()
    (project / "a.py").write_text("mine\n")
    (project / "other-spec.md").write_text("# Mine\n")
    before = shell(project, "git", "status", "--porcelain")
    assert "would not move main" in await delivered(found, commit)
    assert (project / "a.py").read_text() == "mine\n"
    assert shell(project, "git", "status", "--porcelain") == before
    (project / "a.py").unlink()
    assert await delivered(found, commit) == ""
    assert (project / "other-spec.md").read_text() == "# Mine\n"


async def test_a_branch_that_has_moved_on_keeps_the_work_on_its_branch(project, finished, shell):
    found, commit = await finished()
    (project / "mine.py").write_text("mine\n")
    shell(project, "git", "add", "mine.py")
    shell(project, "git", "commit", "--quiet", "-m", "Mine")
    assert "main has moved on" in await refused(project, shell, found, commit)


async def test_another_branch_checked_out_meanwhile_keeps_the_work_on_its_branch(project, finished, shell):
    found, commit = await finished()
    shell(project, "git", "checkout", "--quiet", "-b", "other")
    assert "on other now, not on main" in await refused(project, shell, found, commit)
    shell(project, "git", "checkout", "--quiet", "--detach")
    assert "a detached HEAD now" in await refused(project, shell, found, commit)


async def test_a_head_that_was_detached_from_the_start_keeps_the_work_on_its_branch(project, finished, shell):
    found, commit = await finished()
    assert "detached when the run began" in await refused(project, shell, found, commit, base_branch=None)


async def test_a_file_of_the_users_that_git_ignores_is_not_overwritten(project, finished, shell, home):
    found, commit = await finished({"notes.local": "from the run\n", "b.py": "x = 1\n"})
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.local\n")
    (project / "notes.local").write_text("mine, for years\n")
    assert "would not move main" in await refused(project, shell, found, commit)
    assert (project / "notes.local").read_text() == "mine, for years\n"


async def test_a_first_commit_is_delivered_to_a_branch_that_has_none(tmp_path, shell):
    folder = tmp_path / "fresh"
    shell(tmp_path, "git", "init", "--quiet", "--initial-branch=main", str(folder))
    found = await find_repository(folder)
    base = await base_commit(found, not_dirt=[])
    await ensure_worktree(folder, tmp_path / "w", branch=BRANCH, commit=base)
    (tmp_path / "w" / "a.py").write_text("x = 1\n")
    commit = await commit_tree(
        tmp_path / "w", branch=BRANCH, tree=await snapshot(tmp_path / "w"), message="Work"
    )
    assert await delivered(found, commit) == ""
    assert (folder / "a.py").exists()
    assert shell(folder, "git", "rev-parse", "main") == commit


async def test_work_that_is_not_there_is_a_reason_and_no_exception(project, finished):
    found, _ = await finished()
    assert await delivered(found, "0" * 40)
    with pytest.raises(GitError):
        await git(project, "rev-parse", "--verify", "no-such-ref")


async def test_a_setting_that_makes_a_checkout_bare_is_named_and_nobody_is_told_to_begin_a_repository(
    project, shell
):
    shell(project, "git", "config", "core.bare", "true")
    with pytest.raises(UsageError, match=r"git config core\.bare false") as raised:
        await find_repository(project)
    assert "git init" not in str(raised.value)
