"""Each skeleton that can run here, run for real: counted, with a failing test in it, by single files, without tests."""

import pytest
from commands_of_projects import skeleton_in

from benchmarks.repositories import all_skeletons, skeleton
from orchestrator.project.runners.ability import missing_program, nothing_yet
from orchestrator.project.runners.canary import canary_for
from orchestrator.project.runners.suite import suite_of
from state.records.commands import UNCOUNTED

QUICK = [
    "bats",
    "ctest",
    "make-lint-below-test",
    "npm-node-test",
    "prove",
    "pytest-src",
    "unittest-root",
]
SLOW = [
    "cargo",
    "go",
    "meson",
    "minitest-rake",
    "mix",
    "npm-ava",
    "npm-ava-between",
    "npm-jest",
    "npm-mocha",
    "phpunit",
    "pnpm-vitest",
    "rspec",
    "tox",
    "yarn-node-test",
]
LETTERS = "qhzvtk"

every_project = pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)


@pytest.fixture
def ready(name, tmp_path, tools_home, packages):
    return skeleton_in(name, tmp_path / "project", tools_home, packages)


@pytest.mark.late
@every_project
def test_a_project_is_counted_with_names_and_a_failing_test_in_it_is_seen(name, ready):
    known, project = ready
    command = known.runnable
    suite = project.suite(command)
    plain = project.plain(command)
    base = project.run(command)
    assert (plain.returncode, base.exit_code) == (0, 0), base.output
    assert base.passed == set(known.tests), base.output
    assert base.skipped == set(known.skipped)
    assert (base.count.passed, base.count.failed, base.count.ran) == (len(known.tests), 0, len(known.tests))
    assert suite.runs_tests is True
    assert nothing_yet(suite, base.output, 0, base.count) == ""
    assert missing_program(suite, base.output, 0) == ""

    canary = canary_for(suite, base.count, LETTERS)
    before = (project.folder / canary.path).read_text() if (project.folder / canary.path).exists() else None
    project.write(canary.path, canary.content)
    plain = project.plain(command)
    broken = project.run(command)
    assert broken.exit_code == plain.returncode != 0, broken.output
    if canary.names:
        assert base.passed <= broken.passed
        assert all(any(one.endswith(name) for one in broken.failed) for name in canary.names), (
            broken.count,
            broken.output,
        )
    assert broken.failed
    assert broken.count.failed >= 1

    alone = project.run_only(command, canary.only)
    if known.registered:
        assert alone is None
    else:
        assert alone.exit_code != 0
        assert alone.count.failed >= 1, alone.output
        assert before is not None or suite.runners[0].select.folders or alone.count.passed == 0


@pytest.mark.late
@every_project
def test_single_files_and_names_of_a_project_run_and_without_its_tests_there_is_nothing_yet(name, ready):
    known, project = ready
    command = known.runnable
    suite = project.suite(command)
    if known.registered:
        project.run(command)  # it builds them
    files = [path for path in suite.test_files(sorted(known.files)) if not path.startswith("src/lib")]
    if not known.registered:
        single = project.run_only(command, files[:1])
        assert single.exit_code == 0, (single.command, single.output)
        assert 0 < single.count.passed <= len(known.tests)
        assert single.passed <= set(known.tests)
    if known.registered or suite.runners[0].select.names:
        chosen = known.tests[-1]
        of_chosen = [path for path in files if path in chosen] or files[:1]
        named = project.run_only(command, [] if known.registered else of_chosen, [chosen])
        assert named.exit_code == 0, (named.command, named.output)
        assert chosen in named.passed, (named.command, named.output)
        assert named.count.passed < len(known.tests)

    if known.registered or name in {"cargo", "minitest-rake"}:  # src/lib.rs stays; rake says nothing at all
        return
    for path in files:
        (project.folder / path).unlink()
    empty = project.run(command)
    assert empty.count.ran in {0, None}, (empty.count, empty.output)
    assert nothing_yet(suite, empty.output, empty.exit_code, empty.count), empty.output


@pytest.mark.parametrize("name", ["gradle", "maven", "dotnet"])
def test_a_project_whose_tools_cannot_be_had_here_is_still_understood(name, tmp_path):
    known = all_skeletons()[name](tmp_path)
    suite = suite_of(known.command, tmp_path)
    assert [row.name for row in suite.runners] == [name]
    files = suite.test_files(known.files)
    assert len(files) == 1
    assert suite.manifests(known.files)
    canary = canary_for(suite, UNCOUNTED, LETTERS)
    assert canary.path.rsplit("/", 1)[0] == files[0].rsplit("/", 1)[0]
    assert skeleton(name).runs_here is False
