"""What a sandboxed process leaves never ends a run: it is not counted, or removed, or named as a doubt."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from language.many_tasks import WORDS
from language.played_sq import PLAYED_SQ
from language.scripted import SPEC, Rehearse, call, completes, passes, says, whole_run, writes
from language.tables import table

from orchestrator.checks.objecting import RUNS_LATER
from orchestrator.views.models.points import attention
from orchestrator.views.objections import Urgency
from orchestrator.views.run.story import RunStory
from state.journal import events as e
from state.outcome import Outcome
from state.safe_paths import remove_tree
from state.settings.sources import user_file

Shell = Callable[..., str]
LEFT = table(__file__, "left")
# A runner's report is this when the command ends.
REPORTS = {
    "a pipe": "os.mkfifo(path)",
    "a link out": "os.symlink('/etc/hostname', path)",
    "a hole": "os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40)",
    "cut off": "open(path, 'w').write('<testsuite><testcase')",
    "nested": "open(path, 'w').write('<testsuite>' * 5000 + '</testsuite>' * 5000)",
}
CONFTEST = table(__file__, "conftest")


@pytest.fixture(autouse=True)
def _removed(home: Path, tmp_path: Path) -> Iterator[None]:
    """Remove what pytest could not: the worktrees of a run that was ended."""
    yield
    for folder in (home / ".local", tmp_path / "temporary"):
        assert remove_tree(folder) == ""


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(one, marks=() if one in {"a pipe in place of a file", "a hole"} else pytest.mark.late)
        for one in LEFT
    ],
)
def test_a_run_ends_as_it_should_whatever_its_worker_leaves(
    rehearse: Rehearse, words: Path, shell: Shell, left: str
) -> None:
    work = [says(call("Bash", command=LEFT[left])), writes("notes.txt", "done\n"), completes()]
    done = rehearse(whole_run(worker=work), verify=("true",))
    assert "error inside sq" not in done.output
    looped = left == "a link to itself"
    assert ("loop" in shell(words, "git", "ls-files").split()) is looped
    worktrees = Path(done.view.started.worktrees)
    assert not worktrees.exists() or not list(worktrees.iterdir())


UNFIT = {
    ".GIT/config": "mkdir .GIT && touch .GIT/config",
    "inner": "git init -q inner",
    "b.txt": "echo '*.txt working-tree-encoding=UTF-99' > .gitattributes && echo ä > b.txt",
}


@pytest.mark.late
@pytest.mark.parametrize("named", UNFIT)
def test_a_worker_hears_of_what_git_cannot_take_in_and_removes_it(
    rehearse: Rehearse, words: Path, named: str
) -> None:
    left, remove = UNFIT[named], f"rm -rf .gitattributes b.txt .GIT {named}"
    work = [says(call("Bash", command=left)), writes("notes.txt", "done\n"), completes()]
    again = [says(call("Bash", command=remove)), completes()]
    done = rehearse(whole_run(worker=[*work, *again]), verify=("true",))
    (refused,) = done.of(e.CompletionRefused)
    assert "git cannot take these into a commit" in refused.feedback
    assert named in refused.feedback


def test_what_sq_removed_stands_beside_the_gate_in_the_report(rehearse: Rehearse, words: Path) -> None:
    work = [
        says(call("Bash", command=LEFT["a pipe in place of a file"])),
        writes("notes.txt", "done\n"),
        completes(),
    ]
    done = rehearse(whole_run(worker=work), verify=("true",))
    assert f"1 removed that no commit can hold: {WORDS}" in (done.folder / "report.html").read_text()


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(one, marks={"a pipe": (), "nested": pytest.mark.late}.get(one, pytest.mark.slow))
        for one in REPORTS
    ],
)
def test_a_report_that_is_none_is_not_counted_and_not_waited_for(
    rehearse: Rehearse, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    work = [
        writes("conftest.py", CONFTEST.format(leave=REPORTS[report], deep=report == "a pipe")),
        writes("test_notes.py", "def test_notes():\n    assert open('notes.txt').read()\n"),
        writes("notes.txt", "done\n"),
        *[completes()] * 4,
    ]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    done = rehearse(whole_run(worker=work), verify=("python3 -m pytest -q -p no:cacheprovider",))
    assert "error inside sq" not in done.output
    assert done.of(e.VerificationFinished)[-1].runs[0].exit_code == 0, done.output
    logged = (done.folder / "sq.log").read_text()
    assert "report.not_counted" in logged
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "left",
    [
        "folders nested 3,000 deep",
        pytest.param("a pipe in place of a file", marks=pytest.mark.late),
        pytest.param("a hole", marks=pytest.mark.late),
    ],
)
def test_ctrl_c_ends_a_run_that_meets_it(words: Path, tmp_path: Path, left: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')
    work = [says(call("Bash", command=f"{LEFT[left]}; touch {tmp_path}/left")), writes("notes.txt", "done\n")]
    callers = whole_run(worker=[*work, *[completes()] * 3])
    scenario, spec = tmp_path / "scenario.yaml", tmp_path / "spec.md"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "left", "callers": dict(callers)}))
    spec.write_text(SPEC)
    told = ["run", "--spec", str(spec), "--plain", "--rehearse", str(scenario), "--sandbox", "off"]
    process = subprocess.Popen(
        [*PLAYED_SQ, *told, "--verify", "sleep 0.3"],
        cwd=words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "left").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert process.returncode == 130, output
    assert "Traceback" not in output


# --- files that run later ------------------------------------------------------------------------------------


def later_run(rehearse: Rehearse, path: str, spec: str = SPEC, command: str = "true"):
    work = [writes(path, "{}\n"), says(call("Bash", command=command)), writes("notes.txt", "done\n")]
    return rehearse(
        whole_run(worker=[*work, completes(), completes()], **{"reviewer/notes/*": [passes()]}),
        spec=spec,
        verify=("true",),
        ends=None,
    )


def test_a_file_that_runs_later_is_heard_of_once_shown_to_the_reviewer_first_in_the_report_and_not_complete(
    rehearse: Rehearse, repository: Path
) -> None:
    done = later_run(rehearse, "sub/.MCP.json", command="ln -s ../../outside sub/out")
    assert done.outcome is Outcome.UNVERIFIED, done.output
    (refused,) = done.of(e.CompletionRefused)
    assert "sub/.MCP.json, sub/out → ../../outside" in refused.feedback
    (review,) = [one for one in done.of(e.CallStarted) if one.role == "reviewer" and "notes" in one.task_id]
    assert "sub/.MCP.json" in review.prompt
    story = RunStory()
    story.add_all(done.stored)
    first = attention(story, ())[0]
    assert (first.urgency, first.kind) == (Urgency.DECIDE, RUNS_LATER)
    assert "sub/.MCP.json" in first.what


@pytest.mark.late
def test_a_git_attribute_that_gives_files_to_a_program_is_heard_of_and_another_is_not(
    rehearse: Rehearse, repository: Path
) -> None:
    work = [writes(".gitattributes", "*.txt text\n"), writes("notes.txt", "done\n"), completes()]
    assert rehearse(whole_run(worker=work), verify=("true",)).outcome is Outcome.COMPLETE
    work = [writes("b/.gitattributes", "*.txt filter=lfs\n"), writes("notes.txt", "new\n"), completes()]
    callers = whole_run(worker=[*work, completes()], **{"reviewer/notes/*": [passes()]})
    done = rehearse(callers, verify=("true",), ends=None)
    assert done.outcome is Outcome.UNVERIFIED, done.output
    assert "b/.gitattributes" in done.of(e.CompletionRefused)[0].feedback


def test_a_file_that_runs_later_and_that_the_spec_names_is_complete(
    rehearse: Rehearse, repository: Path
) -> None:
    done = later_run(rehearse, ".envrc", spec=f"{SPEC}\nAdd an .envrc.\n")
    assert done.outcome is Outcome.COMPLETE, done.output


# --- the user's own filters and merge drivers --------------------------------------------------------------


def test_a_filter_of_the_users_runs_in_the_sandbox_and_works(
    rehearse: Rehearse, repository: Path, tmp_path: Path, shell: Shell
) -> None:
    mark, program = tmp_path / "outside", tmp_path / "upper"
    program.write_text(f"#!/bin/sh\ntouch {mark} 2>/dev/null\ntr a-z A-Z\n")
    program.chmod(0o755)
    shell(repository, "git", "config", "filter.upper.clean", f"{program} %f")
    shell(repository, "git", "config", "filter.upper.smudge", "cat")
    shell(repository, "git", "config", "filter.upper.required", "true")
    work = [writes(".gitattributes", "*.txt filter=upper\n"), writes("notes.txt", "it's done\n"), completes()]
    done = rehearse(whole_run(worker=work), spec=f"{SPEC}\nAdd .gitattributes.\n", verify=("true",))
    assert shell(repository, "git", "show", "HEAD:notes.txt") == "IT'S DONE"
    assert "filter.upper.clean, which runs in the sandbox" in done.output
    assert not mark.exists()
