"""Whatever two sides did: sq's merge is the one that `git merge-tree` computes, and says what is unresolved."""

from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.git.command import git
from orchestrator.git.conflicts import _joined
from state.errors import GitError
from state.journal.events.tasks import ClaimView, TaskView
from state.records.plan import Task

NAMES = ("a", "b", "d/a", "d/ä b")
LINES = st.lists(st.sampled_from(["one", "two", "three", "four", "five"]), max_size=6)
CONTENT = st.one_of(LINES.map(lambda lines: "".join(f"{line}\n" for line in lines)), st.just("\0binary"))
SIDE = st.dictionaries(st.sampled_from(NAMES), CONTENT)
ACTIONS = ("leave", "write", "add")


async def commits_of(project, sides):
    """The base and the two sides as commits, in one go."""
    told = []
    for number, files in enumerate(sides, 1):
        told += [
            f"commit refs/tests/{number}",
            f"mark :{number}",
            "committer x <x@localhost> 0 +0000",
            "data 0",
        ]
        told += ["from :1"] if number > 1 else []
        told += ["deleteall"]
        for name, content in files.items():
            told += [f'M 100644 inline "{name}"', f"data {len(content.encode())}", content]
        told += [""]
    await git(project, "fast-import", "--quiet", "--force", stdin="\n".join(told))
    return [await git(project, "rev-parse", f"refs/tests/{number}") for number in (1, 2, 3)]


async def oracle(project, onto, commit):
    """The tree that git computes without any worktree; None: it has conflicts."""
    try:
        return await git(project, "merge-tree", "--write-tree", onto, commit)
    except GitError:
        return None


@pytest.mark.late
@pytest.mark.parametrize(
    "examples", [12, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_a_merge_is_what_git_computes_and_what_nobody_resolved_stays_unresolved(work, examples):
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(
        sides=st.tuples(SIDE, SIDE, SIDE), actions=st.lists(st.sampled_from(ACTIONS), min_size=8, max_size=8)
    )
    def check(sides, actions):
        anyio.run(merge_and_resolve, work, sides, actions)

    before = work.users()
    check()
    assert work.users() == before


ADDED = st.lists(st.sampled_from(["@mark", "}", "", "one", "two", "three"]), min_size=1, max_size=5).map(
    lambda lines: [f"{line}\n".encode() for line in lines]
)


@given(before=ADDED, ours=ADDED, theirs=ADDED, after=ADDED)
def test_two_additions_stay_whole_whatever_lines_they_share(before, ours, theirs, after):
    signs = [sign * 43 + b"\n" for sign in (b"<", b"|", b"=", b">")]
    marked = [*before, signs[0], *ours, signs[1], signs[2], *theirs, signs[3], *after]
    united = _joined(b"".join(marked), sectioned=False)
    text = [b"".join(part) for part in (before, ours, theirs, after)]
    assert united.startswith(text[0] + text[1])
    assert united.endswith(text[2] + text[3])
    assert not united[len(text[0] + text[1]) : len(united) - len(text[2] + text[3])].strip()


async def merge_and_resolve(work, sides, actions):
    _, onto, commit = await commits_of(work.project, sides)
    task = TaskView(Task(id="b", title="Task b", description=""), claim=ClaimView(commit=commit))
    state = await work.places.begin_merge(task, onto, uniting=False)
    tree = await oracle(work.project, onto, commit)
    # git 2.39 marks the two sides of some renames in a file and counts it as merged.
    stray = set(state.marked) - set(state.unmerged)
    assert all(holds_markers(state.folder / path) for path in stray)
    if not stray:
        assert (state.under_way, state.tree, state.is_clean) == (True, tree or "", tree is not None)
    done = dict(zip(state.unmerged, actions, strict=False))
    for path, action in done.items():
        await act(state.folder, path, action)
    now = await work.places.merge_state(task, onto)
    assert set(now.unmerged) == {path for path, action in done.items() if action == "leave"}
    assert set(now.marked) == stray | {path for path in done if holds_markers(state.folder / path)}
    if now.is_clean:
        merged = await work.places.conclude_merge(task, onto, now.tree, "Merge")
        assert await git(work.project, "rev-parse", f"{merged}^{{tree}}") == now.tree
    await work.places.undo_merge(task, onto)
    assert await git(work.integration, "status", "--porcelain") == ""
    assert await git(work.integration, "rev-parse", "HEAD") == onto


async def act(folder: Path, path: str, action: str) -> None:
    match action:
        case "write":
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(f"resolved {path}\n")
        case "add":
            await git(folder, "add", "--", path)


def holds_markers(path: Path) -> bool:
    return path.exists() and ">>>>>>> " in path.read_text()
