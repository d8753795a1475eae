"""The rules: fallbacks on facts. Not satisfied only on clear evidence; else satisfied, or nothing."""

from pathlib import Path

import pytest
from language.tables import rows, table
from sessions import FAILING, PASSING, edit, evidence, ran, read, todos, write

import prompts
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.project.files import belongs_to_tests

CODE = write()
TESTS = read("/project/tests/test_price.py", "def test_a(): ...")


def verdict(rule, *parts, **words):
    """True, False, or None where the facts do not decide it."""
    found = RULES[rule](evidence(*parts, **words))
    return None if found is None else found.satisfied


def test_each_rule_belongs_to_a_shipped_consideration():
    assert set(RULES) <= {one.id for one in load_considerations(None).considerations}


def test_what_cannot_apply_is_satisfied_and_says_so():
    for rule in (
        "todos_complete",
        "local_testing",
        "philosophy_compliance",
    ):
        found = RULES[rule](evidence())
        assert found is not None
        assert (found.satisfied, found.applies) == (True, False), rule


# --- tests and checks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "met"),
    [
        ([CODE, PASSING], True),
        ([CODE], None),
        ([TESTS, CODE], None),
        ([PASSING, CODE], False),
        ([CODE, PASSING, write("/project/shop/style.css", "a {}")], True),
        ([CODE, PASSING, edit("/project/shop/price.py", "# the rate", "# the rate in percent")], True),
        ([CODE, FAILING], False),
        ([CODE, FAILING, edit("/project/shop/price.py", "RATE = 10", "RATE = 12"), PASSING], True),
        ([CODE, PASSING, write("/project/README.md")], True),
        ([CODE, PASSING, write("/project/.gitignore", "*.pyc")], True),
        ([CODE, ran("pytest -q | tail -1", "4 passed in 0.1s")], True),
        ([CODE, ran("pytest -q | tail -1", "1 failed, 3 passed in 0.1s")], False),
        ([CODE, ran("pytest -q > out.txt; echo done", "done")], None),
        ([CODE, ran("pytest -q > out.txt 2>&1; echo all tests pass", "all tests pass")], None),
        ([CODE, ran("echo 'all tests pass'", "all tests pass")], None),
        ([PASSING, CODE, ran("echo 'all tests pass'", "all tests pass")], False),
        ([CODE, FAILING, ran("rm tests/test_price.py"), PASSING], None),
        ([CODE, FAILING, ran("pytest -q -k 'not price'", "8 passed, 1 deselected in 0.1s")], None),
        ([CODE, FAILING, ran("git checkout tests/test_price.py"), PASSING], None),
        ([CODE, ran("cargo test -p invoice-cli", "test result: ok. 4 passed; 0 failed")], None),
        (
            [
                CODE,
                FAILING,
                edit("/project/tests/test_price.py", "def test_a():", "@pytest.mark.skip\ndef test_a():"),
                PASSING,
            ],
            None,
        ),
    ],
)
def test_tests_have_to_run_after_the_last_change_to_code_and_pass(steps, met):
    assert verdict("local_testing", *steps) is met


@pytest.mark.parametrize(
    "line",
    [
        "docker compose run --rm app pytest -q",
        "turbo run test",
        "dune runtest",
        "kubectl exec web -- npm test",
    ],
)
def test_tests_in_containers_and_by_less_common_runners_are_test_runs(line):
    assert verdict("local_testing", CODE, ran(line)) is True


@pytest.mark.parametrize("line", ["mix precommit", "bin/everything", "earthly +all", "make"])
def test_a_program_that_nobody_knows_may_have_run_the_tests(line):
    assert verdict("local_testing", CODE, ran(line, "41 tests, 0 failures")) is True
    assert verdict("local_testing", CODE, ran(line, "!Exit code 1\n41 tests, 2 failures")) is False
    assert verdict("local_testing", PASSING, CODE, ran(f"{line} > log.txt 2>&1")) is None
    assert verdict("local_testing", PASSING, CODE, ran("git status"), ran("python3 -m shop 3")) is False


def test_failing_tests_are_not_forgotten_because_others_pass():  # lesson 42
    regressed = ran(
        "pytest -q", "!Exit code 1\nFAILED tests/test_old.py::test_fix\n1 failed, 9 passed in 0.1s"
    )
    some = ran("pytest -q tests/test_new.py", "3 passed in 0.1s")
    assert verdict("local_testing", CODE, some, regressed) is False
    assert verdict("local_testing", CODE, regressed, some) is None
    repaired = edit("/project/shop/price.py", "RATE = 10", "RATE = 12")
    assert verdict("local_testing", CODE, regressed, repaired, PASSING) is True


@pytest.mark.parametrize(
    "steps",
    [
        [write("/project/site/style.css", "a { color: red }")],
        [write("/project/Dockerfile", "FROM python:3.12"), ran("docker build -t shop .", "Successfully built 1f2")],
        [write("/project/k8s/web.yaml", "kind: Service"), ran("kubectl apply --dry-run=server -f k8s", "created (dry run)")],
        [write("/project/db/view.sql", "create view v as select 1"), ran("psql -f db/view.sql", "CREATE VIEW")],
        [write("/project/main.tf", "resource {}"), ran("terraform validate && terraform plan", "Success! No changes.")],
        [write("/project/eda.ipynb", "{}"), ran("jupyter nbconvert --execute eda.ipynb", "Writing 9 bytes")],
        [write("/project/once.py", "print(1)"), ran("python once.py", "1")],
    ],
)  # fmt: skip
def test_where_there_is_no_test_to_run_finished_work_is_not_held(steps):
    assert verdict("local_testing", *steps) is not False


def test_a_user_who_wants_a_test_run_or_none_is_heeded():
    assert verdict("local_testing", CODE, prompt="Change the rate and run the tests.") is False
    assert verdict("local_testing", PASSING, CODE) is False
    asked = {"prompt": "Change the rate, and don't run the tests."}
    assert verdict("local_testing", PASSING, CODE, **asked) is None


ONE_FAILS = ran(
    "npx vitest run",
    "!Exit code 1\n FAIL  billing/dunning.test.ts > sends on Monday\n Tests  1 failed | 8 passed (9)",
)


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


def test_a_run_on_work_that_was_put_away_shows_nothing_of_it():
    before = ran("git stash -q && pytest -q; git stash pop -q", "1 failed, 3 passed in 0.1s")
    assert verdict("local_testing", CODE, ran("pytest -q", "4 passed in 0.1s"), before) is True


def test_a_script_without_an_ending_is_code_in_a_folder_of_scripts():
    changed = ran("sed -i 's/7/14/' bin/rotate")
    bats = ran("bats test", "1..2\nok 1 keeps\nok 2 rotates")
    assert verdict("local_testing", write("/project/bin/rotate", "#!/bin/sh\n"), bats, changed) is False
    assert verdict("local_testing", write("/project/bin/rotate", "#!/bin/sh\n"), changed, bats) is True


# --- what is written --------------------------------------------------------------------------------------


@pytest.mark.parametrize(*rows(__file__, "files_that_hold_tests"))
def test_stubs_and_marks_are_found_in_what_was_written(path, content):
    assert verdict("philosophy_compliance", write(path, content)) is False


@pytest.mark.parametrize(*rows(__file__, "contents"))
def test_what_only_looks_like_a_stub_is_none(path, content):
    assert verdict("philosophy_compliance", write(path, content)) is not False


def test_a_mark_that_the_user_asked_for_by_name_is_none():
    marked = write("/project/a.py", "# TODO(SHOP-12): gift cards\nRATE = 1\n")
    assert verdict("philosophy_compliance", marked) is False
    asked = "Leave a TODO for SHOP-12 in a.py."
    assert verdict("philosophy_compliance", marked, prompt=asked) is not False


def test_a_hole_that_the_user_asked_for_in_the_languages_own_words_is_finished():
    hole = edit("/project/src/lib.rs", "", 'fn read() -> u8 { todo!("the sensor") }')
    assert verdict("philosophy_compliance", hole) is False
    assert verdict("philosophy_compliance", hole, prompt="Add read() with `todo!()` for now.") is None


def test_a_mark_that_was_removed_again_or_was_there_before_does_not_count():
    path = "/project/a.py"
    marked = write(path, "x = 1  # TODO\n")
    assert verdict("philosophy_compliance", marked, edit(path, "x = 1  # TODO", "x = 2")) is not False
    assert verdict("philosophy_compliance", marked, ran(f"rm {path}")) is not False
    assert verdict("philosophy_compliance", marked, ran("git checkout -- a.py")) is not False
    assert verdict("philosophy_compliance", marked, write(path, "x = 2\n")) is not False
    kept = edit(path, "# TODO old\nx = 1", "# TODO old\nx = 2")
    assert verdict("philosophy_compliance", kept) is True


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/a.py", True), ("a/test_x.py", True), ("x_test.go", True), ("x.spec.ts", True), ("x.test.js", True),
        ("conftest.py", True), ("src/__tests__/x.js", True), ("testdata/x.json", True),
        ("latest.py", False), ("attest.go", False), ("src/contest/x.py", False), ("protest_x.py", False),
    ],
)  # fmt: skip
def test_tests_are_told_by_their_folders_and_names(path, is_test):
    assert belongs_to_tests(path) is is_test


# --- the work ---------------------------------------------------------------------------------------------


def test_an_open_todo_is_unmet_and_one_that_the_user_took_back_is_not_checked():
    assert verdict("todos_complete", todos(a="completed", b="completed")) is True
    assert verdict("todos_complete", todos(a="completed", b="in_progress")) is False
    assert verdict("todos_complete", todos(a="pending"), "Also rename the flag.") is False
    assert verdict("todos_complete", todos(a="pending"), "Forget that, rename the flag instead.") is None


@pytest.mark.parametrize("words", table(__file__, "words"))
def test_offers_and_negations_announce_no_work(words):  # lesson 32
    assert verdict("next_steps", CODE, final=words) is True


@pytest.mark.parametrize("words", table(__file__, "other_words"))
def test_announced_work_of_its_own_is_found(words):
    assert verdict("next_steps", CODE, final=words) is False


@pytest.mark.parametrize("name", ["build", "refused", "answered", "checkpoint", "guidance", "plan_first"])
def test_no_prompt_of_a_worker_reads_as_if_the_user_asked_for_unfinished_code_or_against_tests(name):
    own = (Path(prompts.__file__).parent / f"{name}.md.j2").read_text("utf-8")
    stub = write("/project/a.py", "def total():\n    raise NotImplementedError\n")
    assert verdict("philosophy_compliance", own, stub) is False
    assert verdict("philosophy_compliance", f"{own}\nLeave total a stub.", stub) is None
    assert verdict("local_testing", own, PASSING, CODE) is False
    assert verdict("local_testing", f"{own}\nDo not run the tests.", PASSING, CODE) is None
