"""Detection: the commands that a repository shows, read from its files and never by running anything."""

import json
import os
import re
import subprocess

import pytest

from orchestrator.project.detection import detect

UNITTEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        assert {ok}\n"
PYTEST = "import pytest\n\n\ndef test_it():\n    assert True\n"
LINTS = "check:\n\truff check .\n\tmypy src\n"
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


def npm(test=None, **more):
    return json.dumps({"scripts": {"test": test} if test else {}, **more})


def ci(line, **more):
    return {".github/workflows/ci.yml": PLAIN_CI.format(line=line), **more}


OWN = {
    "a check that lints, and tests below it": (
        {"Makefile": LINTS + "test:\n\tpytest\n", "test_a.py": PYTEST},
        ["(make check)", "make test"],
    ),
    "a check that lints, and no target for the tests": (
        {"Makefile": LINTS, "test_a.py": PYTEST},
        ["(make check)", "python3 -m pytest"],
    ),
    "a check that lints by other targets": (
        {"Makefile": "check: lint\nlint:\n\teslint .\n"},
        ["(make check)"],
    ),
    "a check that lints by a script of the project": (
        {"Makefile": "check:\n\t./tools/lint.py\n", "tools/lint.py": "x", "test_a.py": PYTEST},
        ["(make check)", "python3 -m pytest"],
    ),
    "a check that lints by a script that is not known": (
        {"Makefile": "check:\n\tpoetry run lint\n\tmytool format --check\n", "test_a.py": PYTEST},
        ["(make check)", "python3 -m pytest"],
    ),
    "a check that lints with a toolchain": (
        {"Makefile": "check:\n\tcargo +nightly fmt --check\n", "Cargo.toml": ""},
        ["(make check)", "cargo test"],
    ),
    "a check that lints in a container": (
        {"Makefile": "check:\n\tdocker run x ruff .\n", "test_a.py": PYTEST},
        ["(make check)", "python3 -m pytest"],
    ),
    "a check that has the tests made first": ({"Makefile": "check: lint test\nlint:\n\truff .\ntest:\n\tx\n"}, ["make check"]),
    "a check that calls make for them": ({"Makefile": "check:\n\t@$(MAKE) --quiet test\ntest:\n\tx\n"}, ["make check"]),
    "tests that check first": ({"Makefile": LINTS + "test: check\n\tpytest\n"}, ["make test"]),
    "another name": ({"Makefile": "unittest:\n\tpython -m unittest\n"}, ["make unittest"]),
    "a variable": ({"Makefile": "PY ?= python\ncheck:\n\t$(PY) -m pytest\n", "test_a.py": PYTEST}, ["make check"]),
    "an included file": (
        {"Makefile": "include mk/a.mk\n", "mk/a.mk": "test:\n\tgo test ./...\n", "go.mod": "module x"},
        ["make test"],
    ),
    "GNUmakefile wins": ({"Makefile": "check:\n\tx\n", "GNUmakefile": "test:\n\tx\n"}, ["make test"]),
    "continued lines": ({"Makefile": "check: a \\\n  test\ntest:\n\tpytest\na:\n\tx\n"}, ["make check"]),
    "variables without end": ({"Makefile": "A = $(B)$(B)\nB = $(A)$(A)\ntest:\n\t$(A)\n"}, ["make test"]),
    "just": ({"justfile": "test *args: build\n    cargo test {{args}}\nbuild:\n    x\n", "Cargo.toml": "x"}, ["just test"]),
    "just with an argument that has to be given": ({"justfile": "test name:\n    x {{name}}\n"}, []),
    "task": (
        {"Taskfile.yml": "tasks:\n  check:\n    cmds: [{task: test}, golangci-lint run]\n  test: go test ./...\n", "go.mod": "x"},
        ["task check"],
    ),
    "npm that calls make": ({"package.json": npm("make test"), "Makefile": "test:\n\tjest\n"}, ["npm test"]),
    "make that calls npm": ({"package.json": npm("jest"), "Makefile": "test:\n\tnpm test\n"}, ["make test"]),
    "make and npm for the same runner": ({"package.json": npm("jest"), "Makefile": "test:\n\tnpx jest\n"}, ["make test"]),
    "make and npm for two languages": (
        {"package.json": npm("jest"), "Makefile": "test:\n\tpytest\n", "test_a.py": PYTEST},
        ["make test", "npm test"],
    ),
    "runners that are called in unusual ways stand for their own tests": (
        {
            "Makefile": "test:\n\t$(PY) -m pytest\n\tfind . | xargs pytest\n\txcodebuild -scheme X test\n",
            "go.mod": "", "test_a.py": PYTEST,
        },
        ["make test", "go test ./..."],
    ),
    "a runner that is known by name alone stands for the tests of its family": (
        {"Makefile": "test:\n\ttrial pkg\n\tginkgo -r\n\tsbt 'testOnly x'\n", "go.mod": "", "build.sbt": "", "test_a.py": PYTEST},
        ["make test"],
    ),
    "make in a container stands for nothing": (
        {"Makefile": "test:\n\tdocker compose run app pytest\n", "test_a.py": PYTEST},
        ["make test", "python3 -m pytest"],
    ),
}  # fmt: skip

JAVASCRIPT = {
    "pnpm by its lock": ({"package.json": npm("vitest run"), "pnpm-lock.yaml": ""}, ["pnpm test"]),
    "yarn by its lock": ({"package.json": npm("jest"), "yarn.lock": ""}, ["yarn test"]),
    "bun by its lock": ({"package.json": npm("x"), "bun.lock": ""}, ["bun run test"]),
    "the manifest wins": ({"package.json": npm("x", packageManager="pnpm@9.1.0"), "yarn.lock": ""}, ["pnpm test"]),
    "one that would watch": ({"package.json": npm("react-scripts test")}, ["CI=true npm test"]),
    "no test specified": ({"package.json": npm('echo "Error: no test specified" && exit 1')}, []),
    "workspaces": (
        {"package.json": npm(workspaces=["packages/*"]), "packages/a/package.json": npm("jest")},
        ["npm test --workspaces --if-present"],
    ),
    "workspaces of pnpm": (
        {"package.json": npm(), "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages: [libs/*]\n", "libs/a/package.json": npm("jest")},
        ["pnpm --recursive --if-present test"],
    ),
    "deno": ({"deno.jsonc": '{"tasks": {"test": "deno test -A"} /* so */ } // end'}, ["deno task test"]),
    "deno without a task": ({"deno.json": "{}", "a_test.ts": ""}, ["deno test"]),
}  # fmt: skip

LANGUAGES = {
    "python in packages": ({"pkg/__init__.py": "", "pkg/tests/test_a.py": PYTEST}, ["python3 -m pytest"]),
    "a module that is only named so": ({"pkg/test_helpers.py": "def help(): ...\n"}, []),
    "django": ({"manage.py": "import django", "app/tests.py": "class T: ..."}, ["python3 manage.py test"]),
    "tox alone": ({"tox.ini": "[testenv]\ncommands = x\n"}, ["tox"]),
    "tox beside tests": ({"tox.ini": "[testenv]\n", "tests/test_a.py": PYTEST}, ["python3 -m pytest"]),
    "nox": ({"noxfile.py": "@nox.session\ndef t(session): ...\n"}, ["nox"]),
    "maven": ({"pom.xml": ""}, ["mvn -q test"]),
    "maven's wrapper": ({"pom.xml": "", "mvnw": ""}, ["sh mvnw -q test"]),
    "gradle": ({"build.gradle.kts": ""}, ["gradle test"]),
    "sbt": ({"build.sbt": ""}, ["sbt test"]),
    "leiningen": ({"project.clj": ""}, ["lein test"]),
    "dotnet": ({"a.sln": "", "src/b.csproj": ""}, ["dotnet test"]),
    "dotnet without a solution": ({"tests/A.Tests/A.Tests.csproj": ""}, ["dotnet test tests/A.Tests/A.Tests.csproj"]),
    "rspec": ({".rspec": "", "Gemfile": "", "spec/a_spec.rb": ""}, ["bundle exec rspec"]),
    "rake": ({"Rakefile": "Rake::TestTask.new", "test/a_test.rb": ""}, ["rake test"]),
    "rails": ({"bin/rails": "", "test/a_test.rb": ""}, ["bin/rails test"]),
    "phpunit": ({"phpunit.xml.dist": ""}, ["phpunit"]),
    "phpunit by composer": ({"phpunit.xml.dist": "", "composer.json": "{}"}, ["vendor/bin/phpunit"]),
    "pest": ({"phpunit.xml": "", "tests/Pest.php": ""}, ["vendor/bin/pest"]),
    "composer's script": ({"composer.json": '{"scripts": {"test": ["phpunit"]}}', "phpunit.xml": ""}, ["composer test"]),
    "mix": ({"mix.exs": ""}, ["mix test"]),
    "swift": ({"Package.swift": ""}, ["swift test"]),
    "bazel": ({"MODULE.bazel": ""}, ["bazel test //..."]),
    "perl": ({"t/a.t": ""}, ["prove -lr t"]),
    "bats": ({"test/a.bats": "", "x y/b.bats": ""}, ["bats test 'x y'"]),
    "stack": ({"stack.yaml": "", "a.cabal": ""}, ["stack test"]),
    "cabal": ({"a.cabal": ""}, ["cabal test all"]),
    "zig": ({"build.zig": 'b.step("test", "x")'}, ["zig build test"]),
    "dart": ({"pubspec.yaml": "name: x", "test/a_test.dart": ""}, ["dart test"]),
    "flutter": ({"pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter\n", "test/a_test.dart": ""}, ["flutter test"]),
    "cmake without tests": ({"CMakeLists.txt": "# enable_testing()\nproject(x)\n"}, []),
    "cmake in a folder that git ignores": (
        {"CMakeLists.txt": "enable_testing()\n", ".gitignore": "/build/\n"},
        ["cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"],
    ),
    "two languages": ({"Cargo.toml": "", "go.mod": ""}, ["cargo test", "go test ./..."]),
    "only in what is not the project's own": ({"node_modules/a/package.json": npm("x"), "vendor/b/go.mod": "", ".venv/c/test_a.py": PYTEST}, []),
}  # fmt: skip

PARTS = {
    "two parts": (
        {"backend/pyproject.toml": "", "backend/tests/test_a.py": PYTEST, "frontend/package.json": npm("vitest"), "frontend/yarn.lock": ""},
        ["cd backend && python3 -m pytest", "cd frontend && yarn test"],
    ),
    "a name with a space": ({"my app/package.json": npm("jest")}, ["cd 'my app' && npm test"]),
    "two folders deep, and no deeper": (
        {"a/b/package.json": npm("jest"), "a/b/c/d/package.json": npm("x"), "e/f/g/package.json": npm("x")},
        ["cd a/b && npm test"],
    ),
    "the root comes first": ({"package.json": npm("jest"), "api/go.mod": ""}, ["npm test"]),
    "a root that only lints": ({"Makefile": LINTS, "api/go.mod": ""}, ["(make check)", "cd api && go test ./..."]),
}  # fmt: skip

WORKFLOWS = {
    "a runner": (ci("pytest -q"), ["pytest -q"]),
    "by the interpreter": (ci("python -m pytest tests"), ["python3 -m pytest tests"]),
    "two, joined": (ci("pytest && npx jest"), ["pytest && npx jest"]),
    "what else calls the same runner comes first": (ci("pytest -x", **{"test_a.py": PYTEST}), ["python3 -m pytest"]),
    "a script of the package": (
        ci("npm run test:unit", **{"package.json": json.dumps({"scripts": {"test:unit": "vitest run"}})}),
        ["npm run test:unit"],
    ),
    "lines beside others": (
        {".github/workflows/a.yaml": PLAIN_CI.format(line="|\n          pip install .\n          pytest -q\n          curl x | sh")},
        ["pytest -q"],
    ),
    "in a folder": (
        {".github/workflows/a.yml": PLAIN_CI.format(line="pytest\n        working-directory: api"), "api/x.py": ""},
        ["cd api && pytest"],
    ),
    "gitlab": ({".gitlab-ci.yml": "test:\n  script: [pytest -q, ./deploy.sh]\n"}, ["pytest -q"]),
}  # fmt: skip

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
        pytest.param(*case, id=name)
        for cases in (OWN, JAVASCRIPT, LANGUAGES, PARTS, WORKFLOWS)
        for name, case in cases.items()
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
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
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
