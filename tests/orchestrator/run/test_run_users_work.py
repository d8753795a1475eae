"""Runs in a checkout with uncommitted work: nothing of the user's is touched, and nothing of it is the run's."""

import base64
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.dirty_states import ON_A_PATH, ON_ALL, STATES, TARGETS, quoted, seen, template, users_paths
from language.dirty_states import bash as shell_of
from language.played_sq import PLAYED_SQ
from language.sampled import sampled
from language.scripted import (
    SPEC,
    Rehearse,
    analyzes,
    call,
    completes,
    finds,
    issue,
    passes,
    plans,
    says,
    whole_run,
    writes,
)

from state.journal import events as e
from state.outcome import Outcome

IN_PLACE = {"worktrees": False}
Shell = Callable[..., str]


def bash(command: str, **reply: Any) -> dict[str, Any]:
    return says(call("Bash", command=command, description="Change files"), **reply)


def rehearse_dirty(rehearse: Rehearse, callers: Any, **more: Any) -> Any:
    given = {"settings": IN_PLACE, "verify": ("test -f notes.txt",), "allow_dirty": True}
    return rehearse(callers, **{**given, **more}, ends=None)


@pytest.fixture
def dirty(repository: Path, shell: Shell) -> Path:
    """A repository in which somebody is in the middle of something."""
    (repository / "code.txt").write_text("".join(f"line_{number} = {number}\n" for number in range(1, 11)))
    shell(repository, "git", "add", "-A")
    shell(repository, "git", "commit", "-qm", "Code")
    text = (repository / "code.txt").read_text().replace("line_5 = 5", "line_5 = 'mine'")
    (repository / "code.txt").write_text(text)
    (repository / "mine.txt").write_text("first\nsecond\nthird")
    (repository / "staged.txt").write_text("staged\n")
    shell(repository, "git", "add", "staged.txt")
    return repository


def test_a_worker_that_changes_the_users_lines_is_told_which_and_works_around_them(
    rehearse: Rehearse, dirty: Path, shell: Shell
) -> None:
    index = (dirty / ".git" / "index").read_bytes()
    worker = [
        bash(
            "sed -i -e \"s/'mine'/'worker'/\" -e 's/line_9 = 9/line_9 = 90/' code.txt && rm mine.txt && echo x > notes.txt"
        ),
        completes(),
        bash(
            "echo fourth >> code.txt",
            expect={"prompt_contains": ["code.txt:", "line 5: line_5 = 'mine'", "mine.txt: the whole"]},
        ),
        completes(),
    ]
    done = rehearse_dirty(rehearse, whole_run(worker=worker))
    assert done.outcome is Outcome.COMPLETE, done.output
    (refused,) = done.of(e.CompletionRefused)
    assert "--edit-dirty" not in refused.feedback
    assert (dirty / "mine.txt").read_text() == "first\nsecond\nthird"
    text = (dirty / "code.txt").read_text()
    assert "line_5 = 'mine'\n" in text
    assert "line_9 = 90\n" in text
    assert text.endswith("fourth\n")
    assert (dirty / ".git" / "index").read_bytes() == index
    restored = done.of(e.UsersWorkRestored)[0]
    assert restored.overwritten == ("code.txt",)
    assert "line_5 = 'worker'" in shell(dirty, "git", "show", f"{restored.ref}:code.txt")
    assert "put back as you had it: code.txt, mine.txt" in done.output
    assert restored.ref in done.output


@pytest.mark.late
def test_with_edit_dirty_the_users_lines_may_be_changed(rehearse: Rehearse, dirty: Path) -> None:
    worker = [
        bash("sed -i \"s/'mine'/'worker'/\" code.txt && rm mine.txt && echo x > notes.txt"),
        completes(),
    ]
    done = rehearse_dirty(rehearse, whole_run(worker=worker), allow_dirty=False, edit_dirty=True)
    assert done.outcome is Outcome.COMPLETE
    assert "'worker'" in (dirty / "code.txt").read_text()
    assert not (dirty / "mine.txt").exists()
    assert "agents may change them" in done.output


def test_the_final_review_sees_the_runs_own_changes_and_a_finding_on_anything_else_is_a_suggestion(
    rehearse: Rehearse, dirty: Path, shell: Shell
) -> None:
    found = [
        issue("code.txt", 5, "the user's line is wrong", "remove it"),
        issue("mine.txt", 1, "a stray file", "delete it", task="notes"),
        issue(".gitignore", 1, "nothing", "nothing", task="notes"),
    ]
    callers = whole_run(
        planner=[plans("notes", "second")],
        **{
            "worker/second/1": [writes("second.txt", "x\n"), completes()],
            "reviewer/second/*": [passes()],
            "reviewer/final/*": [finds(*found[:2])],
        },
    )
    done = rehearse_dirty(rehearse, callers)
    assert done.outcome is Outcome.COMPLETE
    assert done.of(e.TaskReopened) == []
    final = done.of(e.ReviewRecorded)[-1]
    assert final.passed
    assert final.task_id == ""
    assert [suggestion.partition(" (")[0] for suggestion in final.suggestions] == ["code.txt:5", "mine.txt:1"]
    (asked,) = [one for one in done.of(e.CallStarted) if one.role == "reviewer" and one.task_id == ""]
    diff = asked.prompt.split("## The whole change")[1]
    assert "second.txt" in diff
    assert "notes.txt" in diff
    for users in ("code.txt", "mine.txt", "staged.txt", "first\n"):
        assert users not in diff
    assert "suggestion: code.txt:5" in done.output


@pytest.mark.late
def test_a_tasks_review_sends_nobody_to_the_users_work_beside_it(rehearse: Rehearse, dirty: Path) -> None:
    worker = [bash("echo more >> code.txt && echo x > notes.txt"), completes()]
    found = [issue("code.txt", 5, "wrong", "remove it"), issue("mine.txt", 2, "stray", "delete it")]
    done = rehearse_dirty(rehearse, whole_run(worker=worker, **{"reviewer/notes/*": [finds(*found)]}))
    assert done.outcome is Outcome.COMPLETE
    assert done.of(e.TaskReopened) == []


@pytest.mark.late
def test_an_untracked_spec_in_the_repository_is_no_part_of_the_work_and_stays_as_it_is(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path
) -> None:
    spec = repository / "specs" / "spec.md"
    spec.parent.mkdir()
    callers = whole_run(
        worker=[
            bash("echo '# Easier' > specs/spec.md && echo x > notes.txt"),
            completes(),
            bash("true", expect={"prompt_contains": ["specs/spec.md:"]}),
            completes(),
        ],
        **{
            "reviewer/final/*": [
                finds(issue("specs/spec.md", 1, "an untracked file", "delete it", task="notes"))
            ]
        },
    )
    done = rehearse_dirty(rehearse, callers, allow_dirty=False, spec_at=spec, effort="high")
    assert done.outcome is Outcome.COMPLETE
    assert spec.read_text().startswith("# Notes")
    (task,) = done.view.tasks.values()
    assert (
        shell(repository, "git", "diff", "--name-only", task.place.base_commit, task.claim.commit)
        == "notes.txt"
    )


def test_ignored_files_are_left_alone_by_the_tools_and_put_back_at_the_end(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / ".gitignore").write_text("*.env\nout/\n")
    shell(repository, "git", "add", "-A")
    shell(repository, "git", "commit", "-qm", "Ignored")
    (repository / "my.env").write_text("KEY=1\n")
    (repository / "out").mkdir()
    (repository / "out" / "built").write_text("built\n")
    os.utime(repository / "out" / "built", (1, 1))
    worker = [
        writes("my.env", "KEY=2\n"),
        bash("echo KEY=3 > my.env; rm -r out; mkdir out; echo new > out/new; echo x > notes.txt"),
        completes(),
    ]
    done = rehearse_dirty(rehearse, whole_run(worker=worker))
    assert done.outcome is Outcome.COMPLETE
    assert "a file of the user's that git ignores" in done.of(e.ActionRefused)[0].reason
    assert (repository / "my.env").read_text() == "KEY=1\n"
    assert (repository / "out" / "built").stat().st_mtime == 1
    assert (repository / "out" / "new").read_text() == "new\n"
    last = done.of(e.UsersWorkRestored)[-1]
    assert last.ignored == ("my.env", "out/built")
    assert (Path(last.replaced) / "my.env").read_text() == "KEY=3\n"


def test_commits_and_staging_by_a_workers_script_are_undone_and_kept_under_a_ref(
    rehearse: Rehearse, dirty: Path, shell: Shell
) -> None:
    before = [
        shell(dirty, "git", *words.split())
        for words in ("rev-parse HEAD", "ls-files --stage", "diff --cached")
    ]
    script = "#!/bin/sh\necho x > notes.txt\ngit add -A\ngit commit -qm agent\ngit checkout -qb agents\n"
    worker = [
        writes("do.sh", script),
        bash("sh do.sh"),
        completes(),
        bash("rm do.sh", expect={"prompt_contains": ["HEAD: a git command of yours"]}),
        completes(),
    ]
    callers = whole_run(worker=worker)
    done = rehearse_dirty(
        rehearse, callers, settings={**IN_PLACE, "sandbox": "off"}
    )  # whole has no writable git
    assert done.outcome is Outcome.COMPLETE
    after = [
        shell(dirty, "git", *words.split())
        for words in ("rev-parse HEAD", "ls-files --stage", "diff --cached")
    ]
    assert after == before
    assert shell(dirty, "git", "branch", "--show-current") == "main"
    restored = done.of(e.UsersWorkRestored)[0]
    assert (restored.heads, restored.indexes) == ((".",), (".",))
    assert "agent" in shell(dirty, "git", "log", "--format=%s", restored.ref)


@pytest.mark.late
def test_what_the_user_edits_between_two_processes_of_a_run_is_the_users_as_well(
    rehearse: Rehearse, dirty: Path, resume: Callable[..., Any]
) -> None:
    worker = [
        bash("sed -i 's/line_9 = 9/line_9 = 90/' code.txt; rm mine.txt; echo x > notes.txt"),
        {**completes(), "misbehave": {"status": 401, "times": 1}},
        bash("sed -i 's/line_2 = 22/line_2 = 2/' code.txt"),
        completes(),
        completes(prompt_contains=["line 2: line_2 = 22"]),
    ]
    failed = rehearse_dirty(rehearse, whole_run(worker=worker))
    assert failed.outcome is Outcome.FAILED
    assert (dirty / "mine.txt").read_text() == "first\nsecond\nthird"
    text = (dirty / "code.txt").read_text()
    assert "line_9 = 90" in text
    (dirty / "code.txt").write_text(text.replace("line_2 = 2\n", "line_2 = 22\n"))
    (dirty / "mine.txt").write_text("rewritten\n")
    resume(failed)
    assert (dirty / "mine.txt").read_text() == "rewritten\n"
    text = (dirty / "code.txt").read_text()
    assert [part in text for part in ("line_2 = 22\n", "line_5 = 'mine'\n", "line_9 = 90\n")] == [True] * 3


@pytest.mark.late
@pytest.mark.claude
def test_no_agent_is_shown_sqs_own_state(rehearse: Rehearse, repository: Path) -> None:
    (repository / "code.txt").write_text("x = 1\n")
    subprocess.run(["git", "-C", repository, "add", "-A"], check=True)
    subprocess.run(["git", "-C", repository, "commit", "-qm", "Code"], check=True)
    looks = [
        says(call("Glob", pattern="**/*"), call("Glob", pattern="**/.*/**"), call("Glob", pattern=".*/*")),
        says(
            call("Grep", pattern="x", output_mode="files_with_matches"),
            call("Grep", pattern=".", path=".", glob="**/*"),
        ),
        analyzes(),
    ]
    done = rehearse(whole_run(**{"planner/analysis/1": looks}), settings=IN_PLACE, verify=("true",))
    shown = [one.message.text for one in done.of(e.MessageReceived) if one.message.kind == "tool result"]
    assert any("code.txt" in text for text in shown)
    assert [text for text in shown if ".sq/" in text or "journal" in text] == []


@pytest.mark.late
@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGKILL], signal.SIGKILL))
def test_the_users_work_is_put_back_when_a_run_is_interrupted_or_resumed_after_a_kill(
    dirty: Path, tmp_path: Path, number: signal.Signals
) -> None:
    paths = users_paths(dirty)
    before = seen(dirty, paths)
    step = "rm mine.txt; sed -i s/mine/agents/ code.txt; git add -A; touch ../done; exec sleep 60"
    hidden = f"echo {base64.b64encode(step.encode()).decode()} | base64 -d | bash"
    worker = [bash(f"test -e ../done || {hidden}"), writes("notes.txt", "x\n"), completes()]
    scenario, spec = tmp_path / "scenario.yaml", tmp_path / "spec.md"
    callers = whole_run(worker=worker)
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "slow", "callers": callers}))
    spec.write_text(SPEC)
    asked = [
        "--spec",
        spec,
        "--rehearse",
        scenario,
        "--verify",
        "test -f notes.txt",
        "--no-worktrees",
        "--allow-dirty",
        "--sandbox",
        "off",  # its script writes outside
    ]
    process = subprocess.Popen(
        [*PLAYED_SQ, *map(str, asked), "--plain"],
        cwd=dirty, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (dirty.parent / "done").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert seen(dirty, paths) != before
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=40)
    if number == signal.SIGINT:
        assert process.returncode == 130, output
        assert "put back as you had it: code.txt, mine.txt" in output
        assert seen(dirty, paths) == before
    again = subprocess.run(
        [*PLAYED_SQ, "resume", "--plain"], cwd=dirty, capture_output=True, text=True, check=False, timeout=90
    )
    assert "put back as you had it: code.txt, mine.txt" in again.stdout + output
    assert (dirty / "notes.txt").exists(), again.stdout
    assert seen(dirty, paths) == before


# --- everything that users may have uncommitted, against everything that agents do ---------------------------

CASES = 200
IN_THE_SUITE = 4
BY_TOOL = [path for path in TARGETS if not path.startswith("$")]


def by_tool(dice: random.Random, path: str) -> dict[str, Any]:
    """A Worker that reads a file and then overwrites or edits it with Claude Code's own tools."""
    name = f"{{workspace}}/{path}"
    edit = call("Edit", file_path=name, old_string="mine", new_string="agents", replace_all=True)
    overwrite = call("Write", file_path=name, content="agent\n")
    return says(call("Read", file_path=name), dice.choice([edit, overwrite]))


def by_bash(dice: random.Random, path: str) -> dict[str, Any]:
    """A Worker that hides what its command does, so that no rule on commands stands in its way."""
    step = dice.choice(ON_ALL) if dice.random() < 0.3 else dice.choice(ON_A_PATH).format(quoted(path))
    return bash(f"echo {base64.b64encode(step.encode()).decode()} | base64 -d | bash; true")


@pytest.fixture(scope="session")
def full_of_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return template(tmp_path_factory.mktemp("template"))


@pytest.mark.late
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] if case >= IN_THE_SUITE else []) for case in range(CASES)],
)
def test_whatever_a_worker_does_the_users_bytes_and_index_are_the_same_afterwards(
    rehearse: Rehearse, full_of_work: Path, tmp_path: Path, case: int
) -> None:
    dice = random.Random(case)  # noqa: S311  the cases are to be the same each time
    project = tmp_path / "work"
    shutil.copytree(full_of_work, project, symlinks=True)
    for state in dice.sample(sorted(STATES), dice.randint(2, 6)):
        assert shell_of(project, STATES[state])[0] == 0
    paths = users_paths(project)
    before = seen(project, paths)
    touched = [os.path.relpath(path, project) for path in paths]
    touched = [os.fsencode(name).decode(errors="replace") for name in touched]  # as a model can write it
    actions = [
        dice.choice([by_tool(dice, dice.choice(BY_TOOL)), by_bash(dice, dice.choice(TARGETS))])
        for _ in range(dice.randint(1, 4))
    ]
    findings = [
        issue(dice.choice(touched), 1, f"finding {number}", "delete it", task=dice.choice(["", "notes"]))
        for number in range(dice.randint(0, 2))
    ]
    callers = whole_run(
        **{
            "worker/notes/*": [*actions, writes("notes.txt", "A line.\n"), *[completes()] * 8],
            "reviewer/notes/*": [finds(*findings[:1]) if findings else passes(), passes(), passes()],
            "reviewer/final/*": [finds(*findings) if findings else passes(), passes(), passes()],
        }
    )
    done = rehearse_dirty(rehearse, callers, folder=project, effort=dice.choice(["medium", "high"]))
    after = seen(project, paths)
    assert [key for key in before if before[key] != after.get(key)] == []
    assert not done.of(e.UsersWorkRestored)[-1].problem
