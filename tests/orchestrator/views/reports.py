"""Reports of runs that tests make up, without a folder and without git."""

from datetime import UTC, datetime
from html.parser import HTMLParser

from orchestrator.views.models.summary import summary_of
from orchestrator.views.models.work import recorded_work
from orchestrator.views.report.rendering import Format, RunRead, rendered
from orchestrator.views.run.story import RunStory
from state.journal.events import MessageReceived


def read(events, *, state=None, works=None, run_id="20260131-140000-rbeg"):
    """A run of these events, as `read_run` returns it if no process works on it."""
    story = RunStory()
    story.add_all(one for one in events if not isinstance(one.event, MessageReceived))
    now = datetime(2026, 1, 31, tzinfo=UTC)
    known = summary_of(story.view, run_id, is_active=lambda: False, now=now).state
    return RunRead(story, run_id, state or known, recorded_work(story.view) if works is None else works)


class Page(HTMLParser):
    """The ids, links and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.tags, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []

    def handle_data(self, data):
        self.text.append(data)


def web(run, **more):
    return rendered(run, Format.HTML, version="1", **more)
