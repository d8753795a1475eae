"""Killed at each git command of an operation, nothing is lost, and the same operation again ends it the same."""

from pathlib import Path

import pytest
from cut_off import cut_off
from run_at_work import write

WHEN = [pytest.param("before", marks=pytest.mark.slow), "after"]
SLOW_WHEN = [pytest.param(when, marks=pytest.mark.slow) for when in ("before", "after")]
SIDES = ({"f": "one\ntwo\nthree\n"}, {"f": "ONE\ntwo\nthree\n"}, {"f": "one\ntwo\nTHREE\n"})
CONFLICT = ({"f": "base\n"}, {"f": "ours\n"}, {"f": "theirs\n"})


@pytest.mark.parametrize("when", SLOW_WHEN)
async def test_a_merge_that_git_can_do(work, tmp_path, when):
    task = await work.sides(*SIDES)
    onto, made, at = work.view.whole.commit, set(), 1
    while cut_off(tmp_path / "shim", work, task, "merge", at=at, when=when):
        state = await work.places.begin_merge(task, onto)
        made.add(await work.places.conclude_merge(task, onto, state.tree, "Merge"))
        await work.places.show(onto)
        at += 1
    assert len(made) == 1
    assert at > 10
    assert work.kept() == {}


@pytest.mark.parametrize("when", SLOW_WHEN)
async def test_a_merge_with_a_conflict(work, tmp_path, when):
    task = await work.sides(*CONFLICT)
    onto, at = work.view.whole.commit, 1
    killed = True
    while killed:
        killed = cut_off(tmp_path / "shim", work, task, "begin", at=at, when=when)
        assert not (await work.places.merge_state(task, onto)).is_clean
        state = await work.places.begin_merge(task, onto)
        assert (state.under_way, state.unmerged) == (True, ("f",))
        await work.places.show(onto)
        at += 1
    assert work.kept() == {}


@pytest.mark.parametrize("when", SLOW_WHEN)
async def test_a_resolved_conflict_that_is_concluded(work, tmp_path, when):
    task = await work.sides(*CONFLICT)
    onto, at, killed, made = work.view.whole.commit, 0, True, set()
    while killed:
        at += 1
        await work.places.begin_merge(task, onto)
        write(work.integration, {"f": "both\n"})
        killed = cut_off(tmp_path / "shim", work, task, "conclude", at=at, when=when)
        state = await work.places.merge_state(task, onto)
        assert state.is_clean
        made.add(await work.places.conclude_merge(task, onto, state.tree, "Merge"))
    assert len(made) == 1
    assert at == len(("add", "write-tree", "commit-tree", "reset", "clean", "the end"))
    assert work.kept() == {}


@pytest.mark.parametrize("when", SLOW_WHEN)
async def test_a_merge_that_is_given_up(work, tmp_path, when):
    task = await work.sides(*CONFLICT)
    onto, at, killed = work.view.whole.commit, 0, True
    while killed:
        at += 1
        await work.places.begin_merge(task, onto)
        write(work.integration, {"f": f"resolved {at}\n"})
        killed = cut_off(tmp_path / "shim", work, task, "undo", at=at, when=when)
        kept = await work.places.undo_merge(task, onto)
        assert work.git("show", f"{kept.ref}:f") == f"resolved {at}"
        assert len(work.kept()) == at  # each is another, and none is kept twice
        assert work.git("status", "--porcelain", folder=work.integration) == ""
    assert at > 6


@pytest.mark.late
@pytest.mark.parametrize("when", WHEN)
async def test_a_task_that_is_rebuilt(work, tmp_path, when):
    task = await work.sides(*CONFLICT)
    onto, at, killed = work.view.whole.commit, 0, True
    while killed:
        at += 1
        work.git("reset", "--hard", "--quiet", task.claim.commit, folder=Path(task.place.worktree))
        write(Path(task.place.worktree), {"half.py": f"half {at}\n"})
        killed = cut_off(tmp_path / "shim", work, task, "rebuild", at=at, when=when)
        place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=onto, start=onto)
        assert work.git("show", f"{place.rescued.ref}:half.py") == f"half {at}"
        assert work.git("rev-parse", f"{place.rescued.ref}~1") == task.claim.commit
        assert len(work.kept()) == at
        assert work.git("status", "--porcelain", "--branch", folder=place.folder) == f"## {task.place.branch}"
        assert work.git("rev-parse", "HEAD", folder=place.folder) == onto
    assert at > 6


@pytest.mark.parametrize("when", SLOW_WHEN)
async def test_a_commit_that_is_shown(work, tmp_path, when):
    task = await work.sides(*CONFLICT)
    at, killed = 0, True
    while killed:
        at += 1
        write(Path(task.place.worktree), {"half.py": f"half {at}\n"})
        killed = cut_off(tmp_path / "shim", work, task, "show", at=at, when=when)
        folder = await work.places.show_commit(task)
        assert not (folder / "half.py").exists()
        kept = [work.git("show", f"{commit}:half.py") for commit in work.kept().values()]
        assert sorted(kept) == sorted(f"half {number}" for number in range(1, at + 1))
    assert at > 6
