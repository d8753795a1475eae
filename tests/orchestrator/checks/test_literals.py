"""What a criterion names, and whether the tests that are its evidence hold it."""

import pytest

from orchestrator.checks.of_tests.literals import held, literals_of, pieces_of, text_of_tests


@pytest.mark.parametrize(
    ("criterion", "found"),
    [
        ("`mul(a, b)` multiplies", ["mul"]),
        ("`slugify('Ä b')` returns `ae-b`", ["slugify", "Ä b", "ae-b"]),
        ('parse("1h") returns 3600', ["1h", "parse", "3600"]),
        ("The option --json prints JSON", ["--json"]),
        ("`wc --lines FILE` prints the number of lines", ["--lines"]),
        ("`app convert notes.md` writes HTML", ["convert"]),
        ("`settings.toml` may set `retries`", ["retries"]),
        ("`calc.mul` is documented", ["mul"]),
        ("`shop/price.py` rounds with `total`", ["total"]),
        ("load_config raises ConfigError for an unknown key", ["load_config", "ConfigError"]),
        ("encode and decode round-trip", ["encode"]),  # the work built `encode`
        ("`parse('-1.5')` is `-2`", ["parse", "-1.5", "-2"]),
        ("`tail -n 2.5` is refused", ["-n", "2.5"]),
        ("Names of more than 40 signs get the status 413, and it is told (by the log)", ["40", "413"]),
        ("It answers within a second", []),
        ("It's the user's choice", []),
        ("An empty list returns `None`", []),
    ],
)
def test_what_a_criterion_names_as_code_and_quotes(criterion: str, found: list[str]) -> None:
    assert literals_of(criterion, {"encode"}) == found


def test_what_stands_in_one_call_or_command_line_belongs_together() -> None:
    criterion = "`app --fast 3 notes.md` and `app.run(fast=3)` print `ok`"

    assert pieces_of(criterion) == [["--fast", "3"], ["run", "3"], ["ok"]]


PYTHON = b"""import calc

ROWS = [("1h", 3600)]
OTHERS = [("1d", 86400)]


def check(text):
    return calc.parse(text)


def test_hours():
    for text, seconds in ROWS:
        assert check(text) == seconds


def test_mul():
    assert calc.mul(2, 3) == 6
"""
NODE = b"""const { mul } = require('./calc')
const rows = [['a\\u00e4', 1]]

test('hours are read', () => { assert.equal(parse(rows[0][0]), 1) })
test('mul multiplies', () => { assert.equal(mul(2, 3), 6) })
"""


@pytest.mark.parametrize(
    ("path", "content", "tests", "there"),
    [
        (
            "tests/test_a.py",
            PYTHON,
            ["tests/test_a.py::test_hours", "tests/test_a.py::test_mul"],
            ["1h", "parse"],
        ),
        ("a.test.js", NODE, ["hours are read", "mul multiplies"], ["parse", "aä"]),
    ],
)
def test_a_test_holds_its_own_code_and_what_that_uses_and_no_other_test(
    path: str, content: bytes, tests: list[str], there: list[str]
) -> None:
    texts = text_of_tests(tests[:1], {path: content}, tests)

    assert held(["1h", "1d", "mul(", "parse", "aä"], texts) == there
