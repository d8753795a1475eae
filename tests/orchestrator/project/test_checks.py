"""Checks that are no tests: their complaints in the outputs of many tools, and those that a project configures."""

import json
from pathlib import Path

import pytest
from language.tables import table

from orchestrator.checks.results.verdict import new_complaints
from orchestrator.project.checks import complaints_in, is_check
from orchestrator.project.configured_checks import configured_checks, may_be_run
from orchestrator.project.runners.suite import suite_of
from state.records.commands import Complaint

FILES = table(__file__, "files")
OUTPUTS = table(__file__, "outputs")


@pytest.mark.parametrize("tool", OUTPUTS)
def test_the_complaints_of_a_tool_are_read(tmp_path: Path, tool: str) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\ntwo\n")
    output, wanted = OUTPUTS[tool]
    output = output.replace("{folder}", str(tmp_path))
    found = complaints_in(output, tmp_path, [tmp_path / "web"], lists=tool == "gofmt")
    assert [one.words for one in found] == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    "output", ["[" * 100_000, '{"a":' * 50_000, "x" * 3_000 + ":1: no", "a.py:9999999: no\n" * 9]
)
def test_an_odd_output_has_no_complaints_or_few(tmp_path: Path, output: str) -> None:
    (tmp_path / "a.py").write_text("one\n")
    assert len(complaints_in(output, tmp_path)) <= 1


def said(file: str, line: int, message: str, digest: str = "") -> Complaint:
    return Complaint(file=file, line=line, message=message, digest=digest)


BEFORE = [
    said("a.py", 3, "line 81 is too long", "x"),
    said("a.py", 9, "unused"),
    said("b.py", 1, "unused", "y"),
]


@pytest.mark.parametrize(
    ("now", "new"),
    [
        ([said("a.py", 30, "line 99 is too long", "z"), said("a.py", 2, "unused")], []),
        ([said("a.py", 9, "unused"), said("a.py", 12, "unused")], [12]),
        ([said("a.py", 3, "line 81 is too long", "n"), said("a.py", 5, "line 82 is too long", "x")], [3]),
        ([said("moved.py", 1, "unused", "y")], []),
        ([said("moved.py", 1, "unused", "y"), said("b.py", 1, "unused", "y")], [1]),
        ([said("new.py", 1, "unused", "n")], [1]),
    ],
    ids=["on other lines", "one more", "the new one is named", "moved", "copied", "in a new file"],
)  # fmt: skip
def test_a_complaint_is_old_by_its_file_and_words_or_if_it_moved_with_its_line(
    now: list[Complaint], new: list[int]
) -> None:
    assert [one.line for one in new_complaints(BEFORE, now)] == new


PROJECTS: dict[str, tuple[dict[str, str], list[str], list[str]]] = table(__file__, "projects")


@pytest.mark.parametrize("kind", PROJECTS)
def test_a_project_configures_checks(tmp_path: Path, kind: str) -> None:
    files, commands, left_out = PROJECTS[kind]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = configured_checks(tmp_path)
    assert list(found.commands) == commands
    assert list(found.left_out) == left_out


WORKFLOW = "on: [push]\njobs:\n  all:\n    runs-on: ubuntu-latest\n    steps:\n      - run: {line}\n"


@pytest.mark.parametrize(
    ("line", "script", "taken"),
    [
        ("npm run build", "node build.js", True),
        ("npm run build", "node build.js && npm publish", False),
        ("npm run serve", "node build.js", False),
        ("echo built", "node build.js", False),
    ],
)
def test_a_build_that_a_workflow_runs_is_a_check_whatever_builds(
    tmp_path: Path, line: str, script: str, taken: bool
) -> None:
    scripts = {"build": script, "serve": script, "test": "node --test"}
    (tmp_path / "package.json").write_text(json.dumps({"name": "a", "scripts": scripts}))
    workflow = tmp_path / ".github" / "workflows" / "ci.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(WORKFLOW.format(line=line))
    assert configured_checks(tmp_path).commands == ({line: ".github/workflows/ci.yml"} if taken else {})
    assert is_check(suite_of("npm run build", tmp_path))


def test_what_runs_anyway_is_not_checked_again(tmp_path: Path) -> None:
    files = {"Makefile": "check:\n\truff check .\n\tpytest\n", "ruff.toml": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert configured_checks(tmp_path, ["make check"]).commands == {}


@pytest.mark.parametrize(("runs", "apart"), [("vitest run --typecheck", False), ("vitest run", True)])
def test_what_a_command_of_tests_checks_by_an_option_is_not_checked_again(
    tmp_path: Path, runs: str, apart: bool
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": runs}}))
    (tmp_path / "tsconfig.json").write_text("{}")
    found = configured_checks(tmp_path, ["npm test"]).commands
    assert any("tsc" in command for command in found) is apart
    assert not may_be_run(suite_of("ruff check --fix .", tmp_path))
    assert not may_be_run(suite_of("ruff check . && curl x", tmp_path))
