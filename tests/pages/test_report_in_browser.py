"""The report in a real browser, opened from a file: readable for everybody, and nothing in it acts."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import anyio
import pytest
from language.acting_runs import hostile_run, saying, words_in
from language.large_runs import RUN_ID, twelve_tasks
from language.sampled import sampled

from orchestrator.views.models.summary import RunState
from orchestrator.views.models.work import read_work, recorded_work
from orchestrator.views.report.rendering import Format, RunRead, rendered
from orchestrator.views.run.story import RunStory
from state.journal.events import MessageReceived

pytestmark = pytest.mark.browser
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SIZES = [(360, 780), (1440, 900)]


def written(folder, events, repository=None, state=RunState.ENDED):
    story = RunStory()
    story.add_all(one for one in events if not isinstance(one.event, MessageReceived))
    works = recorded_work(story.view)
    if repository:
        with ThreadPoolExecutor(1) as thread:  # Playwright has an event loop in this one
            read = partial(read_work, story.view, repository, most_bytes=400_000)
            works = thread.submit(anyio.run, read).result()
    file = folder / "report.html"
    file.write_text(rendered(RunRead(story, RUN_ID, state, works), Format.HTML, version="1"))
    return file.as_uri()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Reports of a run that ended, of one under way, and of one with every kind of verdict."""
    found = {}
    for name, ended in (("ended", True), ("active", False)):
        folder = tmp_path_factory.mktemp(name)
        events = twelve_tasks(folder / "shop", ended=ended)
        state = RunState.ENDED if ended else RunState.ACTIVE
        found[name] = written(folder, events, folder / "shop", state)
    found["judged"] = written(tmp_path_factory.mktemp("judged"), hostile_run())
    return found


def opened(browser, address, *, size=(1440, 900), scheme="light", csp=True, script=True):
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        bypass_csp=not csp,
        java_script_enabled=script,
    )
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    return page, asked


@pytest.mark.late
@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    sampled(
        [
            *(("judged", size, scheme) for size in SIZES for scheme in ("light", "dark")),
            ("active", SIZES[0], "dark"),
            ("ended", SIZES[1], "light"),
        ],
        ("active", SIZES[0], "dark"),
    ),
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(browser, addresses, name, size, scheme):
    page, _ = opened(browser, addresses[name], size=size, scheme=scheme, csp=False)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.add_script_tag(path=AXE)
    found = page.evaluate("tags => axe.run({runOnly: {type: 'tag', values: tags}})", TAGS)
    told = [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]]
    page.context.close()
    assert told == []


def test_it_asks_for_nothing_and_needs_no_script(browser, addresses):
    for address in addresses.values():
        page, asked = opened(browser, address, script=False)
        assert asked == [address]
        assert page.inner_text("h1").strip()
        page.context.close()


def test_a_link_to_an_event_opens_the_list_and_shows_it(browser, addresses):
    page, _ = opened(browser, addresses["judged"])
    link = page.locator("main a.src").first
    target = link.get_attribute("href")
    assert not page.locator(f"tr{target}").is_visible()
    link.click()
    assert page.locator(f"tr{target}").is_visible()
    assert 0 <= page.locator(f"tr{target}").bounding_box()["y"] <= 900
    page.context.close()


def test_everything_is_open_on_paper(browser, addresses):
    page, _ = opened(browser, addresses["ended"])
    folded = page.locator("#events table")
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()
    assert page.locator("#task-counter ol.steps").first.is_visible()
    page.context.close()


def test_every_link_can_be_reached_and_seen_with_the_keyboard(browser, addresses):
    page, _ = opened(browser, addresses["judged"])
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.outerHTML"))
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none"
    assert len(seen) == 12
    page.context.close()


def acts_of(browser, address):
    """Everything that a page does by itself: requests, dialogs, errors, messages."""
    context = browser.new_context()
    page = context.new_page()
    acts = []
    page.on("dialog", lambda dialog: acts.append(dialog.message) or dialog.dismiss())
    page.on("request", lambda request: acts.append(request.url))
    page.on("pageerror", lambda error: acts.append(str(error)))
    page.on("console", lambda message: acts.append(message.text))
    page.goto(address)
    page.mouse.move(200, 300)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    scripts = page.evaluate("document.scripts.length")
    context.close()
    return acts, scripts


def test_hostile_texts_open_no_dialog_send_no_request_and_break_no_rule(browser, tmp_path, hostile):
    events = hostile_run()
    number, texts = words_in(events), hostile
    for start in range(0, len(texts), number):
        folder = tmp_path / str(start)
        folder.mkdir()
        address = written(folder, saying(events, texts[start : start + number]))
        assert acts_of(browser, address) == ([address], 0)
