"""The table: every row can be used, and one that cannot says where."""

import re
from pathlib import Path

import pytest
from language.tables import rows, table

import orchestrator.project
from benchmarks.repositories import all_skeletons
from orchestrator.project.detection import detect
from orchestrator.project.readiness.plan import plan_of
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.row import ReportKind
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.runners.table import ROWS, RowError, load_table, row_of, usual_table


def test_every_runner_that_sq_knows_has_a_row_and_each_row_can_be_used():
    assert set(table(__file__, "wanted")) <= set(usual_table().runners)
    assert load_table(ROWS) == usual_table()


@pytest.mark.parametrize(*rows(__file__, "unusable"))
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
    assert row.canary.forms or "canary" in told
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
    assert {*table.programs.families} <= {*table.programs.runners}
    assert {*table.programs.families.values()} <= {*table.runners}


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


SPUD = table(__file__, "spud")
SPADE = "spade:\n  ecosystem: field\n  locks: [spud.lock]\n  command: spade fetch --frozen\n  files: [spud.toml]\n"


@pytest.fixture
def with_spuds(tmp_path):
    """sq's table and a folder with one more runner, which an ecosystem of its own sets up."""
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "spud.yaml").write_text(SPUD)
    (rows / "set_up.yaml").write_text(SPADE)
    return load_table(ROWS, rows)


def test_a_runner_is_added_by_its_row_alone(with_spuds, tmp_path):
    project = tmp_path / "project"
    for name, text in {
        "spud.toml": "dig = true",
        "spud.lock": "",
        "beds/a_bed.txt": "",
        "README.md": "",
    }.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    (tmp_path / "spade").write_text("#!/bin/sh\n")
    (tmp_path / "spade").chmod(0o755)
    assert [(one.command, one.source) for one in detect(project, with_spuds)] == [
        ("spud dig", "beds/a_bed.txt")
    ]
    assert detect(project) == ()
    (step,) = plan_of(project, environ={"PATH": str(tmp_path)}, table=with_spuds).steps
    assert (step.command, step.why, step.ecosystem) == ("spade fetch --frozen", "spud.lock", "field")
    suite = suite_of("spud dig", project, with_spuds)
    assert suite.runs_tests is True
    assert suite.test_files(["beds/a_bed.txt", "README.md"]) == ["beds/a_bed.txt"]
    assert only_these(suite, ["beds/a_bed.txt"]) == "spud dig --bed beds/a_bed.txt"
    counted = count(suite, "ripe one\nrotten two\ndug 2, rotten 1\n", 1, tmp_path)
    assert {name: str(state) for name, state in counted.tests.items()} == {"one": "passed", "two": "failed"}


def test_a_project_of_an_added_runner_is_a_part_of_a_repository(with_spuds, tmp_path):
    bed = tmp_path / "project" / "garden" / "beds" / "a_bed.txt"
    bed.parent.mkdir(parents=True)
    bed.touch()
    (tmp_path / "project" / "garden" / "spud.toml").write_text("dig = true")
    assert [one.command for one in detect(tmp_path / "project", with_spuds)] == ["cd garden && spud dig"]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("a.yaml", "x: {called: [], setup: cobol}", "row x: setup: no tool sets up 'cobol'"),
        ("a.yaml", "x: {called: [], like: y}", "row x: like: there is no row 'y'"),
        ("a.yaml", "pytest: {called: []}", "row pytest: stands twice in the table"),
        ("set_up.yaml", "x: {ecosystem: field, lock: [a]}", "row x: lock: there is no such field"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(tmp_path, file, text, words):
    (tmp_path / file).write_text(text)
    with pytest.raises(RowError, match=words):
        load_table(ROWS, tmp_path)


def test_no_pattern_begins_with_blanks_of_many_lines():
    """In a text of empty lines each of them would be looked at from each of them."""
    project = Path(orchestrator.project.__file__).parent
    found = [file for file in project.rglob("*.*") if file.suffix in {".py", ".yaml"}]
    wrong = [file.name for file in found if re.search(r"\^\\s[*+]", file.read_text("utf-8"))]
    assert wrong == []
