"""Merges in the integration worktree, with real git; what came of one is asked of git, not of the resolver."""

import os
from itertools import product
from pathlib import Path

import pytest
from language.sampled import sampled
from language.tables import table
from run_at_work import write

from orchestrator.git.workspace import run_branch
from state.errors import GitError

LINES = "".join(f"line {number}\n" for number in range(12))


def changed(number, word):
    return LINES.replace(f"line {number}\n", f"{word}\n")


CONTENT = ({"f": LINES}, {"f": changed(5, "ours")}, {"f": changed(5, "theirs")})
BINARY = ({"f": b"\0base"}, {"f": b"\0ours"}, {"f": b"\0theirs"})
CONFLICTS = {
    "content": (*CONTENT, ["f"]),
    "binary": (*BINARY, ["f"]),
    "added by both": ({}, {"f": "ours\n"}, {"f": "theirs\n"}, ["f"]),
    "modified and deleted": ({"f": LINES}, {"f": changed(5, "ours")}, {"f": None}, ["f"]),
    "deleted and modified": ({"f": LINES}, {"f": None}, {"f": changed(5, "theirs")}, ["f"]),
    "renamed twice": ({"f": LINES}, {"f": None, "g": LINES}, {"f": None, "h": LINES}, ["g", "h"]),
    "a name with odd signs": (
        {'ü "q"\n': LINES},
        {'ü "q"\n': changed(5, "ours")},
        {'ü "q"\n': changed(5, "theirs")},
        ['ü "q"\n'],
    ),
    "added by both, with other modes": (
        {},
        {"f": ("same\n", 0o755)},
        {"f": ("same\n", 0o644)},
        ["f"],
    ),
    "a link and a file": ({"f": LINES}, {"f": changed(5, "ours")}, {"f": Path("elsewhere")}, ["f", "f~HEAD"]),
    "links to elsewhere": ({"f": Path("a")}, {"f": Path("b")}, {"f": Path("c")}, ["f"]),
    "added into a renamed folder": (
        {"d/f": LINES, "d/g": LINES * 2},
        {"d/f": None, "d/g": None, "e/f": LINES, "e/g": LINES * 2},
        {"d/new": "new\n"},
        ["e/new"],
    ),
}


# --- what git can do by itself --------------------------------------------------------------------------


async def test_a_task_that_stands_on_the_merged_work_is_merged_as_it_is(work):
    task = await work.commit((await work.begun())[0], {"a.py": "x = 1\n"})
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    assert (state.is_clean, state.tree, state.folder) == (True, task.claim.committed_tree, work.integration)
    assert await work.places.merge_state(task, onto) == state
    assert await work.places.conclude_merge(task, onto, state.tree, "Merge") == task.claim.commit
    assert work.files(work.integration) == {"README.md": "# A project\n", "a.py": "x = 1\n"}


async def test_what_two_tasks_did_side_by_side_becomes_a_commit_on_both(work):
    task = await work.sides({"f": LINES}, {"f": changed(1, "ours"), "a": "a\n"}, {"f": changed(9, "theirs")})
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    assert (state.is_clean, state.unmerged, state.marked) == (True, (), ())
    both = changed(1, "ours").replace("line 9\n", "theirs\n")
    assert work.files(work.integration) == {"README.md": "# A project\n", "a": "a\n", "f": both}
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge: b\n\nand why")
    facts = work.git("log", "-1", "--format=%an <%ae> %P%n%B", commit).splitlines()
    assert facts == [f"sq <sq@localhost> {onto} {task.claim.commit}", "Merge: b", "", "and why"]
    assert work.git("rev-parse", f"{commit}^{{tree}}") == state.tree
    assert work.git("status", "--porcelain", folder=work.integration) == ""
    assert work.git("rev-parse", "HEAD", folder=work.integration) == commit
    assert work.git("rev-parse", run_branch(work.places.started.run_id)) == onto


async def test_a_merge_that_is_concluded_again_after_a_crash_gives_the_same_commit(work):
    task = await work.sides({}, {"a": "a\n"}, {"b": "b\n"})
    onto = work.view.whole.commit
    made = set()
    for _ in range(2):
        state = await work.places.begin_merge(task, onto)
        for _ in range(2):
            made.add(await work.places.conclude_merge(task, onto, state.tree, "Merge"))
    assert len(made) == 1


async def test_a_task_whose_work_is_merged_already_adds_no_commit(work):
    done = await work.commit((await work.begun("a"))[0], {"a": "a\n"})
    nothing, _ = await work.begun("b")
    await work.commit(nothing, {})
    onto = await work.merge(done)
    state = await work.places.begin_merge(nothing, onto)
    assert state.is_clean
    assert await work.places.merge_state(nothing, onto) == state
    assert await work.places.conclude_merge(nothing, onto, state.tree, "Merge") == onto


async def test_another_tree_than_that_of_a_task_that_needs_no_merge_is_refused(work):
    task = await work.commit((await work.begun())[0], {"a.py": "x = 1\n"})
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    (state.folder / "a.py").write_text("x = 2\n")
    other = await work.places.merge_state(task, onto)
    assert other.tree != state.tree
    with pytest.raises(GitError, match="needs no merge commit"):
        await work.places.conclude_merge(task, onto, other.tree, "Merge")


async def test_the_merged_work_moves_on_once_and_from_nowhere_else(work):
    task = await work.commit((await work.begun())[0], {"a.py": "x = 1\n"})
    onto, branch = work.view.whole.commit, run_branch(work.places.started.run_id)
    for _ in range(2):
        await work.places.advance(task.claim.commit, onto)
        assert work.git("rev-parse", branch) == task.claim.commit
    with pytest.raises(GitError, match="something else has moved it"):
        await work.places.advance(onto, onto[::-1])


# --- conflicts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    sampled(CONFLICTS, "content", "renamed twice", "a name with odd signs", "added into a renamed folder"),
)
async def test_a_conflict_names_its_paths_and_stays_until_somebody_resolves_it(work, kind):
    base, ours, theirs, paths = CONFLICTS[kind]
    task = await work.sides(base, ours, theirs)
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert (state.under_way, sorted(state.unmerged), state.tree) == (True, paths, "")
    for _ in range(2):
        assert await work.places.merge_state(task, work.view.whole.commit) == state


async def test_a_file_where_the_other_side_has_a_folder_is_a_conflict_of_the_file(work):
    task = await work.sides({}, {"f": "a file\n"}, {"f/g": "in a folder\n"})
    state = await work.places.begin_merge(task, work.view.whole.commit)
    (moved,) = state.unmerged
    assert moved.startswith("f~")
    (state.folder / moved).rename(state.folder / "f.txt")
    resolved = await work.places.merge_state(task, work.view.whole.commit)
    assert resolved.is_clean
    assert work.git("ls-tree", "-r", "--name-only", resolved.tree).split() == ["README.md", "f.txt", "f/g"]


async def resolved(work, sides, act):
    """What is said of a conflict after `act` did something in the integration worktree."""
    task = await work.sides(*sides)
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert state.unmerged
    act(state.folder)
    return task, await work.places.merge_state(task, work.view.whole.commit)


def writes(**files):
    return lambda folder: write(folder, files)


async def test_a_conflict_that_was_edited_away_is_resolved_and_both_sides_are_parents(work):
    task, state = await resolved(work, CONTENT, writes(f=changed(5, "both")))
    assert state.is_clean
    onto = work.view.whole.commit
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
    assert work.git("show", f"{commit}:f") == changed(5, "both").strip()
    assert work.git("log", "-1", "--format=%P", commit) == f"{onto} {task.claim.commit}"
    assert work.git("ls-files", "--unmerged", folder=work.integration) == ""


async def test_a_merge_that_was_concluded_and_not_recorded_is_still_what_it_was_resolved_to(work):
    task, state = await resolved(work, CONTENT, writes(f="both\n"))
    onto = work.view.whole.commit
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
    assert await work.places.merge_state(task, onto) == state
    assert await work.places.conclude_merge(task, onto, state.tree, "Merge") == commit
    write(work.integration, {"left by the tests.log": "noise\n"})
    assert await work.places.undo_merge(task, onto) is None
    assert not (await work.places.merge_state(task, onto)).under_way
    assert work.kept() == {}


@pytest.mark.parametrize("staged", [False, True])
async def test_markers_that_were_left_are_found_whether_staged_or_not(work, staged):
    left = changed(5, "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> theirs")

    def half(folder):
        write(folder, {"f": left})
        if staged:
            work.git("add", "f", folder=folder)

    _, state = await resolved(work, CONTENT, half)
    assert (state.marked, state.unmerged) == (("f",), () if staged else ("f",))
    assert not state.is_clean


@pytest.mark.parametrize(
    "left",
    sampled(["=======", "||||||| base", ">>>>>>> theirs", "<<<<<<< HEAD\r"], "=======", "<<<<<<< HEAD\r"),
)
async def test_a_single_marker_that_was_overlooked_is_found(work, left):
    _, state = await resolved(work, CONTENT, writes(f=changed(5, f"both\n{left}")))
    assert state.marked == ("f",)


async def test_markers_in_a_file_that_was_in_no_conflict_are_found(work):
    _, state = await resolved(work, CONTENT, writes(f="both\n", g="<<<<<<< HEAD\nx\n>>>>>>> theirs\n"))
    assert (state.marked, state.unmerged) == (("g",), ())


async def test_markers_in_a_file_that_is_encoded_otherwise_are_found(work):
    marked = "<<<<<<< HEAD\nx\n>>>>>>> theirs\n".encode("utf-16")
    _, state = await resolved(work, BINARY, writes(f=marked))
    assert state.marked == ("f",)


DOCS = "Conflicts look so:\n\n<<<<<<< HEAD\nyours\n=======\nmine\n>>>>>>> other\n"


@pytest.mark.parametrize("where", ["base", "one side", "both sides"])
async def test_a_text_about_conflict_markers_is_none(work, where):
    text = "".join(f"{number}\n" for number in range(20))
    base = {"f": text + DOCS} if where == "base" else {"f": text}
    ours = {"f": f"ours\n{base['f']}" if where != "both sides" else f"{DOCS}{text}"}
    theirs = {"f": base["f"].replace("9\n", "theirs\n", 1) + (DOCS if where != "base" else "")}
    task = await work.sides(base, ours, theirs)
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert state.is_clean


async def test_a_text_about_markers_does_not_hide_one_that_was_left(work):
    base, ours, theirs = ({"f": DOCS + text["f"]} for text in CONTENT)
    _, state = await resolved(work, (base, ours, theirs), writes(f=DOCS + changed(5, "<<<<<<< HEAD\nboth")))
    assert state.marked == ("f",)


async def test_a_heading_of_seven_signs_in_another_file_is_no_marker(work):
    _, state = await resolved(work, CONTENT, writes(f="both\n", **{"notes.rst": "Changes\n=======\n"}))
    assert state.is_clean


@pytest.mark.parametrize(
    "kind", sampled(["binary", "modified and deleted", "deleted and modified"], "modified and deleted")
)
async def test_a_conflict_without_markers_that_nobody_touched_is_not_resolved(work, kind):
    _, state = await resolved(work, CONFLICTS[kind][:3], writes(g="something else\n"))
    assert (state.unmerged, state.marked, state.is_clean) == (("f",), (), False)


@pytest.mark.parametrize(
    ("command", "kind"),
    sampled(
        product(("add", "rm"), ("binary", "modified and deleted", "deleted and modified")),
        ("add", "binary"),
        ("rm", "modified and deleted"),
    ),
)
async def test_what_is_right_as_it_stands_is_resolved_by_git_add_or_git_rm(work, kind, command):
    _, state = await resolved(work, CONFLICTS[kind][:3], lambda folder: work.git(command, "f", folder=folder))
    assert state.is_clean
    names = work.git("ls-tree", "--name-only", state.tree).split()
    assert ("f" in names) is (command == "add")


async def test_a_binary_file_that_was_replaced_or_deleted_is_resolved(work):
    _, state = await resolved(work, BINARY, writes(f=b"\0both"))
    assert state.is_clean
    (work.integration / "f").unlink()
    state = await work.places.merge_state(work.view.tasks["b"], work.view.whole.commit)
    assert state.is_clean
    assert work.git("ls-tree", "--name-only", state.tree) == "README.md"


async def test_of_two_renames_the_one_that_is_kept_has_to_be_said(work):
    sides = CONFLICTS["renamed twice"][:3]
    _, state = await resolved(work, sides, writes(h=None))
    assert state.unmerged == ("g",)
    work.git("add", "g", folder=work.integration)
    assert (await work.places.merge_state(work.view.tasks["b"], work.view.whole.commit)).is_clean


async def test_a_side_that_made_a_file_executable_and_one_that_edited_it_are_both_heard(work):
    task = await work.sides({"f": LINES}, {"f": (LINES, 0o755)}, {"f": changed(5, "theirs")})
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert state.is_clean
    assert work.git("ls-tree", state.tree, "f").startswith("100755")
    assert (state.folder / "f").read_text() == changed(5, "theirs")


# --- a resolver that does more than edit ------------------------------------------------------------------

IDENTITY = ("-c", "user.name=x", "-c", "user.email=x@localhost")
INTERFERENCES = {
    "aborts": [["merge", "--abort"]],
    "resets": [["reset", "--hard"]],
    "commits": [["add", "--all"], [*IDENTITY, "commit", "-m", "mine"]],
    "goes elsewhere": [["reset", "--hard"], ["checkout", "--detach", "HEAD~1"]],
    "forgets the merge": [["merge", "--quit"]],
    "takes a side": [["checkout", "--force", "--detach", "sq-tasks/20260101-000000-aaaa/b"]],
    "merges another": [["reset", "--hard"], ["merge", "--no-commit", "--no-ff", "main"]],
}


@pytest.mark.parametrize("what", sampled(INTERFERENCES, "commits", "forgets the merge", "merges another"))
async def test_a_resolver_that_ends_the_merge_itself_has_not_resolved_it(work, what):
    def interfere(folder):
        for command in INTERFERENCES[what]:
            work.git(*command, folder=folder)

    task, state = await resolved(work, CONTENT, interfere)
    assert (state.under_way, state.is_clean, state.tree) == (False, False, "")
    again = await work.places.begin_merge(task, work.view.whole.commit)
    assert (again.under_way, again.unmerged) == (True, ("f",))
    branches = [ref for ref in work.refs() if ref.startswith("refs/heads/")]
    assert [work.git("rev-parse", ref) for ref in branches if ref.endswith("main")] == [
        work.places.started.base_commit
    ]


async def test_a_resolver_that_switches_to_a_branch_does_not_have_it_moved(work):
    work.git("branch", "mine")
    task = await work.sides(*CONTENT)
    await work.places.begin_merge(task, work.view.whole.commit)
    work.git("reset", "--hard", folder=work.integration)
    work.git("switch", "mine", folder=work.integration)
    before = work.git("rev-parse", "mine")
    assert not (await work.places.merge_state(task, work.view.whole.commit)).under_way
    await work.places.begin_merge(task, work.view.whole.commit)
    await work.places.undo_merge(task, work.view.whole.commit)
    await work.places.show(work.view.whole.commit)
    assert work.git("rev-parse", "mine") == before


async def test_a_merge_of_something_else_is_not_the_one_that_is_asked_about(work):
    task = await work.sides(*CONTENT)
    onto = work.view.whole.commit
    await work.places.begin_merge(task, onto)
    other = await work.commit((await work.begun("c"))[0], {"c": "c\n"})
    assert not (await work.places.merge_state(other, onto)).under_way
    assert (await work.places.merge_state(task, onto)).under_way


# --- undone -----------------------------------------------------------------------------------------------


async def test_what_a_resolver_left_is_kept_when_its_merge_is_given_up(work):
    task, _ = await resolved(work, CONTENT, writes(f="half\n", g="new\n"))
    onto = work.view.whole.commit
    kept = await work.places.undo_merge(task, onto)
    assert kept
    assert (kept.task_id, list(work.kept())) == ("b", ["b-conflict"])
    assert work.git("rev-parse", kept.ref) == kept.commit
    assert work.git("log", "-1", "--format=%P", kept.ref) == f"{onto} {task.claim.commit}"
    assert [work.git("show", f"{kept.ref}:{name}") for name in ("f", "g")] == ["half", "new"]
    assert work.git("status", "--porcelain", folder=work.integration) == ""
    assert work.git("rev-parse", "HEAD", folder=work.integration) == onto
    assert await work.places.undo_merge(task, onto) == kept
    assert list(work.kept()) == ["b-conflict"]


async def test_a_merge_that_nobody_touched_leaves_nothing_behind(work):
    task, _ = await resolved(work, CONTENT, lambda _: None)
    assert await work.places.undo_merge(task, work.view.whole.commit) is None
    assert work.kept() == {}
    assert not (await work.places.merge_state(task, work.view.whole.commit)).under_way


async def test_each_resolution_that_was_given_up_has_a_ref_of_its_own(work):
    task = await work.sides(*CONTENT)
    for text in ("one\n", "two\n", "one\n"):
        await work.places.begin_merge(task, work.view.whole.commit)
        write(work.integration, {"f": text})
        kept = await work.places.undo_merge(task, work.view.whole.commit)
        assert work.git("show", f"{kept.ref}:f") == text.strip()
    assert list(work.kept()) == ["b-conflict", "b-conflict-2"]


async def test_whoever_needs_the_worktree_keeps_what_a_resolver_left_in_it(work):
    task, _ = await resolved(work, CONTENT, writes(f="half\n"))
    await work.places.show(work.view.whole.commit)
    assert work.git("show", f"{work.kept()['b-conflict']}:f") == "half"
    assert work.git("status", "--porcelain", folder=work.integration) == ""
    await work.places.begin_merge(task, work.view.whole.commit)
    write(work.integration, {"f": "other half\n"})
    await work.places.begin_merge(task, work.view.whole.commit)
    assert work.git("show", f"{work.kept()['b-conflict-2']}:f") == "other half"


async def test_a_resolution_that_the_resolver_committed_is_kept_as_well(work):
    def commit(folder):
        write(folder, {"f": "both\n"})
        for command in INTERFERENCES["commits"]:
            work.git(*command, folder=folder)

    task, _ = await resolved(work, CONTENT, commit)
    kept = await work.places.undo_merge(task, work.view.whole.commit)
    assert work.git("show", f"{kept.ref}:f") == "both"


async def test_a_repository_that_a_resolver_made_does_not_keep_its_merge_from_being_given_up(work, shell):
    task, _ = await resolved(work, CONTENT, writes(f="half\n"))
    shell(work.integration, "git", "init", "--quiet", "inner")
    with pytest.raises(GitError, match="inner"):
        await work.places.merge_state(task, work.view.whole.commit)
    kept = await work.places.undo_merge(task, work.view.whole.commit)
    assert work.git("show", f"{kept.ref}:f") == "half"
    assert set(work.files(work.integration)) == {"README.md", "f"}


# --- killed in the middle ---------------------------------------------------------------------------------


@pytest.mark.parametrize("left", ["a merge", "a merge and files", "a lock", "a repository", "no worktree"])
async def test_a_merge_is_begun_anew_whatever_a_kill_has_left_of_it(work, shell, left):
    task = await work.sides(*CONTENT)
    onto, folder = work.view.whole.commit, work.integration
    if "merge" in left:
        work.git("checkout", "--quiet", "--detach", onto, folder=folder)
        command = ["git", *IDENTITY, "merge", "--no-ff", "--no-commit", task.claim.commit]
        shell(folder, "sh", "-c", f"{' '.join(command)} || true")
        assert work.git("ls-files", "--unmerged", folder=folder)
    if "files" in left:
        write(folder, {"new": "new\n", "README.md": "half"})
    if "lock" in left:
        for name in ("index.lock", "HEAD.lock"):
            (work.project / ".git" / "worktrees" / "run" / name).touch()
    if "repository" in left:
        shell(folder, "git", "init", "--quiet", "made by the tests")
    if "no" in left:
        shell(folder.parent, "rm", "-r", str(folder))
    for _ in range(2):
        state = await work.places.begin_merge(task, onto)
        assert (state.under_way, state.unmerged) == (True, ("f",))
    write(folder, {"f": "both\n"})
    state = await work.places.merge_state(task, onto)
    assert work.git("ls-tree", "--name-only", state.tree).split() == ["README.md", "f"]


@pytest.mark.parametrize("note", [None, "", '{"task_id": "b"'])
async def test_a_merge_without_sqs_own_note_on_it_is_not_under_way(work, note):
    task = await work.sides(*BINARY)
    await work.places.begin_merge(task, work.view.whole.commit)
    write(work.project / ".git" / "worktrees" / "run", {"sq-merge.json": note})
    assert not (await work.places.merge_state(task, work.view.whole.commit)).under_way


async def test_a_merge_whose_worktree_is_gone_is_not_under_way(work, shell):
    task = await work.sides(*CONTENT)
    await work.places.begin_merge(task, work.view.whole.commit)
    shell(work.project, "rm", "-r", str(work.integration))
    assert not (await work.places.merge_state(task, work.view.whole.commit)).under_way
    assert await work.places.undo_merge(task, work.view.whole.commit) is None


# --- the user's own ---------------------------------------------------------------------------------------

SETTINGS = table(__file__, "settings")


async def test_the_users_settings_for_merges_have_no_part_in_sqs(work, tmp_path):
    base = {".gitattributes": "*.lock merge=ours\n*.gen merge=missing\n", "a.lock": LINES, "a.gen": LINES}
    base |= {"old": LINES, "bin.lock": b"\0base"}
    ours = {"a.lock": changed(1, "ours"), "a.gen": changed(1, "ours"), "old": None, "new": LINES}
    theirs = {"a.lock": changed(9, "theirs"), "a.gen": changed(9, "theirs"), "old": changed(2, "theirs")}
    task = await work.sides(base, ours | {"bin.lock": b"\0ours"}, theirs | {"bin.lock": b"\0theirs"})
    for name, value in SETTINGS.items():
        work.git("config", name, value)
    ran = tmp_path / "hooks that ran"
    for name in ("pre-merge-commit", "post-merge", "commit-msg", "post-checkout", "reference-transaction"):
        hook = work.project / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{ran}'\nexit 1\n")
        hook.chmod(0o755)
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    assert (state.under_way, state.unmerged, state.marked) == (True, ("bin.lock",), ())
    write(work.integration, {"bin.lock": b"\0both"})
    state = await work.places.merge_state(task, onto)
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
    await work.places.advance(commit, onto)
    both = changed(1, "ours").replace("line 9\n", "theirs\n").strip()
    assert [work.git("show", f"{commit}:{name}") for name in ("a.lock", "a.gen")] == [both, both]
    assert work.git("show", f"{commit}:new") == changed(2, "theirs").strip()
    assert not ran.exists()


async def test_a_merge_driver_of_the_users_works(work, tmp_path):
    driver = tmp_path / "both"
    driver.write_text('#!/bin/sh\nsort -u "$2" "$1" > "$1.new" && mv "$1.new" "$1"\n')
    driver.chmod(0o755)
    work.git("config", "merge.sorted.driver", f"{driver} %A %B")
    base = {".gitattributes": "words merge=sorted\n", "words": "m\n"}
    task = await work.sides(base, {"words": "a\nm\n"}, {"words": "b\nm\n"})
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    assert (state.unmerged, state.marked) == ((), ())
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
    assert work.git("show", f"{commit}:words") == "a\nb\nm"


async def test_a_conflict_is_shown_with_what_was_there_before(work):
    work.git("config", "merge.mine.driver", "true")
    sides = [{**side, "g": side["f"]} for side in CONTENT]
    sides[0][".gitattributes"] = "g merge=mine\n"
    task = await work.sides(*sides)
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert state.marked == ("f", "g")
    for name in state.marked:
        lines = (work.integration / name).read_text().splitlines()
        assert "line 5" in lines
        assert [line.split()[0] for line in lines if line[0] in "<|=>"] == [
            "<<<<<<<",
            "|||||||",
            "=======",
            ">>>>>>>",
        ]
        assert f">>>>>>> {task.claim.commit}" in lines


async def test_files_that_only_the_user_ignores_everywhere_do_not_stay_between_merges(work, home):
    ignore = home / ".config" / "git" / "ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("*.log\n")
    task = await work.sides({}, {"a": "a\n"}, {"b": "b\n"})
    write(work.integration, {"left by the tests.log": "noise\n", "__pycache__/x.pyc": "junk"})
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert work.git("ls-tree", "--name-only", state.tree).split() == ["README.md", "a", "b"]
    assert (work.integration / "__pycache__" / "x.pyc").exists()


async def test_junk_that_a_task_commits_does_not_stand_in_the_way(work):
    task = await work.sides({}, {"a": "a\n"}, {"b": "b\n"})
    work.git("worktree", "list")
    folder = await work.places.ensure(task, task.claim.commit)
    write(folder, {".coverage": "theirs\n"})
    work.git("add", "--force", ".coverage", folder=folder)
    work.git("commit", "--quiet", "-m", "Junk", folder=folder)
    task.claim.commit = work.git("rev-parse", "HEAD", folder=folder)
    write(work.integration, {".coverage": "left by the tests\n"})
    assert (await work.places.begin_merge(task, work.view.whole.commit)).is_clean
    assert (work.integration / ".coverage").read_text() == "theirs\n"


async def test_many_merges_leave_the_users_checkout_as_it_is_to_the_byte(work):
    write(work.project, {"README.md": "# Mine\n", "staged": "staged\n", "new/untracked": "mine\n"})
    work.git("add", "staged")
    work.git("status")  # git notes what it saw
    before = work.users()
    tasks = []
    for number in range(5):
        task, _ = await work.begun(f"t{number}")
        tasks.append(await work.commit(task, {f"f{number}": "x\n", "both": f"{number // 2}\n"}))
    for task in tasks:
        onto = work.view.whole.commit
        state = await work.places.begin_merge(task, onto)
        if not state.is_clean:
            write(work.integration, {"both": "both\n"})
            await work.places.undo_merge(task, onto)
            await work.places.begin_merge(task, onto)
            write(work.integration, {"both": "both\n"})
            state = await work.places.merge_state(task, onto)
        commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
        await work.places.advance(commit, onto)
        work.view.whole.commit = commit
        assert work.users() == before
    assert set(work.files(work.integration)) == {"README.md", "both", *(f"f{number}" for number in range(5))}


async def test_merging_is_not_led_astray_by_where_sq_was_started(work, monkeypatch):
    task = await work.sides({}, {"a": "a\n"}, {"b": "b\n"})
    monkeypatch.setenv("GIT_INDEX_FILE", os.devnull)
    monkeypatch.setenv("GIT_MERGE_AUTOEDIT", "yes")
    monkeypatch.setenv("GIT_EDITOR", "false")
    assert (await work.places.begin_merge(task, work.view.whole.commit)).is_clean


# --- two additions at one place --------------------------------------------------------------------------

FIRST = "def test_first():\n    assert True\n"
TESTS = f"import a\n\n\n{FIRST}"


def added(name, body="assert 1"):
    return f"\n\ndef test_{name}():\n    {body}\n"


UNITED = table(__file__, "united")


@pytest.mark.parametrize(
    ("name", "kind"),
    sampled(
        product(("tests/test_x.py", "a folder/t 1.py"), UNITED),
        ("a folder/t 1.py", "two places"),
        *(("tests/test_x.py", kind) for kind in UNITED if kind != "two places"),
    ),
)
async def test_two_additions_at_one_place_are_both_kept(work, kind, name):
    base, ours, theirs, both = (text.encode() for text in UNITED[kind])
    task = await work.sides({name: base}, {name: ours}, {name: theirs})
    onto = work.view.whole.commit
    state = await work.places.begin_merge(task, onto)
    assert (state.is_clean, state.united, state.unmerged) == (True, (name,), ())
    assert (state.folder / name).read_bytes() == both
    assert await work.places.merge_state(task, onto) == state
    assert not list(state.folder.glob(".merge_file_*"))
    commit = await work.places.conclude_merge(task, onto, state.tree, "Merge")
    assert work.git("rev-parse", f"{commit}^{{tree}}") == state.tree


NOT_UNITED = table(__file__, "not_united")


@pytest.mark.parametrize(
    "kind",
    sampled(NOT_UNITED, "a line that both changed", "the same name twice", "json", "both new"),
)
async def test_what_is_more_than_two_additions_stays_a_conflict(work, kind):
    name, base, ours, theirs = NOT_UNITED[kind]
    task = await work.sides({name: base} if base else {}, {name: ours}, {name: theirs})
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert (state.unmerged, state.united, state.is_clean) == ((name,), (), False)
    assert "<<<<<<<" in (state.folder / name).read_text()


async def test_additions_that_do_not_hold_together_are_a_conflict_when_the_merge_is_begun_again(work):
    task = await work.sides({"f.py": TESTS}, {"f.py": TESTS + added("a")}, {"f.py": TESTS + added("b")})
    onto = work.view.whole.commit
    assert (await work.places.begin_merge(task, onto)).united == ("f.py",)
    state = await work.places.begin_merge(task, onto, uniting=False)
    assert (state.unmerged, state.united) == (("f.py",), ())


async def test_a_file_with_two_additions_is_merged_beside_one_that_is_left_to_the_resolver(work):
    task = await work.sides(
        {"t.py": TESTS, "f": LINES},
        {"t.py": TESTS + added("a"), "f": changed(5, "ours")},
        {"t.py": TESTS + added("b"), "f": changed(5, "theirs")},
    )
    state = await work.places.begin_merge(task, work.view.whole.commit)
    assert (state.unmerged, state.united) == (("f",), ("t.py",))
    (state.folder / "f").write_text(changed(5, "both"))
    resolved = await work.places.merge_state(task, work.view.whole.commit)
    assert resolved.is_clean
    assert resolved.united == ("t.py",)
    assert (resolved.folder / "t.py").read_text() == TESTS + added("a") + added("b")
