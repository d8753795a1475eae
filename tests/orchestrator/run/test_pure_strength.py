"""What a changed test checks beside its text of before, and which names its changed lines hold."""

from dataclasses import replace

import pytest

from orchestrator.run.evidence.strength import (
    edits_of,
    identifiers_for,
    weakened,
    with_built_together,
)
from state.records.reviews import TestChange, TestChangeKind

PY = """\
import shop

CASES = [(1, 2), (2, 4)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_double(n):
    result = shop.double(n)
    assert result == n * 2
    assert shop.price() == 3


def test_many():
    for n in range(128):
        assert shop.half(n * 2) == n
    with pytest.raises(ValueError):
        shop.half(None)


class TestCart(unittest.TestCase):
    def test_total(self):
        cart = make_cart()
        self.assertEqual(cart.total(), 3)
        self.assertAlmostEqual(cart.tax(), 0.19, places=5)
"""
JS = """\
const { add } = require('./calc');
describe('math', () => {
  test('adds', () => {
    const sum = add(2, 3);
    expect(sum).toBe(5);
  });
  test.each([[1, 2], [3, 4]])('pairs %i', (a, b) => {
    expect(add(a, 1)).toBe(b);
  });
});
"""
GO = """\
package calc

import "testing"

func TestAdd(t *testing.T) {
	cases := []struct{ a, b int }{{1, 2}, {2, 3}}
	for _, c := range cases {
		if Add(c.a, 1) != c.b {
			t.Fatal("add")
		}
	}
}
"""
RUBY = "describe 'calc' do\n  it 'adds' do\n    expect(add(2, 3)).to eq(5)\n  end\nend\n"
PERL = "use Test::More;\nis(Calc::add(2, 3), 5, 'adds');\nis(Calc::mul(2, 3), 6, 'multiplies');\n"
FILES = {"test_shop.py": PY, "calc.test.js": JS, "calc_test.go": GO, "calc_spec.rb": RUBY, "t/calc.t": PERL}
WEAKER = [
    ("test_shop.py", "assert shop.price() == 3", 'assert shop.price() == "a\\nb"'),
    ("test_shop.py", "    assert shop.price() == 3\n", ""),
    ("test_shop.py", "assert shop.price() == 3", "assert shop.price() is not None"),
    ("test_shop.py", "assert shop.price() == 3", "assert shop.price() == 3 or True"),
    ("test_shop.py", "assert shop.price() == 3", "assert shop.price() == 4"),
    ("test_shop.py", "assert result == n * 2", "assert n == n * 2"),
    ("test_shop.py", "    assert shop.price() == 3", "    if n:\n        assert shop.price() == 3"),
    (
        "test_shop.py",
        "    assert shop.price() == 3",
        "    try:\n        assert shop.price() == 3\n    except AssertionError:\n        pass",
    ),
    ("test_shop.py", "    result = shop", "    return\n    result = shop"),
    ("test_shop.py", "[1, 2, 3]", "[1, 2]"),
    ("test_shop.py", "(1, 2), (2, 4)", "(1, 2)"),
    ("test_shop.py", "range(128)", "range(2)"),
    ("test_shop.py", "for n in range(128)", "for n in list(range(128))[:0]"),
    ("test_shop.py", "raises(ValueError)", "raises(Exception)"),
    ("test_shop.py", "self.assertEqual(cart.total(), 3)", "self.assertTrue(cart.total())"),
    ("test_shop.py", "places=5", "places=0"),
    ("test_shop.py", "@pytest.mark.param", "@pytest.mark.xfail\n@pytest.mark.param"),
    ("calc.test.js", "expect(sum).toBe(5)", "expect(sum).toBeDefined()"),
    ("calc.test.js", "    expect(sum).toBe(5);\n", ""),
    ("calc.test.js", "[[1, 2], [3, 4]]", "[[1, 2]]"),
    ("calc_test.go", "{{1, 2}, {2, 3}}", "{{1, 2}}"),
    ("calc_test.go", "!= c.b", "< 0"),
    ("calc_test.go", 't.Fatal("add")', 't.Log("add")'),
    ("calc_test.go", "\tfor _, c", "\treturn\n\tfor _, c"),
    ("calc_spec.rb", "eq(5)", "be_truthy"),
    ("t/calc.t", "is(Calc::add(2, 3), 5, 'adds');", "ok(Calc::add(2, 3), 'adds');"),
]
AS_STRONG = [
    ("test_shop.py", "    assert shop.price() == 3\n", "    assert (\n        shop.price() == 3\n    )  # the price\n"),
    ("test_shop.py", "    assert shop.price() == 3\n", "    assert shop.price() == 3\n    assert shop.price() > 0\n"),
    ("test_shop.py", "[1, 2, 3]", "[0, 1, 2, 3, 4]"),
    ("test_shop.py", "(1, 2), (2, 4)", "(1, 2), (2, 4), (3, 6)"),
    ("test_shop.py", "    result = shop.double(n)\n    assert result", "    found = shop.double(n)\n    assert found"),
    ("test_shop.py", "cart = make_cart()", "cart = self.new_cart()"),
    ("test_shop.py", "def test_many():", "def test_many(tmp_path):"),
    ("test_shop.py", "def test_many():", "def test_other():\n    assert shop.price()\n\n\ndef test_many():"),
    ("test_shop.py", "def test_many():", "def test_many_halves():"),
    ("test_shop.py", "import shop\n", "import os\n\nimport shop\n"),
    ("test_shop.py", '@pytest.mark.parametrize("n", [1, 2, 3])', '@pytest.mark.slow\n@pytest.mark.parametrize("n", [1, 2, 3])'),
    ("calc.test.js", "require('./calc')", "require('../src/calc')"),
    ("calc.test.js", "const sum = add(2, 3);\n    expect(sum)", "const five = add(2, 3);\n    expect(five)"),
    ("calc.test.js", "[[1, 2], [3, 4]]", "[[1, 2], [3, 4], [5, 6]]"),
    ("calc.test.js", "  test('adds'", "  test('is there', () => { expect(add).toBeDefined(); });\n  test('adds'"),
    ("calc_test.go", "{{1, 2}, {2, 3}}", "{{1, 2}, {2, 3}, {3, 4}}"),
    ("calc_test.go", "for _, c := range", "for _, tc := range"),
    ("calc_spec.rb", "  it 'adds'", "  it 'exists' do\n    expect(add(1, 1)).to eq(2)\n  end\n  it 'adds'"),
    ("t/calc.t", "use Test::More;\n", "use Test::More;\n# sums\nis(Calc::add(1, 1), 2, 'adds one');\n"),
]  # fmt: skip


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
