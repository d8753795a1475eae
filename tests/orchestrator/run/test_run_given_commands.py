"""Commands of a person: those that replace what the repository shows, those beside it, and files that are not there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import Rehearse, whole_run

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
