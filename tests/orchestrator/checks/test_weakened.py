"""What a changed test checks beside its text of before, and which names its changed lines hold."""

from dataclasses import replace

import pytest
from language.tables import table

from orchestrator.checks.of_tests.edits import edits_of, identifiers_for
from orchestrator.checks.of_tests.weakened import weakened, with_built_together
from state.records.reviews import TestChange, TestChangeKind

PY = table(__file__, "py")
JS = table(__file__, "js")
GO = table(__file__, "go")
RUBY = "describe 'calc' do\n  it 'adds' do\n    expect(add(2, 3)).to eq(5)\n  end\nend\n"
PERL = "use Test::More;\nis(Calc::add(2, 3), 5, 'adds');\nis(Calc::mul(2, 3), 6, 'multiplies');\n"
FILES = {"test_shop.py": PY, "calc.test.js": JS, "calc_test.go": GO, "calc_spec.rb": RUBY, "t/calc.t": PERL}
WEAKER = table(__file__, "weaker")
AS_STRONG = table(__file__, "as_strong")


def test_a_name_that_the_product_no_longer_gives_may_be_another_one() -> None:
    renamed = {
        "test_shop.py": PY.replace("price", "cost").encode(),
        "shop.py": b"def cost():\n    return 3\n",
    }
    before, product = {"test_shop.py": PY.encode()}, {"shop.py": b"def price():\n    return 3\n"}
    assert weakened(edits_of(before, renamed, moved={}, product=product), [], []) == []
    assert weakened(edits_of(before, renamed, moved={}), [], [])


@pytest.mark.parametrize(
    ("path", "old", "new", "named"),
    [
        ("tests/data/rows.csv", "a,1\nb,2\n", "a,1\n", True),
        ("tests/data/rows.csv", "a,1\nb,2\n", "a,1\nb,2\nc,3\n", False),
        ("tests/data/rows.json", '[\n  {"a": 1}\n]\n', '[\n  {"a": 1},\n  {"a": 2}\n]\n', False),
        ("tests/data/rows.json", '[\n  {"a": 1}\n]\n', '[\n  {"a": 2}\n]\n', True),
        ("tests/data/rows.bin", "a\0b", "c\0d", False),
    ],
)
def test_data_of_tests_is_named_if_a_line_of_it_is_gone(
    path: str, old: str, new: str, *, named: bool
) -> None:
    edits = edits_of({path: old.encode()}, {path: new.encode()}, moved={}, data=[path])
    assert [(one.test, one.path) for one in weakened(edits, [], [])] == ([("", path)] if named else [])


# --- the names on the changed lines ---


@pytest.mark.parametrize(
    ("path", "test", "old", "new", "names"),
    [
        ("test_shop.py", "test_shop.py::test_double[1]", "shop.price() == 3", "shop.price() == '3'", {"price", "shop"}),
        ("test_shop.py", "test_shop.TestCart.test_total", "places=5", "places=4", {"tax", "places"}),
        ("test_shop.py", "test_shop.py::test_many", "shop.price() == 3", "shop.price() == '3'", set()),
        ("calc.test.js", "calc.test.js > math > adds", "add(2, 3)", "add(2, 4)", {"add"}),
        ("calc_test.go", "example.com/calc/TestAdd", "!= c.b", "!= 2*c.b", {"Add"}),
        ("t/calc.t", "t/calc.t", "is(Calc::add(2, 3), 5, 'adds')", "is(Calc::add(2, 3), '5', 'adds')", {"Calc", "add"}),
    ],
)  # fmt: skip
def test_the_changed_lines_of_a_test_hold_the_names_of_the_product_and_not_its_own(
    path: str, test: str, old: str, new: str, names: set[str]
) -> None:
    text = FILES[path].replace(old, new)
    assert text != FILES[path]
    edits = edits_of({path: FILES[path].encode()}, {path: text.encode()}, moved={})
    change = TestChange(test=test, path="" if "/" in test else path, kind=TestChangeKind.FAILS)
    if test == path:
        change = TestChange(test="", path=path, kind=TestChangeKind.FAILS)
    assert identifiers_for(change, edits) == names


SECOND = GO + "\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal()\n\t}\n}\n"


@pytest.mark.parametrize(
    ("new", "changed", "carried"),
    [
        (SECOND.replace("Sub(3", "Minus(3"), {"calc_test.go"}, True),
        (SECOND.replace("Sub(3", "Minus(3"), {"calc_test.go", "main_test.go"}, False),
        (SECOND.replace("Sub(3", "Minus(3").replace("!= c.b", "< 0"), {"calc_test.go"}, False),
    ],
)
def test_an_announced_test_stands_for_others_that_only_fail_to_build_with_it(
    new: str, changed: set[str], *, carried: bool
) -> None:
    edits = edits_of({"calc_test.go": SECOND.encode()}, {"calc_test.go": new.encode()}, moved={})
    sub, add = (
        TestChange(test=f"x/calc/{name}", kind=TestChangeKind.FAILS) for name in ("TestSub", "TestAdd")
    )
    changes = (replace(sub, expected_by="Rename Sub to Minus."), add)
    found = with_built_together(changes, edits, changed)
    assert [bool(one.expected_by) for one in found] == [True, carried]


def weaker(path: str, old: str, new: str) -> list[TestChange]:
    assert old in FILES[path]
    text = FILES[path].replace(old, new, 1)
    if "tc := range" in new:
        text = text.replace("c.a", "tc.a").replace("c.b", "tc.b")
    edits = edits_of({path: FILES[path].encode()}, {path: text.encode()}, moved={})
    return weakened(edits, ["test_shop.py::test_double[1]", "test_shop.py::test_many"], [])


@pytest.mark.parametrize(("path", "old", "new"), WEAKER)
def test_a_test_that_may_check_less_is_named(path: str, old: str, new: str) -> None:
    (change,) = weaker(path, old, new)
    assert change.kind is TestChangeKind.WEAKENED
    assert change.path == path
    assert change.detail


@pytest.mark.parametrize(("path", "old", "new"), AS_STRONG)
def test_a_test_that_checks_as_much_is_not_named(path: str, old: str, new: str) -> None:
    assert weaker(path, old, new) == []


def test_a_long_statement_is_shown_from_where_it_differs() -> None:
    rows = ", ".join(map(str, range(400)))
    old, new = (f"def test_a():\n    assert f({rows}) == {result}\n".encode() for result in (1, 2))
    [edit] = edits_of({"test_a.py": old}, {"test_a.py": new}, moved={})
    was, now = edit.words.splitlines()
    assert was.endswith("== 1")
    assert now.endswith("== 2")
    assert was.startswith("- …")
    assert len(was) < 400


def changed(path: str, test: str, rows: str, others: str) -> list[TestChange]:
    before, after = (test.replace("ROWS", one).encode() for one in (rows, others))
    return weakened(edits_of({path: before}, {path: after}, moved={}), [], [])


@pytest.mark.parametrize(("path", "test", "rows", "more"), table(__file__, "more_rows"))
def test_rows_added_to_a_table_are_no_change_of_a_test_and_a_row_that_is_gone_is(
    path: str, test: str, rows: str, more: str
) -> None:
    assert changed(path, test, rows, more) == []
    assert changed(path, test, more, rows)


@pytest.mark.parametrize(("path", "test", "rows", "others"), table(__file__, "other_rows"))
def test_more_that_a_check_allows_and_another_row_may_check_less(
    path: str, test: str, rows: str, others: str
) -> None:
    assert changed(path, test, rows, others)


TIPS = {
    "a decorator": "@pytest.mark.parametrize('a, b', [(999, 99)])\ndef test_tip(a, b):\n    assert tip(a) == b\n",
    "a loop": "def test_tip():\n    for a, b in [(999, 99)]:\n        assert tip(a) == b\n",
    "a table above": "CASES = [(999, 99)]\ndef test_tip():\n    for a, b in CASES:\n        assert tip(a) == b\n",
}


@pytest.mark.parametrize("test", TIPS.values(), ids=TIPS)
def test_a_changed_row_stands_for_what_its_checks_call_and_a_changed_check_for_itself_alone(
    test: str,
) -> None:
    def identifiers(now: str) -> frozenset[str]:
        [edit] = edits_of({"test_a.py": test.encode()}, {"test_a.py": now.encode()}, moved={})
        return edit.identifiers

    assert "tip" in identifiers(test.replace("99)", "100)"))
    assert not {"a", "b"} & identifiers(test.replace("99)", "100)"))
