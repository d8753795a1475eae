"""Work in the checkout itself: nothing is staged or committed there, and nothing of the user's is lost."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from language.scripted import Rehearse, completes, plans, signals, whole_run, writes

from orchestrator.run.places.checkout import alone_in
from state.errors import UsageError
from state.journal import events as e
from state.outcome import Outcome

IN_PLACE = {"worktrees": False}
Shell = Callable[..., str]


def index_of(repository: Path) -> bytes:
    path = repository / ".git" / "index"
    return path.read_bytes() if path.exists() else b""


def test_the_work_is_in_the_checkout_and_nothing_is_staged_or_committed(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    head, index = shell(repository, "git", "rev-parse", "HEAD"), index_of(repository)
    done = rehearse(whole_run(), settings=IN_PLACE, verify=("test -f notes.txt",))
    assert shell(repository, "git", "rev-parse", "HEAD") == head
    assert index_of(repository) == index
    assert shell(repository, "git", "status", "--porcelain") == "?? notes.txt"
    assert (repository / "notes.txt").read_text() == "A line.\n"
    assert shell(repository, "git", "branch", "--list") == "* main"
    assert shell(repository, "git", "worktree", "list", "--porcelain").count("worktree ") == 1
    (left,) = done.of(e.WorkLeft)
    assert shell(repository, "git", "ls-tree", "--name-only", left.ref) == "notes.txt"
    assert "neither staged nor committed" in done.output


@pytest.mark.slow
def test_with_worktrees_the_same_tree_arrives_on_the_branch(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    in_place = rehearse(whole_run(), settings=IN_PLACE, verify=("true",))
    (left,) = in_place.of(e.WorkLeft)
    tree = shell(repository, "git", "rev-parse", f"{left.ref}^{{tree}}")
    (repository / "notes.txt").unlink()
    rehearse(whole_run(), verify=("true",))
    assert shell(repository, "git", "rev-parse", "main^{tree}") == tree


def test_a_dirty_checkout_is_refused_with_the_file_and_the_way_out(
    rehearse: Rehearse, repository: Path
) -> None:
    (repository / "mine.txt").write_text("unsaved")
    with pytest.raises(UsageError, match=r"mine\.txt.*--allow-dirty"):
        rehearse(whole_run(), settings=IN_PLACE)


def test_the_spec_the_state_and_the_settings_are_no_dirt(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "sq.toml").write_text("max_iterations = 3\n")
    done = rehearse(whole_run(), settings=IN_PLACE, verify=("true",), state_dir=repository / "state")
    assert done.view.started
    assert done.view.started.settings
    assert done.view.started.settings.limits.max_iterations == 3


def test_changes_that_were_allowed_stay_as_they_were_and_are_no_part_of_the_work(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "mine.txt").write_text("unsaved")
    done = rehearse(whole_run(), settings=IN_PLACE, verify=("true",), allow_dirty=True)
    assert (repository / "mine.txt").read_text() == "unsaved"
    (task,) = done.view.tasks.values()
    changed = shell(repository, "git", "diff", "--name-only", task.place.base_commit, task.claim.commit)
    assert changed == "notes.txt"


def test_what_a_stuck_task_left_is_kept_and_taken_out_of_the_next_tasks_way(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "mine.txt").write_text("mine\n")
    (repository / "old.txt").write_text("old\n")
    shell(repository, "git", "add", "old.txt")
    shell(repository, "git", "commit", "-qm", "old")
    index = index_of(repository)
    stuck = [
        writes("old.txt", "changed\n"),
        writes("half.txt", "half\n"),
        signals("task_stuck", reason="no way"),
    ]
    done = rehearse(
        whole_run(planner=[plans("first", "notes")], **{"worker/first/1": stuck}),
        settings=IN_PLACE,
        verify=("test ! -e half.txt",),
        allow_dirty=True,
        ends=Outcome.STUCK,
    )
    assert done.view.tasks["notes"].merged_commit
    assert not (repository / "half.txt").exists()
    assert (repository / "old.txt").read_text() == "old\n"
    assert index_of(repository) == index
    assert (repository / "mine.txt").read_text() == "mine\n"
    (rescued,) = done.of(e.WorkRescued)
    assert shell(repository, "git", "show", f"{rescued.ref}:half.txt") == "half"
    assert rescued.ref in done.output


@pytest.mark.slow
def test_the_users_git_hooks_do_not_run_at_sqs_commits(
    rehearse: Rehearse, repository: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-checkout",
        "post-merge",
    ):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {ran}\nexit 1\n")
        hook.chmod(0o755)
    for settings in (IN_PLACE, {}):
        rehearse(whole_run(), settings=settings, verify=("true",))
        (repository / "notes.txt").unlink()
    assert not ran.exists()


def test_a_second_run_in_the_same_checkout_is_refused(rehearse: Rehearse, repository: Path) -> None:
    with anyio.run(alone_in, repository), pytest.raises(UsageError, match="another run is working"):
        rehearse(whole_run(), settings=IN_PLACE)


def test_a_run_in_the_checkout_goes_on_after_an_interruption_with_what_it_had_written(
    rehearse: Rehearse, repository: Path, resume: Callable[..., object], shell: Shell
) -> None:
    callers = whole_run(
        worker=[writes("notes.txt", "A line.\n"), {**completes(), "misbehave": {"status": 401, "times": 1}}]
    )
    failed = rehearse(callers, settings=IN_PLACE, verify=("true",), ends=Outcome.FAILED)
    assert (repository / "notes.txt").exists()
    resume(failed)
    assert subprocess.run(
        ["git", "-C", str(repository), "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout.split() == ["??", "notes.txt"]
