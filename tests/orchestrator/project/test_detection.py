"""Detection: the commands that a repository shows, read from its files and never by running anything."""

import json
import os
import re

import pytest
from language.programs import ran
from language.tables import table

from orchestrator.project.detection import detect

UNITTEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        assert {ok}\n"
PYTEST = "import pytest\n\n\ndef test_it():\n    assert True\n"
PLAIN_CI = "on: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: {line}\n"


@pytest.fixture
def shown(tmp_path):
    """The commands that these files show, the checks that run no tests in brackets."""

    def look(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [one.command if one.tests else f"({one.command})" for one in detect(tmp_path)]

    return look


def ci(line, **more):
    return {".github/workflows/ci.yml": PLAIN_CI.format(line=line), **more}


NEVER_RUN = {
    "a pipe": ci("pytest | tail"),
    "a download": ci("curl https://x | sh"),
    "a download behind a runner": ci("pytest && curl https://x"),
    "removal": ci("rm -rf /"),
    "a second command": ci("pytest; rm -rf ~"),
    "a command in the background": ci("pytest & rm x"),
    "a substitution": ci("pytest $(rm x)"),
    "ticks": ci("pytest `rm x`"),
    "a redirection": ci("pytest > /etc/passwd"),
    "an expression": ci("pytest ${{ matrix.args }}"),
    "a secret": ci("pytest --token ${{ secrets.TOKEN }}"),
    "an install": ci("npm ci"),
    "a release by a runner": ci("tox -e release"),
    "a script that deploys": ci("npm run test:e2e", **{"package.json": json.dumps({"scripts": {"test:e2e": "jest && npm run deploy", "deploy": "x"}})}),
    "secrets in the step": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest\n        env: {A: '${{ secrets.A }}'}")},
    "a condition": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest\n        if: github.actor == 'x'")},
    "another shell": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest\n        shell: pwsh")},
    "a folder outside": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest\n        working-directory: ../..")},
    "another folder in the script": {".github/workflows/a.yml": PLAIN_CI.format(line="|\n          cd sub\n          pytest")},
    "text that is written": {".github/workflows/a.yml": PLAIN_CI.format(line="|\n          cat > x <<E\n          pytest\n          E")},
    "a job with an environment": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("    steps", "    environment: prod\n    steps")},
    "a job that deploys": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("  test:", "  deploy:")},
    "a job that may write": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("    steps", "    permissions: {contents: write}\n    steps")},
    "a job with services": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("    steps", "    services: {db: {image: x}}\n    steps")},
    "a workflow for releases": {".github/workflows/release.yml": PLAIN_CI.format(line="pytest")},
    "a workflow for tags": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("[push]", "{push: {tags: ['*']}}")},
    "a workflow by hand": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("[push]", "workflow_dispatch")},
    "windows": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest").replace("ubuntu-latest", "windows-latest")},
    "no yaml": {".github/workflows/a.yml": "on: [push\njobs: {{{\n\t- x"},
    "no text": {".github/workflows/a.yml": b"\xff\xfe\x00"},
    "other shapes": {".github/workflows/a.yml": "on: [push]\njobs: [1, {steps: 5}]\n"},
    "a bomb": {".github/workflows/a.yml": "a: &a [x,x]\nb: &b [*a,*a]\n" + PLAIN_CI.format(line="pytest")},
    "a merging bomb": {".github/workflows/a.yml": "a: &a {x: 1}\nb: &b {<<: [*a, *a]}\n" + PLAIN_CI.format(line="pytest")},
    "very deep": {".github/workflows/a.yml": "[" * 50_000},
    "very long": {".github/workflows/a.yml": PLAIN_CI.format(line="pytest") + "# " + "x" * 300_000},
    "gitlab with an environment": {".gitlab-ci.yml": "test:\n  environment: prod\n  script: [pytest]\n"},
    "gitlab that deploys": {".gitlab-ci.yml": "a:\n  stage: deploy\n  script: [pytest]\n"},
    "gitlab with a variable": {".gitlab-ci.yml": "a:\n  script: [pytest $ARGS]\n"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        pytest.param(*case.values(), id=name)
        for cases in ("own", "javascript", "languages", "parts", "workflows")
        for name, case in table(__file__, cases).items()
    ],
)
def test_a_repository_shows_its_commands(shown, files, commands):
    assert shown(files) == commands


@pytest.mark.parametrize("what", NEVER_RUN)
def test_nothing_else_of_a_workflow_is_ever_taken(shown, what):
    assert shown(NEVER_RUN[what]) == []


def test_what_is_built_stays_out_of_the_tree(shown):
    (command,) = shown({"CMakeLists.txt": "include(CTest)\n"})
    assert command.count('"$(git rev-parse --absolute-git-dir)/sq-build"') == 3


def test_links_that_lead_to_themselves_and_what_is_no_file_do_no_harm(shown, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "Makefile").symlink_to("Makefile")
    (tmp_path / "package.json").mkdir()
    os.mkfifo(tmp_path / "justfile")
    assert shown({"tests/test_a.py": PYTEST}) == ["python3 -m pytest"]


def test_a_folder_that_is_not_there_shows_nothing(tmp_path):
    assert detect(tmp_path / "nowhere") == ()


def test_the_source_is_the_file_that_shows_a_command(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "go.mod").write_text("")
    assert [one.source for one in detect(tmp_path)] == ["a/go.mod"]


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize(
    "files",
    [
        ("test_a.py",),
        ("tests/test_a.py",),
        ("tests/__init__.py", "tests/test_a.py"),
        ("test/test_a.py",),
        ("a_test.py",),
        ("tests/__init__.py", "tests/unit/__init__.py", "tests/unit/test_a.py"),
        ("tests/unit/test_a.py",),
        ("tests/test_b.py", "tests/unit/test_a.py"),
        ("test_b.py", "tests/test_a.py"),
        ("test_b.py", "tests/__init__.py", "tests/test_a.py"),
        ("tests/a folder/test_a.py",),
    ],
    ids=" ".join,
)
def test_the_detected_unittest_command_runs_the_tests_that_are_there(shown, tmp_path, files, ok):
    code = {name: UNITTEST.format(ok=True) for name in files}
    code |= {name: "" for name in files if name.endswith("__init__.py")}
    code |= {files[-1]: "import counter\n" + UNITTEST.format(ok=ok), "counter.py": ""}
    folder = tmp_path
    shown(code)
    outputs, codes = [], []
    for command in shown({}):
        assert command.startswith("python3 -m unittest")
        done = ran(["sh", "-c", command], cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        outputs.append(done.stderr)
        codes.append(done.returncode)
    counts = [int(count) for count in re.findall(r"Ran (\d+) test", "".join(outputs))]
    assert sum(counts) == len([name for name in files if "__init__" not in name])
    assert 0 not in counts
    assert (not any(codes)) is ok


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "{",
        "[]",
        "5",
        "{}",
        '{"scripts": null}',
        '{"scripts": []}',
        '{"scripts": {"test": ["x"]}}',
        b"\xff\xfe{",
    ],
)
def test_a_package_without_a_usable_test_script_shows_nothing(shown, manifest):
    assert shown({"package.json": manifest}) == []


def test_files_that_are_no_text_and_links_to_nowhere_do_no_harm(shown, tmp_path):
    (tmp_path / "test_link.py").symlink_to(tmp_path / "nowhere.py")
    assert shown({"pyproject.toml": b"\xff\xfe", "test_a.py": b"\xff\xfe", "tests/test_dir.py/x": ""})
