"""Many tasks side by side on the real CLI: what is merged, what is held, and the user's checkout meanwhile."""

import hashlib
import os
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from language.many_tasks import EDITORS, MERGED, SPEC, STUCK, TWELVE, VERIFY, WAITS, WORDS, callers_of
from language.scripted import Done, Rehearse

from state.journal import events as e
from state.journal.events import Event, Stored
from state.journal.events.tasks import Stage
from state.journal.store import Journal
from state.outcome import Outcome

Shell = Callable[..., str]
REPETITIONS = 50
PROCESSORS = os.cpu_count() or 1
MOST_PROCESSORS = 8


def dirty(repository: Path, shell: Shell) -> None:
    """Staged, unstaged and untracked work of the user."""
    (repository / "staged.txt").write_text("staged\n")
    shell(repository, "git", "add", "staged.txt")
    (repository / "staged.txt").write_text("and edited since\n")
    (repository / "untracked.txt").write_text("untracked\n")


def checkout_of(repository: Path) -> str:
    """A fingerprint of everything in a checkout: files, index, HEAD and the user's branch."""
    git = repository / ".git"
    own = []
    for folder, folders, names in os.walk(repository):
        folders[:] = [name for name in folders if name not in {".git", ".sq"}]
        own += [Path(folder, name) for name in names]
    seen = hashlib.sha256()
    for path in sorted([*own, git / "index", git / "HEAD", git / "refs/heads/main"]):
        seen.update(f"{path}\n{path.stat().st_mode}\n".encode() + path.read_bytes())
    return seen.hexdigest()


class Watched(Journal):
    """A journal that looks at the user's checkout as each event is stored, until the work is brought there."""

    def __init__(self, run_folder: Path, *, seen: set[str], repository: Path, **rest: Any) -> None:
        super().__init__(run_folder, **rest)
        self._seen, self._repository, self._home = seen, repository, False

    def append(self, *events: Event) -> list[Stored]:
        if not self._home:
            self._seen.add(checkout_of(self._repository))
        self._home = self._home or any(isinstance(event, e.DeliveryStarted) for event in events)
        return super().append(*events)


def run_twelve(rehearse: Rehearse, words: Path, places: int) -> Done:
    seen: set[str] = set()
    before = checkout_of(words)
    done = rehearse(
        callers_of(*TWELVE),
        spec=SPEC,
        verify=(VERIFY,),
        settings={"max_parallel": str(places)},
        open_journal=lambda folder, **rest: Watched(folder, seen=seen, repository=words, **rest),
    )
    assert seen == {before}
    return done


def tree_of_twelve(words: Path, shell: Shell) -> str:
    """The tree that holds the work of every task that can be merged, made by hand."""
    index = {"GIT_INDEX_FILE": str(words / ".git" / "by-hand")}
    shell(words, "git", "read-tree", "HEAD", **index)
    for name, text in {
        WORDS: f"ant {' '.join(EDITORS)}\n",
        **{f"{task}.txt": f"{task}\n" for task in MERGED if task not in EDITORS},
    }.items():
        file = words.parent / "by-hand"
        file.write_text(text)
        blob = shell(words, "git", "hash-object", "-w", str(file))
        shell(words, "git", "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", **index)
    return shell(words, "git", "write-tree", **index)


def assert_as_described(done: Done, places: int, tree: str) -> None:
    view = done.view
    assert done.outcome is Outcome.STUCK, done.output
    assert {id_ for id_, task in view.tasks.items() if task.stage is Stage.MERGED} == set(MERGED), done.output
    assert (view.tasks[STUCK].stage, view.tasks[WAITS].stage) == (Stage.STUCK, Stage.WAITING)
    assert view.whole.tree == tree
    assert view.evidence.verifications[tree].runs
    most, merges = most_at_once(done)
    assert 1 <= most <= places
    assert merges == 1


def most_at_once(done: Done) -> tuple[int, int]:
    """The most tasks that were under way at once, and the most merges."""
    under_way: set[str] = set()
    merging: set[str] = set()
    tasks, merges = 0, 0
    for event in (stored.event for stored in done.stored):
        match event:
            case e.TaskStarted(task_id=id_):
                under_way.add(id_)
            case e.MergeStarted(task_id=id_):
                merging.add(id_)
            case e.TaskMerged(task_id=id_) | e.MergeFailed(task_id=id_):
                merging.discard(id_)
                under_way.discard(id_)
            case e.TaskStuck(task_id=id_) | e.TaskFailed(task_id=id_) | e.TaskUnverified(task_id=id_):
                under_way.discard(id_)
        tasks, merges = max(tasks, len(under_way)), max(merges, len(merging))
    return tasks, merges


def began_after_its_dependencies(done: Done) -> None:
    merged: set[str] = set()
    for event in (stored.event for stored in done.stored):
        if isinstance(event, e.TaskMerged):
            merged.add(event.task_id)
        if isinstance(event, e.TaskStarted):
            assert set(done.view.tasks[event.task_id].task.dependencies) <= merged


@pytest.mark.late
@pytest.mark.parametrize(
    "places", [4, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 2, 8))]
)
def test_twelve_tasks_end_as_described_with_any_number_of_places(
    rehearse: Rehearse, words: Path, shell: Shell, places: int
) -> None:
    tree, head = tree_of_twelve(words, shell), shell(words, "git", "rev-parse", "main")
    done = run_twelve(rehearse, words, places)
    assert_as_described(done, places, tree)
    began_after_its_dependencies(done)
    assert done.view.checkout.kept  # only a complete run moves the user's branch
    assert shell(words, "git", "rev-parse", f"{done.view.checkout.kept.branch}^{{tree}}") == tree
    assert shell(words, "git", "rev-parse", "main") == head
    assert shell(words, "git", "status", "--porcelain") == ""
    assert "waits was not built: it waits for stuck" in done.output


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_twelve_tasks_end_the_same_every_time(rehearse: Rehearse, words: Path, shell: Shell) -> None:
    tree = tree_of_twelve(words, shell)
    first = shell(words, "git", "rev-parse", "HEAD")
    for repetition in range(REPETITIONS):
        shell(words, "git", "reset", "--hard", "--quiet", first)
        shell(words, "git", "clean", "-fdq")
        if repetition % 2:
            dirty(words, shell)
        before = checkout_of(words)
        places = (1, 2, 4, 8)[repetition // 2 % 4]
        done = run_twelve(rehearse, words, places)
        assert_as_described(done, places, tree)
        assert checkout_of(words) == before
        assert done.of(e.WorkKept)


class SlowStarts(Journal):
    """A journal that puts a slow beginning before Claude Code once the plan stands, which notes when it is there."""

    def __init__(self, run_folder: Path, *, log: Path, **rest: Any) -> None:
        super().__init__(run_folder, **rest)
        self._launcher, self._log = run_folder / "launcher", log

    def append(self, *events: Event) -> list[Stored]:
        if any(isinstance(event, e.PlanAccepted) for event in events):
            real = self._launcher.with_name("real-launcher")
            self._launcher.rename(real)
            begins = f"echo begins >> {self._log}; sleep 0.5; echo began >> {self._log}"
            self._launcher.write_text(f'#!/bin/sh\n{begins}\nexec "{real}" "$@"\n')
            self._launcher.chmod(0o755)
        return super().append(*events)


@pytest.mark.slow
@pytest.mark.claude
@pytest.mark.skipif(PROCESSORS > MOST_PROCESSORS, reason="needs more tasks than there are processors")
def test_no_more_processes_start_at_once_than_there_are_processors(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    log = tmp_path / "starts"
    tasks = [f"t{number}" for number in range(PROCESSORS + 2)]
    rehearse(
        callers_of(*tasks),
        verify=("true",),
        settings={"max_parallel": str(len(tasks)), "sandbox": "off"},
        open_journal=lambda folder, **rest: SlowStarts(folder, log=log, **rest),
    )
    at_once = list(accumulate(1 if line == "begins" else -1 for line in log.read_text().split()))
    assert max(at_once) == PROCESSORS
