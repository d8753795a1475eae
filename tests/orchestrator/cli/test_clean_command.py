"""`sq clean` on real repositories: what is over goes, work that is nowhere else stays or is kept under a ref."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import in_process
import pytest
from filelock import FileLock
from language.beginnings import run_started
from language.played_sq import PLAYED_SQ

from orchestrator.git.merge import Merge
from orchestrator.git.own_refs import shadow_ref
from orchestrator.git.users.shadows import shadow_commit, shadow_snapshot
from orchestrator.git.workspace import (
    commit_tree,
    ensure_branch,
    ensure_worktree,
    move_forward,
    run_branch,
    snapshot,
    task_branch,
)
from state.errors import RunActiveError
from state.journal.events import RunEnded, RunInterrupted
from state.journal.store import Journal
from state.outcome import Outcome
from state.paths import worktree_root
from state.settings.sources import user_file

EXAMPLES = Path(__file__).parents[3] / "examples"
RUN = "20260101-000000-aaaa"
OTHER = "20260102-000000-bbbb"
COMPLETE = RunEnded(outcome=Outcome.COMPLETE, cause="")
STUCK = RunEnded(outcome=Outcome.STUCK, cause="task a is stuck")


@pytest.fixture
def sq(repository):
    def run(*arguments, folder=repository):
        return in_process.sq(arguments, folder=folder, environ=dict(os.environ))

    return run


@pytest.fixture
def process(repository):
    """As `sq`, in a process of its own: for what is killed, and for runs, which play Claude Code without a judge."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\n')

    def run(*arguments):
        command = [*PLAYED_SQ, *map(str, arguments)]
        return subprocess.run(
            command, cwd=repository, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

    return run


@pytest.fixture
def shown(sq):
    """`sq clean … --json`, and what it says of each run."""

    def run(*arguments, **more):
        done = sq("clean", *arguments, "--json", **more)
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        assert (done.returncode == 0) is said["ok"]
        return said["ok"], {one["run_id"]: one for one in said["runs"]}

    return run


class Runs:
    """Makes runs as sq leaves them: a journal, and in git what a run of that kind has."""

    def __init__(self, repository, shell):
        self.repository, self.shell = repository, shell

    def git(self, *arguments, folder=None):
        return self.shell(folder or self.repository, "git", *arguments)

    @property
    def head(self):
        return self.git("rev-parse", "HEAD")

    def refs(self):
        return self.git("for-each-ref", "--format=%(refname)").split()

    def folder(self, run=RUN):
        return self.repository / ".sq" / "runs" / run

    def worktrees(self, run=RUN):
        return worktree_root(self.repository, run)

    def journal(self, *events, run=RUN, worktrees=True):
        """A run's journal: that it began, and these events."""
        self.folder(run).mkdir(parents=True)
        started = run_started(
            run,
            repository=str(self.repository),
            worktrees=str(self.worktrees(run)) if worktrees else "",
            base_commit=self.head,
        )
        (self.repository / ".git" / "info" / "exclude").write_text("/.sq/\n")
        with Journal(self.folder(run)) as journal:
            journal.append(started, *events)

    async def worktree(self, task="a", run=RUN):
        """A task's worktree and branch, where the user's branch stands."""
        folder = self.worktrees(run) / task
        await ensure_worktree(self.repository, folder, branch=task_branch(run, task), commit=self.head)
        return folder

    async def committed(self, folder, task="a", run=RUN, **files):
        """Work that sq has committed on the task's branch."""
        for name, content in (files or {"work": "done\n"}).items():
            (folder / name).write_text(content)
        return await commit_tree(
            folder, branch=task_branch(run, task), tree=await snapshot(folder), message="The work"
        )

    async def finished(self, run=RUN, **files):
        """A run whose work is on its own branch, the task's branch removed."""
        base = self.head
        folder = await self.worktree(run=run)
        commit = await self.committed(folder, run=run, **files)
        await ensure_branch(self.repository, run_branch(run), base)
        await move_forward(self.repository, branch=run_branch(run), commit=commit, onto=base)
        return commit


@pytest.fixture
def runs(repository, shell):
    return Runs(repository, shell)


# --- which runs -----------------------------------------------------------------------------------------


async def test_without_a_run_named_it_is_a_usage_error_that_lists_what_each_run_holds(sq, runs):
    folder = await runs.worktree()
    runs.journal(STUCK)
    done = sq("clean")
    assert (done.returncode, done.stdout) == (2, "")
    for part in ("sq clean --run ID", "sq clean --all", f"{RUN}: ended", str(folder), f"sq-tasks/{RUN}/a"):
        assert part in done.stderr
    assert folder.exists()


def test_where_there_is_nothing_it_says_so(sq):
    assert sq("clean", "--all").stdout.startswith("there is nothing to clean in ")
    assert sq("clean", "--all").returncode == 0
    done = sq("clean", "--run", "aaaa")
    assert done.returncode == 2
    assert "no such run" in done.stderr


def test_one_run_and_all_of_them_exclude_each_other(sq, runs):
    runs.journal(COMPLETE)
    assert sq("clean", "--all", "--run", "aaaa").returncode == 2
    assert runs.folder().exists()


async def test_all_cleans_what_has_ended_and_leaves_what_could_be_resumed(shown, runs):
    folder = await runs.worktree()
    runs.journal(STUCK)
    resumable = {
        "20260102-000000-bbbb": [],  # killed
        "20260103-000000-cccc": [RunInterrupted(by="SIGINT")],
        "20260104-000000-dddd": [RunEnded(outcome=Outcome.LIMIT, cause="the budget", resumable=True)],
    }
    for run, events in resumable.items():
        runs.journal(*events, run=run)
    ok, said = shown("--all")
    assert ok
    assert not folder.exists()
    assert not runs.folder().exists()
    for run in resumable:
        assert runs.folder(run).exists()
        assert said[run]["next_command"] == f"sq clean --run {run}"


def test_a_run_that_could_be_resumed_is_removed_where_it_is_named_and_that_is_told(sq, runs):
    runs.journal(RunInterrupted(by="SIGINT"))
    done = sq("clean", "--run", "aaaa")
    assert done.returncode == 0
    assert "it could have been resumed" in done.stdout
    assert not runs.folder().exists()


async def test_of_a_run_that_could_be_resumed_nothing_is_removed_while_work_of_it_is_nowhere_else(
    shown, runs
):
    folder = await runs.worktree()
    other = await runs.worktree("b")
    (folder / "half.py").write_text("def half(")
    runs.journal(RunInterrupted(by="SIGINT"))
    ok, said = shown("--run", RUN)
    assert not ok
    assert [one["holding"]["name"] for one in said[RUN]["cleaned"]] == [str(folder)]
    assert said[RUN]["next_command"] == f"sq clean --run {RUN} --force"
    assert (other.exists(), runs.folder().exists()) == (True, True)
    assert shown("--run", RUN, "--force")[1][RUN]["note"]
    assert (other.exists(), runs.folder().exists()) == (False, False)


def test_a_run_that_is_being_worked_on_is_refused_and_left_aside_by_all(sq, shown, runs):
    runs.journal()
    runs.journal(COMPLETE, run=OTHER)
    with Journal(runs.folder()):
        done = sq("clean", "--run", RUN, "--force")
        assert done.returncode == 2
        assert "being worked on" in done.stderr
        ok, said = shown("--all", "--force")
    assert ok
    assert said[RUN]["skipped"] == "active"
    assert (runs.folder().exists(), runs.folder(OTHER).exists()) == (True, False)


def test_nobody_can_go_on_with_a_run_while_it_is_held(runs):
    from orchestrator.cli.clean.cleanable import Candidate, CleanState

    runs.journal()
    one = Candidate(
        run_id=RUN, run_state=CleanState.RESUMABLE, folder=runs.folder(), repository=None, worktrees=None
    )
    with one.held(), pytest.raises(RunActiveError):
        Journal(runs.folder())
    with FileLock(runs.folder() / "lock"), pytest.raises(RunActiveError), one.held():
        pass


def test_a_damaged_journal_is_left_by_all_and_cleaned_where_it_is_named(shown, runs):
    runs.folder().mkdir(parents=True)
    (runs.folder() / "journal.db").write_bytes(b"this is no database, " * 100)
    ok, said = shown("--all")
    assert ok
    assert "damaged" in said[RUN]["skipped"]
    assert shown("--run", RUN)[0]
    assert not runs.folder().exists()


def test_a_run_that_never_began_is_cleaned_once_it_is_certain_that_it_is_not_beginning(shown, runs):
    runs.folder().mkdir(parents=True)
    assert shown("--all")[1][RUN]["skipped"] == "active"
    os.utime(runs.folder(), (0, 0))
    assert shown("--all")[1][RUN]["state"]
    assert not runs.folder().exists()


async def test_a_run_without_state_here_may_be_at_work_and_needs_force(shown, runs):
    folder = await runs.worktree()
    assert shown("--all")[1][RUN]["next_command"] == f"sq clean --run {RUN} --force"
    ok, said = shown("--run", RUN)
    assert (ok, folder.exists()) == (False, True)
    assert "may be at work" in said[RUN]["refused"]
    assert shown("--run", RUN, "--force")[0]
    assert (folder.exists(), runs.refs()) == (False, ["refs/heads/main"])


def test_the_state_folder_is_the_one_that_was_named(shown, runs, tmp_path):
    runs.journal(COMPLETE)
    elsewhere = tmp_path / "states"
    shutil.move(runs.repository / ".sq", elsewhere)
    assert shown("--all")[1] == {}
    ok, said = shown("--all", "--state-dir", elsewhere, folder=tmp_path)
    assert ok
    assert said[RUN]["state"] == str(elsewhere / "runs" / RUN)
    assert not (elsewhere / "runs" / RUN).exists()


# --- work that is nowhere else --------------------------------------------------------------------------


async def test_work_that_the_users_branch_has_does_not_keep_a_run(shown, runs):
    commit = await runs.finished()
    runs.journal(COMPLETE)
    runs.git("merge", "--quiet", "--ff-only", run_branch(RUN))
    ok, said = shown("--all")
    assert ok
    assert {one["holding"]["kind"] for one in said[RUN]["cleaned"]} == {"worktree", "branch"}
    assert runs.refs() == ["refs/heads/main"]
    assert (runs.head, runs.worktrees().exists()) == (commit, False)
    assert runs.git("worktree", "list").count("\n") == 0


async def test_a_branch_with_unmerged_work_stays_and_the_command_that_removes_it_is_told(sq, shown, runs):
    commit = await runs.finished()
    runs.journal(COMPLETE)
    done = sq("clean", "--all")
    assert done.returncode == 2
    assert "1 commit(s) that no branch of yours has" in done.stdout
    assert f"→ sq clean --run {RUN} --force" in done.stdout
    assert runs.git("rev-parse", run_branch(RUN)) == commit
    assert runs.folder().exists()
    runs.git("merge", "--quiet", run_branch(RUN))
    assert shown("--all")[0]
    assert not runs.folder().exists()


async def test_work_that_a_remote_branch_has_is_merged_work(shown, runs):
    commit = await runs.finished()
    runs.journal(COMPLETE)
    runs.git("update-ref", "refs/remotes/origin/work", commit)
    assert shown("--all")[0]
    assert runs.refs() == ["refs/heads/main", "refs/remotes/origin/work"]


async def test_a_branch_of_another_run_does_not_make_work_the_users(shown, runs):
    commit = await runs.finished()
    runs.journal(COMPLETE)
    await ensure_branch(runs.repository, run_branch(OTHER), commit)
    assert not shown("--run", RUN)[0]


async def test_by_force_unmerged_work_is_kept_under_a_ref_that_is_told(shown, runs):
    folder = await runs.worktree()
    commit = await runs.committed(folder)
    (folder / "unsaved.txt").write_text("in no commit\n")
    runs.journal(STUCK)
    ok, said = shown("--run", RUN, "--force")
    assert ok
    rescued = {one["holding"]["kind"]: one["rescued"] for one in said[RUN]["cleaned"]}
    assert rescued == {
        "worktree": f"refs/sq-rescue/{RUN}/worktrees/a",
        "branch": f"refs/sq-rescue/{RUN}/tasks/a",
    }
    assert runs.git("rev-parse", rescued["branch"]) == commit
    assert runs.git("show", f"{rescued['worktree']}:unsaved.txt") == "in no commit"
    assert not folder.exists()
    assert not runs.folder().exists()


async def test_a_rescue_never_takes_the_place_of_an_earlier_one(shown, runs):
    refs = []
    for content in ("one\n", "two\n"):
        folder = await runs.worktree()
        (folder / "unsaved.txt").write_text(content)
        runs.journal(STUCK)
        refs += [
            one["rescued"] for one in shown("--run", RUN, "--force")[1][RUN]["cleaned"] if one["rescued"]
        ]
    assert [runs.git("show", f"{ref}:unsaved.txt") for ref in refs] == ["one", "two"]


async def test_content_of_a_worktree_that_no_commit_has_stays_with_its_branch(shown, runs):
    folder = await runs.worktree()
    (folder / "half.py").write_text("def half(")
    runs.journal(STUCK)
    ok, said = shown("--all")
    assert not ok
    problems = [one["problem"] for one in said[RUN]["cleaned"]]
    assert "1 change(s) that no commit has (half.py)" in problems[0]
    assert "stands on it" in problems[1]
    assert (folder / "half.py").exists()
    assert runs.folder().exists()


async def test_what_verification_leaves_behind_is_no_work(shown, runs):
    folder = await runs.worktree()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_bytes(b"junk")
    runs.journal(STUCK)
    assert shown("--all")[0]
    assert not folder.exists()


async def test_a_branch_on_which_the_user_stands_stays_even_by_force(shown, runs):
    await runs.finished()
    shutil.rmtree(runs.worktrees())
    runs.git("switch", "--quiet", run_branch(RUN))
    runs.journal(COMPLETE)
    ok, said = shown("--run", RUN, "--force")
    assert not ok
    [problem] = [one["problem"] for one in said[RUN]["cleaned"] if one["problem"]]
    assert "checked out" in problem
    assert (runs.repository / "work").exists()


async def test_a_repository_inside_a_worktree_stays_even_by_force(shown, runs):
    folder = await runs.worktree()
    inner = folder / "inner"
    runs.git("init", "--quiet", str(inner))
    identity = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    runs.git(*identity, "commit", "--quiet", "--allow-empty", "-m", "Inside", folder=inner)
    runs.journal(STUCK)
    ok, said = shown("--run", RUN, "--force")
    assert not ok
    assert "a git repository of its own (inner)" in said[RUN]["cleaned"][0]["problem"]
    assert inner.exists()


async def test_an_empty_start_of_a_repository_without_commits_is_no_work(shown, tmp_path, shell):
    fresh = tmp_path / "fresh"
    shell(tmp_path, "git", "init", "--quiet", "--initial-branch=main", str(fresh))
    empty = shell(fresh, "git", "hash-object", "-t", "tree", "-w", "/dev/null")
    identity = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    start = shell(fresh, "git", *identity, "commit-tree", "-m", "Start", empty)
    await ensure_branch(fresh, run_branch(RUN), start)
    assert shown("--run", RUN, "--force", folder=fresh)[1][RUN]["cleaned"][0]["rescued"] == ""


# --- what many tasks leave --------------------------------------------------------------------------------


async def in_the_middle_of_a_merge(runs):
    """The integration worktree of a run that was killed while a conflict was resolved there."""
    sides = []
    for task, content in (("a", "ours\n"), ("b", "theirs\n")):
        sides.append(await runs.committed(await runs.worktree(task), task, both=content))
    folder = runs.worktrees() / "run"
    await ensure_worktree(runs.repository, folder, branch=None, commit=sides[0])
    merge = Merge(folder=folder, task_id="b", commit=sides[1], onto=sides[0])
    await merge.begin()
    (folder / "both").write_text("half resolved\n")
    return folder, merge


async def test_a_look_at_a_merge_half_done_says_so_and_does_not_disturb_it(sq, shown, runs):
    folder, merge = await in_the_middle_of_a_merge(runs)
    runs.journal(RunInterrupted(by="SIGINT"))
    git_dir = Path(runs.git("rev-parse", "--absolute-git-dir", folder=folder))
    files = [git_dir / name for name in ("index", "MERGE_HEAD", "HEAD", "sq-merge.json")]
    before, found = [file.read_bytes() for file in files], await merge.look()
    assert "a merge that is not finished, 1 change(s) that no commit has (both)" in sq("clean").stderr
    ok, said = shown("--run", RUN)
    assert not ok
    assert str(folder) in [one["holding"]["name"] for one in said[RUN]["cleaned"]]
    assert [file.read_bytes() for file in files] == before
    assert await merge.look() == found


async def test_by_force_what_was_made_of_a_merge_is_kept_and_all_of_the_run_goes(shown, runs):
    folder, _ = await in_the_middle_of_a_merge(runs)
    runs.journal(RunInterrupted(by="SIGINT"))
    ok, said = shown("--run", RUN, "--force")
    assert ok
    rescued = {one["holding"]["name"]: one["rescued"] for one in said[RUN]["cleaned"]}
    assert runs.git("show", f"{rescued[str(folder)]}:both") == "half resolved"
    assert not runs.worktrees().exists()
    assert [ref for ref in runs.refs() if "rescue" not in ref] == ["refs/heads/main"]
    assert runs.git("worktree", "list").count("\n") == 0


@pytest.mark.parametrize("name", ["b-attempt1", "b-attempt2-2", "b-conflict", "b-conflict-3"])
async def test_unfinished_work_that_was_kept_stays_and_by_force_is_kept_elsewhere(sq, shown, runs, name):
    folder = await runs.worktree("b")
    commit = await runs.committed(folder, "b")
    runs.git("update-ref", shadow_ref(RUN, name), commit)
    runs.git("worktree", "remove", "--force", str(folder))
    runs.git("update-ref", "-d", f"refs/heads/{task_branch(RUN, 'b')}")
    runs.journal(STUCK)
    assert shadow_ref(RUN, name) in sq("clean").stderr
    ok, said = shown("--all")
    assert not ok
    assert said[RUN]["cleaned"][0]["problem"].startswith("its content is in no commit of a branch of yours")
    assert shown("--run", RUN, "--force")[0]
    assert runs.refs() == ["refs/heads/main", f"refs/sq-rescue/{RUN}/refs/{name}"]
    assert runs.git("rev-parse", f"refs/sq-rescue/{RUN}/refs/{name}") == commit


async def test_unfinished_work_that_was_kept_and_taken_over_since_does_not_keep_a_run(shown, runs):
    commit = await runs.finished()
    runs.git("update-ref", shadow_ref(RUN, "a-attempt1"), commit)
    runs.journal(STUCK)
    runs.git("merge", "--quiet", "--ff-only", run_branch(RUN))
    assert shown("--all")[0]
    assert runs.refs() == ["refs/heads/main"]


# --- runs in the checkout itself --------------------------------------------------------------------------


async def in_the_checkout(runs, tmp_path):
    """The refs of a run with --no-worktrees of two tasks; its work lies in the checkout, uncommitted."""
    commit = runs.head
    for task in ("a", "b"):
        (runs.repository / f"{task}.txt").write_text(f"{task}\n")
        tree = await shadow_snapshot(runs.repository, tmp_path / "index")
        commit = await shadow_commit(
            runs.repository, ref=shadow_ref(RUN, task), parent=commit, tree=tree, message=task
        )
    runs.git("update-ref", shadow_ref(RUN, "work"), commit)
    return commit


async def test_work_that_stands_in_the_checkout_frees_its_refs_although_nobody_committed_it(
    shown, runs, tmp_path
):
    runs.journal(COMPLETE, worktrees=False)
    await in_the_checkout(runs, tmp_path)
    assert shown("--all")[0]
    assert runs.refs() == ["refs/heads/main"]
    assert (runs.repository / "b.txt").read_text() == "b\n"


async def test_a_ref_stays_that_holds_bytes_which_are_nowhere_else(shown, runs, tmp_path):
    runs.journal(COMPLETE, worktrees=False)
    await in_the_checkout(runs, tmp_path)
    (runs.repository / "b.txt").write_text("changed since\n")
    ok, said = shown("--all")
    assert not ok
    assert {one["holding"]["name"].rpartition("/")[2]: one["problem"] for one in said[RUN]["cleaned"]} == {
        "a": "",
        "b": "its content is in no commit of a branch of yours, and not in the checkout: b.txt",
        "work": "its content is in no commit of a branch of yours, and not in the checkout: b.txt",
    }
    assert runs.folder().exists()
    runs.git("add", "--all")
    runs.git("commit", "--quiet", "-m", "Both tasks")
    assert not shown("--all")[0]


async def test_after_a_commit_the_ref_with_the_last_copy_of_a_line_stays(shown, runs, tmp_path):
    (runs.repository / "mine.txt").write_text("the user's line\n")
    base = await shadow_snapshot(runs.repository, tmp_path / "index")
    commit = await shadow_commit(
        runs.repository, ref=shadow_ref(RUN, "a-base"), parent=runs.head, tree=base, message="base"
    )
    (runs.repository / "mine.txt").write_text("gone\n")
    tree = await shadow_snapshot(runs.repository, tmp_path / "index")
    await shadow_commit(runs.repository, ref=shadow_ref(RUN, "a"), parent=commit, tree=tree, message="a")
    runs.journal(COMPLETE, worktrees=False)
    runs.git("add", "--all")
    runs.git("commit", "--quiet", "-m", "All of it")
    assert not shown("--all")[0]
    assert [ref for ref in runs.refs() if ref.startswith("refs/sq")] == [shadow_ref(RUN, "a-base")]


async def test_work_in_the_checkout_that_was_committed_as_one_frees_all_its_refs(shown, runs, tmp_path):
    runs.journal(COMPLETE, worktrees=False)
    await in_the_checkout(runs, tmp_path)
    runs.git("add", "--all")
    runs.git("commit", "--quiet", "-m", "Both tasks")
    assert shown("--all")[0]
    assert runs.refs() == ["refs/heads/main"]


async def test_by_force_the_refs_of_a_checkout_are_kept_elsewhere(shown, runs, tmp_path):
    runs.journal(COMPLETE, worktrees=False)
    commit = await in_the_checkout(runs, tmp_path)
    (runs.repository / "b.txt").unlink()
    assert shown("--run", RUN, "--force")[0]
    assert runs.git("rev-parse", f"refs/sq-rescue/{RUN}/refs/work") == commit
    assert [ref for ref in runs.refs() if ref.startswith("refs/sq/")] == []


# --- what is broken or cut off --------------------------------------------------------------------------


async def test_a_clean_that_was_cut_off_is_finished_by_the_next(shown, runs):
    folder = await runs.worktree()
    (folder / "unsaved.txt").write_text("in no commit\n")
    runs.journal(STUCK)
    commit = runs.head
    tree = await snapshot(folder)
    kept = runs.git(
        "-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree", "-p", commit, "-m", "x", tree
    )
    runs.git("update-ref", f"refs/sq-rescue/{RUN}/worktrees/a", kept)  # as far as the first one came:
    folder.rename(folder.with_name(".removing-a"))  # the work kept, the folder set aside
    (runs.repository / ".sq" / "removing" / OTHER).mkdir(parents=True)  # and of another run the state
    assert shown("--run", RUN)[0]
    assert not runs.worktrees().exists()
    assert not (runs.repository / ".sq" / "removing").exists()
    assert runs.git("worktree", "list").count("\n") == 0
    assert runs.refs() == ["refs/heads/main", f"refs/sq-rescue/{RUN}/worktrees/a"]


KILLING_GIT = """#!/bin/sh
case " $* " in *" update-ref "*|*" commit-tree "*|*" worktree remove "*)
    count=$(($(cat "$COUNT") + 1)); echo $count >"$COUNT"
    if [ $count = "$KILL_AT" ]; then
        [ "$KILL_WHEN" = before ] || "$GIT" "$@"
        kill -9 $PPID
        exit 1
    fi ;;
esac
exec "$GIT" "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.slow)])
async def test_killed_at_each_step_nothing_is_lost_and_the_next_clean_finishes(
    process, shown, runs, tmp_path, monkeypatch, when
):
    """`git` kills the sq that calls it before, or after, its nth command that changes something."""
    count = tmp_path / "count"
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(KILLING_GIT)
    shim.chmod(0o755)
    real, path = shutil.which("git"), os.environ["PATH"]
    steps, killed = 0, True
    while killed:
        steps += 1
        folder = await runs.worktree()
        commit = await runs.committed(folder, work=f"{steps}\n")
        (folder / "unsaved.txt").write_text(f"in no commit, {steps}\n")
        runs.journal(STUCK)
        count.write_text("0")
        for name, value in (
            ("GIT", real),
            ("COUNT", str(count)),
            ("KILL_AT", str(steps)),
            ("KILL_WHEN", when),
            ("PATH", f"{shim.parent}:{path}"),
        ):
            monkeypatch.setenv(name, value)
        killed = process("clean", "--run", RUN, "--force").returncode == -9
        monkeypatch.setenv("PATH", path)
        if killed:
            assert shown("--run", RUN, "--force")[0]
        assert (folder.exists(), runs.folder().exists()) == (False, False)
        assert [ref for ref in runs.refs() if "rescue" not in ref] == ["refs/heads/main"]
        rescued = [ref for ref in runs.refs() if "rescue" in ref]
        assert len(rescued) == 2 * steps  # each round's work is another, and none is kept twice
        assert commit in [runs.git("rev-parse", ref) for ref in rescued]
        kept = [runs.git("show", f"{ref}:unsaved.txt") for ref in rescued if "worktrees" in ref]
        assert f"in no commit, {steps}" in kept
    assert steps == 6  # a commit, two rescue refs, a worktree, a branch; and then none that kills


async def test_work_that_is_kept_already_is_not_kept_twice(shown, runs):
    folder = await runs.worktree()
    await runs.committed(folder)
    runs.journal(STUCK)
    commit = runs.git("rev-parse", task_branch(RUN, "a"))
    runs.git("update-ref", f"refs/sq-rescue/{RUN}/tasks/a", commit)
    assert shown("--run", RUN, "--force")[0]
    assert [ref for ref in runs.refs() if "rescue" in ref] == [f"refs/sq-rescue/{RUN}/tasks/a"]


async def test_a_worktree_whose_folder_is_gone_is_forgotten_by_git(shown, runs):
    shutil.rmtree(await runs.worktree())
    runs.journal(STUCK)
    assert shown("--all")[0]
    assert runs.git("worktree", "list").count("\n") == 0


async def test_a_lock_that_a_killed_git_left_in_a_worktree_does_not_matter(shown, runs):
    folder = await runs.worktree()
    Path(runs.git("rev-parse", "--absolute-git-dir", folder=folder), "index.lock").touch()
    runs.journal(STUCK)
    assert shown("--all")[0]


async def test_state_is_cleaned_where_the_repository_is_gone(shown, runs, tmp_path):
    runs.journal(STUCK)
    shutil.move(runs.repository / ".sq", tmp_path / "states")
    shutil.rmtree(runs.repository)
    assert shown("--all", "--state-dir", tmp_path / "states", folder=tmp_path)[0]
    assert not (tmp_path / "states" / "runs" / RUN).exists()


async def test_files_in_a_worktree_whose_repository_is_gone_are_never_removed(shown, runs, tmp_path):
    folder = await runs.worktree()
    (folder / "work.py").write_text("x = 1\n")
    runs.journal(STUCK)
    shutil.move(runs.repository / ".sq", tmp_path / "states")
    shutil.rmtree(runs.repository)
    where = ("--state-dir", tmp_path / "states")
    assert not shown("--all", *where, folder=tmp_path)[0]
    assert (tmp_path / "states" / "runs" / RUN).exists()
    ok, said = shown("--run", RUN, "--force", *where, folder=tmp_path)
    assert not ok
    assert "rm -r" in said[RUN]["cleaned"][0]["problem"]
    assert (folder / "work.py").exists()
    assert not (tmp_path / "states" / "runs" / RUN).exists()


# --- a whole run ----------------------------------------------------------------------------------------


@pytest.mark.late
def test_a_whole_run_leaves_nothing_but_its_delivered_work_once_it_is_cleaned(process, shown, runs, home):
    spec, scenario = EXAMPLES / "stuck.md", EXAMPLES / "stuck.yaml"
    assert process("--spec", spec, "--rehearse", scenario).returncode == 3
    [folder] = (runs.repository / ".sq" / "runs").iterdir()
    stays = runs.git("branch", "--format=%(refname:short)")
    assert run_branch(folder.name) in stays  # only complete work moves the user's branch
    assert task_branch(folder.name, "rates") in stays
    assert not shown("--all")[0]
    runs.git("merge", "--quiet", "--ff-only", run_branch(folder.name))
    before = runs.head
    ok, said = shown("--all")
    assert ok, said
    assert {one["rescued"] for one in said[folder.name]["cleaned"]} == {""}
    assert runs.refs() == ["refs/heads/main"]
    assert runs.head == before
    assert runs.git("ls-files").split() == ["money.py", "test_money.py"]
    assert list((runs.repository / ".sq" / "runs").iterdir()) == []
    assert list((home / ".local" / "state" / "sq" / "worktrees").rglob("*")) == []
    assert runs.git("worktree", "list").count("\n") == 0
    assert shown("--all") == (True, {})


@pytest.mark.late
def test_the_manual_test_of_seed_002_cleans_up_with_its_own_commands(process, runs, home):
    """Task 8: step 2 with a rehearsal in place of the model, then step 4 word for word."""
    rehearsal = Path(__file__).parents[3] / "orchestrator" / "cli" / "rehearsal"
    shutil.copytree(rehearsal / "repository", runs.repository, dirs_exist_ok=True)
    runs.git("add", "--all")
    runs.git("commit", "--quiet", "-m", "Code")
    (runs.repository / "test-specs").mkdir()
    shutil.copyfile(rehearsal / "quality-test.md", runs.repository / "test-specs" / "quality-test.md")
    asked = ["--spec", "test-specs/quality-test.md", "--effort", "medium", "--no-worktrees"]
    done = process(*asked, "--rehearse", rehearsal / "quality-test.yaml")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    subprocess.run(["rm", "-rf", "test-specs/"], cwd=runs.repository, check=True)
    cleaned = process("clean", "--all")
    assert cleaned.returncode == 0, cleaned.stdout.decode() + cleaned.stderr.decode()
    assert [ref for ref in runs.refs() if ref.startswith("refs/sq")] == []
    assert list((runs.repository / ".sq" / "runs").iterdir()) == []
    assert (runs.repository / "counter.py").exists() or (runs.repository / "counter").exists()
