"""Checks that are no tests: their complaints in the outputs of many tools, and those that a project configures."""

from pathlib import Path

import pytest

from orchestrator.project.checks import complaints_in, configured_checks, may_be_run
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.evidence.verdict import new_complaints
from state.records.commands import Complaint

FILES = (
    "a.py",
    "src/a.ts",
    "src/lib.rs",
    "a.go",
    "lib/a.rb",
    "src/A.php",
    "run.sh",
    "A.cs",
    "src/A.java",
    "web/b.js",
)
OUTPUTS = {
    "mypy": ("a.py:2: error: Bad type  [return-value]\na.py:2: note: See here\nFound 1 error in 1 file", "a.py:2: error: Bad type [return-value]"),
    "mypy, JSON": ('{"file": "a.py", "line": 2, "column": 1, "message": "Bad type", "hint": null, "code": "arg"}\n', "a.py:2: Bad type [arg]"),
    "flake8": ("./a.py:2:1: F401 'os' imported but unused", "a.py:2: F401 'os' imported but unused"),
    "ruff": ("F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n", "a.py:1: F401 [*] `os` imported but unused"),
    "ruff, JSON": ('[{"code": "F401", "filename": "{folder}/a.py", "fix": {"message": "Remove"}, "location": {"row": 1}, "message": "unused"}]', "a.py:1: unused [F401]"),
    "ruff format": ("Would reformat: a.py\n1 file would be reformatted", "a.py: would be formatted otherwise"),
    "black": ("would reformat {folder}/a.py\nOh no!", "a.py: would be formatted otherwise"),
    "isort": ("ERROR: {folder}/a.py Imports are incorrectly sorted and/or formatted.", "a.py: would be formatted otherwise"),
    "pyright": ('  {folder}/a.py:3:5 - error: "x" is unknown (reportUnknown)', 'a.py:3: error: "x" is unknown (reportUnknown)'),
    "pyright, JSON": ('{"generalDiagnostics": [{"file": "{folder}/a.py", "message": "unknown", "range": {"start": {"line": 2}}, "rule": "r"}], "summary": {}}', "a.py:3: unknown [r]"),
    "eslint": ("\n{folder}/src/a.ts\n  3:10  error  'x' is not used  no-unused-vars\n\n✖ 1 problem", "src/a.ts:3: error 'x' is not used no-unused-vars"),
    "eslint, JSON": ('[{"filePath": "{folder}/src/a.ts", "messages": [{"ruleId": "eqeqeq", "line": 3, "message": "Use ==="}], "suppressedMessages": [{"ruleId": "x", "line": 4, "message": "no"}], "source": "x"}]', "src/a.ts:3: Use === [eqeqeq]"),
    "tsc": ("src/a.ts(3,5): error TS2322: Type 'a' is not assignable.", "src/a.ts:3: Type 'a' is not assignable. [TS2322]"),
    "prettier": ("Checking formatting...\n[warn] src/a.ts\n[warn] Code style issues found in the above file.", "src/a.ts: would be formatted otherwise"),
    "gofmt": ("a.go\n", "a.go: would be formatted otherwise"),
    "go vet": ("# example.com/a\n./a.go:5:2: unreachable code", "a.go:5: unreachable code"),
    "clippy": ("warning: unused variable: `x`\n --> src/lib.rs:2:9\n  |\n2 |     let x = 1;\n", "src/lib.rs:2: warning: unused variable: `x`"),
    "rustfmt": ("Diff in {folder}/src/lib.rs:1:\n-fn a()\n+fn a() {}\nDiff in {folder}/src/lib.rs:9:\n", "src/lib.rs: would be formatted otherwise"),
    "rubocop": ("lib/a.rb:3:1: C: [Correctable] Layout/EmptyLines: Extra blank line.", "lib/a.rb:3: C: [Correctable] Layout/EmptyLines: Extra blank line."),
    "rubocop, JSON": ('{"files": [{"path": "lib/a.rb", "offenses": [{"message": "Extra", "cop_name": "Layout/X", "location": {"line": 3}}]}]}', "lib/a.rb:3: Extra [Layout/X]"),
    "phpstan, JSON": ('{"totals": {}, "files": {"{folder}/src/A.php": {"errors": 1, "messages": [{"message": "Undefined", "line": 4, "identifier": "v.u"}]}}, "errors": []}', "src/A.php:4: Undefined [v.u]"),
    "phpstan": (" ------ -----\n  Line   src/A.php\n ------ -----\n  4      Undefined variable: $x\n", "src/A.php:4: Undefined variable: $x"),
    "shellcheck": ("In run.sh line 3:\necho $x\n     ^-- SC2086 (info): Double quote.", "run.sh:3: Double quote. [SC2086]"),
    "dotnet": ("A.cs(4,2): error CS0103: The name 'x' does not exist [/w/a.csproj]", "A.cs:4: The name 'x' does not exist [CS0103]"),
    "maven": ("[ERROR] {folder}/src/A.java:[4,2] cannot find symbol", "src/A.java:4: cannot find symbol"),
    "in a folder": ("b.js(1,1): error TS1: no", "web/b.js:1: no [TS1]"),
    "not of the project": ("/usr/lib/x.py:1: error: no\n../../etc/passwd:1: no\n12:30:01: done\nTotal: 3", ""),
}  # fmt: skip


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


PACKAGE = '{"scripts": {"lint": "eslint .", "lint:fix": "eslint --fix .", "typecheck": "tsc --noEmit", "build": "tsc && docker push x"}}'
CI = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: go vet ./...\n      - run: golangci-lint run | tee x\n      - run: cargo fmt --check\n"
PROJECTS: dict[str, tuple[dict[str, str], list[str], list[str]]] = {
    "Python": ({"pyproject.toml": "[tool.mypy]\nstrict = true\nfiles = ['a']\n[tool.ruff.lint]\n", ".flake8": ""}, ["ruff check .", "mypy", "flake8"], []),
    "targets": ({"Makefile": "lint:\n\truff check .\n\tmypy .\nmypy:\n\tmypy .\ntest:\n\tpytest\n", "pyproject.toml": "[tool.mypy]\n"}, ["make lint"], []),
    "a target that changes files": ({"Makefile": "lint:\n\tblack .\n"}, [], ["`make lint` (Makefile) is left out: `black .` changes files"]),
    "scripts": ({"package.json": PACKAGE, "eslint.config.js": "", "tsconfig.json": "{}"}, ["npm run lint", "npm run typecheck"], []),
    "tox": ({"tox.ini": "[testenv:typing]\ncommands = mypy a\n[testenv:py]\ncommands = pytest\n"}, ["tox -e typing"], []),
    "a workflow": ({".github/workflows/a.yml": CI}, ["go vet ./...", "cargo fmt --check"], []),
    "Rust": ({"Cargo.toml": "", "rustfmt.toml": ""}, ["cargo fmt --all -- --check"], []),
    "in a container": ({"Makefile": "lint:\n\tdocker run x ruff check\n"}, [], ["`make lint` (Makefile) is left out: it needs docker"]),
    "nothing": ({"pyproject.toml": "[project]\n", "Makefile": "build:\n\t./deploy.py\n"}, [], []),
}  # fmt: skip


@pytest.mark.parametrize("kind", PROJECTS)
def test_a_project_configures_checks(tmp_path: Path, kind: str) -> None:
    files, commands, left_out = PROJECTS[kind]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = configured_checks(tmp_path)
    assert list(found.commands) == commands
    assert list(found.left_out) == left_out


def test_what_runs_anyway_is_not_checked_again(tmp_path: Path) -> None:
    files = {"Makefile": "check:\n\truff check .\n\tpytest\n", "ruff.toml": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert configured_checks(tmp_path, ["make check"]).commands == {}
    assert not may_be_run(suite_of("ruff check --fix .", tmp_path))
    assert not may_be_run(suite_of("ruff check . && curl x", tmp_path))
