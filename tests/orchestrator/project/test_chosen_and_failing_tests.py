"""Commands for chosen files, and tests that must fail, without running anything."""

import re
import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows

from benchmarks.repositories import all_skeletons, skeleton
from orchestrator.project.files import matches
from orchestrator.project.runners.canary import canary_for, ordinary
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.reporting import prepare
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from state.records.commands import UNCOUNTED, TestCount, TestState


def only(command, folder, *files, names=()):
    chosen = only_these(suite_of(command, folder), files, names)
    if chosen is None:
        return None
    prepared = prepare(suite_of(chosen, folder), folder / "reports", {})
    return prepared.command.rsplit("; fi; ", maxsplit=1)[-1]


def written(folder, *paths, text="test('a', () => {});\n"):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def test_a_file_that_looks_like_an_option_is_given_as_a_file(tmp_path):
    written(tmp_path, "-p/test_a.py", "--co_test.py")
    given = only("pytest", tmp_path, "-p/test_a.py", "--co_test.py")
    assert "./-p/test_a.py" in given.split()
    assert "./--co_test.py" in given.split()
    named = only("pytest", tmp_path, "--co_test.py", names=("--co_test.py::test_a",))
    assert "./--co_test.py::test_a" in named.split()


@pytest.mark.parametrize(
    "how", ["-s tests", "-q", "", "tests", "-v tests 'test_*.py'", "-s tests -p 't*.py' -t ."]
)
def test_several_files_of_unittest_discover_run_one_by_one_and_each_names_its_tests(tmp_path, how):
    written(tmp_path, "tests/__init__.py", text="")
    for name in "ab":
        written(
            tmp_path,
            f"tests/test_{name}.py",
            text=f"import unittest\nclass T{name}(unittest.TestCase):\n    def test_it(self): self.fail('x')\n",
        )
    command = only(
        f"{shlex.quote(sys.executable)} -m unittest discover {how} -v",
        tmp_path,
        "tests/test_a.py",
        "tests/test_b.py",
    )
    (tmp_path / "reports").mkdir()
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    found = count(suite_of(command, tmp_path), done.stderr, done.returncode, tmp_path / "reports")
    assert done.returncode == 1
    assert {name.split(".")[-2]: state for name, state in found.tests.items()} == {
        "Ta": TestState.FAILED,
        "Tb": TestState.FAILED,
    }


def test_files_take_the_place_of_those_that_a_command_names(tmp_path):
    written(tmp_path, "tests/test_a.py", "tests/test_b.py", "tests/unit/test_c.py")
    assert (
        only("python -m pytest -q tests", tmp_path, "tests/test_a.py")
        == "python -m pytest -q tests/test_a.py"
    )
    assert only("ruff check && pytest tests -x", tmp_path, "tests/test_a.py") == "pytest  -x tests/test_a.py"
    assert only("pytest tests | tail -3", tmp_path, "tests/test_a.py") == "pytest tests/test_a.py"
    assert (
        only("pytest", tmp_path, "tests/test_a.py", names=["tests/test_a.py::T::test_x"])
        == "pytest tests/test_a.py::T::test_x"
    )
    assert only("pytest", tmp_path, "README.md") is None
    assert only("some-tool", tmp_path, "tests/test_a.py") is None


def test_files_pass_through_a_package_script_or_go_to_its_runner(tmp_path):
    written(tmp_path, "test/a.test.js", "src/a.test.js")
    (tmp_path / "package.json").write_text(
        '{"scripts": {"test": "vitest run", "unit": "mocha test", "two": "npm run unit && eslint"}}'
    )
    assert only("npm test", tmp_path, "src/a.test.js").startswith("npm test -- src/a.test.js")
    assert only("pnpm test", tmp_path, "src/a.test.js").startswith("pnpm test src/a.test.js")
    assert (
        only("npm run unit", tmp_path, "test/a.test.js")
        == 'PATH="$PWD/node_modules/.bin:$PATH"; export PATH; mocha test/a.test.js'
    )
    assert only("npm run two", tmp_path, "test/a.test.js").endswith("mocha test/a.test.js")


def test_folders_names_and_single_files_are_given_as_each_runner_takes_them(tmp_path):
    written(
        tmp_path,
        "a/x_test.go",
        "a/y_test.go",
        "z_test.go",
        "tests/ATest.php",
        "tests/BTest.php",
        "test/a_test.exs",
        "tests/cli.rs",
    )
    (tmp_path / "tests" / "cli.rs").write_text("#[test]\nfn a() {}\n")
    assert only("go test ./...", tmp_path, "a/x_test.go", "a/y_test.go", "z_test.go") == "go test ./a . -v"
    assert (
        only("go test ./...", tmp_path, "a/x_test.go", names=["m/a/TestX/one", "m/a/TestY"])
        == "go test -run '^(TestX|TestY)$' ./a -v"
    )
    assert only("phpunit", tmp_path, "tests/ATest.php").startswith("phpunit tests/ATest.php --log-junit ")
    assert only("phpunit", tmp_path, "tests/ATest.php", "tests/BTest.php") is None  # one report for both
    assert only("mix test", tmp_path, "test/a_test.exs").startswith("mix test test/a_test.exs")
    assert only("cargo test", tmp_path, "tests/cli.rs").startswith("cargo test --test cli")
    assert only("mvn test", tmp_path, "src/test/java/a/BTest.java").startswith(": >") or True
    assert only("ctest", tmp_path, "tests/test_a.c") is None


def test_what_runs_in_an_environment_of_its_carrier_is_not_run_outside(tmp_path):
    written(tmp_path, "tests/test_a.py")
    (tmp_path / "tox.ini").write_text("[tox]\nenvlist = a\n[testenv]\ncommands = pytest {posargs:tests}\n")
    assert only("tox", tmp_path, "tests/test_a.py") == "tox -- tests/test_a.py"
    (tmp_path / "tox.ini").write_text("[tox]\nenvlist = a\n[testenv]\ncommands = pytest tests\n")
    assert only("tox", tmp_path, "tests/test_a.py") is None


def test_what_the_user_has_in_the_environment_stays(tmp_path):
    prepared = prepare(suite_of("pytest", tmp_path), tmp_path / "my reports", {"PYTEST_ADDOPTS": "-x"})
    assert prepared.command == "pytest"
    assert prepared.environment["PYTEST_ADDOPTS"].startswith("-x --junitxml='")
    node = prepare(suite_of("node --test --test-reporter=tap", tmp_path), tmp_path, {})
    assert (node.command, node.environment) == ("node --test --test-reporter=tap", {})
    assert prepare(suite_of("some-tool", tmp_path), tmp_path, {}).environment == {}
    shown = prepare(suite_of("cargo test -- --nocapture", tmp_path), tmp_path, {})
    assert shown.command == "cargo test -- --nocapture"


@pytest.mark.parametrize("name", sorted(all_skeletons()))
def test_each_language_has_a_failing_test_that_looks_ordinary(name, tmp_path):
    all_skeletons()[name](tmp_path)
    suite = suite_of(skeleton(name).command, tmp_path)
    one, again = (canary_for(suite, UNCOUNTED, "xkcdqz") for _ in range(2))
    assert one == again != canary_for(suite, UNCOUNTED, "pqwert")
    assert not re.search(
        r"(?i)canary|\bsq\b|xkcdqz",
        one.content.replace((tmp_path / one.path).read_text() if (tmp_path / one.path).exists() else "\0", "")
        + one.path,
    )
    assert suite.test_files([one.path]) == [one.path] or (tmp_path / one.path).exists()


@pytest.mark.parametrize(*rows(__file__, "fits"))
def test_a_command_that_names_its_files_gets_the_failing_test_into_one_of_them(
    command, path, text, fits, tmp_path
):
    written(tmp_path, path, text=text)
    canary = canary_for(suite_of(command, tmp_path), UNCOUNTED, "abcdef")
    assert canary.path == path
    assert re.search(fits, canary.content), canary.content
    assert canary.content.startswith(text.split("\n")[0])


@pytest.mark.parametrize("command", ["ruff check", "some-tool", "stack test", "bazel test //...", ""])
def test_there_is_no_failing_test_where_none_is_known(command, tmp_path):
    written(tmp_path, "test/Spec.hs", "a_test.py")
    assert canary_for(suite_of(command, tmp_path), UNCOUNTED, "abcdef") is None


def test_the_failing_test_stands_beside_a_file_whose_tests_were_counted(tmp_path):
    written(tmp_path, "a/test_old.py", "b/test_new.py", text="def test_x(): pass\n")
    count = TestCount(tests={"b/test_new.py::test_x": TestState.PASSED}, passed=1, failed=0)
    assert canary_for(suite_of("pytest", tmp_path), count, "abcdef").path.startswith("b/test_")
    assert canary_for(suite_of("pytest a", tmp_path), UNCOUNTED, "abcdef").path.startswith("a/test_")


@given(st.text(min_size=1, max_size=40))
def test_words_made_of_any_letters_are_names_in_every_language(token):
    forms = ordinary(token)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", forms["snake"])
    assert re.fullmatch(r"([A-Z][a-z]+)+", forms["Camel"])
    assert int(forms["a"]) + int(forms["b"]) != int(forms["wrong"])


@pytest.mark.parametrize(*rows(__file__, "globs"))
def test_globs_are_about_names_or_about_whole_paths(glob, yes, no):
    assert [path for path in [*yes, *no] if matches(path, [glob])] == yes


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("go test ./...", []),
        ("go test -v ./...", []),
        ("go vet ./... && go test ./a && go test ./b", ["GOFLAGS"]),
        ("make test", ["GOFLAGS"]),
        ("npx playwright test", ["PLAYWRIGHT_JUNIT_OUTPUT_FILE", "PLAYWRIGHT_JUNIT_OUTPUT_NAME"]),
    ],
)
def test_a_command_that_takes_its_report_as_an_argument_sets_no_variable_that_a_test_hands_on(
    tmp_path, command, variables
):
    written(tmp_path, "go.mod", text="module m\n")
    written(tmp_path, "Makefile", text="test:\n\tgo test ./...\n")
    prepared = prepare(suite_of(command, tmp_path), tmp_path / "reports", {})
    assert sorted(prepared.environment) == variables
