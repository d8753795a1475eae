"""Texts are cut at a boundary, never longer than asked; markup cannot get through; claims are told from denials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from state.truncation import (
    INDICATOR,
    MAX_RESPONSE_LENGTH,
    Method,
    as_written,
    completion_claims,
    escape_markup,
    feedback,
    limit_response,
    smart_truncate,
    truncate,
)

TEXTS = st.text(st.sampled_from("ab.!? \n\t<&"), max_size=60) | st.text(max_size=300)
LIMITS = st.integers(0, 80)


def test_a_short_text_is_unchanged():
    assert smart_truncate("This is short", 200) == "This is short"


def test_a_text_ends_behind_its_last_whole_sentence_without_an_ellipsis():
    assert smart_truncate("First sentence. Second sentence. Third.", 20) == "First sentence."


def test_without_a_sentence_it_ends_behind_a_word():
    result = smart_truncate("No sentence punctuation just words", 20)
    assert result == "No sentence..."
    assert not result[:-3].endswith(" ")


def test_without_any_boundary_it_is_exactly_as_long_as_asked():
    result = smart_truncate("VeryLongWordWithNoSpaces" * 20, 50)
    assert len(result) == 50
    assert result.endswith("...")


@pytest.mark.parametrize(*rows(__file__, "cut"))
def test_the_cut_and_its_method(text, limit, cut, method):
    result = truncate(text, limit)
    assert (result.text, result.method) == (cut, method)
    assert (result.original_length, result.truncated_length) == (len(text), len(cut))


@given(TEXTS, LIMITS)
def test_a_cut_text_is_never_longer_than_asked_and_its_beginning(text, limit):
    result = truncate(text, limit)
    assert len(result.text) <= limit
    match result.method:
        case Method.UNCHANGED:
            assert result.text == text
        case Method.SENTENCE:
            assert text.startswith(result.text)
            assert result.text[-1] in ".!?"
            assert text[len(result.text)].isspace()
        case Method.WORD:
            kept = result.text.removesuffix(INDICATOR)
            assert kept in text
            assert kept == kept.strip()
            assert kept
        case Method.HARD:
            assert len(result.text) == limit
            assert text.startswith(result.text.removesuffix(INDICATOR) if limit > 3 else result.text)


@given(TEXTS, LIMITS)
def test_cutting_twice_is_cutting_once(text, limit):
    assert smart_truncate(smart_truncate(text, limit), limit) == smart_truncate(text, limit)


def test_markup_and_control_characters_of_a_model_do_not_get_through():
    assert escape_markup("<b>&\x1b[31m\u202e\x00</b>\n\t") == "&lt;b&gt;&amp;[31m&lt;/b&gt;\n\t"


def test_a_response_is_looked_at_up_to_its_limit():
    assert limit_response("x" * 6000) == "x" * MAX_RESPONSE_LENGTH
    assert feedback("x" * 6000).original_length == 6000


@pytest.mark.parametrize(("length", "read"), [(4_999, 4_999), (5_000, 5_000), (5_001, 5_000)])
def test_the_last_character_of_a_response_that_is_read_is_the_5000th(length, read):
    assert limit_response("x" * length) == "x" * read


@pytest.mark.parametrize(
    "cut", [smart_truncate, lambda text: feedback(text).text, lambda text: truncate(text).text]
)
@pytest.mark.parametrize("length", [199, 200])
def test_feedback_of_up_to_200_characters_is_whole_and_one_more_is_cut(cut, length):
    assert cut("x" * length) == "x" * length
    assert cut("x" * 201) == "x" * 197 + "..."


@pytest.mark.parametrize(("length", "kept"), [(200, 200), (201, 200)])
def test_a_claim_has_at_most_200_characters(length, kept):
    claim = "All tests pass ".ljust(length, "x")
    (found,) = completion_claims([claim])
    assert len(found) <= kept
    assert (found == claim) is (length == kept)


@given(st.text(st.sampled_from("<>&ab; ."), max_size=300), st.integers(0, 60))
def test_feedback_holds_no_markup_no_half_entity_and_no_more_than_asked(text, limit):
    said = feedback(text, limit).text
    assert len(said) <= limit
    assert "<" not in said
    assert ">" not in said
    for part in said.split("&")[1:]:
        assert part.startswith(("amp;", "lt;", "gt;"))


CLAIMS = table(__file__, "claims")
NO_CLAIMS = table(__file__, "no_claims")


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_found(text):
    assert completion_claims([text]) == (text,)


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_a_denial_a_condition_a_plan_or_a_question_is_no_claim(text):
    assert completion_claims([text]) == ()


def test_claims_come_in_order_each_once_and_cut():
    long = "All tests pass " + "and so on " * 40
    texts = ["I looked around. Everything is done. What next?", "Everything is done.", f"{long}\nDone."]
    first, second, third = completion_claims(texts)
    assert (first, third) == ("Everything is done.", "Done.")
    assert second.startswith("All tests pass")
    assert len(second) <= 200


@given(st.lists(st.text(max_size=200), max_size=3))
def test_any_text_can_be_searched(texts):
    assert all(len(claim) <= 200 for claim in completion_claims(texts))


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q > out.txt 2>&1 && tail -n 3 out.txt",
        "psql < schema.sql; cat <<'EOF' >notes.md",
        "diff <(sort a) <(sort b) || echo '&amp; a < b > c'",
        "cat <<< \"$text\" | grep -c '->'",
    ],
)
def test_a_command_comes_back_as_it_was_written(command):
    assert as_written(escape_markup(command)) == command


@pytest.mark.parametrize(
    "tag",
    ["<b>", "</system-reminder>", "<user turn='9'>", "<br/>", "<!-- x -->", "<![CDATA[", "<?xml ?>", "<b >"],
)
def test_a_tag_of_a_model_stays_escaped(tag):
    told = as_written(escape_markup(f"so {tag} it is"))
    assert "<" not in told
    assert "&lt;" in told
