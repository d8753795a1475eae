"""Counts from outputs and reports of real tools, those that cannot run here too; what cannot be read stays unknown."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from orchestrator.project.runners.counting import count
from orchestrator.project.runners.reporting import prepare
from orchestrator.project.runners.suite import suite_of
from state.records.commands import UNCOUNTED, TestState

OUTPUTS = Path(__file__).parent / "outputs"
PASSED, FAILED, SKIPPED = TestState


def counted(command, output, folder, exit_code=0):
    return count(suite_of(command, folder), output, exit_code, folder / "no reports")


def numbers(told):
    return told.passed, told.failed, told.skipped


@pytest.mark.parametrize(*rows(__file__, "recorded"))
def test_a_runner_is_counted_by_what_it_prints(command, file, expected, tmp_path):
    output = (OUTPUTS / file).read_text("utf-8")
    assert numbers(counted(command, output, tmp_path, 1)) == tuple(expected)


@pytest.mark.parametrize(*rows(__file__, "failing"))
def test_names_come_from_the_output_where_it_has_them_all(command, file, failed, one, tmp_path):
    told = counted(command, (OUTPUTS / file).read_text("utf-8"), tmp_path, 1)
    assert told.tests[failed] is FAILED
    assert told.tests[one] is PASSED


@pytest.mark.parametrize(*rows(__file__, "uncounted"))
def test_a_command_that_says_that_it_ran_no_test_is_told_so(command, output, exit_code, tmp_path):
    told = counted(command, output, tmp_path, exit_code)
    assert told.says_none
    assert told.ran == 0


@pytest.mark.parametrize(
    "command", ["pytest", "go test ./...", "npm test", "./gradlew test", "./run", "rspec", "make check"]
)
@pytest.mark.parametrize("output", table(__file__, "unreadable"))
def test_what_cannot_be_read_is_unknown_and_never_none(command, output, tmp_path):
    told = counted(command, output, tmp_path)
    assert told == UNCOUNTED
    assert told.ran is None


@pytest.mark.parametrize(*rows(__file__, "unknown_runner"))
def test_an_unknown_runner_is_read_by_the_counts_beside_its_words(output, expected, tmp_path):
    assert numbers(counted("./scripts/everything", output, tmp_path, 1)) == tuple(expected)


@given(st.text(alphabet=st.sampled_from("abcdefgh 0123456789:.,=()#-ok\n"), max_size=300))
def test_text_without_words_of_tests_is_never_counted(text):
    from orchestrator.project.runners.listings import general_count

    told = general_count(text)
    assert told.ran is None or "ok" in text or told.says_none


@given(passed=st.integers(0, 999), failed=st.integers(0, 99), skipped=st.integers(0, 99))
def test_numbers_of_pytest_are_read_as_they_were_printed(passed, failed, skipped):
    words = [
        f"{number} {word}"
        for number, word in ((failed, "failed"), (passed, "passed"), (skipped, "skipped"))
        if number
    ]
    output = f"==== {', '.join(words) or 'no tests ran'} in 0.12s ====\n"
    told = counted("make-believe; pytest", output, Path("/nowhere"), 1)
    assert told.ran == passed + failed
    assert told.says_none == (passed + failed + skipped == 0)


def test_reports_that_a_runner_leaves_in_the_project_are_read_unless_they_are_older(tmp_path):
    import os

    suite = suite_of("mvn test", tmp_path)
    reports = tmp_path / "reports"
    reports.mkdir()
    target = tmp_path / "target" / "surefire-reports"
    target.mkdir(parents=True)
    shutil.copy(OUTPUTS / "surefire.xml", target / "TEST-shop.PricesTest.xml")
    assert "started" in prepare(suite, reports, {}).command
    (reports / "started").touch()
    told = count(suite, "", 1, reports)
    assert told.tests == {
        "shop.PricesTest.nothing": PASSED,
        "shop.PricesTest.several": PASSED,
        "shop.PricesTest.half": FAILED,
        "shop.PricesTest.later": SKIPPED,
    }
    os.utime(target / "TEST-shop.PricesTest.xml", (1, 1))
    assert count(suite, "", 1, reports) == UNCOUNTED


@pytest.mark.parametrize(
    ("command", "file", "place", "failed"),
    [
        ("dotnet test", "results.trx", "dotnet/results.trx", "Shop.Tests.PricesTests.Half"),
        ("dart test", "dart.jsonl", "dart.jsonl", "test/prices_test.dart > half"),
    ],
)
def test_reports_of_other_forms_are_read(command, file, place, failed, tmp_path):
    target = tmp_path / "reports" / place
    target.parent.mkdir(parents=True)
    shutil.copy(OUTPUTS / file, target)
    told = count(suite_of(command, tmp_path), "", 1, tmp_path / "reports")
    assert numbers(told) == (1, 1, 1)
    assert told.tests[failed] is FAILED


def test_a_report_that_was_cut_off_counts_nothing(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "pytest.xml").write_text("<testsuites><testsuite><testcase name='a'/>")
    assert count(suite_of("pytest", tmp_path), "", None, tmp_path / "reports") == UNCOUNTED


def test_several_runners_in_one_command_add_up(tmp_path):
    output = "3 passed in 0.1s\n\n  4 passing (2ms)\n  1 failing\n"
    told = counted("pytest && mocha", output, tmp_path, 1)
    assert numbers(told) == (7, 1, 0)


def test_an_exception_after_the_last_test_of_ava_is_no_clean_run(tmp_path):
    output = (
        "\n  \u2714 adds\n  \u2718 a.js exited with a non-zero exit code: 1\n  \u2500\n\n  1 test passed\n"
    )
    assert numbers(counted("ava", f"{output}  1 uncaught exception\n", tmp_path, 1)) == (1, 1, 0)


def test_a_second_run_that_wrote_over_the_report_of_the_first_leaves_the_numbers(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "pytest.xml").write_text(
        '<testsuites><testsuite><testcase classname="b" name="test_b" file="b.py"/></testsuite></testsuites>'
    )
    told = count(
        suite_of("pytest a && pytest b", tmp_path),
        "2 passed in 0.1s\n1 passed in 0.1s\n",
        0,
        tmp_path / "reports",
    )
    assert (told.passed, told.tests) == (3, {})


# --- reports that a process of the project wrote instead of its runner ----------------------------------

CASE = '<testcase classname="test_a" name="test_one"/>'
ODD_REPORTS = {
    "cut off": f"<testsuite>{CASE}",
    "nested": "<testsuite>" * 5_000 + CASE + "</testsuite>" * 5_000,
    "no text": "\0\1",
    "another kind": "{}",
    "a long name": f'<testsuite><testcase name="{"x" * 20_000}"/></testsuite>',
    "too many tests": f"<testsuite>{CASE * 200_001}</testsuite>",
}


@pytest.mark.parametrize("odd", ODD_REPORTS)
def test_an_odd_report_is_not_counted(odd, tmp_path):
    suite = suite_of("python -m pytest", tmp_path)
    (tmp_path / "pytest.xml").write_text(ODD_REPORTS[odd])
    assert count(suite, "", 0, tmp_path) == UNCOUNTED


@pytest.mark.parametrize(
    "leave",
    [
        os.mkfifo,
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to(path.parents[1] / "outside.xml"),
        lambda path: (path.touch(), os.truncate(path, 1 << 40)),
        Path.mkdir,
    ],
    ids=["a pipe", "a link to itself", "a link out", "a hole", "a folder"],
)
def test_what_is_no_report_is_neither_waited_for_nor_read(leave, tmp_path):
    (tmp_path / "outside.xml").write_text(f"<testsuite>{CASE}</testsuite>")
    reports = tmp_path / "reports"
    reports.mkdir()
    leave(reports / "pytest.xml")
    assert count(suite_of("python -m pytest", tmp_path), "", 0, reports) == UNCOUNTED


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("command", "piece"), [("pytest -v", "a::"), ("ruby -Itest test/a_test.rb", "#"), ("ruby -Itest test/a_test.rb", "test_("), ("pytest", "\x1b]8;;")]
)  # fmt: skip
def test_an_output_cannot_stop_the_count(command, piece, tmp_path):
    line = piece * (1_900 // len(piece)) + "\n"
    assert counted(command, line * 1_000, tmp_path, 1) == UNCOUNTED


def test_many_tests_of_one_name_are_counted_at_once(tmp_path):
    (tmp_path / "rspec.json").write_text(
        json.dumps(
            {
                "examples": [{"file_path": "a", "full_description": "b", "status": "passed"}] * 50_000,
                "summary": {},
            }
        )
    )
    assert count(suite_of("rspec", tmp_path), "", 0, tmp_path).passed == 50_000


def test_names_that_cannot_be_stored_are_replaced_and_endless_errors_are_not_counted(tmp_path):
    suite = suite_of("rspec", tmp_path)
    example = {"file_path": "a", "full_description": "\ud800", "status": "passed"}
    (tmp_path / "rspec.json").write_text(json.dumps({"examples": [example], "summary": {}}))
    assert list(count(suite, "", 0, tmp_path).tests) == ["a > ?"]
    endless = {"errors_outside_of_examples_count": 10**12}
    (tmp_path / "rspec.json").write_text(json.dumps({"examples": [], "summary": endless}))
    assert count(suite, "", 0, tmp_path) == UNCOUNTED


@pytest.mark.late
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["examples", "summary", "testResults", "name", "state", "event", "type"])
                | st.text(),
                inner,
            )
        ),
    )
)
def test_any_json_is_a_count_or_none(tmp_path_factory, value):
    reports = tmp_path_factory.mktemp("reports")
    for command, name in (
        ("rspec", "rspec.json"),
        ("npx jest", "jest.json"),
        ("node --test", "node-1.jsonl"),
    ):
        (reports / name).write_text(json.dumps(value))
        told = count(suite_of(command, reports), "", 0, reports)
        assert all(isinstance(test, str) for test in told.tests)
