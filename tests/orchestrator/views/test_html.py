"""Texts of agents in HTML: shown letter by letter, never acting, whatever a template forgets."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.views.html import amounts
from orchestrator.views.html.amounts import LineKind, diff_lines
from orchestrator.views.html.environment import environment, style
from state.hidden import HIDDEN

ROOT = Path(__file__).resolve().parents[3]
MARKERS = {"orchestrator/views/html/environment.py"}


class Elements(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.found.append(("comment", ()))

    def handle_decl(self, decl):
        self.found.append(("declaration", ()))

    unknown_decl = handle_pi = handle_decl


TEMPLATE = """{% from "parts.html.j2" import said, word, mark, source %}
<p title="{{ text }}">{{ text }}</p>{{ said("the Worker", text, 3) }}{{ word(text) }}{{ mark(text) }}
<pre>{{ text | lines }}</pre><i data-x='{{ text }}'></i>"""


def test_no_hostile_text_becomes_an_element_an_attribute_or_a_hidden_character(hostile):
    template = environment().from_string(TEMPLATE)
    plain = Elements(template.render(text="plain")).found
    for text in hostile:
        page = template.render(text=text)
        assert Elements(page).found == plain, text
        assert not HIDDEN.search(page.replace("\n", "")), text


def test_a_text_is_shown_letter_by_letter(hostile):
    template = environment().from_string("<b>{{ text }}</b>")
    harmless = [text for text in hostile if not HIDDEN.search(text)]
    assert len(harmless) > len(hostile) / 10
    for text in harmless:
        assert "".join(Elements(template.render(text=text)).text) == text


def test_only_one_module_marks_text_as_html_and_no_template_switches_escaping_off():
    found = set()
    for file in (ROOT / "orchestrator").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        names = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        names |= {
            node.func.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        if names & {"Markup", "escape_silent", "from_string"} or "mark_safe" in names:
            found.add(str(file.relative_to(ROOT)))
    assert found == MARKERS
    for file in (ROOT / "orchestrator").rglob("*.j2"):
        text = file.read_text("utf-8")
        assert not re.search(r"\|\s*(safe|e|escape|forceescape|tojson|xmlattr|urlize)\b|autoescape", text), (
            file
        )
        assert not re.search(r"\s[\w-]+=\s*\{\{", text), f"{file}: an attribute without quotes"


def test_a_value_that_needs_a_filter_is_an_error():
    for value in (None, (1,), amounts.datetime(2026, 1, 1, tzinfo=amounts.UTC)):
        with pytest.raises(TypeError):
            environment().from_string("{{ value }}").render(value=value)


def test_a_style_sheet_of_sq_cannot_end_its_element():
    assert "</" not in style("base.css") + style("sections.css")
    with pytest.raises(ValueError, match="style sheet"):
        environment().from_string("{{ text | styles }}").render(text="</style>")


PATCH = """diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,3 +1,3 @@ def f():
 one
--- two
+++ three
 four
\\ No newline at end of file
"""


def test_a_line_that_looks_like_a_header_counts_as_a_line():
    shown = [(row.kind, row.text, row.old, row.new) for row in diff_lines(PATCH)]
    assert shown == [
        (LineKind.HUNK, "@@ -1,3 +1,3 @@ def f():", 0, 0),
        (LineKind.SAME, "one", 1, 1),
        (LineKind.REMOVED, "-- two", 2, 0),
        (LineKind.ADDED, "++ three", 0, 2),
        (LineKind.SAME, "four", 3, 3),
        (LineKind.NOTE, "No newline at end of file", 0, 0),
    ]


@given(st.text())
def test_any_text_is_a_diff_without_an_error(text):
    diff_lines(text)


def test_amounts_in_words():
    assert [amounts.money(one) for one in (0, 0.004, 0.41, 1234.5)] == [
        "$0.00",
        "$0.0040",
        "$0.41",
        "$1,234.50",
    ]
    assert [amounts.signed(one) for one in (14, -3, 0, None)] == ["+14", "\u22123", "±0", "unknown"]
    assert amounts.number(None) == "unknown"
    assert amounts.slug("A b/Ü") == "a-b"
