"""How often a run starts git: each process costs some 5 ms, and a small task hundreds of them."""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from language.many_tasks import EDITORS, callers_of
from language.scripted import Done, Rehearse, completes, signals, whole_run, writes
from language.tables import table

from agents.process.sandbox.bubblewrap import PROGRAM
from state.outcome import Outcome

MOST = 140  # 137 were counted; 177 before trees and commits by their whole names were asked about once


def test_a_run_of_one_task_starts_git_no_more_often_than_it_did(
    rehearse: Rehearse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, here = tmp_path / "counted", tmp_path / "bin"
    here.mkdir()
    (here / "git").write_text(f'#!/bin/sh\necho x >>"{counted}"\nexec "{shutil.which("git")}" "$@"\n')
    (here / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(here), prepend=":")
    rehearse(whole_run(worker=[writes("notes.txt", "done\n"), completes()]), verify=("true",))
    assert 50 < len(counted.read_text().split()) <= MOST


# --- every process outside the sandbox ----------------------------------------------------------------------

# By place: why git runs there, and which of its commands.
GIT = table(__file__, "git")
OUTSIDE = {
    ("cp -a", "none"): "copies a worktree or the result of a set-up, and runs nothing of it",
    ("python true", "none"): "tries how process trees are held",
    (
        "python3 -c",
        "elsewhere",
    ): "lists the packages of the user's interpreter, in the folder for temporary files",
    **{
        (f"git {command}".strip(), place): why
        for place, (why, all_) in GIT.items()
        for command in all_.split(" ")
    },
}
_started: list[tuple[list[str], str]] = []
_listening: list[bool] = []


def _hear(event: str, given: tuple[object, ...]) -> None:
    """Note each process that this one starts. The interpreter reports them, and a hook stays for ever."""
    if event == "subprocess.Popen" and _listening:
        _started.append(([os.fsdecode(word) for word in given[1]], os.fsdecode(given[2] or "")))


sys.addaudithook(_hear)


def known_as(argv: list[str], cwd: str, done: Done) -> tuple[str, str]:
    """Name what a process does, and the place where: the checkout, a worktree, the run's folder, a folder of its own."""
    program, words, place = Path(argv[0]).name, argv[1:], cwd
    if program == "git":
        while words and words[0].startswith("-"):
            place = words[1] if words[0] == "-C" else place
            words = words[2 if words[0] in {"-C", "-c"} else 1 :]
    elif "--" in words and program != "cp":
        words = words[words.index("--") + 1 :]
    started = done.view.started
    kinds = {"worktree": started.worktrees, "run": done.folder, "checkout": started.repository}
    where = next(
        (kind for kind, at in kinds.items() if place and Path(place).is_relative_to(at)), "elsewhere"
    )
    return f"{program} {words[0] if words else ''}".strip(), where if place else "none"


KINDS = table(__file__, "kinds")


def callers_for(kind: str):
    """A run of one task, or for a conflict of two tasks that write the same files."""
    if "conflict" not in kind:
        return whole_run(worker=[writes("notes.txt", "done\n"), completes()])
    told = dict(callers_of(*EDITORS))
    for name in EDITORS:
        told[f"worker/{name}/1"] = [
            writes("words.txt", f"m\n{name}\n"),
            writes("clash.txt", f"{name}\n"),
            completes(),
        ]
    resolved = signals("conflict_resolved", summary="Both.")
    return {**told, "resolver/*": [writes("clash.txt", "both\n"), resolved]}


@pytest.mark.late
@pytest.mark.parametrize("kind", KINDS)
def test_every_process_outside_the_sandbox_is_known(
    rehearse: Rehearse, repository: Path, tmp_path: Path, shell, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    files, verify, program = KINDS[kind]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")
    for name, text in {"first.txt": "first\n", **files}.items():
        (repository / name).write_text(text)
    shell(repository, "git", "config", "filter.own.clean", "sed s/x/y/")
    shell(repository, "git", "config", "filter.own.smudge", "cat")
    shell(repository, "git", "config", "merge.own.driver", "cat %B >> %A")
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")
    traced = tmp_path / "traced"
    traced.mkdir()
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(traced))
    _started.clear()
    _listening.append(True)
    try:
        done = rehearse(callers_for(kind), verify=(verify,))
    finally:
        _listening.clear()
    assert done.outcome is Outcome.COMPLETE, done.output
    outside = {
        known_as(*one, done) for one in _started if not any(Path(word).name == "bwrap" for word in one[0])
    }
    assert outside <= OUTSIDE.keys()
    told = [json.loads(line) for file in traced.iterdir() for line in file.read_text().splitlines()]
    begun = done.stored[0].at.isoformat()  # before, git reads the user's own files
    by_git = {one["argv"][0] for one in told if one["event"] == "child_start" and one["time"] > begun}
    driver = done.folder / "git" / "sq-driver"
    drivers = {word for word in by_git if word.startswith(f"exec {driver} 3<<")}
    assert by_git - drivers <= {"git"}
    assert bool(drivers) is (kind == "a filter")  # a merge is made inside, where no trace is written
    assert "exec bwrap " in driver.read_text() or "/bwrap " in driver.read_text()


# --- without bubblewrap -------------------------------------------------------------------------------------


def claude_works_in(folder: str) -> bool:
    """Whether a process of Claude Code has this folder as its own, or one below it."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # another user's, or it has just ended
            here = (process / "cwd").readlink()
            if b"stream-json" in (process / "cmdline").read_bytes() and here.is_relative_to(folder):
                return True
    return False


_stages: list[tuple[str, bool]] = []  # the folder of each `git add`, and whether Claude Code worked there


def _look(event: str, given: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and _looking:
        words = [os.fsdecode(word) for word in given[1]]
        if words[0] == "git" and "add" in words:
            _stages.append((folder := words[words.index("-C") + 1], claude_works_in(folder)))


_looking: list[bool] = []
sys.addaudithook(_look)


@pytest.mark.late
@pytest.mark.claude
@pytest.mark.timeout(300)
def test_without_bubblewrap_sq_reads_a_folder_after_its_session_and_the_run_completes(
    rehearse: Rehearse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            if program.name != PROGRAM and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    resolved = signals("conflict_resolved", summary="Both.")
    resolver = [
        writes("clash.txt", "both\n"),
        resolved,
        writes("words.txt", "both\n"),
        resolved,
    ]  # refused once
    _stages.clear()
    _looking.append(True)
    try:
        done = rehearse({**callers_for("a conflict"), "resolver/*": resolver}, verify=("true",))
    finally:
        _looking.clear()
    assert "sq reads an agent's folder only after its session has ended" in done.output
    assert len([folder for folder, _ in _stages if folder.startswith(done.view.started.worktrees)]) >= 3
    assert not [folder for folder, works in _stages if works]
