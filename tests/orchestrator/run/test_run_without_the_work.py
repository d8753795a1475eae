"""The work taken out, and the base's tests as they were, where every reviewer says yes."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from language.scripted import SATISFIED, Rehearse, completes, passes, plans, signals, whole_run, writes
from language.tables import rows, table

from orchestrator.checks.change import Change
from orchestrator.checks.objecting import BASE_TESTS, CANARY, WITHOUT_WORK
from orchestrator.checks.of_tests.base_tests import _is_the_specs, _still_red
from state.journal.events import CompletionRefused, ProofsTaken
from state.outcome import Outcome
from state.records.commands import CommandRun, TestCount, TestState
from state.records.plan import Reading, ReadingKind

Shell = Callable[..., str]
PYTEST = ("python3 -m pytest -q -p no:cacheprovider",)
SHOP = "def price():\n    return 3\n"
WORK = SHOP + "\n\ndef half(n: int) -> int:\n    return n // 2\n"
TESTS = "from shop import price\n\n\ndef test_price():\n    assert price() == 3\n"
HALF = "from shop import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
RED = "import shop\n\n\ndef test_half_of_four():\n    assert shop.half(4) == 2\n"
ASKS = "# Half\n\nMake test_half_of_four pass.\n"
ADDS = "# Half\n\nAdd half(n), which halves.\n"
LIES = table(__file__, "lies")
STUB = "\n\ndef half(n: int) -> None:\n    return None\n"
MOCKED = (
    "from unittest import mock\nimport halves\n\n\ndef test_half():\n"
    "    with mock.patch('halves.half', return_value=2):\n        assert halves.half(4) == 2\n"
)
THIRD = "import shop\n\n\ndef test_third():\n    assert shop.third(9) == 3\n"
WITH_THIRD = {"shop.py": SHOP + "\n\ndef third(n: int) -> int:\n    return n // 3\n", "test_third.py": THIRD}


@pytest.fixture
def pytest_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.defpath}")


def begins_with(repository: Path, shell: Shell, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")


def work_of(files: dict[str, str], *, claims: int) -> list[object]:
    return [*(writes(name, text) for name, text in files.items()), *[completes()] * claims]


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_a_command_is_not_asked_of_new_tests_that_another_one_runs(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    marked = "import pytest\n\n\n@pytest.mark.serial\ndef test_serial():\n    assert True\n"
    settings = "[pytest]\nmarkers =\n    serial: alone\n"
    begins_with(
        repository,
        shell,
        {"shop.py": SHOP, "test_shop.py": TESTS, "test_s.py": marked, "pytest.ini": settings},
    )
    verify = [f"{PYTEST[0]} -m {words}" for words in ("'not serial'", "serial")]
    done = rehearse(
        whole_run(worker=work_of({"shop.py": WORK, "test_half.py": HALF}, claims=1)), spec=ADDS, verify=verify
    )
    untold = [one.words for proofs in done.of(ProofsTaken) for one in proofs.objections]
    assert not [one for one in untold if "which of the new tests show the change" in one], untold


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    ("spec", "base", "outcome"),
    [
        pytest.param(
            "- Add half(n) to halves.py.\n- Add third(n).\n", {}, Outcome.UNVERIFIED, marks=pytest.mark.late
        ),
        pytest.param(
            "- Implement `half(n)`, a stub so far in halves.py: it returns half of n.\n- Add third(n).\n",
            {"halves.py": STUB},
            Outcome.UNVERIFIED,
            marks=pytest.mark.late,
        ),
        pytest.param(
            "- Add third(n).\n- shop.py calls half(n) as before.\n",
            {"halves.py": STUB},
            Outcome.COMPLETE,
            marks=pytest.mark.late,
        ),
    ],
    ids=["a new one", "one that was there", "one that the spec does not ask for"],
)
def test_a_stub_that_the_spec_asks_for_is_said_once_and_ends_unverified(
    rehearse: Rehearse, repository: Path, shell: Shell, spec: str, base: dict[str, str], outcome: Outcome
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS, **base})
    work = {**WITH_THIRD, "halves.py": STUB, "test_half.py": MOCKED}
    plan = plans("notes")
    if outcome is Outcome.UNVERIFIED:  # of a function that was there only a criterion says what it shall do
        plan["tools"][0]["input"]["criteria"][0]["text"] = "half(n) returns half of n"
    done = rehearse(
        whole_run(planner=[plan], worker=work_of(work, claims=1 if outcome is Outcome.COMPLETE else 2)),
        spec=spec,
        verify=PYTEST,
        effort="low",
        ends=None,
    )
    assert done.outcome is outcome, done.output
    assert ("the body is that of a stub: halves.py: half" in done.output) is (outcome is Outcome.UNVERIFIED)


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    "lie", ["no test", *(pytest.param(one, marks=pytest.mark.late) for one in list(LIES)[1:])]
)
def test_work_that_no_test_needs_is_said_once_and_ends_unverified(
    rehearse: Rehearse, repository: Path, shell: Shell, lie: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    worker = work_of({"shop.py": WORK, **LIES[lie]}, claims=2)
    done = rehearse(
        whole_run(worker=worker),
        spec=ADDS,
        verify=PYTEST,
        effort="low",
        ends=Outcome.UNVERIFIED,
    )
    assert "no test fails without the work" in done.output
    assert "shop.py: half" in done.output
    assert "--merge-unverified" in done.output


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_a_new_module_of_a_package_that_was_there_is_product(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    old = "from shop.price import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    new = "from shop.price import mean\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n"
    base = {
        "shop/__init__.py": "",
        "shop/price.py": "def total(a):\n    return sum(a)\n",
        "test_price.py": old,
    }
    begins_with(repository, shell, base)
    work = {
        "shop/money.py": "def add(a):\n    return sum(a)\n",
        "shop/price.py": "from shop.money import add\n\n\ndef total(a):\n    return add(a)\n\n\n"
        "def mean(a):\n    return add(a) / len(a)\n",
        "test_mean.py": new,
    }
    worker = work_of(work, claims=2)
    spec = "# Mean\n\nAdd mean(a) to the prices.\n"
    done = rehearse(whole_run(worker=worker), verify=PYTEST, effort="low", spec=spec)
    assert "fails as it was" not in done.output


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_work_that_a_test_needs_is_complete(rehearse: Rehearse, repository: Path, shell: Shell) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    worker = work_of({"shop.py": WORK, "test_half.py": HALF}, claims=1)
    done = rehearse(whole_run(worker=worker), verify=PYTEST, effort="low")
    (answer,) = [one for one in done.view.evidence.proofs["", done.view.whole.tree].proofs if one.functions]
    assert [name.rpartition("::")[2].rpartition(".")[2] for name in answer.tests] == ["test_half"]


PRETENDS = table(__file__, "pretends")
HALVES = "import unittest\n\nfrom shop import half\n\n\nclass HalfTest(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(half{}, 2)\n"


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    "product",
    [
        "it reads a variable of the runner",
        *(pytest.param(one, marks=pytest.mark.late) for one in list(PRETENDS)[1:]),
    ],
)
def test_a_product_that_behaves_otherwise_when_it_is_tested_is_not_complete(
    rehearse: Rehearse, repository: Path, shell: Shell, product: str
) -> None:
    text, told = PRETENDS[product]
    old = "import unittest\n\nimport shop\n\n\nclass PriceTest(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(shop.price(), 3)\n"
    loads = {"conftest.py": "import shop\n"} if "rewrites" in product else {}
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": old, **loads})
    given = "()" if "patches" in product else "(4)"
    worker = work_of({"shop.py": SHOP + text, "test_the_half.py": HALVES.format(given)}, claims=3)
    done = rehearse(whole_run(worker=worker), verify=PYTEST, effort="low", ends=None)
    assert done.outcome in {Outcome.UNVERIFIED, Outcome.STUCK}, done.output
    assert told in done.output


WRONG = SHOP + "\n\ndef half(n):\n    return n\n"
LITTLE = table(__file__, "little")


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize("little", [pytest.param(one, marks=pytest.mark.late) for one in LITTLE])
def test_tests_that_show_little_are_not_enough(
    rehearse: Rehearse, repository: Path, shell: Shell, little: str
) -> None:
    files, told = LITTLE[little]
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    worker = work_of({"shop.py": WRONG, **files}, claims=3)
    done = rehearse(whole_run(worker=worker), verify=PYTEST, effort="low", ends=None)
    assert done.outcome in {Outcome.UNVERIFIED, Outcome.STUCK}, done.output
    assert told in done.output


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    ("test", "of_all"),
    [
        (
            {"test_half.py": HALF},
            "baseline, its canary, verification, the new tests alone, the work taken out, other results, the new assertions, python -O, a small change, the plain run",
        ),
        pytest.param(
            {},
            "baseline, its canary, verification, the work taken out, the plain run",
            marks=pytest.mark.late,
        ),
    ],
    ids=["with a test", "without a test"],
)
def test_a_plain_run_with_failing_tests_in_it_answers_two_questions(
    rehearse: Rehearse, repository: Path, shell: Shell, test: dict[str, str], of_all: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    count = repository.parent / "runs"
    counts = f"import pathlib\n\nwith open({str(count)!r}, 'a') as file:\n    file.write('x')\n"
    begins_with(repository, shell, {"conftest.py": counts})
    worker = work_of({"shop.py": WORK, **test}, claims=1 if test else 2)
    done = rehearse(
        whole_run(worker=worker),
        verify=PYTEST,
        effort="low",
        settings={"sandbox": "off"},
        ends=Outcome.COMPLETE if test else Outcome.UNVERIFIED,
    )
    assert CANARY in {one.check for one in done.view.evidence.proofs["", done.view.whole.tree].proofs}
    assert len(count.read_text()) == len(of_all.split(", "))


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_a_refactoring_without_new_tests_is_complete(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    moved = {"shop.py": "from prices import price\n", "prices.py": SHOP}
    done = rehearse(whole_run(worker=work_of(moved, claims=1)), verify=PYTEST, effort="low")
    whole = done.view.evidence.proofs["", done.view.whole.tree]
    assert WITHOUT_WORK not in {one.check for one in (*whole.proofs, *whole.objections)}


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    ("test", "spec"),
    [
        ("", ADDS),
        ("import pytest\n\n\n@pytest.mark.skip\ndef test_half_of_four():\n    pass\n", ASKS),
        ("import shop\n\n\ndef test_half_of_four():\n    assert shop.half(4) or True\n", ASKS),
    ],
    ids=["emptied", "skipped", "weakened"],
)
@pytest.mark.late
def test_a_failing_test_that_the_spec_brings_has_to_pass_as_it_was(
    rehearse: Rehearse, repository: Path, shell: Shell, test: str, spec: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS, "test_half.py": RED})
    wrong = SHOP + "\n\ndef half(n):\n    return n\n"
    worker = work_of({"shop.py": wrong, "test_half.py": test}, claims=2)
    done = rehearse(whole_run(worker=worker), spec=spec, verify=PYTEST, ends=None)
    assert done.outcome in {Outcome.UNVERIFIED, Outcome.STUCK}, done.output
    assert "test_half_of_four" in done.output


READS = "import pathlib\n\nfrom shop import price\n\n\ndef test_price():\n    assert pathlib.Path('prices.txt').read_text() == str(price())\n"
LOADS = "import yaml\n\nfrom shop import price\n\n\ndef test_price():\n    assert yaml.safe_load('3') == price()\n"
CHECKS = "from price_fixture import check\n\nfrom shop import price\n\n\ndef test_price():\n    check(price(), 3)\n"
CHECK = "def check(one, other):\n    assert one == other\n"


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    ("files", "lie"),
    [
        ({"test_shop.py": READS, "prices.txt": "3"}, {"prices.txt": "4"}),
        ({"test_shop.py": LOADS}, {"yaml.py": "def safe_load(text):\n    return 4\n"}),
        ({"test_shop.py": CHECKS, "price_fixture.py": CHECK}, {"price_fixture.py": "def check(*_): pass\n"}),
    ],
    ids=["data that a test reads", "a module in place of another", "a helper beside the product"],
)
@pytest.mark.late
def test_what_tests_read_and_load_is_as_it_was_wherever_it_lies(
    rehearse: Rehearse, repository: Path, shell: Shell, files: dict[str, str], lie: dict[str, str]
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, **files})
    worker = work_of({"shop.py": "def price():\n    return 4\n", **lie}, claims=2)
    done = rehearse(whole_run(worker=worker), verify=PYTEST, effort="low", ends=None)
    assert done.outcome in {Outcome.UNVERIFIED, Outcome.STUCK}, done.output
    assert "test_price fails as it was" in done.output


@pytest.mark.parametrize(*rows(__file__, "asked"))
def test_a_red_test_is_the_specs_by_its_name_its_file_or_for_the_suite(spec: str, asked: bool) -> None:
    name, change = (
        "tests/test_half.py::test_half_of_four",
        Change(repository=Path(), base="b", tree="t", spec=spec),
    )
    assert _is_the_specs(name, change, ["tests/test_half.py"]) is asked
    suite = Reading(kind=ReadingKind.SUITE, line=spec)
    assert _is_the_specs(name, replace(change, readings=(suite,)), ["tests/test_half.py"])


@pytest.mark.parametrize(
    ("name", "now", "left"),
    [
        ("tests/test_half.py::tests.test_half", {"tests/test_half.py::test_x": TestState.PASSED}, []),
        ("a.example/shop", {"a.example/shop/TestHalf": TestState.PASSED}, []),
        (
            "a.example/shop",
            {"a.example/shop/TestHalf": TestState.FAILED, "a.example/shop/TestPrice": TestState.PASSED},
            ["a.example/shop/TestHalf"],
        ),
        ("a.example/shop", {"a.example/shops/TestHalf": TestState.PASSED}, ["a.example/shop"]),
    ],
)
def test_a_file_or_package_that_could_not_be_loaded_is_as_red_as_its_tests(
    name: str, now: dict[str, TestState], left: list[str]
) -> None:
    count = TestCount(tests=now)
    done = CommandRun(command="pytest", exit_code=0, seconds=1.0, output_tail="", count=count)
    assert _still_red(name, done, ["shop.py", "tests/test_half.py", "tests/test_shop.py"]) == left


GO = {
    "go.mod": "module shop\n\ngo 1.18\n",
    "shop.go": "package shop\n\nfunc Price() int { return 3 }\n",
    "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestPrice(t *testing.T) {\n\tif Price() != 3 {\n\t\tt.Fatal("price")\n\t}\n}\n',
}
GO_WORK = 'package shop\n\nimport "strings"\n\nfunc Price() int { return 3 }\n\nfunc Half(n int) int { return n / 2 }\n\nfunc Shout(s string) string { return strings.ToUpper(s) }\n'
GO_LOGS = 'package shop\n\nimport "testing"\n\nfunc TestHalf(t *testing.T) { t.Log(Half(4), Shout("a")) }\n'
GO_TESTS = 'package shop\n\nimport "testing"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(4) != 2 || Shout("a") != "A" {\n\t\tt.Fatal("half")\n\t}\n}\n'


@pytest.mark.parametrize(
    ("test", "outcome", "claims"),
    [(GO_LOGS, Outcome.UNVERIFIED, 2), (GO_TESTS, Outcome.COMPLETE, 1)],
    ids=["a test that only logs", "an honest test"],
)
@pytest.mark.late
def test_a_test_in_go_that_only_logs_shows_nothing(
    rehearse: Rehearse, repository: Path, shell: Shell, test: str, outcome: Outcome, claims: int
) -> None:
    if not shutil.which("go"):
        pytest.skip("there is no go here")
    begins_with(repository, shell, GO)
    worker = work_of({"shop.go": GO_WORK, "half_test.go": test}, claims=claims)
    done = rehearse(whole_run(worker=worker), verify=("go test ./...",), effort="low", ends=None)
    assert done.outcome is outcome, done.output


def test_a_command_that_only_builds_asks_for_no_test(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    if not shutil.which("go"):
        pytest.skip("there is no go here")
    begins_with(repository, shell, {name: text for name, text in GO.items() if name != "shop_test.go"})
    worker = work_of({"shop.go": GO_WORK}, claims=1)
    rehearse(whole_run(worker=worker), verify=("go build ./...",), effort="low")


CHANGED = TESTS.replace("price() == 3", "price() == '3'")
NAMING = "- `price()` returns a text from now on."
ANNOUNCED = f"# Price\n\n{NAMING}\n- Prices are shown.\n"
AS_TEXT = {"shop.py": "def price():\n    return '3'\n", "test_shop.py": CHANGED}
NAME = "test_shop.py::test_price"


def rules(ruling: str, **more: Any) -> dict[str, Any]:
    tests = [{"test": NAME, "ruling": ruling, "why": "the spec says so"}]
    return signals("report_review", passed=True, issues=[], tests=tests, **more)


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    ("line", "reviewed", "outcome"),
    [
        pytest.param(NAMING, True, Outcome.COMPLETE, id="names the function"),
        pytest.param(NAMING, False, Outcome.UNVERIFIED, id="nobody reviewed"),
        pytest.param("- Prices are shown.", True, Outcome.UNVERIFIED, id="no name"),
    ],
)
def test_a_changed_test_is_announced_by_a_reviewed_line_that_names_it(
    rehearse: Rehearse, repository: Path, shell: Shell, line: str, *, reviewed: bool, outcome: Outcome
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    plan = plans("notes")
    plan["tools"][0]["input"]["tests_that_change"] = [{"test": NAME, "line": line}]
    is_announced = outcome is Outcome.COMPLETE
    hears = (
        [] if is_announced else [completes(prompt_contains=[f"{NAME} fails as it was", "quote the line of"])]
    )
    said_nothing = [] if is_announced else [passes(prompt_contains=[NAME, "fails as it was"])]
    accepts = rules("accepted", **({} if is_announced else {"expect": {"tool_results_contain": [NAME]}}))
    callers = whole_run(
        planner=[plan],
        worker=[*work_of(AS_TEXT, claims=1), *hears],
        reviewer=[*said_nothing, passes() if is_announced else accepts],
    )
    done = rehearse(callers, spec=ANNOUNCED, verify=PYTEST, plan_review=reviewed, ends=None)
    assert done.outcome is outcome, done.output
    assert done.view.tasks["notes"].merged_commit
    assert ("the reviewer accepts: the spec says so" in done.output) is not is_announced


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize("notes", [f"test_price: {NAMING}", "test_price had to change.", NAMING])
def test_a_claim_that_quotes_the_spec_for_a_changed_test_is_not_asked_for_the_quote_again(
    rehearse: Rehearse, repository: Path, shell: Shell, notes: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    quotes = signals("task_complete", summary="Done.", tests="All pass.", notes=notes)
    *writing, _ = work_of(AS_TEXT, claims=1)
    is_quoted = "test_price" in notes and NAMING in notes
    hears = [] if is_quoted else [completes(prompt_contains=["quote the line of"])]
    callers = whole_run(worker=[*writing, quotes, *hears], reviewer=[rules("accepted"), rules("accepted")])
    done = rehearse(callers, spec=ANNOUNCED, verify=PYTEST, ends=Outcome.UNVERIFIED)
    assert "the reviewer accepts: the spec says so" in done.output


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_a_changed_row_of_a_table_is_announced_by_a_line_that_names_what_its_checks_call(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    tip = "def tip(cents, percent):\n    return cents * percent // 100\n"
    row = "import pytest\nfrom share import tip\n\n\n@pytest.mark.parametrize('cents, percent, due', [(999, 10, {})])\n"
    test = f"{row}def test_tip(cents, percent, due):\n    assert tip(cents, percent) == due\n"
    begins_with(repository, shell, {"share.py": tip, "test_share.py": test.format(99)})
    line = "- A tip is rounded up: `tip(999, 10)` is 100."
    plan = plans("notes")
    plan["tools"][0]["input"]["tests_that_change"] = [{"test": "test_share.py::test_tip", "line": line}]
    rounded = "def tip(cents, percent):\n    return -(-cents * percent // 100)\n"
    work = {"share.py": rounded, "test_share.py": test.format(100)}
    callers = whole_run(planner=[plan], worker=work_of(work, claims=1))
    done = rehearse(callers, spec=f"# Tips\n\n{line}\n", verify=PYTEST, plan_review=True)
    assert {one.because for proofs in done.of(ProofsTaken) for one in proofs.of(BASE_TESTS)} == {line}


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"- `{NAME}` now expects a text.", id="says the change"),
        pytest.param("- Update test_price in test_shop.py.", id="names the test"),
        pytest.param("- The test test_price stays as it is now.", id="says that it stays"),
        pytest.param("- The price is a text now.", id="names no test"),
    ],
)
def test_without_a_planner_no_line_of_the_spec_announces_a_changed_test(
    rehearse: Rehearse, repository: Path, shell: Shell, line: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    callers = {
        "worker/spec/1": work_of(AS_TEXT, claims=2),
        "reviewer/spec/*": [rules("accepted")],
        "judge/*": [SATISFIED],
    }
    spec = f"# Price\n\nThe function price returns the text '3'.\n{line}\n"
    done = rehearse(callers, spec=spec, verify=PYTEST, settings={"workflow": "direct"}, ends=None)
    assert done.outcome is Outcome.UNVERIFIED, done.output


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
@pytest.mark.parametrize(
    "check",
    [
        pytest.param("assert price() is not False", id="accepts anything"),
        pytest.param("price()", id="checks nothing"),
    ],
)
def test_an_announced_test_that_shows_nothing_of_the_work_is_not_announced(
    rehearse: Rehearse, repository: Path, shell: Shell, check: str
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    plan = plans("notes")
    plan["tools"][0]["input"]["tests_that_change"] = [{"test": NAME, "line": NAMING}]
    hollow = {
        "shop.py": "def price():\n    return 4\n",
        "test_shop.py": TESTS.replace("assert price() == 3", check),
    }
    hollow["test_half.py"] = "import shop\n\n\ndef test_four():\n    assert shop.price() > 3\n"
    hears = completes(prompt_contains=[f"{NAME} may check less"])
    callers = whole_run(
        planner=[plan],
        worker=[*work_of(hollow, claims=1), hears],
        reviewer=[rules("accepted", expect={"prompt_contains": [f"+ {check}"]})],
    )
    done = rehearse(callers, spec=ANNOUNCED, verify=PYTEST, plan_review=True, ends=Outcome.UNVERIFIED)
    assert f"{NAME} may check less" in done.output


@pytest.mark.usefixtures("pytest_here")
@pytest.mark.late
def test_a_weakened_test_that_still_passes_is_named_and_goes_back_if_it_is_refused(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    weak = {"shop.py": WORK, "test_half.py": HALF, "test_shop.py": TESTS.replace("== 3", "> 0")}
    back = [
        writes("test_shop.py", TESTS, expect={"prompt_contains": [NAME, "the spec says so"]}),
        completes(),
    ]
    sees = {
        "expect": {
            "prompt_contains": [f"{NAME} may check less", "- assert price() == 3", "+ assert price() > 0"]
        }
    }
    callers = whole_run(
        worker=[*work_of(weak, claims=1), completes(prompt_contains=[f"{NAME} may check less"])],
        reviewer=[rules("refused", **sees)],
        **{"worker/notes/2": back, "reviewer/notes/2": [passes()]},
    )
    done = rehearse(callers, verify=PYTEST, effort="low", settings={"sandbox": "off"})
    assert [one.attempt for one in done.of(CompletionRefused)] == [1]


@pytest.mark.late
@pytest.mark.usefixtures("pytest_here")
def test_nobody_is_said_to_accept_a_changed_test_on_which_no_reviewer_ruled(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    begins_with(repository, shell, {"shop.py": SHOP, "test_shop.py": TESTS})
    weak = {"shop.py": WORK, "test_half.py": HALF, "test_shop.py": TESTS.replace("== 3", "> 0")}
    silent = {"text": '```json\n{"passed": true, "issues": []}\n```'}
    callers = whole_run(worker=work_of(weak, claims=2), reviewer=[silent])
    done = rehearse(callers, verify=PYTEST, effort="low", ends=Outcome.UNVERIFIED)
    assert f"{NAME} may check less than it did (no reviewer ruled on it)" in done.output
