"""Commands of a person: those that replace what the repository shows, those beside it, and files that are not there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import Rehearse, whole_run

from orchestrator.checks.results.vouching import shown_commands
from orchestrator.project.runners.suite import suite_of
from state.journal import events as e

Shell = Callable[..., str]
TEST = "import unittest\n\n\nclass OneTest(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n"


@pytest.fixture
def tested(repository: Path, shell: Shell) -> Path:
    (repository / "test_one.py").write_text(TEST)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "A test")
    return repository


def baseline(rehearse: Rehearse, **asked: object) -> e.BaselineTaken:
    done = rehearse(whole_run(), ends=None, dry_run=True, **asked)
    return done.of(e.BaselineTaken)[0]


def test_given_commands_replace_the_tests_that_the_repository_shows_and_it_says_so(
    rehearse: Rehearse, tested: Path
) -> None:
    taken = baseline(rehearse, verify=("true",))
    assert [check.run.command for check in taken.checks] == ["true"]
    assert (
        "`python3 -m unittest` (test_one.py) is left out: --verify names the tests that sq runs"
        in taken.notes
    )
    again = baseline(rehearse, verify=("python3 -m unittest",))
    assert not any("left out" in note for note in again.notes)


def test_verify_also_adds_a_command_to_what_the_repository_shows(rehearse: Rehearse, tested: Path) -> None:
    taken = baseline(rehearse, settings={"verify.also": ("test -e test_one.py",)})
    assert [check.run.command for check in taken.checks] == ["python3 -m unittest", "test -e test_one.py"]
    both = baseline(rehearse, verify=("true",), settings={"verify.also": ("test -e test_one.py",)})
    assert [check.run.command for check in both.checks] == ["true", "test -e test_one.py"]


def test_a_file_of_a_given_command_that_is_not_there_is_named(rehearse: Rehearse, tested: Path) -> None:
    taken = baseline(rehearse, verify=("python3 tools/run_tests.py --all",))
    (note,) = [note for note in taken.notes if "run_tests" in note and "left out" not in note]
    assert "file not found: tools/run_tests.py" in note


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("justfile", "test: before\n    python3 -m unittest\nbefore:\n    test -e test_one.py\n"),
        (
            "mise.toml",
            '[tasks.before]\nrun = "test -e test_one.py"\n[tasks.test]\ndepends = ["before"]\nrun = "python3 -m unittest"\n',
        ),
    ],
)
def test_the_lines_of_a_recipe_stand_for_a_program_that_is_not_on_this_machine(
    rehearse: Rehearse, tested: Path, shell: Shell, name: str, text: str
) -> None:
    (tested / name).write_text(text)
    shell(tested, "git", "add", "--all")
    shell(tested, "git", "commit", "--quiet", "-m", "Recipes")
    (check,) = baseline(rehearse).checks
    assert check.run.command == "test -e test_one.py && python3 -m unittest"
    assert check.run.count.passed == 1
    assert check.canary is not None and check.canary.caught  # noqa: PT018


def test_lines_of_a_recipe_that_only_install_are_left_to_the_set_up(tmp_path: Path) -> None:
    (tmp_path / "Justfile").write_text(
        "init:\n    uv sync --group dev\n    python -m pip install x\n\n@test *options: init\n  uv run pytest -n auto {{options}}\n"
    )
    (tmp_path / "test_one.py").write_text("def test_it():\n    pass\n")
    assert list(shown_commands(tmp_path)[0]) == ["uv run pytest -n auto"]


def test_below_a_script_the_tasks_of_a_missing_program_stand_for_it(tmp_path: Path) -> None:
    files = {
        "turbo.json": '{"tasks": {"test": {"dependsOn": ["^build"]}, "build": {}}}',
        "package.json": '{"workspaces": ["packages/*"], "scripts": {"test": "turbo run test"}}',
        "packages/a/package.json": '{"name": "a", "scripts": {"test": "node --test", "build": "node build.js"}}',
        "packages/b/package.json": '{"name": "b", "scripts": {"test": "node --test"}}',
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (command,) = shown_commands(tmp_path)[0]
    parts = ("packages/a run build", "packages/a run test", "packages/b run test")
    assert command == " && ".join(f"npm --prefix={one}" for one in parts)
    assert len(suite_of(command, tmp_path).test_runs) == 2
    (tmp_path / "node_modules" / ".bin").mkdir(parents=True)
    (tmp_path / "node_modules" / ".bin" / "turbo").write_text("")
    assert list(shown_commands(tmp_path)[0]) == ["npm test"]
