"""A test that expects another result: which values are altered in which languages, and which never are."""

import difflib

import pytest

from orchestrator.project.functions.expectations import comparing_nothing, with_other_results


def changed_lines(before: str, after: str) -> list[str]:
    diff = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line[2:].strip() for line in diff if line.startswith("+ ")]


@pytest.mark.parametrize(
    ("test", "text", "now"),
    [
        ("t.py::test_a", "def test_a():\n    assert f(2) == 6\n", "assert f(2) == 5"),
        ("t.py::test_a[1-x]", "def test_a(n):\n    assert f(2) == 'ab'\n", "assert f(2) == 'abq'"),
        ("t.py::test_a", "async def test_a():\n    assert 20 == f(2)\n", "assert 21 == f(2)"),
        ("t.py::test_a", "def test_a():\n    assert f(2) == [1, 2]\n", "assert f(2) == [0, 2]"),
        ("t.T.test_a", "def test_a(self):\n    self.assertEqual(f(1), 1.5)\n", "self.assertEqual(f(1), 0.5)"),
        (
            "t.js > a b",
            "test('a b', () => {\n  assert.strictEqual(f(2), 6);\n});\n",
            "assert.strictEqual(f(2), 5);",
        ),
        ("f says a", "it('says a', () => {\n  expect(f(2)).toBe('ab');\n});\n", "expect(f(2)).toBe('abq');"),
        (
            "m/TestA",
            "func TestA(t *testing.T) {\n\tif F(2) != 6 {\n\t\tt.Fatal(1)\n\t}\n}\n",
            "if F(2) != 5 {",
        ),
        (
            "m/TestA",
            "func TestA(t *testing.T) {\n\tassert.Equal(t, 6, F(2))\n}\n",
            "assert.Equal(t, 5, F(2))",
        ),
        ("l.rs > t::a", "#[test]\nfn a() {\n    assert_eq!(f(2), 255);\n}\n", "assert_eq!(f(2), 254);"),
        ("C f adds", "it('adds') { expect(f(2)).to eq(6) }\n", "it('adds') { expect(f(2)).to eq(5) }"),
        (
            "C > test_a",
            "function test_a()\n{\n    $this->assertSame(6, f(2));\n}\n",
            "$this->assertSame(5, f(2));",
        ),
        ("a", '@test "a" {\n  [ "$(f 2)" = 6 ]\n}\n', '[ "$(f 2)" = 5 ]'),
        ("t.t > a", "is(f(2), 6, 'a');\n", "is(f(2), 5, 'a');"),
        ("p.C.a", "@Test\nvoid a() {\n    assertEquals(6, f(2));\n}\n", "assertEquals(5, f(2));"),
    ],
)
def test_the_expected_value_of_a_test_is_another_one(test: str, text: str, now: str) -> None:
    altered = with_other_results(text, [test])
    assert changed_lines(text, altered.text) == [now]
    assert altered.tests == [test]


@pytest.mark.parametrize(
    "line",
    [
        "assert f(2) != 6",
        "assert not f(2) == 6",
        "assert f(2) == 6 or g()",
        "assert all(one == 6 for one in f(2))",
        "assert f(2) > 6",
        "assert f(2) == approx(6)",
        "self.assertAlmostEqual(f(2), 6, delta=1)",
        "self.assertNotEqual(f(2), 6)",
        "self.assertEqual(f(2), g(2), 'they differ')",
        "expect(f(2)).not.toBe(6)",
        "kept = [one for one in every if one == 6]",
        "if kind == 6:",
        "# assert f(2) == 6",
        "assert f(2) == f'{g}'",
        "with pytest.raises(AssertionError): assert f(2) == 6",
    ],
)
def test_a_line_that_may_hold_with_another_value_stays(line: str) -> None:
    text = f"def test_a():\n    {line}\n"
    altered = with_other_results(text, ["t.py::test_a"])
    assert (altered.text, altered.tests) == (text, [])


def test_only_the_tests_that_are_named_are_altered() -> None:
    text = "def test_a():\n    assert f(2) == 6\n\n\ndef test_b():\n    assert g(2) == 6\n"
    altered = with_other_results(text, ["t.py::test_a"], ["t.py::test_b"])
    assert altered.text == text.replace("f(2) == 6", "f(2) == 5")


def test_a_title_that_another_test_has_too_is_left_out() -> None:
    text = "describe('a', () => {\n  it('adds', () => { expect(f(2)).toBe(6); });\n});\n"
    assert with_other_results(text, ["a adds"], ["b adds"]).text == text


def test_a_test_with_parameters_has_one_text_for_all_of_them() -> None:
    text = "def test_a(n):\n    assert f(n) == 6\n"
    names = ["t.py::test_a[1]", "t.py::test_a[2]"]
    assert with_other_results(text, names).titles == {"test_a": tuple(names)}


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("t.py::test_a", "def test_a():\n    assert f(2) is not None\n"),
        ("t.py::test_a", "def test_a():\n    r = f(2)\n    assert isinstance(r, int), 'no number'\n"),
        ("t.T.test_a", "def test_a(self):\n    self.assertIsNotNone(f(2))\n"),
        ("a", "test('a', () => {\n  expect(f(2)).toBeDefined();\n});\n"),
        ("a", "test('a', () => {\n  assert.ok(f(2, 3) !== undefined);\n});\n"),
        ("a", "test('a', () => {\n  assert.strictEqual(typeof f(2), 'number');\n});\n"),
        ("m/TestA", 'func TestA(t *testing.T) {\n\tif F(2) == nil {\n\t\tt.Fatal("no")\n\t}\n}\n'),
        ("f should add", "it('should add', () => {\n  expect(f(2)).toBeDefined();\n});\n"),
        ("C a", "it('a') { expect(f(2)).not_to be_nil }\n"),
        ("C > test_a", "function test_a()\n{\n    $this->assertNotNull(f(2));\n}\n"),
        ("p.C.shouldAdd", "@Test\nvoid shouldAdd() {\n    assertNotNull(f(2));\n}\n"),
    ],
)
def test_a_test_that_only_asks_whether_there_is_a_result_compares_nothing(test: str, text: str) -> None:
    assert comparing_nothing(text, [test]) == [test]


@pytest.mark.parametrize(
    "lines",
    [
        "    assert f(2) is not None\n    assert f(2) == 6\n",
        "    assert isinstance(f(2), int)\n    g.assert_called_once()\n",
        "    assert f(2) is not g or f(2) is not None == h\n",
        "    assert f(2)\n",
        "    with pytest.raises(ValueError):\n        f(2)\n    assert f(3) is not None\n    assert f(3) in {1}\n",
        "    f(2)\n",
    ],
)
def test_a_test_that_asks_more_compares_something(lines: str) -> None:
    assert comparing_nothing(f"def test_a():\n{lines}", ["t.py::test_a"]) == []


def test_a_test_that_looks_for_an_element_of_a_page_compares_something() -> None:
    text = "it('shows it', () => {\n  expect(screen.getByText('Send')).toBeDefined();\n});\n"
    assert comparing_nothing(text, ["shows it"]) == []
