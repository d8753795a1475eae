"""Work in the checkout itself, one task at a time: looked at and kept, never merged, moved or put back there."""

import pytest
from language.beginnings import run_started
from run_at_work import RUN, write

from orchestrator.run.places.checkout import Checkout
from state.errors import GitError
from state.journal.events.tasks import TaskView, WholeView
from state.journal.view import RunView
from state.records.plan import Task


@pytest.fixture
async def place(project, tmp_path, shell):
    """A checkout in which a task was built and committed, and that task."""
    head = shell(project, "git", "rev-parse", "HEAD")
    started = run_started(RUN, repository=str(project), worktrees="", base_commit=head)
    checkout = Checkout(started=started, run_folder=tmp_path)
    view, task = (
        RunView(whole=WholeView(commit=started.base_commit)),
        TaskView(Task(id="a", title="A", description="")),
    )
    begun = await checkout.begin(view.tasks, view.whole, task)
    task.place.branch, task.place.worktree, task.place.base_commit = (
        begun.branch,
        str(begun.folder),
        begun.base_commit,
    )
    write(project, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    task.claim.committed_tree = await checkout.snapshot(project)
    task.claim.commit = await checkout.commit(task, task.claim.committed_tree, "Work")
    return checkout, view, task


async def test_a_commit_is_shown_where_it_was_made_also_with_what_verification_left_beside_it(place, project):
    checkout, _, task = place
    assert await checkout.show_commit(task) == project
    write(project, {"left by the tests.log": "noise\n"})
    assert await checkout.show_commit(task) == project


@pytest.mark.parametrize("content", ["x = 2\n", None])
async def test_a_checkout_that_somebody_changed_under_review_is_an_error_and_is_left_as_it_is(
    place, project, content
):
    checkout, _, task = place
    write(project, {"a.py": content})
    with pytest.raises(GitError, match=r"no longer holds the work under review: a\.py changed .* leave the"):
        await checkout.show_commit(task)
    assert (project / "a.py").exists() is (content is not None)
    if content:
        assert (project / "a.py").read_text() == content


async def test_a_task_is_merged_by_being_there(place, project, shell):
    checkout, view, task = place
    before = [shell(project, "git", *words) for words in (["status", "--porcelain"], ["for-each-ref"])]
    onto = view.whole.commit
    state = await checkout.begin_merge(task, onto)
    assert (state.is_clean, state.tree, state.folder) == (True, task.claim.committed_tree, project)
    assert await checkout.merge_state(task, onto) == state
    assert await checkout.conclude_merge(task, onto, state.tree, "Merge") == task.claim.commit
    await checkout.advance(task.claim.commit, onto)
    assert await checkout.undo_merge(task, onto) is None
    after = [shell(project, "git", *words) for words in (["status", "--porcelain"], ["for-each-ref"])]
    assert after == before


async def test_a_task_is_rebuilt_on_what_the_checkout_holds(place, project):
    checkout, view, task = place
    view.whole.commit = task.claim.commit
    place_again = await checkout.rebuild(
        view.tasks, view.whole, task, base=task.claim.commit, start=task.claim.commit
    )
    assert (place_again.folder, place_again.rescued) == (project, None)
    assert (project / "a.py").exists()
