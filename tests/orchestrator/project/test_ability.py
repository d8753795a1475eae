"""What is missing from the machine, and what a project does not hold yet, from the words of real tools."""

import pytest

from orchestrator.project.runners.ability import broke_off, missing_program, nothing_yet
from orchestrator.project.runners.suite import suite_of
from state.records.commands import UNCOUNTED, TestCount

NONE = TestCount(passed=0, failed=0, says_none=True)


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "missing"),
    [
        (
            "make check",
            "ruff check .\nmake: ruff: No such file or directory\nmake: *** [Makefile:3: check] Error 127\n",
            2,
            "ruff",
        ),
        ("make check", "/bin/sh: 1: ruff: not found\nmake: *** [Makefile:3: check] Error 127\n", 2, "ruff"),
        ("npm test", "> a@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found\n", 127, "vitest"),
        ("jest", "/bin/sh: 1: jest: not found\n", 127, "jest"),
        ("cargo test", "bash: line 1: cargo: command not found\n", 127, "cargo"),
        (
            "cargo test",
            "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured.\nhelp: run 'rustup default stable' to download the latest stable release of Rust\n",
            1,
            "a Rust toolchain for cargo (`rustup default stable` chooses one)",
        ),
        (
            "make test",
            "error: toolchain '1.60-x86_64' is not installed\nmake: *** [Makefile:2: test] Error 1\n",
            2,
            "the Rust toolchain 1.60-x86_64 (`rustup toolchain install 1.60-x86_64` adds it)",
        ),
        (
            "pytest",
            "pyenv: version `3.9.1' is not installed (set by /w/.python-version)\n",
            1,
            "version 3.9.1 (`pyenv install 3.9.1` adds it)",
        ),
        ("go test ./...", "zsh:1: command not found: go\n", 127, "go"),
        ("python -m pytest", "/usr/bin/python: No module named pytest\n", 1, "pytest"),
        ("tox", "commands[0]> python -m pytest\n/w/.tox/py/bin/python: No module named tox\n", 1, "tox"),
        (
            "cargo nextest run",
            "error: no such command: `nextest`\n\n\tView all installed commands with `cargo --list`\n",
            101,
            "cargo-nextest",
        ),
        ("bundle exec rspec", "bundler: command not found: rspec\n", 127, "rspec"),
        (
            "uv run pytest",
            "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)\n",
            2,
            "pytest",
        ),
        ("rspec", "/usr/bin/env: \u2018ruby\u2019: No such file or directory\n", 127, "ruby"),
        ("python -m nox", "/usr/bin/python3: No module named nox\n", 1, "nox"),
        # Not missing from the machine:
        ("./run-tests.sh", "/bin/sh: 1: ./run-tests.sh: not found\n", 127, ""),
        ("python -m pytest", "E   ModuleNotFoundError: No module named 'prices'\n", 2, ""),
        ("python -m unittest", "ModuleNotFoundError: No module named 'pytest'\n", 1, ""),
        ("pytest", "E  AssertionError: sh: 1: frobnicate: not found\n1 failed in 0.1s\n", 1, ""),
        ("make test", "1 failed in 0.1s\nmake: *** [Makefile:3: test] Error 1\n", 2, ""),
        ("pytest", "sh: 1: jest: not found\n", 0, ""),
        ("node_modules/.bin/jest", "/bin/sh: 1: node_modules/.bin/jest: not found\n", 127, ""),
    ],
)
def test_only_what_the_machine_lacks_is_missing(command, output, exit_code, missing, tmp_path):
    (tmp_path / "Makefile").write_text("check:\n\truff check .\ntest:\n\tpytest\n")
    (tmp_path / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    assert missing_program(suite_of(command, tmp_path), output, exit_code) == missing


def test_a_module_of_the_project_that_cannot_be_imported_is_not_missing(tmp_path):
    (tmp_path / "pytest").mkdir()
    output = "ModuleNotFoundError: No module named 'pytest.extra'\n"
    assert missing_program(suite_of("python -m pytest", tmp_path), output, 1) == ""


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "count", "word"),
    [
        ("npm test", 'npm error Missing script: "test"\nnpm error\n', 1, UNCOUNTED, "Missing script"),
        (
            "npm test",
            "npm error code ENOENT\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/w/package.json'\n",
            254,
            UNCOUNTED,
            "package.json",
        ),
        (
            "npm test",
            '> echo "Error: no test specified" && exit 1\n\nError: no test specified\n',
            1,
            UNCOUNTED,
            "no test specified",
        ),
        (
            "make test",
            "make: *** No rule to make target 'test'.  Stop.\n",
            2,
            UNCOUNTED,
            "No rule to make target 'test'",
        ),
        (
            "make",
            "make: *** No targets specified and no makefile found.  Stop.\n",
            2,
            UNCOUNTED,
            "no makefile",
        ),
        (
            "cargo test",
            "error: could not find `Cargo.toml` in `/w` or any parent directory\n",
            101,
            UNCOUNTED,
            "Cargo.toml",
        ),
        (
            "go test ./...",
            "pattern ./...: directory prefix . does not contain main module or its selected dependencies\ngo: go.mod file not found in current directory or any parent directory; see 'go help modules'\n",
            1,
            UNCOUNTED,
            "go.mod",
        ),
        (
            "go test ./...",
            'go: warning: "./..." matched no packages\nno packages to test\n',
            1,
            UNCOUNTED,
            "no packages",
        ),
        ("pytest", "collected 0 items\n\n==== no tests ran in 0.01s ====\n", 5, NONE, "collected 0 items"),
        (
            "pytest tests",
            "ERROR: file or directory not found: tests\n\nno tests ran in 0.00s\n",
            4,
            NONE,
            "not found: tests",
        ),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK\n", 0, NONE, "Ran 0 tests"),
        ("node --test", "# tests 0\n", 0, NONE, "tests 0"),
        ("just test", "error: Justfile does not contain recipe `test`\n", 1, UNCOUNTED, "recipe"),
        (
            "mvn test",
            "[ERROR] The goal you specified requires a project to execute but there is no POM in this directory (/w).\n",
            1,
            UNCOUNTED,
            "no POM",
        ),
        ("pytest", "1 failed in 0.01s\n", 1, TestCount(passed=0, failed=1), ""),
        ("pytest", "3 passed in 0.01s\n", 0, TestCount(passed=3, failed=0), ""),
        ("make test", "make: *** [Makefile:3: test] Error 1\n", 2, UNCOUNTED, ""),
        ("./run", "whatever\n", 1, UNCOUNTED, ""),
    ],
)
def test_a_tree_with_nothing_to_run_yet_is_told_from_one_that_fails(
    command, output, exit_code, count, word, tmp_path
):
    told = nothing_yet(suite_of(command, tmp_path), output, exit_code, count)
    assert word in told
    assert bool(told) == bool(word)


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "count", "why"),
    [
        (
            "python -m pytest",
            "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR> RuntimeError: no plugin\n\nno tests ran\n",
            3,
            NONE,
            "pytest: RuntimeError: no plugin",
        ),
        (
            "make test",
            "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=x\n  inifile: x\n",
            2,
            UNCOUNTED,
            "pytest: unrecognized arguments: --cov=x",
        ),
        ("pytest", "ERROR: Missing required plugins: pytest-cov\n", 4, UNCOUNTED, "pytest: Missing required"),
        (
            "pytest",
            "ImportError while loading conftest '/w/conftest.py'.\nE   ModuleNotFoundError: No module named 'x'\n",
            4,
            UNCOUNTED,
            "pytest: ModuleNotFoundError: No module named 'x'",
        ),
        (
            "pytest",
            "=== ERRORS ===\n____ ERROR collecting test_b.py ____\nE   SyntaxError: invalid syntax\n1 error in 0.1s\n",
            1,
            TestCount(passed=0, failed=1),
            "pytest: SyntaxError: invalid syntax",
        ),
        (
            "go test ./...",
            "# x\n./a.go:2:23: undefined: B\nFAIL\tx [build failed]\nFAIL\n",
            2,
            TestCount(passed=0, failed=1),
            "go: ./a.go:2:23: undefined: B",
        ),
        (
            "cargo test",
            "error[E0425]: cannot find value `b`\nerror: could not compile `c` (lib) due to 1 previous error\n",
            101,
            UNCOUNTED,
            "cargo: error[E0425]: cannot find value `b`",
        ),
        # These ran tests:
        (
            "pytest",
            "____ ERROR collecting test_b.py ____\n1 passed, 1 error in 0.1s\n",
            1,
            TestCount(passed=1, failed=1),
            "",
        ),
        (
            "pytest",
            "=== FAILURES ===\nINTERNALERROR> RuntimeError: x\n=== short test summary info ===\nFAILED t\n",
            1,
            TestCount(passed=0, failed=1),
            "",
        ),
        ("pytest", "INTERNALERROR> RuntimeError: x\n", 0, UNCOUNTED, ""),
    ],
)
def test_a_runner_that_stopped_before_any_test_is_told_from_one_whose_tests_fail(
    command, output, exit_code, count, why, tmp_path
):
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n")
    told = broke_off(suite_of(command, tmp_path), output, exit_code, count)
    assert told.startswith(why) if why else told == ""
