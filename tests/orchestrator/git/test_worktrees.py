"""Worktrees, snapshots and sq's own commits, with real git; the user's checkout, hooks and settings untouched."""

import os
import re
import subprocess
from pathlib import Path

import anyio
import pytest

from orchestrator.git.command import git, git_environment, git_succeeds
from orchestrator.git.locks import git_dir, git_is_at_work
from orchestrator.git.trees import (
    changed_paths,
    diff_text,
    pieced_together,
    shown_once,
    shown_patch,
    sizes,
    text_at,
)
from orchestrator.git.workspace import (
    add_into,
    commit_tree,
    ensure_branch,
    ensure_worktree,
    move_forward,
    put_on,
    remove_branch,
    remove_worktree,
    run_branch,
    show_tree,
    snapshot,
    snapshot_aside,
    task_branch,
    tree_of,
)
from state.errors import GitError, UsageError
from state.safe_paths import Oddities

BRANCH = task_branch("r-1", "t1")


@pytest.fixture
def worktree(project, tmp_path, shell):
    """A task's worktree, in a folder with spaces in its name."""
    folder = tmp_path / "state of mine" / "worktrees" / "t1"
    commit = shell(project, "git", "rev-parse", "HEAD")
    anyio.run(lambda: ensure_worktree(project, folder, branch=BRANCH, commit=commit))
    return folder


@pytest.fixture
def head(project, shell):
    return shell(project, "git", "rev-parse", "HEAD")


async def files_of(folder, tree):
    listed = await git(folder, "ls-tree", "-r", "--name-only", "-z", tree)
    return {name for name in listed.split("\0") if name}


def state_of(project, shell):
    """What the user sees in the checkout."""
    return [
        shell(project, "git", *command)
        for command in (
            ["status", "--porcelain", "--ignored"],
            ["rev-parse", "HEAD"],
            ["branch", "--show-current"],
        )
    ]


# --- snapshots ------------------------------------------------------------------------------------------


async def test_a_snapshot_sees_new_changed_and_deleted_files(worktree, head):
    (worktree / "src").mkdir()
    (worktree / "src" / "ünï code.py").write_text("x = 1\n")
    assert await files_of(worktree, await snapshot(worktree)) == {"README.md", "src/ünï code.py"}
    (worktree / "README.md").unlink()
    (worktree / "src" / "ünï code.py").write_text("x = 2\n")
    tree = await snapshot(worktree)
    assert await files_of(worktree, tree) == {"src/ünï code.py"}
    assert await changed_paths(worktree, head, tree) == ["README.md", "src/ünï code.py"]


async def test_editing_the_same_uncommitted_file_again_gives_another_tree(worktree):
    trees = []
    for number in range(3):
        (worktree / "a.py").write_text(f"x = {number}\n")
        trees.append(await snapshot(worktree))
    assert len(set(trees)) == 3


async def test_the_mode_of_a_file_counts(worktree):
    (worktree / "run.sh").write_text("true\n")
    before = await snapshot(worktree)
    (worktree / "run.sh").chmod(0o755)
    assert await snapshot(worktree) != before


async def test_two_snapshots_of_the_same_content_are_identical(worktree):
    (worktree / "a.py").write_text("x = 1\n")
    first = await snapshot(worktree)
    os.utime(worktree / "a.py", (0, 0))
    assert await snapshot(worktree) == first
    assert await snapshot(worktree) == first


JUNK = [
    "__pycache__/a.pyc",
    "src/__pycache__/b.pyc",
    ".pytest_cache/x",
    "node_modules/y/index.js",
    ".venv/bin/python",
]


async def test_a_snapshot_leaves_out_what_builds_and_tests_leave_behind(worktree, head):
    for name in [*JUNK, ".coverage", "a.pyc", ".DS_Store"]:
        (worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (worktree / name).write_text("junk\n")
    assert await snapshot(worktree) == await tree_of(worktree, head)


async def test_a_snapshot_leaves_out_what_the_repository_ignores(worktree):
    (worktree / ".gitignore").write_text("*.secret\n")
    (worktree / "a.secret").write_text("x\n")
    assert await files_of(worktree, await snapshot(worktree)) == {"README.md", ".gitignore"}


async def test_a_snapshot_touches_neither_the_checkout_nor_any_branch(worktree, project, head, shell):
    (worktree / "a.py").write_text("x = 1\n")
    before = state_of(project, shell), shell(project, "git", "for-each-ref")
    await snapshot(worktree)
    assert (state_of(project, shell), shell(project, "git", "for-each-ref")) == before


SLOW = "#!/bin/sh\ncat >/dev/null; : > {started}; for n in $(seq 200); do [ -e {go} ] && break; sleep 0.05; done; echo x\n"


async def test_a_snapshot_that_was_cancelled_half_way_can_be_taken_again(worktree, project, tmp_path, shell):
    started, go, filter_ = tmp_path / "started", tmp_path / "go", tmp_path / "filter"
    filter_.write_text(SLOW.format(started=started, go=go))
    filter_.chmod(0o755)
    shell(project, "git", "config", "filter.slow.clean", str(filter_))
    (worktree / ".gitattributes").write_text("*.slow filter=slow\n")
    (worktree / "a.slow").write_text("1\n")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(snapshot, worktree)
            while not started.exists():
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        go.touch()
        assert "a.slow" in await files_of(worktree, await snapshot(worktree))


async def test_two_snapshots_at_once_see_the_same_and_neither_waits_for_a_lock(worktree, project, tmp_path):
    (worktree / "a.py").write_text("x = 1\n")
    (git_dir(worktree) / "index.lock").touch()
    trees = []

    async def look():
        trees.append(await snapshot(worktree))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(look)
    assert len(trees) == 4
    assert len(set(trees)) == 1
    assert (git_dir(worktree) / "index.lock").exists()


async def test_a_snapshot_stages_nothing_where_an_agent_would_see_it(worktree, shell):
    (worktree / "README.md").write_text("# Another\n")
    (worktree / "a.py").write_text("x = 1\n")
    before = (git_dir(worktree) / "index").read_bytes()
    for _ in range(2):
        assert await files_of(worktree, await snapshot(worktree)) == {"README.md", "a.py"}
        assert (git_dir(worktree) / "index").read_bytes() == before
        assert "+# Another" in shell(worktree, "git", "diff")
        assert shell(worktree, "git", "status", "--porcelain").split() == ["M", "README.md", "??", "a.py"]


async def test_a_snapshot_does_not_read_again_what_has_not_changed(worktree, project, tmp_path, shell):
    read, filter_ = tmp_path / "read", tmp_path / "filter"
    filter_.write_text(f"#!/bin/sh\necho read >> {read}\ncat\n")
    filter_.chmod(0o755)
    shell(project, "git", "config", "filter.noting.clean", str(filter_))
    (worktree / ".gitattributes").write_text("*.big filter=noting\n")
    (worktree / "a.big").write_text("1\n")
    os.utime(worktree / "a.big", (1, 1))
    await snapshot(worktree)
    once = read.read_text()
    await snapshot(worktree)
    assert read.read_text() == once


async def test_a_snapshot_of_nothing_changed_writes_no_tree_and_one_of_anything_else_does(
    worktree, tmp_path, monkeypatch
):
    def trees_written():
        return len(re.findall(r"built-in: git.* write-tree", trace.read_text()))

    def write(text, at):
        (worktree / "a.py").write_text(text)
        os.utime(worktree / "a.py", (at, at))  # git reads a file again that is as new as the index

    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    os.utime(worktree / "README.md", (1, 1))
    write("x = 1\n", 1)
    first = await snapshot(worktree)
    assert await snapshot(worktree) == first
    assert trees_written() == 1
    write("x = 2\n", 2)
    assert await snapshot(worktree) != first
    write("x = 1\n", 3)
    assert await snapshot(worktree) == first
    assert trees_written() == 3


async def test_a_worktree_without_files_and_index_has_the_empty_tree(worktree):
    for one in (worktree / "README.md", git_dir(worktree) / "index"):
        one.unlink()
    assert [await snapshot(worktree) for _ in range(2)] == ["4b825dc642cb6eb9a060e54bf8d69288fbee4904"] * 2


async def test_a_snapshot_sees_what_a_worker_staged_or_put_out_of_the_index(worktree, shell):
    (worktree / ".gitignore").write_text("*.log\n")
    (worktree / "kept.log").write_text("x\n")
    await snapshot(worktree)
    shell(worktree, "git", "add", "--force", "kept.log")
    assert "kept.log" in await files_of(worktree, await snapshot(worktree))
    shell(worktree, "git", "rm", "--quiet", "--cached", "kept.log")
    assert "kept.log" not in await files_of(worktree, await snapshot(worktree))


async def test_a_lock_that_another_git_does_not_give_back_is_an_error_and_stays(worktree, head):
    lock = git_dir(worktree) / "index.lock"
    lock.touch()
    with subprocess.Popen(
        ["git", "-C", str(worktree), "hash-object", "--stdin"], stdin=subprocess.PIPE
    ) as other:
        with anyio.fail_after(20):
            while not git_is_at_work(worktree):
                await anyio.sleep(0.01)
        with pytest.raises(GitError, match=r"index\.lock.: File exists"):
            await put_on(worktree, head, branch=BRANCH)
        assert lock.exists()
        other.communicate(b"")
    await put_on(worktree, head, branch=BRANCH)


async def test_a_lock_of_a_killed_git_is_removed_from_a_worktree_and_never_from_the_checkout(
    worktree, project, head
):
    for folder in (git_dir(worktree), project / ".git"):
        (folder / "index.lock").touch()
    await put_on(worktree, head, branch=BRANCH)
    with pytest.raises(GitError, match="is not a worktree of sq's"):
        await snapshot(project)
    assert (project / ".git" / "index.lock").exists()


async def test_a_snapshot_aside_sees_the_same_and_leaves_the_index_as_it_is(worktree):
    (worktree / "a.py").write_text("x = 1\n")
    index = git_dir(worktree) / "index"
    before = index.read_bytes()
    aside = await snapshot_aside(worktree)
    assert index.read_bytes() == before
    assert aside == await snapshot(worktree)
    for text in ("x = 2\n", "x = 3\n"):
        (worktree / "a.py").write_text(text)
        assert await snapshot_aside(worktree) != aside


async def test_an_index_that_names_an_object_which_was_made_in_a_sandbox_is_read_anew(worktree, shell):
    """A Resolver's `git add` writes its objects to a folder of the session's, and its index is taken over."""
    staged = worktree / "a.py"
    staged.write_text("x = 1\n")
    os.utime(staged, (1_000_000_000, 1_000_000_000))  # long before the index: git trusts its times
    shell(worktree, "git", "add", "a.py")
    name = shell(worktree, "git", "rev-parse", ":a.py").strip()
    made = Path(shell(worktree, "git", "rev-parse", "--git-path", f"objects/{name[:2]}/{name[2:]}").strip())
    made.unlink()
    tree = await snapshot_aside(worktree)
    assert shell(worktree, "git", "show", f"{tree}:a.py").strip() == "x = 1"


async def test_what_a_whole_name_says_is_asked_once_and_what_a_branch_says_each_time(
    project, head, shell, monkeypatch
):
    shell(project, "git", "commit", "--allow-empty", "-qm", "More")
    (project / "more.py").write_text("x = 1\n")
    first = await tree_of(project, head), await tree_of(project, "HEAD")
    shell(project, "git", "add", "more.py")
    shell(project, "git", "commit", "-qm", "A file")
    assert await tree_of(project, "HEAD") != first[1]
    monkeypatch.setenv("PATH", "")
    assert await tree_of(project, head) == first[0]
    with pytest.raises(GitError, match="could not be run"):
        await tree_of(project, "HEAD")


# --- commits --------------------------------------------------------------------------------------------


async def test_a_tree_is_committed_as_sq_on_its_branch_and_leaves_the_worktree_clean(worktree, head, shell):
    (worktree / "a.py").write_text("x = 1\n")
    tree = await snapshot(worktree)
    (worktree / "left by the tests.log").write_text("noise\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=tree, message='A "title"\n\nand a body')
    assert await tree_of(worktree, commit) == tree
    assert shell(worktree, "git", "log", "-1", "--format=%an <%ae> %cn %P%n%B", BRANCH).splitlines() == [
        f"sq <sq@localhost> sq {head}",
        'A "title"',
        "",
        "and a body",
    ]
    assert shell(worktree, "git", "status", "--porcelain") == ""
    assert shell(worktree, "git", "branch", "--show-current") == BRANCH


async def test_committing_the_same_tree_again_gives_the_same_commit(worktree):
    (worktree / "a.py").write_text("x = 1\n")
    tree = await snapshot(worktree)
    first = await commit_tree(worktree, branch=BRANCH, tree=tree, message="One")
    assert await commit_tree(worktree, branch=BRANCH, tree=tree, message="Two") == first


async def test_a_commit_that_was_made_before_a_crash_is_cleaned_up_after(worktree):
    (worktree / "a.py").write_text("x = 1\n")
    tree = await snapshot(worktree)
    first = await commit_tree(worktree, branch=BRANCH, tree=tree, message="One")
    (worktree / "left by the tests.log").write_text("noise\n")
    (worktree / "a.py").write_text("x = 2\n")
    assert await commit_tree(worktree, branch=BRANCH, tree=tree, message="One") == first
    assert await snapshot(worktree) == tree


async def test_the_users_hooks_and_signing_have_no_part_in_sqs_commits_and_merges(
    project, tmp_path, head, shell
):
    ran = tmp_path / "hooks that ran"
    hooks = project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "reference-transaction",
        "post-index-change",
        "post-rewrite",
    ]:
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> '{ran}'\nexit 1\n")
        (hooks / name).chmod(0o755)
    shell(project, "git", "config", "commit.gpgSign", "true")
    shell(project, "git", "config", "user.signingKey", "nobody")
    folder = tmp_path / "w"
    await ensure_worktree(project, folder, branch=BRANCH, commit=head)
    (folder / "a.py").write_text("x = 1\n")
    commit = await commit_tree(folder, branch=BRANCH, tree=await snapshot(folder), message="One")
    await ensure_branch(project, run_branch("r-1"), head)
    await move_forward(project, branch=run_branch("r-1"), commit=commit, onto=head)
    await git(project, "merge", "--ff-only", run_branch("r-1"))
    assert (project / "a.py").exists()
    assert not ran.exists()


# --- worktrees ------------------------------------------------------------------------------------------


async def test_a_worktree_is_made_once_and_then_left_with_the_work_in_it(worktree, project, head):
    (worktree / "a.py").write_text("x = 1\n")
    await ensure_worktree(project, worktree, branch=BRANCH, commit=head)
    assert (worktree / "a.py").read_text() == "x = 1\n"


async def test_a_worktree_whose_folder_was_lost_is_made_again_from_its_branch(worktree, project, head, shell):
    (worktree / "a.py").write_text("x = 1\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    shell(project, "rm", "-rf", str(worktree))
    await ensure_worktree(project, worktree, branch=BRANCH, commit=head)
    assert await git(worktree, "rev-parse", "HEAD") == commit
    assert (worktree / "a.py").exists()


async def test_a_worktree_that_a_killed_git_had_only_half_made_is_made_anew(worktree, project, head):
    (git_dir(worktree) / "locked").write_text("initializing\n")
    (worktree / "README.md").unlink()
    assert await ensure_worktree(project, worktree, branch=BRANCH, commit=head)
    assert (worktree / "README.md").exists()
    assert not await ensure_worktree(project, worktree, branch=BRANCH, commit=head)


@pytest.mark.parametrize("at", ["locked", ".git", "commondir", "HEAD", "index", "README.md"])
async def test_a_kill_at_any_point_of_making_a_worktree_is_mended(worktree, project, head, at):
    order = ["locked", ".git", "commondir", "HEAD", "index", "README.md"]
    where = git_dir(worktree)
    (where / "locked").write_text("initializing\n")
    for name in order[order.index(at) + 1 :]:
        for folder in (where, worktree):
            (folder / name).unlink(missing_ok=True)
    await ensure_worktree(project, worktree, branch=BRANCH, commit=head)
    assert await snapshot(worktree) == await tree_of(project, head)


async def test_a_worktree_without_a_branch_is_detached_at_its_commit(project, tmp_path, head):
    folder = tmp_path / "reading room"
    await ensure_worktree(project, folder, branch=None, commit=head)
    assert await git(folder, "rev-parse", "HEAD") == head
    assert not await git_succeeds(folder, "symbolic-ref", "--quiet", "HEAD")


@pytest.mark.parametrize("round_", range(3))
async def test_many_worktrees_are_made_at_once(project, tmp_path, head, shell, round_):
    names = [f"t{number}" for number in range(6)]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in names:

                async def make(name=name):
                    branch = task_branch("r-1", name)
                    await ensure_worktree(project, tmp_path / "w" / name, branch=branch, commit=head)

                tasks.start_soon(make)
    assert {folder.name for folder in (tmp_path / "w").iterdir()} == set(names)
    for name in names:
        assert (
            shell(tmp_path / "w" / name, "git", "status", "--porcelain", "--branch")
            == f"## {task_branch('r-1', name)}"
        )


async def test_a_folder_that_holds_something_else_is_refused_and_left_alone(project, tmp_path, head):
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine\n")
    with pytest.raises(GitError, match="w"):
        await ensure_worktree(project, folder, branch=BRANCH, commit=head)
    assert (folder / "mine.txt").read_text() == "mine\n"


async def test_a_commit_that_is_not_there_is_refused(project, tmp_path):
    with pytest.raises(GitError):
        await ensure_worktree(project, tmp_path / "w", branch=BRANCH, commit="0" * 39 + "1")


async def test_a_worktree_put_on_newer_work_holds_that_and_nothing_else(worktree, project, shell):
    (project / "b.py").write_text("y = 1\n")
    shell(project, "git", "add", "b.py")
    shell(project, "git", "commit", "--quiet", "-m", "Second")
    newer = shell(project, "git", "rev-parse", "HEAD")
    (worktree / "scrap.txt").write_text("scrap\n")
    await put_on(worktree, newer, branch=BRANCH)
    assert {path.name for path in worktree.iterdir()} == {".git", "README.md", "b.py"}


async def test_a_worktree_goes_only_when_it_holds_what_was_merged(worktree, project, head):
    (worktree / "a.py").write_text("x = 1\n")
    assert not await remove_worktree(project, worktree, holds=await tree_of(project, head))
    assert (worktree / "a.py").exists()
    assert await remove_worktree(project, worktree, holds=await snapshot(worktree))
    assert not worktree.exists()
    assert await remove_worktree(project, worktree, holds="anything")


async def test_a_branch_goes_only_when_its_commits_are_merged(worktree, project, head):
    (worktree / "a.py").write_text("x = 1\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    await remove_branch(project, BRANCH, merged_into=head)
    assert await git(project, "rev-parse", BRANCH) == commit
    await remove_branch(project, BRANCH, merged_into=commit)
    assert not await git_succeeds(project, "rev-parse", "--verify", f"refs/heads/{BRANCH}")


async def test_a_runs_branch_moves_only_forward_from_where_it_should_be(worktree, project, head, shell):
    run = run_branch("r-1")
    await ensure_branch(project, run, head)
    (worktree / "a.py").write_text("x = 1\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    for _ in range(2):
        await move_forward(project, branch=run, commit=commit, onto=head)
        assert await git(project, "rev-parse", run) == commit
    aside = await git(project, "commit-tree", "-p", head, "-m", "Aside", await tree_of(project, head))
    with pytest.raises(GitError, match="is not based on"):
        await move_forward(project, branch=run, commit=aside, onto=commit)
    with pytest.raises(GitError, match=f"should be at {aside[:12]} and is at {commit[:12]}"):
        await move_forward(project, branch=run, commit=head, onto=aside)
    assert await git(project, "rev-parse", run) == commit
    shell(project, "git", "branch", "-D", run)
    with pytest.raises(GitError, match="is gone"):
        await move_forward(project, branch=run, commit=commit, onto=head)


async def test_an_existing_branch_is_left_where_it_is(project, head):
    aside = await git(project, "commit-tree", "-p", head, "-m", "Aside", await tree_of(project, head))
    await ensure_branch(project, "b", aside)
    await ensure_branch(project, "b", head)
    assert await git(project, "rev-parse", "b") == aside


async def test_a_long_diff_is_cut_with_a_note_and_the_files_are_listed_whole(worktree, head):
    (worktree / "a.py").write_text("x = 1\n" * 5000)
    (worktree / "b.py").write_text("y = 2\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    told = await diff_text(worktree, head, commit, limit=1000)
    assert "2 files changed" in told
    assert "[… a/a.py b/a.py: its diff of 35113 bytes is left out: read the file itself]" in told
    assert "+y = 2" in told
    assert len(told) < 2000
    assert "left out" not in await diff_text(worktree, head, commit, limit=100_000)


async def test_of_very_many_files_the_rest_is_counted(worktree, head):
    (worktree / "wide").mkdir()
    for number in range(2_000):
        (worktree / "wide" / f"{number}.py").write_text(f"x = {number}\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    told = await diff_text(worktree, head, commit, limit=5_000)
    assert "2000 files changed" in told
    assert len(re.findall(r"\[… \d+ more files are not named here", told)) == 2
    assert len(told) < 20_000


async def test_a_diff_that_stands_above_is_named_and_not_shown_again(worktree, head):
    (worktree / "a.py").write_text("x = 1\n")
    first = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    (worktree / "a.py").write_text("x = 2\n")
    (worktree / "b.py").write_text("y = 2\n")
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="Two")
    whole = await diff_text(worktree, head, commit, limit=1000)
    since = await diff_text(worktree, first, commit, limit=1000)
    told = shown_once(whole, f"Words.\n\n{since}\n")
    assert "+x = 2" in told
    assert "+y = 2" not in told
    assert told.endswith("[… a/b.py b/b.py: its diff stands above]\n```")
    assert shown_once(whole, "") == whole
    cut = await diff_text(worktree, first, commit, limit=10)
    assert shown_once(whole, cut) == whole
    nothing = await diff_text(worktree, commit, commit, limit=1000)
    assert shown_once(nothing, since) == nothing


HIDING = ["-diff", "binary", "diff=hides", "linguist-generated -diff", "filter=hides -text"]


@pytest.mark.parametrize("where", ["tree", "info", "user"])
async def test_no_attribute_or_setting_hides_a_change(worktree, head, project, tmp_path, where):
    places = {"tree": worktree / ".gitattributes", "info": project / ".git/info/attributes"}
    place = places.get(where, tmp_path / "attributes")
    place.parent.mkdir(exist_ok=True)
    place.write_text("".join(f"{number}.py {one}\n" for number, one in enumerate(HIDING)))
    for key in ("diff.external", "diff.hides.textconv", "diff.hides.command"):
        await git(project, "config", key, "true")
    await git(project, "config", "core.attributesFile", str(tmp_path / "attributes"))
    for number, _ in enumerate(HIDING):
        (worktree / f"{number}.py").write_text(f"answer = {number}\n")
    (worktree / "noise.bin").write_bytes(b"a\0b" * 100)
    commit = await commit_tree(worktree, branch=BRANCH, tree=await snapshot(worktree), message="One")
    told = await diff_text(worktree, head, commit, limit=10_000)
    shown, _ = await shown_patch(project, head, commit)
    lines = {f"+answer = {number}" for number, _ in enumerate(HIDING)}
    assert lines <= set(told.splitlines())
    assert lines <= set(shown.splitlines())
    assert re.search(r"noise.bin +\| Bin 0 -> 300 bytes", told)
    counted = {one.path: one.added for one in await sizes(worktree, head, commit)}
    assert [counted[f"{number}.py"] for number, _ in enumerate(HIDING)] == [1] * len(HIDING)
    assert counted["noise.bin"] is None


# --- the command ----------------------------------------------------------------------------------------


async def test_a_failed_command_says_what_was_run_and_what_git_said(project):
    with pytest.raises(GitError, match=r"git rev-parse --verify nothing in .* failed: fatal"):
        await git(project, "rev-parse", "--verify", "nothing")


def test_sqs_git_has_an_identity_asks_nobody_and_is_not_led_astray(monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_1234567890")
    environment = git_environment({"GIT_INDEX_FILE": "/mine"})
    assert "GIT_DIR" not in environment
    assert "GITHUB_TOKEN" not in environment
    assert environment["GIT_INDEX_FILE"] == "/mine"
    assert environment["GIT_AUTHOR_NAME"] == "sq"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"


async def test_a_folder_that_is_not_there_is_a_git_error(tmp_path):
    with pytest.raises(GitError):
        await git(tmp_path / "nowhere", "status")


async def test_a_repository_in_a_tree_is_no_file(project, head):
    tree = await git(project, "mktree", stdin=f"160000 commit {head}\tinner\n")
    assert await text_at(project, tree, "inner") == ""


async def test_large_files_that_git_cannot_read_in_time_are_named_and_the_rest_is_taken(repository, tmp_path):
    worktree = tmp_path / "worktree"
    await ensure_worktree(
        repository, worktree, branch=None, commit=await git(repository, "rev-parse", "HEAD")
    )
    (worktree / "small.txt").write_text("text\n")
    for name in ("a.bin", "b.bin"):
        with (worktree / name).open("wb") as file:
            file.truncate(20_000_000_000)
    odd, environment = Oddities(), {"GIT_INDEX_FILE": str(tmp_path / "index")}
    await add_into(worktree, environment, lenient=False, odd=odd, deadline_s=2)
    assert {*odd.left_out} == {"a.bin", "b.bin"}
    assert "20,000,000,000 bytes" in odd.left_out["a.bin"]
    listed = await git(worktree, "ls-files", "--cached", environment=environment)
    assert "small.txt" in listed
    assert "a.bin" not in listed


async def test_a_worktree_that_git_forgot_is_known_again_with_the_work_in_it(project, worktree, head, shell):
    (worktree / "work.txt").write_text("work\n")
    pointer = (worktree / ".git").read_text()
    (worktree / ".git").unlink()
    shell(project, "git", "worktree", "prune", "--expire=now")
    (worktree / ".git").write_text(pointer)
    assert not await ensure_worktree(project, worktree, branch=BRANCH, commit=head)
    assert shell(worktree, "git", "status", "--porcelain", "--branch") == f"## {BRANCH}\n?? work.txt"
    assert await files_of(worktree, await snapshot(worktree)) == {"README.md", "work.txt"}


@pytest.mark.parametrize("left", [".git", "half.txt"])
async def test_what_is_left_of_a_scratch_worktree_is_removed_before_a_new_one_is_made(
    project, tmp_path, head, left
):
    folder = tmp_path / "verify.1"
    folder.mkdir()
    (folder / left).write_text("gitdir: /nowhere\n")
    tree = await tree_of(project, head)
    await show_tree(project, folder, tree, base="HEAD")
    assert await snapshot(folder) == tree


async def test_a_branch_in_the_place_of_sqs_own_is_named_with_what_to_do(project, head, shell):
    shell(project, "git", "branch", "sq")
    with pytest.raises(UsageError, match=r"your branch sq is where .* git branch -m sq "):
        await ensure_branch(project, run_branch("r-1"), head)


async def test_a_filter_that_fails_in_a_worktree_is_named_with_its_words(project, tmp_path, shell):
    script = tmp_path / "crypt"
    script.write_text("#!/bin/sh\ntest -d .git && exec cat\necho 'no key here' >&2\nexit 1\n")
    script.chmod(0o755)
    for kind in ("clean", "smudge"):
        shell(project, "git", "config", f"filter.crypt.{kind}", str(script))
    shell(project, "git", "config", "filter.crypt.required", "true")
    (project / ".gitattributes").write_text("secret.txt filter=crypt\n")
    (project / "secret.txt").write_text("s\n")
    shell(project, "git", "add", "-A")
    shell(project, "git", "commit", "--quiet", "-m", "A secret")
    commit = shell(project, "git", "rev-parse", "HEAD")
    with pytest.raises(UsageError, match=r"secret.txt .*filter crypt .*\(no key here\).*worktrees = false"):
        await ensure_worktree(project, tmp_path / "places" / "t1", branch=BRANCH, commit=commit)


@pytest.mark.parametrize("form", ["sha1", "sha256"])
async def test_a_tree_is_pieced_together_without_a_file_in_either_form_of_objects(tmp_path, shell, form):
    home = tmp_path / form
    shell(tmp_path, "git", "init", "--quiet", f"--object-format={form}", str(home))
    trees = []
    for name in ("a.txt", "b.txt"):
        (home / name).write_text(f"{name}\n")
        shell(home, "git", "add", name)
        trees.append(shell(home, "git", "write-tree"))
    assert await pieced_together(home, trees[1], of=trees[0], paths=["b.txt"]) == trees[0]
