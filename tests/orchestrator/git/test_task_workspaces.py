"""The places of tasks: made once, moved to newer work, shown as they were committed; nothing in them is lost."""

import shutil
from pathlib import Path

import anyio
import pytest
from run_at_work import RUN, write

from orchestrator.git.workspace import run_branch, task_branch
from state.errors import GitError
from state.journal.events.tasks import Stage

KEPT = f"refs/sq/{RUN}/"


async def committed(work, id_="a", **files):
    return await work.commit((await work.begun(id_))[0], files or {"a.py": "x = 1\n"})


async def on_newer_work(work):
    """A task that is committed, and other work that was merged meanwhile."""
    (task, _), (other, _) = await work.begun("a"), await work.begun("b")
    await work.commit(task, {"a.py": "x = 1\n"})
    newest = await work.merge(await work.commit(other, {"b.py": "y = 1\n"}))
    return task, newest


# --- begun ------------------------------------------------------------------------------------------------


async def test_a_task_begins_on_the_newest_merged_work(work):
    await work.merge(await committed(work))
    task, folder = await work.begun("b")
    assert task.place.base_commit == work.view.whole.commit == work.git("rev-parse", "HEAD", folder=folder)
    assert work.git("branch", "--show-current", folder=folder) == task_branch(RUN, "b")
    assert set(work.files(folder)) == {"README.md", "a.py"}


async def test_a_beginning_that_nobody_recorded_is_moved_to_the_work_that_is_newest_now(work):
    await work.begun("b")
    await work.merge(await committed(work))
    task, folder = await work.begun("b")
    assert work.git("rev-parse", "HEAD", folder=folder) == task.place.base_commit == work.view.whole.commit
    assert work.kept() == {}


async def test_many_tasks_begin_at_once(work):
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(work.begun, f"t{number}")
    for id_, task in work.view.tasks.items():
        assert work.git("rev-parse", task_branch(RUN, id_)) == task.place.base_commit
        assert set(work.files(work.integration.parent / id_)) == {"README.md"}


# --- moved to newer work ----------------------------------------------------------------------------------


async def test_a_task_is_rebuilt_on_newer_work_and_what_it_did_before_is_kept(work):
    task, newest = await on_newer_work(work)
    before = task.claim.commit
    place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert (place.branch, place.base_commit) == (task.place.branch, newest)
    assert work.git("rev-parse", task.place.branch) == newest
    assert work.git("status", "--porcelain", "--branch", folder=place.folder) == f"## {task.place.branch}"
    assert set(work.files(place.folder)) == {"README.md", "b.py"}
    assert place.rescued
    assert (place.rescued.task_id, place.rescued.ref) == ("a", f"{KEPT}a-attempt1")
    assert work.kept() == {"a-attempt1": before}


async def test_a_task_may_begin_with_more_than_it_is_built_on(work):
    task, newest = await on_newer_work(work)
    state = await work.places.begin_merge(task, newest)
    start = await work.places.conclude_merge(task, newest, state.tree, "Merge")
    place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=start)
    assert (place.base_commit, place.rescued) == (newest, None)
    assert set(work.files(place.folder)) == {"README.md", "a.py", "b.py"}
    assert work.kept() == {}


async def test_what_is_in_no_commit_is_kept_before_a_task_is_rebuilt(work):
    task, newest = await on_newer_work(work)
    write(task_folder(task), {"half.py": "def half(", "a.py": "x = 2\n"})
    place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    ref = place.rescued.ref
    assert [work.git("show", f"{ref}:{name}") for name in ("half.py", "a.py")] == ["def half(", "x = 2"]
    assert work.git("log", "-1", "--format=%P", ref) == task.claim.commit
    assert set(work.files(place.folder)) == {"README.md", "b.py"}


def task_folder(task):
    return Path(task.place.worktree)


@pytest.mark.parametrize("gone", [[], ["folder"], ["folder", "branch"], ["folder", "registration", "branch"]])
async def test_a_rebuild_that_was_cut_off_anywhere_ends_the_same(work, gone):
    task, newest = await on_newer_work(work)
    write(task_folder(task), {"half.py": "def half("})
    first = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    if "folder" in gone:
        shutil.rmtree(task_folder(task))
    if "registration" in gone:
        work.git("worktree", "prune")
    if "branch" in gone:
        work.git("update-ref", "-d", f"refs/heads/{task.place.branch}")
    again = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert again == first
    assert list(work.kept()) == ["a-attempt1"]
    assert work.git("rev-parse", "HEAD", folder=again.folder) == newest


async def test_a_rebuild_that_was_killed_once_the_work_was_kept_keeps_it_once(work):
    task, newest = await on_newer_work(work)
    folder = task_folder(task)
    write(folder, {"half.py": "def half("})
    first = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    work.git(
        "update-ref", f"refs/heads/{task.place.branch}", task.claim.commit
    )  # as far as the first one came
    work.git("reset", "--hard", "--quiet", folder=folder)
    write(folder, {"half.py": "def half("})
    again = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert again == first
    assert list(work.kept()) == ["a-attempt1"]


async def test_work_of_a_task_that_is_rebuilt_twice_is_kept_under_two_refs(work):
    task, newest = await on_newer_work(work)
    refs = []
    for text in ("one\n", "two\n"):
        write(task_folder(task), {"half.py": text})
        place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
        refs.append(place.rescued.ref)
    assert refs == [f"{KEPT}a-attempt1", f"{KEPT}a-attempt1-2"]
    assert [work.git("show", f"{ref}:half.py") for ref in refs] == ["one", "two"]


async def test_refs_of_the_eleventh_attempt_are_not_those_of_the_first(work):
    task, newest = await on_newer_work(work)
    for attempt in (11, 1):
        task.attempt = attempt
        write(task_folder(task), {"half.py": f"{attempt}\n"})
        place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
        assert place.rescued.ref == f"{KEPT}a-attempt{attempt}"


async def test_a_merged_task_that_is_reopened_keeps_nothing_since_nothing_is_lost(work):
    task = await committed(work)
    await work.merge(task)
    head = await work.merge(await committed(work, "b", **{"b.py": "y = 1\n"}))
    place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=head, start=head)
    assert place.rescued is None
    assert set(work.files(place.folder)) == {"README.md", "a.py", "b.py"}


async def test_commits_that_an_agent_made_elsewhere_are_kept_beside_those_of_its_branch(work):
    task, newest = await on_newer_work(work)
    folder = task_folder(task)
    work.git("checkout", "--quiet", "--detach", "HEAD~1", folder=folder)
    work.git(
        "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--allow-empty", "-qm", "x", folder=folder
    )
    elsewhere = work.git("rev-parse", "HEAD", folder=folder)
    place = await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert work.git("log", "-1", "--format=%P", place.rescued.ref).split() == [elsewhere, task.claim.commit]
    assert work.git("branch", "--show-current", folder=folder) == task.place.branch


async def test_a_branch_of_the_users_that_an_agent_switched_to_is_not_moved(work):
    work.git("branch", "mine")
    task, newest = await on_newer_work(work)
    folder = task_folder(task)
    work.git("switch", "--quiet", "mine", folder=folder)
    before = work.git("rev-parse", "mine")
    await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert work.git("rev-parse", "mine") == before
    assert work.git("rev-parse", "HEAD", folder=folder) == newest


# --- shown as committed -----------------------------------------------------------------------------------


async def test_a_commit_is_shown_where_it_was_made(work):
    task = await committed(work)
    assert await work.places.show_commit(task) == task_folder(task)
    assert work.kept() == {}


async def test_edits_after_the_commit_are_kept_and_not_shown(work):
    task = await committed(work)
    folder = task_folder(task)
    write(folder, {"a.py": "x = 2\n", "more.py": "y = 1\n", "__pycache__/a.pyc": "junk"})
    assert await work.places.show_commit(task) == folder
    assert work.files(folder) == {
        "README.md": "# A project\n",
        "a.py": "x = 1\n",
        "__pycache__/a.pyc": "junk",
    }
    ref = f"{KEPT}a-attempt1"
    assert [work.git("show", f"{ref}:{name}") for name in ("a.py", "more.py")] == ["x = 2", "y = 1"]
    await work.places.show_commit(task)
    assert list(work.kept()) == ["a-attempt1"]


@pytest.mark.parametrize("how", ["detached", "on another commit", "reset", "committed further", "gone"])
async def test_a_worktree_that_is_somewhere_else_is_put_on_the_commit(work, how):
    task = await committed(work)
    folder = task_folder(task)
    identity = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    commands = {
        "detached": [["checkout", "--quiet", "--detach"]],
        "on another commit": [["checkout", "--quiet", "--detach", "HEAD~1"]],
        "reset": [["reset", "--quiet", "--hard", "HEAD~1"]],
        "committed further": [[*identity, "commit", "--quiet", "--allow-empty", "-m", "more"]],
        "gone": [],
    }[how]
    for command in commands:
        work.git(*command, folder=folder)
    tip = work.git("rev-parse", "HEAD", folder=folder)
    if how == "gone":
        shutil.rmtree(folder)
    assert await work.places.show_commit(task) == folder
    assert work.git("rev-parse", "HEAD", folder=folder) == task.claim.commit
    assert work.files(folder) == {"README.md": "# A project\n", "a.py": "x = 1\n"}
    assert work.kept() == ({"a-attempt1": tip} if how == "committed further" else {})


async def test_ignored_files_stay_in_a_worktree_that_is_put_on_its_commit(work):
    task = await committed(work, **{".gitignore": "*.env\n", "a.py": "x = 1\n"})
    folder = task_folder(task)
    write(folder, {"local.env": "KEY=1\n", "a.py": "x = 2\n"})
    await work.places.show_commit(task)
    assert (folder / "local.env").read_text() == "KEY=1\n"


async def test_what_cannot_be_put_on_the_commit_is_an_error_that_says_what_is_there(work, shell):
    task = await committed(work)
    inner = task_folder(task) / "inner"
    shell(task_folder(task), "git", "init", "--quiet", str(inner))
    identity = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    work.git(*identity, "commit", "--quiet", "--allow-empty", "-m", "Inside", folder=inner)
    with pytest.raises(
        GitError, match=rf"should show commit {task.claim.commit[:12]} .* differs in inner: look into"
    ):
        await work.places.show_commit(task)
    assert (inner / ".git").exists()


async def test_a_repository_that_verification_left_goes_when_the_work_is_committed(work, shell):
    task, folder = await work.begun()
    write(folder, {"a.py": "x = 1\n"})
    task.claim.committed_tree = await work.places.snapshot(folder)
    shell(folder, "git", "init", "--quiet", "made by the tests")
    task.claim.commit = await work.places.commit(task, task.claim.committed_tree, "Work")
    assert await work.places.show_commit(task) == folder
    assert not (folder / "made by the tests").exists()


async def test_a_lock_that_a_killed_git_left_in_a_tasks_worktree_does_not_stand_in_the_way(work):
    task = await committed(work)
    write(task_folder(task), {"a.py": "x = 2\n"})
    for name in ("index.lock", "HEAD.lock"):
        (work.project / ".git" / "worktrees" / "a" / name).touch()
    await work.places.show_commit(task)
    newest = work.view.whole.commit
    (work.project / ".git" / "worktrees" / "a" / "index.lock").touch()
    await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)


async def test_a_lock_in_the_users_checkout_is_left_alone(work):
    lock = work.project / ".git" / "index.lock"
    lock.touch()
    task, newest = await on_newer_work(work)
    await work.places.rebuild(work.view.tasks, work.view.whole, task, base=newest, start=newest)
    assert lock.exists()


# --- the end ----------------------------------------------------------------------------------------------


async def test_what_merged_tasks_left_is_cleared_and_what_others_left_stays(work):
    for id_ in ("a", "a-attempt1", "b"):
        task, folder = await work.begun(id_)
        write(folder, {f"{id_}.py": "half\n"})
        await work.places.rebuild(
            work.view.tasks, work.view.whole, task, base=work.view.whole.commit, start=work.view.whole.commit
        )
        commit = work.git("rev-parse", f"{KEPT}{id_}-attempt1")
        work.git("update-ref", f"{KEPT}{id_}-conflict-2", commit)
    await work.merge(await work.commit(work.view.tasks["a"], {"a.py": "x = 1\n"}))
    work.view.tasks["a"].stage = Stage.MERGED
    work.git("update-ref", f"{KEPT}other", work.view.whole.commit)
    await work.places.clear(work.view.tasks, work.view.whole, is_home=False)
    assert sorted(work.kept()) == [
        "a-attempt1-attempt1",
        "a-attempt1-conflict-2",
        "b-attempt1",
        "b-conflict-2",
        "other",
    ]
    assert not (work.integration.parent / "a").exists()
    assert not work.integration.exists()
    assert (work.integration.parent / "b").exists()
    assert f"refs/heads/{task_branch(RUN, 'a')}" not in work.refs()
    assert f"refs/heads/{run_branch(RUN)}" in work.refs()


async def test_a_merge_half_done_is_not_cleared_away_nor_disturbed(work):
    task = await work.sides({"f": b"\0base"}, {"f": b"\0ours"}, {"f": b"\0theirs"})
    state = await work.places.begin_merge(task, work.view.whole.commit)
    write(work.integration, {"g": "half\n"})
    await work.places.clear(work.view.tasks, work.view.whole, is_home=False)
    assert await work.places.merge_state(task, work.view.whole.commit) == state
    assert (work.integration / "g").exists()


async def test_uncommitted_work_of_a_merged_task_keeps_its_worktree(work):
    task = await committed(work)
    await work.merge(task)
    task.stage = Stage.MERGED
    write(task_folder(task), {"more.py": "y = 1\n"})
    await work.places.clear(work.view.tasks, work.view.whole, is_home=False)
    assert (task_folder(task) / "more.py").exists()
    assert f"refs/heads/{task.place.branch}" in work.refs()
