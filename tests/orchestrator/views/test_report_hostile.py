"""Hostile texts in every format of the report: none of them acts."""

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from language.acting_runs import hostile_run, saying, words_in
from markdown_it import MarkdownIt
from reports import read

from orchestrator.views.report.rendering import Format, ending, rendered
from state.hidden import HIDDEN

MARKDOWN = (Format.MARKDOWN, Format.SUMMARY, Format.PULL_REQUEST)


class Elements(HTMLParser):
    """The elements of a page with the names of their attributes, and everything that is not text."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag):
        self.found.append(f"/{tag}")

    def handle_comment(self, data):
        self.found.append(("comment", data))

    def handle_decl(self, decl):
        self.found.append(("declaration", decl))

    unknown_decl = handle_pi = handle_decl


@pytest.fixture(scope="module")
def runs(hostile):
    """The run with plain words, and as many times with hostile ones as it takes for all texts to be said."""
    events = hostile_run()
    number = words_in(events)
    assert number > 500
    starts = [
        *range(0, len(hostile) - number, number),
        len(hostile) - number,
    ]  # none is said twice in one run
    said = [saying(events, hostile[start : start + number]) for start in starts]
    return read(saying(events, [f"word {n}" for n in range(number)])), [read(one) for one in said]


def outputs(run, format_):
    return rendered(run, format_, version="1")


@pytest.mark.parametrize("format_", Format)
def test_no_output_has_a_hidden_character_or_a_line_that_a_ci_takes_for_a_command(runs, format_):
    for run in runs[1]:
        text = outputs(run, format_)
        assert not HIDDEN.search(text.replace("\n", "").replace("\\n", ""))
        assert [line for line in text.splitlines() if line.lstrip().startswith(("::", "##[", "%0A::"))] == []


def test_the_page_has_exactly_the_elements_of_its_templates(runs):
    plain, hostile = runs
    expected = Elements(outputs(plain, Format.HTML)).found
    assert len(expected) > 2000
    for run in hostile:
        assert Elements(outputs(run, Format.HTML)).found == expected


def spoken(text):
    """The tokens of Markdown with HTML allowed. Words of agents are code, whose content does not count."""
    engine = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [
        (one.type, "" if one.type == "code_inline" else one.content, str(one.attrs))
        for token in engine.parse(text)
        for one in token.children or [token]
    ]


@pytest.mark.parametrize("format_", MARKDOWN)
def test_markdown_shows_words_of_agents_only_as_code(runs, format_):
    plain, hostile = runs
    known = set(spoken(outputs(plain, Format.MARKDOWN))) | set(spoken(outputs(plain, format_)))
    known |= {("html_inline", "<br>", "{}")}
    assert sum(kind == "code_inline" for kind, *_ in spoken(outputs(plain, format_))) > 100
    assert not {kind for kind, *_ in known} & {"link_open", "image", "fence", "code_block"}
    for run in hostile:
        assert set(spoken(outputs(run, format_))) - known == set()


def test_a_pull_request_has_one_mark_and_is_never_too_long(runs):
    for run in runs[1]:
        text = outputs(run, Format.PULL_REQUEST)
        assert len(text) <= 60_000
        assert text.startswith("<!-- sq:run=20260131-140000-rbeg -->\n<!-- sq:draft=yes -->\n")
        assert text.count("sq:run=") == 1


def test_xml_is_sound_and_has_the_same_cases(runs):
    plain, hostile = runs
    for run in hostile:
        assert cases(run) == cases(plain)


def cases(run):
    read_ = ET.fromstring(outputs(run, Format.JUNIT))  # noqa: S314  sq wrote it
    return [element.tag for element in read_.iter()]


@pytest.mark.parametrize("format_", [Format.JSON, Format.SARIF, Format.IN_TOTO])
def test_json_is_sound_and_has_the_same_fields(runs, format_):
    plain, hostile = runs
    expected = shape(json.loads(outputs(plain, format_)))
    for run in hostile:
        assert shape(json.loads(outputs(run, format_))) == expected
        json.loads(ending(run.report("1"), "1"))


def shape(value):
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(one) for one in value] if isinstance(value, list) else type(value).__name__
