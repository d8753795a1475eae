"""Git that sq runs in an agent's tree runs no program of the agent's, and those of the user as before."""

import os
import subprocess

import pytest
from hostile_git import ATTACKS, HOOKS, SETTINGS, Ground
from language.tables import table

from orchestrator.git.artifacts import holdings_of
from orchestrator.git.command import git, git_environment
from orchestrator.git.pinned import changed_git, left_out_programs, record_git, recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.repository import deliver, find_repository
from orchestrator.git.trees import changed_paths, diff_text, files_in, holds_work, pieced_together, text_at
from orchestrator.git.users.shadows import put_back, shadow_snapshot
from orchestrator.git.workspace import (
    commit_tree,
    ensure_worktree,
    put_on,
    remove_scratch,
    remove_worktree,
    show_tree,
    snapshot,
    snapshot_aside,
    task_branch,
    tree_of,
)
from state.errors import GitError

BRANCH = task_branch("r-1", "t1")


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "run of mine"
    folder.mkdir()
    return folder


@pytest.fixture
def worktrees(tmp_path):
    folder = tmp_path / "worktrees"
    folder.mkdir()
    return folder


@pytest.fixture
def head(project, shell):
    return shell(project, "git", "rev-parse", "HEAD")


@pytest.fixture
async def trusted(project, run_folder, worktrees):
    """A run that has begun."""
    return await record_git(project, run_folder, worktrees)


@pytest.fixture
async def ground(project, worktrees, trusted, head, tmp_path, shell):
    """A worktree that an agent has, and its repository, in which it can write everything."""
    with trusting(trusted):
        await ensure_worktree(project, worktrees / "t1", branch=BRANCH, commit=head)
    return Ground(project=project, worktree=worktrees / "t1", mark=tmp_path / "ran", shell=shell)


def plain_add(ground):
    """Git as a user calls it. It may fail, and only the mark counts."""
    subprocess.run(["git", "-C", str(ground.worktree), "add", "--all"], capture_output=True, check=False)


async def all_of_sq(ground, trusted, head):
    """Every use that sq makes of git in a worktree."""
    with trusting(trusted):
        tree = await snapshot(ground.worktree)
        assert await snapshot_aside(ground.worktree) == tree
        commit = await commit_tree(ground.worktree, branch=BRANCH, tree=tree, message="Work")
        await diff_text(ground.worktree, head, commit, limit=10_000)
        await git(ground.worktree, "status", "--porcelain", "--ignore-submodules=dirty")
        place = trusted.worktrees / "verify.1"
        await show_tree(ground.project, place, tree, base="HEAD")
        await remove_scratch(ground.project, place)
        await put_on(ground.worktree, head, branch=BRANCH, with_repositories=True)
        return commit, tree


@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_that_works_on_plain_git_does_not_run_by_sq(name, ground, trusted, head):
    ATTACKS[name](ground)
    await all_of_sq(ground, trusted, head)
    assert not ground.mark.exists()


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_works_on_plain_git(name, ground):
    ATTACKS[name](ground)
    plain_add(ground)
    assert ground.mark.exists()


async def test_no_setting_of_the_agents_makes_any_command_run_a_program(ground, trusted, head):
    for setting in SETTINGS:
        ground.config(setting, ground.program)
    ground.attributes("* filter=evil diff=evil merge=evil\n")
    await all_of_sq(ground, trusted, head)
    assert not ground.mark.exists()


async def test_no_hook_is_run_wherever_the_agent_puts_it(ground, trusted, head):
    hooks = ground.worktree / "hooks"
    hooks.mkdir()
    for folder in (hooks, ground.common / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).write_text(f'#!/bin/sh\ntouch "{ground.mark}"\n')
            (folder / name).chmod(0o755)
    ground.config("core.hooksPath", str(hooks))
    await all_of_sq(ground, trusted, head)
    assert not ground.mark.exists()


async def test_the_work_is_read_from_the_worktree_whatever_stands_in_the_place_of_its_pointer(
    ground, trusted, head
):
    ATTACKS["a repository in place of the pointer"](ground)
    with trusting(trusted):
        tree = await snapshot(ground.worktree)
        assert "new.txt" in await git(ground.project, "ls-tree", "--name-only", tree)
        assert changed_git(trusted) == [str(ground.worktree / ".git")]
        assert await remove_worktree(ground.project, ground.worktree, holds=tree)
    assert not ground.worktree.exists()


async def test_a_link_in_the_place_of_a_worktree_is_refused(ground, trusted, tmp_path):
    ground.worktree.rename(tmp_path / "elsewhere")
    ground.worktree.symlink_to(tmp_path / "elsewhere")
    with trusting(trusted), pytest.raises(GitError, match="is a link"):
        await snapshot(ground.worktree)


async def test_a_worktree_that_sq_did_not_make_is_refused(ground, trusted, worktrees, tmp_path, shell):
    shell(tmp_path, "git", "init", "--quiet", "other")
    (worktrees / "t2").mkdir()
    (worktrees / "t2" / ".git").write_text(f"gitdir: {tmp_path / 'other' / '.git'}\n")
    with trusting(trusted), pytest.raises(GitError, match="is not a worktree of sq's"):
        await snapshot(worktrees / "t2")


async def test_a_worktree_with_the_git_folder_of_another_is_refused(ground, trusted, worktrees):
    (worktrees / "t2").mkdir()
    (worktrees / "t2" / ".git").write_text((ground.worktree / ".git").read_text())
    with trusting(trusted), pytest.raises(GitError, match="belongs to another one"):
        await snapshot(worktrees / "t2")


async def test_changes_of_the_git_folder_are_named(ground, trusted):
    assert changed_git(trusted) == []
    ground.config("alias.x", "!true")
    (ground.common / "hooks").mkdir(exist_ok=True)
    (ground.common / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    assert changed_git(trusted) == [
        str(ground.common / "config"),
        str(ground.common / "hooks" / "pre-commit"),
    ]


async def test_the_users_own_filter_works_from_any_of_their_files(
    project, run_folder, worktrees, head, shell, home
):
    shell(project, "git", "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    shell(project, "git", "config", "--global", "filter.upper.required", "true")
    (home / "more.cfg").write_text('[filter "upper"]\n\tsmudge = tr A-Z a-z\n')
    shell(project, "git", "config", "--local", "include.path", str(home / "more.cfg"))
    trusted = await record_git(project, run_folder, worktrees)
    place = worktrees / "t1"
    with trusting(recorded_git(run_folder)):
        await ensure_worktree(project, place, branch=BRANCH, commit=head)
        (place / ".gitattributes").write_text("*.up filter=upper\n")
        (place / "x.up").write_text("hello\n")
        tree = await snapshot(place)
        assert await git(project, "cat-file", "blob", f"{tree}:x.up") == "HELLO"
        await show_tree(project, worktrees / "verify.1", tree, base="HEAD")
        assert (worktrees / "verify.1" / "x.up").read_text() == "hello\n"
    assert left_out_programs(trusted) == []


async def test_a_filter_of_the_users_whose_program_lies_in_the_tree_is_left_out_and_named(
    project, run_folder, worktrees, head, shell, tmp_path
):
    shell(project, "git", "config", "filter.tree.clean", "sh tools/clean.sh")
    shell(project, "git", "config", "filter.tree.required", "true")
    trusted = await record_git(project, run_folder, worktrees)
    assert left_out_programs(trusted) == ["filter.tree.clean"]
    with trusting(trusted):
        await ensure_worktree(project, worktrees / "t1", branch=BRANCH, commit=head)
        (worktrees / "t1" / "tools").mkdir()
        (worktrees / "t1" / "tools" / "clean.sh").write_text(f'touch "{tmp_path / "ran"}"; cat\n')
        (worktrees / "t1" / ".gitattributes").write_text("* filter=tree\n")
        await snapshot(worktrees / "t1")
    assert not (tmp_path / "ran").exists()


async def test_settings_are_copied_whatever_they_hold(project, run_folder, shell):
    odd = 'a "quoted" \\ back\tslash\nnew line ; # no comment '
    for name in ("odd.value", 'odd.Sub "section" ].x', "odd.a.b.c"):
        shell(project, "git", "config", name, odd)
    with (project / ".git" / "config").open("a") as file:
        file.write("[odd]\n\tbare\n\tempty =\n")
    trusted = await record_git(project, run_folder, None)
    listed = ("config", "--list", "-z")
    before = shell(project, "git", *listed).split("\0")
    with trusting(trusted):
        now = (await git(project, *listed)).split("\0")
    assert [one for one in now if one.startswith("odd")] == [one for one in before if one.startswith("odd")]


async def test_git_is_not_found_in_a_folder_of_the_agents(ground, trusted, monkeypatch):
    folder = ground.worktree / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "git").write_text(f'#!/bin/sh\ntouch "{ground.mark}"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}.{os.pathsep}{os.environ['PATH']}")
    with trusting(trusted):
        await snapshot(ground.worktree)
        assert str(folder) not in git_environment(folder=ground.worktree)["PATH"].split(os.pathsep)
    assert not ground.mark.exists()


async def test_the_checkout_itself_is_as_safe(project, run_folder, tmp_path, shell, head):
    trusted = await record_git(project, run_folder, None)
    ground = Ground(project=project, worktree=project, mark=tmp_path / "ran", shell=shell)
    ATTACKS["a filter"](ground)
    with trusting(trusted):
        tree = await shadow_snapshot(project, tmp_path / "index")
        assert tree != await tree_of(project, head)
    assert not ground.mark.exists()
    plain_add(ground)
    assert ground.mark.exists()


async def test_a_tag_with_the_name_of_the_runs_branch_is_not_delivered(project, run_folder, head, shell):
    def commit_of(name):
        tree = shell(project, "git", "rev-parse", "HEAD^{tree}")
        return shell(project, "git", "commit-tree", "-p", head, "-m", name, tree)

    finished, planted = commit_of("finished"), commit_of("planted")
    shell(project, "git", "branch", "sq/r-1", finished)
    shell(project, "git", "tag", "sq/r-1", planted)
    assert shell(project, "git", "rev-parse", "sq/r-1") == planted
    repository = await find_repository(project)
    assert not await deliver(repository, commit=finished, base_branch="main", not_dirt=[])
    assert shell(project, "git", "rev-parse", "main") == finished


async def test_no_object_stands_for_another(ground, trusted, head, shell):
    (ground.worktree / "README.md").write_text("replaced\n")
    blob = shell(ground.worktree, "git", "hash-object", "-w", "README.md")
    shell(
        ground.project, "git", "replace", shell(ground.project, "git", "rev-parse", f"{head}:README.md"), blob
    )
    assert shell(ground.project, "git", "show", f"{head}:README.md") == "replaced"
    with trusting(trusted):
        assert await git(ground.project, "show", f"{head}:README.md") == "# A project"


NAMES = table(__file__, "names")


async def test_names_that_look_like_options_or_patterns_are_names(ground, trusted, head):
    for name in NAMES:
        (ground.worktree / name).parent.mkdir(exist_ok=True)
        (ground.worktree / name).write_text("x\n")
    commit, tree = await all_of_sq(ground, trusted, head)
    with trusting(trusted):
        assert set(await changed_paths(ground.project, head, commit)) == set(NAMES)
        assert set(await files_in(ground.project, tree)) == {"README.md", *NAMES}
        for name in NAMES:
            assert await text_at(ground.project, tree, name) == "x\n"
            assert (await diff_text(ground.project, head, commit, limit=9999, paths=[name])).count(
                "diff --git"
            ) == 1
        pieced = await pieced_together(
            ground.project, await tree_of(ground.project, head), of=tree, paths=NAMES
        )
        assert pieced == tree
        index = trusted.folder / "index of a test"
        await shadow_snapshot(ground.worktree, index)
        before = await snapshot(ground.worktree)
        for name in NAMES:
            (ground.worktree / name).parent.mkdir(exist_ok=True)
            (ground.worktree / name).write_text("y\n")
        changed = await shadow_snapshot(ground.worktree, index)
        assert await put_back(ground.worktree, index, changed=changed, base=before, now=changed) == sorted(
            NAMES
        )
        assert await snapshot(ground.worktree) == before


@pytest.mark.parametrize("name", ["a filter", "another pointer", "a submodule"])
async def test_status_and_clean_run_nothing_either(name, ground, trusted, head):
    ATTACKS[name](ground)
    with trusting(trusted):
        assert holds_work(ground.worktree, head)
    found = await holdings_of(ground.project, "r-1", trusted.worktrees, trusted=trusted)
    assert str(ground.worktree) in {one.name for one in found}
    assert not ground.mark.exists()
