"""Rules on runs: failures that the user leaves, checks behind a pipe, tests of another package, replies."""

import pytest
from sessions import edit, evidence, ran, read, write

from orchestrator.gates.power_steering.considerations import SessionType
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_type import session_type_of

CODE = write()
ONE_FAILS = ran(
    "npx vitest run",
    "!Exit code 1\n FAIL  billing/dunning.test.ts > sends on Monday\n Tests  1 failed | 8 passed (9)",
)


def verdict(rule, *parts, **words):
    """True, False, or None where the facts do not decide it."""
    found = RULES[rule](evidence(*parts, **words))
    return None if found is None else found.satisfied


@pytest.mark.parametrize(
    ("said", "met"),
    [
        ("Add the rate. The dunning test is red since the clock change, leave it.", None),
        ("Add the rate. (dunning fails on main already, not your job)", None),
        ("Add the rate. The export test is red, leave it alone.", False),
        ("Add the rate. dunning.test.ts fails, fix that too.", False),
        ("Add the rate.", False),
    ],
)
def test_a_failure_that_the_user_leaves_by_name_is_not_held_against_the_session(said, met):
    assert verdict("local_testing", CODE, ONE_FAILS, prompt=said) is met


@pytest.mark.parametrize(
    ("line", "output", "met"),
    [
        ("make all 2>&1 | tail -3", "cc -c a.c\na.c:3: error\nmake: *** [Makefile:4: a.o] Error 1", False),
        ("bazel build //app 2>&1 | tail -2", "ERROR: Build did NOT complete successfully", False),
        (
            "cargo build 2>&1 | tail -2",
            "error: could not compile `shop` (lib) due to 2 previous errors",
            False,
        ),
        ("cargo build 2>&1 | tail -2", "    Finished `dev` profile in 2.1s", None),
        (
            "ruff check --fix . && git commit -qam x",
            "Found 2 errors.",
            None,
        ),  # it decides, and the line ended with 0
        ("ruff check --fix . | tail -1", "Found 2 errors (2 fixed, 0 remaining).", None),
    ],
)
def test_a_build_whose_exit_code_a_pipe_hides_is_read_by_its_last_words(line, output, met):
    assert verdict("local_testing", CODE, ran(line, output)) is met


def test_a_run_on_work_that_was_put_away_shows_nothing_of_it():
    before = ran("git stash -q && pytest -q; git stash pop -q", "1 failed, 3 passed in 0.1s")
    assert verdict("local_testing", CODE, ran("pytest -q", "4 passed in 0.1s"), before) is True


def test_tests_left_out_by_a_program_that_is_known_by_its_counts_alone():
    failed = ran("./accept all", "5 tests, 3 passed, 2 failed")
    assert verdict("local_testing", CODE, failed, ran("./accept all", "5 tests, 5 passed, 0 failed")) is True
    assert (
        verdict("local_testing", CODE, failed, ran("./accept --exclude slow", "3 tests, 3 passed, 0 failed"))
        is False
    )


@pytest.mark.parametrize(
    ("script", "met"),
    [
        ("s/assertSent(/assertQueued(/", True),
        ("s/assert total == 3/total == 3/", False),
        ("/assert total/d", False),
        ("s/def test_total/@skip\\ndef test_total/", False),
    ],
)
def test_sed_on_a_test_takes_it_away_if_the_assertion_goes(script, met):
    failed, passed = ran("pytest -q", "!Exit code 1\n1 failed in 0.1s"), ran("pytest -q", "1 passed in 0.1s")
    steps = [CODE, failed, ran(f"sed -i '{script}' tests/test_total.py"), passed]
    assert verdict("local_testing", *steps) is met


def test_a_script_without_an_ending_is_code_in_a_folder_of_scripts():
    changed = ran("sed -i 's/7/14/' bin/rotate")
    bats = ran("bats test", "1..2\nok 1 keeps\nok 2 rotates")
    assert verdict("local_testing", write("/project/bin/rotate", "#!/bin/sh\n"), bats, changed) is False
    assert verdict("local_testing", write("/project/bin/rotate", "#!/bin/sh\n"), changed, bats) is True


def test_a_check_behind_a_pipe_that_never_fails_has_the_lines_exit_code():
    schema = write("/project/api/schema.graphql", "type A { b: Int }\n")
    failed = ran("npm run schema:check 2>&1 | tail -4", "!Exit code 1\ncannot be satisfied by the subgraphs")
    assert verdict("dev_workflow_complete", schema, failed) is False


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/Form.elm", '    Debug.todo "later"'),
        ("lib/a.dart", "  throw UnimplementedError();"),
        ("src/A.hs", "f = undefined"),
    ],
)
def test_holes_of_other_languages_are_unfinished_code(path, line):
    assert verdict("philosophy_compliance", write(f"/project/{path}", f"{line}\n")) is False


def test_documents_whose_build_failed_last_are_not_checked_as_the_project_wants():
    page = write("/project/docs/guide.md", "# Guide\n")
    failed = ran("mkdocs build --strict", "!Exit code 1\nAborted with 2 warnings in strict mode!")
    assert verdict("dev_workflow_complete", page, failed) is False
    assert verdict("dev_workflow_complete", page, failed, page, ran("mkdocs build --strict", "built")) is True


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("cargo test -p invoice", True),
        ("cargo test -p invoice-cli", False),
        ("cargo test --workspace", True),
        ("cargo test -p invoice-cli -p invoice", True),
        ("cargo test -p renamed", True),  # the crate of this folder may have any name
    ],
)
def test_tests_of_a_package_beside_the_changed_one_show_nothing(line, met):
    listed = ran("ls crates", "invoice\ninvoice-cli")
    change = write("/project/crates/invoice/src/lib.rs", "pub fn total() -> i64 { 3 }\n")
    passed = ran(line, "test result: ok. 4 passed; 0 failed; 0 ignored")
    assert verdict("local_testing", listed, change, passed) is met


def test_a_gradle_module_is_tested_by_its_own_task():
    manifest = read("/project/settings.gradle.kts", 'include("stock", "stock-web")')
    change = write("/project/stock/src/main/kotlin/Stock.kt", "fun left() = 3\n")
    other, own = (
        ran(f"./gradlew :{name}:test", "3 tests completed\nBUILD SUCCESSFUL")
        for name in ("stock-web", "stock")
    )
    lint = ran("./gradlew ktlintCheck", "BUILD SUCCESSFUL")
    assert verdict("local_testing", manifest, change, other, lint) is False
    assert verdict("local_testing", manifest, change, own, lint) is True


COMMENTS = ran(
    "gh api repos/a/b/pulls/7/comments", "71001 api.go:3 rename this\n71002 db.go:9 close the rows\n"
)
REPLY = ran("gh api -X POST repos/a/b/pulls/7/comments/71001/replies -f body='Renamed.'", "{}")
BOTH = ran("for c in 71001 71002; do gh api repos/a/b/pulls/7/comments/$c/replies -f body=done; done", "{}")

AGAIN = ran("gh api repos/a/b/pulls/7/comments", "71001 rename\n71002 close\n71003 done\n71004 done\n")


@pytest.mark.parametrize(
    ("said", "steps", "met"),
    [
        ("Answer every comment in its thread.", [COMMENTS, REPLY], False),
        ("Answer every comment in its thread.", [COMMENTS, BOTH], None),
        ("Answer every comment in its thread.", [COMMENTS], None),  # maybe answered elsewhere
        ("Answer every comment in its thread.", [COMMENTS, BOTH, AGAIN], None),  # with its own replies
        ("Reply to the one about the name.", [COMMENTS, REPLY], None),
    ],
)
def test_a_comment_without_a_reply_is_seen_by_its_id(said, steps, met):
    assert verdict("review_responses", *steps, prompt=said) is met


def test_files_changed_for_a_pull_request_are_development_whatever_they_are():
    flow = write("/project/.github/workflows/ci.yml", "on: push\n")
    assert session_type_of(evidence(flow)) is SessionType.MAINTENANCE
    opened = ran("gh pr create --title ci --body 'Cache the downloads.'", "https://github.com/a/b/pull/9")
    assert session_type_of(evidence(flow, opened)) is SessionType.DEVELOPMENT


def test_a_hole_that_the_user_asked_for_in_the_languages_own_words_is_finished():
    hole = edit("/project/src/lib.rs", "", 'fn read() -> u8 { todo!("the sensor") }')
    assert verdict("philosophy_compliance", hole) is False
    assert verdict("philosophy_compliance", hole, prompt="Add read() with `todo!()` for now.") is None
