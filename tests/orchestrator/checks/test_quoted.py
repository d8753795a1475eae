"""Commands that texts quote, and the words by which programs refuse one."""

import pytest

from orchestrator.checks.quoted import commands_in, filled_in, is_shown, refusal_in
from tests.language.tables import rows


@pytest.mark.parametrize(*rows(__file__, "quoted"))
def test_plain_commands_count_and_those_of_which_a_text_may_speak_otherwise_do_not(
    text: str, runs: dict[str, str]
) -> None:
    ready = [filled_in(one) for one in commands_in(text, "the spec")]
    assert {one.command: one.shown for one in ready if one} == runs


@pytest.mark.parametrize(*rows(__file__, "refused"))
def test_a_program_refuses_a_command_by_a_word_of_it(words: str, code: int, output: str, why: str) -> None:
    assert refusal_in(words.split(), code, output) == why


def test_lines_are_compared_in_their_order_whatever_the_white_space() -> None:
    assert is_shown("a  b\nc", "first\n a b \n\nc\n")
    assert not is_shown("a\nb", "b\na\n")
    assert is_shown("3", "sum: 3\n")


def test_a_command_of_a_new_line_alone_is_taken_from_a_document() -> None:
    text = "Run `calc 1`.\n\nRun `calc 2`.\n"
    assert [one.command for one in commands_in(text, "README.md", only={3})] == ["calc 2"]
