"""Each skeleton that can run here, run for real: counted, with a failing test in it, by single files, without tests."""

import pytest
from commands_of_projects import skeleton_in

from agents.runners.ability import missing_program, nothing_yet
from agents.runners.canary import canary_for
from benchmarks.skeletons import skeleton

QUICK = [
    "pytest-src",
    "unittest-root",
    "make-lint-below-test",
    "npm-node-test",
    "yarn-node-test",
    "prove",
    "bats",
    "ctest",
]
SLOW = [
    "cargo",
    "go",
    "meson",
    "rspec",
    "minitest-rake",
    "phpunit",
    "mix",
    "tox",
    "npm-mocha",
    "npm-jest",
    "pnpm-vitest",
]
TOKEN = "qhzvtk"


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_project_is_counted_its_failing_test_is_seen_and_single_files_run(
    name, tmp_path, tools_home, packages
):
    known, project = skeleton_in(name, tmp_path / "project", tools_home, packages)
    command = known.runnable

    # Counted right, with names; the exit code is that of the plain command.
    plain = project.plain(command)
    base = project.run(command)
    assert (plain.returncode, base.exit_code) == (0, 0), base.output
    assert base.passed == set(known.tests), base.output
    assert base.skipped == set(known.skipped)
    assert (base.count.passed, base.count.failed) == (len(known.tests), 0)
    assert base.count.ran == len(known.tests)
    suite = project.suite(command)
    assert suite.runs_tests is True
    assert nothing_yet(suite, base.output, 0, base.count) == ""
    assert missing_program(suite, base.output, 0) == ""

    # A test that must fail is one more failed test.
    canary = canary_for(suite, base.count, TOKEN)
    assert canary is not None
    assert not {"sq", "canary"} & set(canary.content.lower().replace("_", " ").split())
    before = (project.folder / canary.path).read_text() if (project.folder / canary.path).exists() else None
    project.write(canary.path, canary.content)
    plain = project.plain(command)
    broken = project.run(command)
    assert broken.exit_code == plain.returncode != 0, broken.output
    if canary.name:
        assert base.passed <= broken.passed
        assert [one for one in broken.failed if one.endswith(canary.name)], (broken.count, broken.output)
    assert broken.failed
    assert broken.count.failed >= 1

    # Alone, the file with it fails, and a file without it passes.
    alone = project.run_only(command, canary.only)
    if not known.registered:
        assert alone.exit_code != 0
        assert alone.count.failed >= 1, alone.output
    else:
        assert alone is None
    if before is None:
        (project.folder / canary.path).unlink()
    else:
        project.write(canary.path, before)
    files = [path for path in suite.test_files(sorted(known.files)) if not path.startswith("src/lib")]
    single = project.run_only(command, files[:1])
    if not known.registered:
        assert single.exit_code == 0, (single.command, single.output)
        assert 0 < single.count.passed <= len(known.tests)
    chosen = known.tests[-1]
    if known.registered or suite.runners[0].select.names:
        of_chosen = [path for path in files if path in chosen] or files[:1]
        named = project.run_only(command, [] if known.registered else of_chosen, [chosen])
        assert named.exit_code == 0, (named.command, named.output)
        assert named.count.passed >= 1, named.output

    # Without its tests there is nothing yet.
    for path in files:
        (project.folder / path).unlink()
    if not known.registered and name not in {"cargo", "minitest-rake"}:  # src/lib.rs stays; rake says nothing
        empty = project.run(command)
        assert empty.count.ran in {0, None}, (empty.count, empty.output)
        assert nothing_yet(suite, empty.output, empty.exit_code, empty.count), empty.output


@pytest.mark.parametrize("name", ["gradle", "maven", "dotnet"])
def test_a_project_whose_tools_cannot_be_had_here_is_still_understood(name, tmp_path):
    from benchmarks.skeletons import all_skeletons

    known = all_skeletons()[name](tmp_path)
    from agents.runners.suite import suite_of

    suite = suite_of(known.command, tmp_path)
    assert [row.name for row in suite.runners] == [name]
    files = suite.test_files(known.files)
    assert len(files) == 1
    assert suite.manifests(known.files)
    from state.records import UNCOUNTED

    canary = canary_for(suite, UNCOUNTED, TOKEN)
    assert canary.path.rsplit("/", 1)[0] == files[0].rsplit("/", 1)[0]
    assert skeleton(name).runs_here is False
