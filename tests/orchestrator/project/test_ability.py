"""What is missing from the machine, and what a project does not hold yet, from the words of real tools."""

import pytest
from language.tables import rows

from orchestrator.project.runners.ability import broke_off, missing_program, nothing_yet
from orchestrator.project.runners.suite import suite_of
from state.records.commands import TestCount


@pytest.mark.parametrize(*rows(__file__, "missing"))
def test_only_what_the_machine_lacks_is_missing(command, output, exit_code, missing, tmp_path):
    (tmp_path / "Makefile").write_text("check:\n\truff check .\ntest:\n\tpytest\n")
    (tmp_path / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    assert missing_program(suite_of(command, tmp_path), output, exit_code) == missing


def test_a_module_of_the_project_that_cannot_be_imported_is_not_missing(tmp_path):
    (tmp_path / "pytest").mkdir()
    output = "ModuleNotFoundError: No module named 'pytest.extra'\n"
    assert missing_program(suite_of("python -m pytest", tmp_path), output, 1) == ""


@pytest.mark.parametrize(*rows(__file__, "nothing_yet"))
def test_a_tree_with_nothing_to_run_yet_is_told_from_one_that_fails(
    command, output, exit_code, count, word, tmp_path
):
    told = nothing_yet(suite_of(command, tmp_path), output, exit_code, TestCount(**count))
    assert word in told
    assert bool(told) == bool(word)


@pytest.mark.parametrize(*rows(__file__, "broke_off"))
def test_a_runner_that_stopped_before_any_test_is_told_from_one_whose_tests_fail(
    command, output, exit_code, count, why, tmp_path
):
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n")
    told = broke_off(suite_of(command, tmp_path), output, exit_code, TestCount(**count))
    assert told.startswith(why) if why else told == ""
