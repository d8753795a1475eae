"""`kill -9` in the middle of a set-up, and a person who removes folders: resume makes the place anew and ends complete."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import killed
import pytest
import yaml
from crashes import PROCESSES, Bench, Shell, environment
from language.scripted import SPEC, whole_run

from agents.process.containment import detect_containment
from state.journal import events as e
from state.journal.store import JournalReader
from state.paths import StateFolder, worktree_root
from state.settings.sources import user_file

LONGEST_S = 60


@dataclass
class HalfMade:
    """A run that was killed while npm set up its first place."""

    bench: Bench
    place: Path
    go: Path

    def resumed(self) -> list[object]:
        """Let the set-up pass now, go on, and return the run's events."""
        self.go.touch()
        assert self.bench.resume() == 0, self.bench.view().ended
        with JournalReader(self.bench.run_folder) as journal:
            return [one.event for one in journal.read()]


def project(repository: Path, shell: Shell, script: str) -> None:
    root = {"name": "root", "version": "1.0.0", "dependencies": {"local": "file:./local"}}
    locked = {"local": {"version": "1.0.0"}, "node_modules/local": {"resolved": "local", "link": True}}
    files = {
        "package.json": json.dumps({**root, "scripts": {"postinstall": script}}),
        "package-lock.json": json.dumps({**root, "lockfileVersion": 3, "packages": {"": root, **locked}}),
        "local/package.json": json.dumps({"name": "local", "version": "1.0.0"}),
        "local/index.js": "module.exports = 1\n",
        ".gitignore": "node_modules/\n",
    }
    (repository / "local").mkdir()
    for name, text in files.items():
        (repository / name).write_text(text)
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "Package")


def half_made_place(repository: Path, is_alive: Callable[[], bool]) -> Path:
    """Wait until npm is in the middle of the first place of the repository's run, and return the place."""
    state, deadline = StateFolder(repository / ".sq"), time.monotonic() + LONGEST_S
    while True:
        for run_id in state.run_ids():
            place = worktree_root(repository, run_id) / "verify.1"
            if (place / "node_modules" / "half").exists():
                return place
        assert is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(params=["set-up"])
def half_made(
    request: pytest.FixtureRequest, repository: Path, tmp_path: Path, shell: Shell, processes: None
) -> Iterator[HalfMade]:
    """A run that is killed in the middle of its first set-up, or of the first command after it."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    go = tmp_path / "go"
    waits = f"touch node_modules/half && {{ test -e '{go}' || sleep 90; }}"
    in_set_up = request.param == "set-up"
    script = f"{waits if in_set_up else 'true'} && touch node_modules/whole"
    looks = "test -e node_modules/whole && node -e \"require('local')\""
    project(repository, shell, script)
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\nreview_plan = false\n')
    scenario = {"scenario": 1, "description": "a test", "callers": whole_run()}
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    (tmp_path / "spec.md").write_text(SPEC)
    flags = {
        "verify": ("--verify", (looks if in_set_up else f"{waits} && {looks}",)),
        "sandbox": ("--sandbox", "off"),
    }
    bench = Bench(
        folder=repository,
        scenario=tmp_path / "scenario.yaml",
        spec=tmp_path / "spec.md",
        environ=environment(detect_containment({})),
        flags=flags,
        played=True,
    )
    given = (str(repository), str(bench.scenario), 0, killed.GROUP, str(bench.spec), flags)
    process = PROCESSES.Process(target=killed.run, args=(bench.environ, *given), kwargs={"played": True})
    process.start()
    try:
        place = half_made_place(repository, process.is_alive)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        process.close()
    assert (place / "node_modules" / "whole").exists() is not in_set_up
    yield HalfMade(bench, place, go)
    shutil.rmtree(place.parent, ignore_errors=True)


def nothing(_: Path, __: Callable[[], None]) -> None:
    """As the kill left it."""


def removed(place: Path, _: Callable[[], None]) -> None:
    shutil.rmtree(place)


def half_removed(place: Path, _: Callable[[], None]) -> None:
    (place / ".git").unlink()


def pruned(place: Path, prune: Callable[[], None]) -> None:
    pointer = (place / ".git").read_text()
    (place / ".git").unlink()
    prune()
    (place / ".git").write_text(pointer)


DONE = [nothing, *(pytest.param(one, marks=pytest.mark.late) for one in (removed, half_removed, pruned))]


@pytest.mark.late
@pytest.mark.parametrize("done", DONE)
def test_a_place_whose_set_up_was_cut_off_is_made_anew_whatever_became_of_its_folder(
    half_made: HalfMade, shell: Shell, done: Callable[[Path, Callable[[], None]], None]
) -> None:
    done(half_made.place, lambda: shell(half_made.bench.folder, "git", "worktree", "prune", "--expire=now"))
    events = half_made.resumed()
    ran = [run for one in events if isinstance(one, e.WorkspaceSetUp) for run in one.runs]
    assert [run.passed for run in ran] == [True], "one set-up that came to its end, and copies of it"
    assert not [one for one in events if isinstance(one, e.GitFolderChanged)], "nobody is blamed"
    assert not half_made.place.exists()


@pytest.mark.late
@pytest.mark.parametrize("half_made", ["baseline"], indirect=True)
def test_a_set_up_that_came_to_its_end_before_the_kill_is_not_made_again(half_made: HalfMade) -> None:
    events = half_made.resumed()
    set_ups = [one for one in events if isinstance(one, e.WorkspaceSetUp)]
    assert sum(len(one.runs) for one in set_ups) == 1, "its seal is in the journal"
    assert {one.task_id for one in set_ups if one.again == ("node_modules",)} == {"notes"}
