"""`sq report`: which run, which format, where it is written, and what it answers to mistakes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from language.acting_runs import hostile_run
from language.large_runs import twelve_tasks, write

from orchestrator.cli.main import cli
from state.errors import UsageError
from state.paths import StateFolder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with one run of twelve tasks, whose commits exist."""
    events = twelve_tasks(tmp_path / "shop", ended=True)
    return written(tmp_path / "state", events)


def written(root: Path, events: object) -> Path:
    _, folder = StateFolder(root).new_run()
    write(folder, events)
    return root


def report(state: Path, *arguments: str) -> Result:
    done = CliRunner().invoke(
        cli, ["report", "--state-dir", str(state), *arguments], standalone_mode=False, catch_exceptions=False
    )
    assert not done.stderr
    return done


def newest(state: Path) -> Path:
    return StateFolder(state).find(None)


def test_without_more_it_writes_a_page_into_the_folder_of_the_newest_run_and_names_it(state: Path) -> None:
    file = newest(state) / "report.html"
    assert report(state).output == f"report: {file}\n"
    assert "Failed" in file.read_text("utf-8")
    assert "counter_1" in file.read_text("utf-8")


@pytest.mark.parametrize("form", ["md", "pr", "summary", "junit", "sarif", "intoto", "json"])
def test_other_formats_go_to_stdout_or_to_a_file(state: Path, tmp_path: Path, form: str) -> None:
    printed = report(state, "--format", form).output
    file = tmp_path / "out"
    assert report(state, "--format", form, "-o", str(file)).output == f"report: {file}\n"
    assert file.read_text("utf-8") == printed
    assert str(tmp_path) not in printed


def test_a_page_goes_to_stdout_too(state: Path) -> None:
    assert report(state, "-o", "-").output.startswith("<!doctype html>")


def test_paths_of_the_machine_are_shown_where_they_were_asked_for(state: Path, tmp_path: Path) -> None:
    events = hostile_run()
    here = written(tmp_path / "other", events)
    assert "/repository-worktrees" not in report(here, "-o", "-").output
    assert json.loads(report(state, "--format", "json", "--paths").output)["run_id"] == newest(state).name


def test_an_earlier_run_stands_beside_it(state: Path) -> None:
    earlier = newest(state).name
    written(state, hostile_run())
    found = json.loads(report(state, "--format", "json", "--since", earlier).output)
    assert found["compared"]["earlier"] == earlier
    assert f"Beside run {earlier}" in report(state, "--since", earlier, "-o", "-").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "no such run"),
        (["--format", "pr", "--since", "x"], "--since works with html, json, md"),
        (["-o", "/nowhere/at/all.html"], "cannot be written"),
        (["--format", "docx"], "docx"),
    ],
)
def test_a_mistake_is_named(state: Path, arguments: list[str], words: str) -> None:
    import click

    with pytest.raises((UsageError, click.ClickException)) as refused:
        report(state, *arguments)
    assert words in str(refused.value) or words in getattr(refused.value, "message", "")


def test_a_run_of_which_another_process_writes_is_under_way(tmp_path: Path) -> None:
    from state.journal.store import Journal

    root = written(tmp_path / "state", twelve_tasks())
    assert "Killed" in report(root, "--format", "md").output
    with Journal(newest(root)):
        assert "Under way" in report(root, "--format", "md").output
