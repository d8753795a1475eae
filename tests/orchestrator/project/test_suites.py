"""What a command runs in the end, through the files of a project, and which files have a part in it."""

import json

import pytest
from language.tables import rows, table

from orchestrator.project.build_files.manifests import with_base_parts
from orchestrator.project.runners.suite import suite_of


def told(command, folder):
    suite = suite_of(command, folder)
    return [row.name for row in suite.runners], suite.runs_tests


@pytest.mark.parametrize(*rows(__file__, "runners"))
def test_a_command_line_is_recognised(command, runners, runs_tests, tmp_path):
    assert told(command, tmp_path) == (runners, runs_tests)


MAKEFILE = table(__file__, "makefile")


def test_a_makefile_is_followed_through_prerequisites_variables_and_other_makefiles(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "Makefile").write_text("test:\n\tgo test ./...\n")
    (inner / "run.sh").write_text("#!/bin/sh\nset -e\nbats tests\n")
    assert told("make", tmp_path) == ([], False)
    assert told("make check", tmp_path) == ([], False)
    assert told("make test", tmp_path) == (["pytest"], True)
    assert told("make -s deep", tmp_path) == (["go"], True)
    assert suite_of("make deep", tmp_path).test_runs[0].folder == inner
    assert told("make ci", tmp_path) == (["bats"], True)
    assert told("make check test", tmp_path) == (["pytest"], True)
    assert told("make nothing", tmp_path) == ([], None)
    assert told("make PYTHON=python3.12 test", tmp_path) == (["pytest"], True)


def test_scripts_of_package_json_are_followed_through_each_other(tmp_path):
    scripts = {
        "test": "npm run lint && npm run unit",
        "lint": "eslint .",
        "unit": "vitest run",
        "pretest": "tsc",
        "all": "npm-run-all lint test:*",
        "test:a": "node --test a",
        "test:b": "mocha b",
        "again": "npm run again",
    }
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    assert told("npm test", tmp_path) == (["vitest"], True)
    assert told("npm t", tmp_path) == (["vitest"], True)
    assert told("pnpm run unit", tmp_path) == (["vitest"], True)
    assert told("yarn test:b", tmp_path) == (["mocha"], True)
    assert told("yarn install --frozen-lockfile", tmp_path) == ([], False)
    assert told("npm run lint", tmp_path) == ([], False)
    assert told("npm run all", tmp_path) == (["node", "mocha"], True)
    assert told("npm run again", tmp_path)[0] == []  # it ends
    assert told("npm run none", tmp_path) == ([], None)


def test_packages_of_a_workspace_are_found(tmp_path):
    (tmp_path / "package.json").write_text(
        '{"workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}}'
    )
    for name, script in (("a", "jest"), ("b", "node --test")):
        (tmp_path / "packages" / name).mkdir(parents=True)
        (tmp_path / "packages" / name / "package.json").write_text(
            json.dumps({"name": f"@x/{name}", "scripts": {"test": script}})
        )
    assert told("npm test", tmp_path) == (["jest", "node"], True)
    assert told("npm test -w @x/b", tmp_path) == (["node"], True)
    assert told("yarn workspace @x/a test", tmp_path) == (["jest"], True)
    assert suite_of("npm test -w packages/b", tmp_path).test_runs[0].folder == tmp_path / "packages" / "b"


def test_other_carriers_are_followed_too(tmp_path):
    (tmp_path / "justfile").write_text(
        "runner := 'cargo test'\n\ndefault: check\n\ncheck:\n    cargo clippy\n\n@test *args: check\n    {{runner}} {{args}}\n"
    )
    (tmp_path / "tox.ini").write_text(
        "[tox]\nenvlist = py3{10,11}, lint\n[testenv]\ncommands =\n  pytest {posargs:tests}\n[testenv:lint]\ncommands = ruff check\n"
    )
    (tmp_path / "noxfile.py").write_text(
        "import nox\n\n@nox.session\ndef tests(session):\n    session.install('.')\n    session.run('pytest', '-q', *session.posargs)\n\n@nox.session(name='lint')\ndef lint_it(session):\n    session.run('ruff', 'check')\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\ncheck = ["ruff check", "test"]\n'
    )
    (tmp_path / "Rakefile").write_text(
        "require 'rake/testtask'\nRake::TestTask.new(:unit) { |t| t.libs << 'test' }\nRSpec::Core::RakeTask.new\ntask default: %i[unit spec]\ntask :lint do\n  sh 'rubocop'\nend\n"
    )
    (tmp_path / "composer.json").write_text(
        '{"scripts": {"test": ["@lint", "phpunit"], "lint": "phpstan analyse"}}'
    )
    assert told("just test", tmp_path) == (["cargo"], True)
    assert told("just", tmp_path) == ([], False)
    assert told("tox", tmp_path) == (["pytest"], True)
    assert told("tox -e lint", tmp_path) == ([], False)
    assert told("nox -s tests", tmp_path) == (["pytest"], True)
    assert told("nox -s lint", tmp_path) == ([], False)
    assert told("hatch run test", tmp_path) == (["pytest"], True)
    assert told("hatch run check", tmp_path) == (["pytest"], True)
    assert told("hatch test", tmp_path) == (["pytest"], True)
    assert told("rake", tmp_path) == (["minitest", "rspec"], True)
    assert told("bundle exec rake lint", tmp_path) == ([], False)
    assert told("rake unknown", tmp_path) == ([], None)
    assert told("composer test", tmp_path) == (["phpunit"], True)


def test_a_script_is_known_by_what_stands_in_it(tmp_path):
    (tmp_path / "run_tests.py").write_text("import unittest\n\nunittest.main('tests')\n")
    (tmp_path / "other.py").write_text("print('hello')\n")
    (tmp_path / "t.rb").write_text("require 'minitest/autorun'\n")
    (tmp_path / "t.js").write_text("const test = require('node:test');\n")
    assert told("python run_tests.py", tmp_path) == (["unittest"], True)
    assert told("python other.py", tmp_path) == ([], None)
    assert told("ruby -Ilib t.rb", tmp_path) == (["minitest"], True)
    assert told("node t.js", tmp_path) == (["node"], True)
    assert told("perl gone.t", tmp_path) == ([], None)


def test_test_files_are_known_by_their_names_and_by_their_text_where_names_say_little(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data.py").write_text("ROWS = [1, 2]\n")
    (tmp_path / "tests" / "checks.py").write_text("def test_all(): pass\n")
    suite = suite_of("pytest", tmp_path)
    paths = ["tests/test_a.py", "tests/data.py", "tests/checks.py", "src/a.py", "src/a_test.py", "README.md"]
    assert suite.test_files(paths) == ["tests/test_a.py", "tests/checks.py", "src/a_test.py"]


@pytest.mark.parametrize(*rows(__file__, "deciding"))
def test_what_decides_how_tests_run_is_told_from_what_they_test(
    command, deciding, not_deciding, manifests, tmp_path
):
    (tmp_path / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "check.sh").write_text("#!/bin/sh\npytest\n")
    suite = suite_of(command, tmp_path)
    assert suite.deciders([*deciding, *not_deciding]) == deciding
    assert suite.manifests([*deciding, *not_deciding]) == manifests


@pytest.mark.parametrize(*rows(__file__, "merged"))
def test_scripts_and_settings_of_tests_are_the_bases(path, base, now, merged):
    told = json.loads(with_base_parts(path, base, now))
    assert told == {"scripts": merged}


@pytest.mark.parametrize(*rows(__file__, "merged_options"))
def test_sections_that_decide_how_tests_are_run_are_the_bases(path, base, now, merged):
    told = with_base_parts(path, base, now)
    assert [line for line in told.splitlines() if line] == [line for line in merged.splitlines() if line]


@pytest.mark.parametrize(*rows(__file__, "unmerged"))
def test_what_a_manifest_says_of_the_product_stays_as_it_is(path, now):
    assert with_base_parts(path, "", now) == now


def test_a_manifest_that_is_too_deep_stays_as_it_is():
    deep = "[" * 50_000 + "]" * 50_000
    assert with_base_parts("package.json", "{}", deep) == deep


def test_pixi_runs_a_task_of_its_table_or_a_program(tmp_path):
    (tmp_path / "pixi.toml").write_text('[tasks]\ncheck = "cargo test"\n')
    for call, line in (
        ("pixi run check", "cargo test"),
        ("pixi run pytest -q", "pytest -q"),
        ("pixi run -e dev pytest", "pytest"),
    ):
        assert [run.line for run in suite_of(call, tmp_path).runs] == [line]
