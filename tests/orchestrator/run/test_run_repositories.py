"""The repositories that people have: each works, or says exactly what to do."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from language.scripted import SPEC, Rehearse, analyzes, whole_run

from state.errors import UsageError
from state.journal.events import RunStarted, WorkDelivered, WorkKept
from state.outcome import Outcome
from state.paths import StateFolder

Shell = Callable[..., str]
CHECKED = {"verify": ("true",)}


def test_the_work_arrives_on_the_branch_and_leaves_nothing_else_behind(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    done = rehearse(whole_run(), effort="low", **CHECKED)
    started = done.of(RunStarted)[0]
    assert (started.settings.effort.name, started.settings.verify, started.repository) == (
        "low",
        ("true",),
        str(repository),
    )
    assert (repository / "notes.txt").read_text() == "A line.\n"
    assert shell(repository, "git", "status", "--porcelain") == ""
    assert shell(repository, "git", "branch", "--format=%(refname:short)") == "main"
    assert shell(repository, "git", "worktree", "list").count("\n") == 0
    assert not Path(started.worktrees).exists()
    assert shell(repository, "git", "log", "-1", "--format=%an <%ae>") == "sq <sq@localhost>"
    assert not (repository / ".gitignore").exists()


@pytest.mark.slow
def test_a_second_run_in_the_same_state_folder_has_ids_of_its_own(
    rehearse: Rehearse, repository: Path
) -> None:
    first = rehearse(whole_run(), **CHECKED, ends=None)
    again = whole_run(
        **{"planner/analysis/1": [analyzes()]},
        worker=[
            {
                "tools": [
                    {"name": "Write", "input": {"file_path": "{workspace}/more.txt", "content": "More.\n"}}
                ]
            },
            {"tools": [{"name": "mcp__sq__task_complete", "input": {"summary": "Done.", "tests": ""}}]},
        ],
    )
    second = rehearse(again, **CHECKED, ends=None)
    assert (first.outcome, second.outcome) == (Outcome.COMPLETE, Outcome.COMPLETE)
    assert first.folder != second.folder
    assert not set(first.view.calls) & set(second.view.calls)
    assert (repository / "more.txt").exists()


def test_uncommitted_files_in_a_repository_without_commits_are_named_with_the_way_out(
    rehearse: Rehearse, tmp_path: Path, shell: Shell
) -> None:
    folder = tmp_path / "fresh"
    folder.mkdir()
    shell(folder, "git", "init", "--quiet")
    (folder / "mine.txt").write_text("Mine.\n")
    with pytest.raises(UsageError, match=r"mine\.txt.*git add -A && git commit"):
        rehearse(whole_run(), folder=folder)
    assert StateFolder(folder / ".sq").run_ids() == []


def test_with_a_detached_head_the_work_stays_on_a_branch_and_the_way_to_take_it_is_told(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    shell(repository, "git", "checkout", "--quiet", "--detach")
    done = rehearse(whole_run(), **CHECKED)
    kept = done.of(WorkKept)[0]
    assert f"git merge {kept.branch}" in done.output
    assert shell(repository, "git", "show", f"{kept.branch}:notes.txt") == "A line."


def test_a_repository_without_commits_in_a_path_with_spaces_and_without_a_git_identity_works(
    rehearse: Rehearse, tmp_path: Path, shell: Shell
) -> None:
    folder = tmp_path / "mein schönes Projekt"
    folder.mkdir()
    shell(folder, "git", "init", "--quiet", "--initial-branch=main")
    done = rehearse(whole_run(), folder=folder, **CHECKED)
    assert "no commit yet" in done.output
    assert (folder / "notes.txt").exists()
    assert shell(folder, "git", "log", "-1", "--format=%an <%ae>") == "sq <sq@localhost>"


def test_outside_a_repository_the_error_says_how_to_make_one(rehearse: Rehearse, tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    folder.mkdir()
    with pytest.raises(UsageError, match="git init"):
        rehearse(whole_run(), folder=folder)


def test_uncommitted_work_is_never_touched_and_the_finished_work_is_kept_on_a_branch(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "draft.txt").write_text("Half a thought.\n")
    shell(repository, "git", "add", "draft.txt")
    before = shell(repository, "git", "status", "--porcelain=v2")
    done = rehearse(whole_run(), **CHECKED)
    assert done.of(WorkDelivered) == []
    assert "uncommitted" in done.of(WorkKept)[0].reason
    assert shell(repository, "git", "status", "--porcelain=v2") == before
    assert (repository / "draft.txt").read_text() == "Half a thought.\n"


@pytest.mark.slow
def test_a_run_started_in_a_folder_below_works_on_the_whole_repository(
    rehearse: Rehearse, repository: Path
) -> None:
    below = repository / "docs"
    below.mkdir()
    with pytest.raises(UsageError):  # the state is at the top, so there is none here
        rehearse(whole_run(), folder=below, **CHECKED)
    assert len(StateFolder(repository / ".sq").run_ids()) == 1
    assert (repository / "notes.txt").exists()


@pytest.mark.slow
def test_two_runs_at_once_in_one_repository_both_end_and_neither_loses_work(
    repository: Path, tmp_path: Path, shell: Shell
) -> None:
    processes = []
    for name in ("red", "blue"):
        reply = {
            "tools": [{"name": "Write", "input": {"file_path": f"{{workspace}}/{name}.txt", "content": name}}]
        }
        callers = whole_run()
        callers["worker/notes/1"] = [reply, callers["worker/notes/1"][1]]
        scenario, spec = tmp_path / f"{name}.yaml", tmp_path / f"{name}.md"
        scenario.write_text(yaml.safe_dump({"scenario": 1, "description": name, "callers": callers}))
        spec.write_text(SPEC)
        command = [sys.executable, "-I", "-m", "orchestrator.cli", "run", "--spec", str(spec), "--plain"]
        command += ["--rehearse", str(scenario), "--verify", "true"]
        processes.append(
            subprocess.Popen(
                command,
                cwd=repository,
                env=dict(os.environ),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    outputs = [process.communicate(timeout=100)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    refs = shell(repository, "git", "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    held = {name for ref in refs for name in shell(repository, "git", "ls-tree", "--name-only", ref).split()}
    assert {"red.txt", "blue.txt"} <= held
    assert shell(repository, "git", "status", "--porcelain") == ""
