"""The table: every row can be used, and one that cannot says where."""

import re

import pytest

from benchmarks.skeletons import all_skeletons
from orchestrator.project.detection.detect import detect
from orchestrator.project.runners.row import ReportKind
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.runners.table import RowError, row_of, usual_table

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
    assert set(WANTED) <= set(usual_table().runners)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"called": [{"programs": "pytest"}]}, "row x: .*called.*programs"),
        ({"called": [], "setup": 5}, "row x: .*setup"),
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
    "row", [row for row in usual_table().runners.values() if not row.carrier], ids=lambda row: row.name
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
    table = usual_table()
    everywhere = {
        program
        for row in table.runners.values()
        for call in row.called
        if not call.subcommands
        for program in call.programs
    }
    none = {**table.programs.linters, **table.programs.others}
    assert not {name for name, subcommands in none.items() if not subcommands} & everywhere - {
        "yarn",
        "cmake",
    }
    assert not {*table.programs.runners} & everywhere


@pytest.mark.parametrize("name", sorted(all_skeletons()))
def test_the_files_of_a_project_show_its_command(name, tmp_path):
    known = all_skeletons()[name](tmp_path)
    found = [suite_of(one.command, tmp_path) for one in detect(tmp_path)]
    assert suite_of(known.command, tmp_path).runners in [suite.runners for suite in found]
    for suite in found:
        assert suite.runs_tests is not None, suite.command


def test_the_commands_of_a_row_are_known_to_the_table(tmp_path):
    words = {"{run}": "./gradlew", "{unittest}": "python3 -m unittest"}
    for row in usual_table().runners.values():
        for found in row.found:
            command = re.sub(r"\{run\}|\{unittest\}", lambda used: words[used[0]], found.command)
            runs = suite_of(command, tmp_path).runs
            assert any(run.runner is not None or run.through for run in runs), found.command
