"""In a folder that somebody else configured, the git of gate, promises and doctor runs none of its programs."""

import os
import subprocess

import pytest
from hostile_git import ATTACKS, HOOKS, SETTINGS, Ground

from orchestrator.cli.doctor import command as doctor
from orchestrator.gates.power_steering.facts import Command, Facts
from orchestrator.gates.promise_evidence import keep_out_of_git, present_tree, promise_base, unproven
from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion
from orchestrator.gates.stop_gate.steps import beads
from orchestrator.gates.stop_gate.stop import ReadSession, Stop
from orchestrator.git.command import git
from orchestrator.git.held import held_git
from orchestrator.git.pinned_config import trusted_now
from state.errors import GitError

COMMIT = PromiseCriterion(text="it is committed", kind=CriterionCheck.COMMIT, target="words")


@pytest.fixture
def ground(project, tmp_path, shell):
    """A worktree of a repository, each of which somebody else can have written."""
    worktree = tmp_path / "theirs"
    shell(project, "git", "worktree", "add", "--quiet", str(worktree))
    return Ground(project=project, worktree=worktree, mark=tmp_path / "ran", shell=shell)


async def all_of_git(home, monkeypatch):
    """Every use of git in the gates and in doctor."""
    (home / ".beads").mkdir(exist_ok=True)
    (home / ".beads" / "issues.jsonl").write_text("{}\n")
    closes = Command(line="bd close p-1", exit_code=0, output="", order=1, turn=1)
    session = ReadSession(lambda _: Facts(commands=(closes,)))
    stop = Stop(session=session, session_id="s-1", project=home, environ=dict(os.environ))
    assert beads.check(stop).blocks or not (home / ".git").exists()
    tree = await present_tree(home)
    base = await promise_base(home)
    promise = Promise.new(text="A promise", criteria=[COMMIT], owner="s-1", base=base)
    assert list(await unproven(home, promise, tree)) == [1]
    await keep_out_of_git(home, home / ".claude" / "x")
    monkeypatch.chdir(home)
    with held_git(home):
        checks = await doctor.checks_of_repository(home / ".sq")
    return tree, checks


@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_folder_has_the_gates_and_doctor_run_a_program(ground, monkeypatch, attack):
    ATTACKS[attack](ground)
    await all_of_git(ground.worktree, monkeypatch)
    assert not ground.mark.exists()
    subprocess.run(["git", "-C", str(ground.worktree), "add", "--all"], capture_output=True, check=False)
    assert ground.mark.exists()  # as git does it by itself


async def test_no_setting_and_no_hook_runs(ground, monkeypatch):
    for name in SETTINGS:
        ground.config(name, ground.program)
    ground.attributes("* filter=evil diff=evil merge=evil\n")
    hooks = ground.project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\n{ground.program}\n")
        (hooks / name).chmod(0o755)
    ground.config("core.hooksPath", str(hooks))
    ground.config("remote.far.url", "ext::" + ground.program)
    ground.config("remote.far.promisor", "true")
    ground.config("extensions.partialClone", "far")
    await all_of_git(ground.worktree, monkeypatch)
    await all_of_git(ground.project, monkeypatch)
    assert not ground.mark.exists()
    subprocess.run(["git", "-C", str(ground.project), "status"], capture_output=True, check=False)
    assert ground.mark.exists()


async def test_what_is_missing_is_not_fetched(ground, monkeypatch):
    program = ground.worktree / "fetched.sh"
    program.write_text(f'#!/bin/sh\ntouch "{ground.mark}"\nexit 1\n')
    program.chmod(0o755)
    ground.config("remote.far.url", f"ext::{program}")
    ground.config("protocol.ext.allow", "always")
    ground.config("remote.far.promisor", "true")
    ground.config("extensions.partialClone", "far")
    ground.config("core.repositoryFormatVersion", "1")
    missing = "0123456789" * 4
    with held_git(ground.project), pytest.raises(GitError):
        await git(ground.project, "cat-file", "-e", missing)
    assert not ground.mark.exists()
    subprocess.run(
        ["git", "-C", str(ground.project), "cat-file", "-e", missing], capture_output=True, check=False
    )
    assert ground.mark.exists()


@pytest.mark.parametrize("form", ["sha1", "sha256"])
async def test_it_reads_what_git_reads(tmp_path, shell, form):
    home = tmp_path / form
    shell(tmp_path, "git", "init", "--quiet", f"--object-format={form}", str(home))
    (home / "a.txt").write_text("a\n")
    shell(home, "git", "add", "a.txt")
    shell(
        home,
        *("env", "GIT_COMMITTER_DATE=2040-01-01T00:00:00Z", "git", "-c", "user.name=a"),
        *("-c", "user.email=a@localhost", "commit", "--quiet", "-m", "words"),
    )
    head = shell(home, "git", "rev-parse", "HEAD")
    assert await promise_base(home) == head
    assert await present_tree(home) == f"git:{shell(home, 'git', 'rev-parse', 'HEAD^{tree}')}"
    assert await unproven(home, Promise.new(text="P", criteria=[COMMIT], owner="s", base=""), "x") == {}
    assert trusted_now() is None
    await keep_out_of_git(home, home / "promises")
    assert "/promises/" in (home / ".git" / "info" / "exclude").read_text()


def test_outside_of_a_checkout_nothing_is_set(tmp_path):
    with held_git(tmp_path) as variables:
        assert dict(variables) == {}
