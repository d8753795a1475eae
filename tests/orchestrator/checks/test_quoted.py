"""Commands that texts quote, and the words by which programs refuse one."""

import pytest

from orchestrator.checks.of_product.quoted import as_typed, commands_in, is_named_in, refusal_in
from tests.language.tables import rows


@pytest.mark.parametrize(*rows(__file__, "quoted"))
def test_commands_that_can_be_run_as_they_are_count(text: str, runs: list[str]) -> None:
    assert [one.command for one in commands_in(text, "the spec")] == runs


@pytest.mark.parametrize(*rows(__file__, "refused"))
def test_a_program_refuses_a_command_by_a_word_of_it(
    words: str, code: int, output: str, why: str, unknown: list[str]
) -> None:
    assert refusal_in(words.split(), code, output) == (why, unknown)


@pytest.mark.parametrize(
    ("word", "text", "named"),
    [
        ("--json", "def as_json(numbers):", True),
        ("--json", "function asJson() {", True),
        ("--dry-run=no", "dry_run = False", True),
        ("stats", "statsd = 1", False),
        ("--all", "call()", False),
        ("-j", "j = 1", False),
    ],
)
def test_code_names_a_word_of_a_command_by_a_part_of_a_name(word: str, text: str, *, named: bool) -> None:
    assert is_named_in(word, text) is named


@pytest.mark.parametrize(
    ("word", "text", "typed"),
    [
        ("--json=yes", "run --json 1", True),
        ("stats", "main(['stats'])", True),
        ("stats", 'run("tool stats")', True),
        ("stats", "from stats import stats", False),
    ],
)
def test_a_word_of_a_command_is_typed_as_an_option_or_in_quotes(word: str, text: str, *, typed: bool) -> None:
    assert any(one in text for one in as_typed(word)) is typed


def test_a_command_of_a_block_is_alone_if_no_output_stands_beside_it() -> None:
    text = "`calc 1`\n\n```sh\ncalc 2\n```\n\n```console\n$ calc 3\n3\n$ calc 4\n```\n"
    alone = {one.command: one.is_alone for one in commands_in(text, "README.md")}
    assert alone == {"calc 1": False, "calc 2": True, "calc 3": False, "calc 4": True}
