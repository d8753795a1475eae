"""The state folder: each run has a folder of its own, and is found by what people type."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from state.errors import UsageError
from state.paths import StateFolder, worktree_root

MAKER = Path(__file__).with_name("run_maker.py")


@pytest.fixture
def state(tmp_path):
    return StateFolder(tmp_path / "project" / ".sq")


def known(state, *run_ids):
    """Runs of these ids, each with a journal."""
    for run_id in run_ids:
        (state.runs / run_id).mkdir(parents=True)
        (state.runs / run_id / "journal.db").touch()
    return state


def test_a_new_run_has_a_folder_that_only_its_owner_can_read(state):
    run_id, folder = state.new_run()
    assert folder == state.runs / run_id
    modes = {path.stat().st_mode & 0o777 for path in (folder, state.runs, state.root)}
    assert modes == {0o700}


def test_a_state_folder_that_is_there_already_keeps_its_mode(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    StateFolder(shared).new_run()
    assert shared.stat().st_mode & 0o777 == 0o755


def test_runs_made_at_once_by_many_processes_never_share_a_folder(state):
    command = [sys.executable, str(MAKER), str(state.root), "40"]
    makers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    made = [run_id for maker in makers for run_id in maker.communicate(timeout=30)[0].split()]
    assert [maker.returncode for maker in makers] == [0, 0, 0, 0]
    assert len(set(made)) == 160
    assert {path.name for path in state.runs.iterdir()} == set(made)


def test_a_run_without_a_journal_is_not_listed(state):
    state.new_run()
    assert known(state, "20260101-000000-aaaa").run_ids() == ["20260101-000000-aaaa"]


def test_runs_are_listed_oldest_first_and_none_where_there_is_no_folder(state):
    assert state.run_ids() == []
    known(state, "20260202-000000-aaaa", "20260101-000000-zzzz")
    assert state.run_ids() == ["20260101-000000-zzzz", "20260202-000000-aaaa"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (None, "20260303-000000-cccc"),
        ("20260101-000000-aaaa", "20260101-000000-aaaa"),
        ("20260101", "20260101-000000-aaaa"),
        ("bbbb", "20260202-000000-bbbb"),
    ],
)
def test_a_run_is_found_by_its_id_its_beginning_its_end_or_as_the_newest(state, name, found):
    known(state, "20260101-000000-aaaa", "20260303-000000-cccc", "20260202-000000-bbbb")
    assert state.find(name) == state.runs / found


def test_a_whole_id_is_never_ambiguous(state):
    known(state, "20260101-000000-aaaa", "20260101-000000-aaaab")
    assert state.find("20260101-000000-aaaa").name == "20260101-000000-aaaa"


def test_a_name_that_fits_several_runs_is_a_usage_error_that_lists_those(state):
    known(state, "20260101-000000-aaaa", "20260101-111111-bbbb", "20260202-000000-cccc")
    with pytest.raises(UsageError, match=r"several.*20260101-000000-aaaa, 20260101-111111-bbbb$"):
        state.find("20260101")


@pytest.mark.parametrize("name", ["nothing", "../../etc", "/"])
def test_a_name_that_fits_no_run_is_a_usage_error_that_lists_what_there_is(state, name):
    known(state, "20260101-000000-aaaa")
    with pytest.raises(UsageError, match=r"no such run.*20260101-000000-aaaa"):
        state.find(name)


def test_without_any_run_the_error_says_how_to_begin_one(state):
    with pytest.raises(UsageError, match="sq --spec"):
        state.find(None)


@pytest.mark.parametrize("blocked", ["", "runs"])
def test_a_file_in_the_way_is_a_usage_error_that_names_the_folder(tmp_path, blocked):
    root = tmp_path / "state"
    file = root / blocked
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    with pytest.raises(UsageError, match=rf"{root}.*--state-dir"):
        StateFolder(root).new_run()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_a_usage_error_that_names_it(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="--state-dir"):
        StateFolder(tmp_path / "state").new_run()


def test_worktrees_are_outside_the_checkout_apart_for_each_repository_and_run(tmp_path, home):
    one, other = tmp_path / "a" / "my project", tmp_path / "b" / "my project"
    folders = {worktree_root(repository, run_id) for repository in (one, other) for run_id in ("r-1", "r-2")}
    assert len(folders) == 4
    assert all(folder.is_relative_to(home) and " " not in folder.name for folder in folders)
    assert worktree_root(one, "r-1") == worktree_root(one, "r-1")


@pytest.mark.parametrize("name", ["..", "ünï", "---", " "])
def test_a_repositorys_odd_name_gives_a_plain_folder_name(tmp_path, home, name):
    folder = worktree_root(Path("/srv") / name / "x" if name == ".." else Path("/srv") / name, "r-1")
    assert folder.is_relative_to(home)
    assert folder.parent.parent.name == "worktrees"
