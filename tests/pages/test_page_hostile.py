"""Texts of agents on the page: every hostile text is shown and none acts."""

import re
from html.parser import HTMLParser

import anyio
import pytest
from language.large_runs import RUN_ID, twelve_tasks, write
from pages_of_runs import hostile_runs

from orchestrator.views.page import pages
from orchestrator.views.page.followed import FollowedRun
from orchestrator.views.page.pages import found_events, is_about, overview_regions
from state.hidden import HIDDEN
from state.journal import events as e


class Elements(HTMLParser):
    """The kinds of elements with the names of their attributes, and the addresses."""

    def __init__(self, page):
        super().__init__()
        self.kinds, self.addresses = set(), set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.kinds.add((tag, tuple(name for name, _ in attrs)))
        self.addresses |= {value for name, value in attrs if name in {"href", "src", "data-load"}}

    def handle_comment(self, data):
        self.kinds.add(("comment", data))

    def handle_decl(self, decl):
        self.kinds.add(("declaration", decl))

    unknown_decl = handle_pi = handle_decl


def every_page(folder):
    """All pages of a run as HTML."""
    run = FollowedRun(folder)
    try:
        run.current()
        shown = [overview_regions(run), pages.decisions_regions(run)]
        shown += [
            pages.task_regions(run, task_id=task_id, attempt=number)
            for task_id in run.story.view.tasks
            for number in (0, 1)
        ]
        html = ["".join(regions.values()) for regions in shown]
        found = anyio.run(found_events, folder, 0, is_about(run.story.view, ""))
        html.append(pages.events_part(run, found, after=0, name="", task=""))
        messages = [one for one in found if isinstance(one.event, e.MessageReceived)]
        html += [
            pages.call_part(run, call_id, messages, after=0) for call_id in list(run.story.view.calls)[:3]
        ]
        return "".join(html)
    finally:
        run.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return Elements(every_page(write(tmp_path_factory.mktemp("plain") / RUN_ID, twelve_tasks()))).kinds


def test_no_hostile_text_becomes_an_element_an_attribute_a_foreign_address_or_a_hidden_character(
    plain, tmp_path, hostile
):
    for number, events in enumerate(hostile_runs(hostile)):
        html = every_page(write(tmp_path / str(number) / RUN_ID, events))
        found = Elements(html)
        assert found.kinds <= plain, found.kinds - plain
        assert [one for one in found.addresses if not re.match(r"/(?!/)[\w%/.~?=&#+-]*$", one)] == []
        hidden = HIDDEN.search(html.replace("\n", "").replace("\t", ""))
        assert not hidden, html[hidden.start() - 80 : hidden.end() + 20]
