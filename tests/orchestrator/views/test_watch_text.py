"""The text of `sq watch`: rows that fit, nothing in them that steers, colours that can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.steering import MARKUP, steering_in
from rich.cells import cell_len
from rich.color import Color

from orchestrator.views.watch.text import GROUNDS, STYLES, line, rows_of, style_of, text_of


def plain(row):
    return "".join(text for text, _ in row)


@given(text=st.text(max_size=300), width=st.integers(2, 120), indent=st.integers(-1, 12))
def test_no_row_is_wider_than_its_place_and_no_character_is_lost(text, width, indent):
    one = line((text[: len(text) // 2], "good"), (text[len(text) // 2 :], ""), indent=indent)
    rows = [plain(row) for row in rows_of(one, width)]
    assert max(map(cell_len, rows)) <= width
    assert not steering_in("".join(rows))
    if indent >= 0 and text.isprintable():
        before = " " * (min(indent, width // 2) if width - min(indent, width // 2) >= 2 else 0)
        shown = "".join([rows[0], *(row.removeprefix(before) for row in rows[1:])])
        assert shown.replace(" ", "") == text.replace(" ", "")


def test_a_line_that_is_cut_says_so_and_a_long_text_names_the_lines_left_out():
    [row] = rows_of(line("a long line of words", indent=-1), 10)
    assert plain(row) == "a long li…"
    assert [one.plain for one in text_of("1\n2\r\n3\n4\n5", before="  ", most=2)] == [
        "  1", "  2", "  … 3 more lines",
    ]  # fmt: skip


def test_hostile_texts_become_rows_that_steer_nothing(hostile):
    for text in (*MARKUP, *hostile):
        for one in (line(("x ", "dim"), (text, "agent"), indent=4), *text_of(text, most=3)):
            for row in rows_of(one, 37):
                assert cell_len(plain(row)) <= 37
                assert not steering_in(plain(row))


def contrast(name, ground):
    """The contrast of a style on a ground as WCAG 2 computes it, from 1 to 21."""
    lighter, darker = sorted((luminance(STYLES[name][0]), luminance(GROUNDS[ground])), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    red, green, blue = (linear(part / 255) for part in Color.parse(colour).get_truecolor())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(part):
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", STYLES)
def test_each_colour_has_the_contrast_of_ordinary_text_on_each_ground(name, ground):
    assert contrast(name, ground) >= 4.5


def test_without_colours_text_is_plain_bold_or_reversed():
    for name in STYLES:
        assert style_of(name, colours=False).color is None
        assert style_of(name, colours=False).bgcolor is None
    assert style_of("", "chosen", colours=False).reverse
