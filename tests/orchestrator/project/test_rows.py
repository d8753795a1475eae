"""The table: every row can be used, and one that cannot says where."""

import re

import pytest

from benchmarks.skeletons import all_skeletons
from orchestrator.project.files import matches, walked
from orchestrator.project.runners.row import ReportKind
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.runners.table import RowError, no_tests, row_of, table

WANTED = [
    "make",
    "just",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "node",
    "deno",
    "pytest",
    "unittest",
    "tox",
    "nox",
    "hatch",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "playwright",
    "cargo",
    "nextest",
    "go",
    "gotestsum",
    "maven",
    "gradle",
    "sbt",
    "lein",
    "dotnet",
    "rspec",
    "minitest",
    "rake",
    "phpunit",
    "pest",
    "mix",
    "ctest",
    "meson",
    "swift",
    "bazel",
    "prove",
    "bats",
    "stack",
    "cabal",
    "zig",
    "flutter",
    "dart",
]


def test_every_runner_that_sq_knows_has_a_row():
    assert set(WANTED) <= set(table())


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"called": [{"programs": "pytest"}]}, "row x: .*called.*programs"),
        ({"called": [], "setup": "cobol"}, "row x: .*setup"),
        ({"called": [], "counted": 1}, "row x: counted: there is no such field"),
        (
            {"called": [], "report": {"kind": "junit", "file": "a"}},
            r"row x: report\.file: there is no such field",
        ),
        ({"called": [], "printed": {"none": ["("]}}, r"row x: printed\.none: .*is no pattern"),
        ({}, "row x: .*called"),
        (["a"], "row x: a mapping is needed"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_field(raw, words):
    with pytest.raises(RowError, match=words):
        row_of("x", raw)


@pytest.mark.parametrize(
    "row", [row for row in table().values() if not row.carrier], ids=lambda row: row.name
)
def test_a_row_without_an_ability_says_so(row):
    told = " ".join(row.unknown)
    assert row.tests, "which files hold its tests"
    assert row.deciders
    assert row.canary or "canary" in told
    assert row.select.files or "single file" in told or "files" in told
    assert (
        row.printed.numbers
        or row.printed.tests
        or row.report.kind is not ReportKind.TEXT
        or row.printed.reader != "lines"
    )


def test_programs_that_run_no_tests_are_no_runners():
    everywhere = {
        program
        for row in table().values()
        for call in row.called
        if not call.subcommands
        for program in call.programs
    }
    assert not {name for name, subcommands in no_tests().items() if not subcommands} & everywhere - {
        "yarn",
        "cmake",
    }


def shown_by(folder):
    """The commands that the rows find in a project."""
    paths = list(walked(folder))
    commands = []
    for row in table().values():
        for found in row.found:
            matching = [[path for path in paths if matches(path, [f"/{glob}"])] for glob in found.files]
            texts = [(folder / path).read_text() for group in matching for path in group]
            if all(matching) and any(re.search(found.contains, text) for text in texts):
                commands.append(found.command)
    return commands


@pytest.mark.parametrize("name", sorted(all_skeletons()))
def test_the_files_of_a_project_show_its_command(name, tmp_path):
    known = all_skeletons()[name](tmp_path)
    commands = shown_by(tmp_path)
    assert {known.command, *known.others} <= {*commands}
    for command in commands:
        assert suite_of(command, tmp_path).runs_tests is not None, command


@pytest.mark.parametrize("row", table().values(), ids=lambda row: row.name)
def test_the_commands_of_a_row_are_known_to_the_table(row, tmp_path):
    for found in row.found:
        runs = suite_of(found.command, tmp_path).runs
        assert any(run.runner is not None or run.through for run in runs), found.command
