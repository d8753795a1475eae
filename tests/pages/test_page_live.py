"""The page in a real Chromium: it follows a run through kills, freezes and sleep, and asks no other host."""

import gzip
import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import anyio
import pytest
from dash_served import dash_on
from language.hostile_texts import FRAGMENTS
from language.large_runs import RUN_ID, many_events, twelve_tasks, write
from language.large_runs import _rows as rows_of
from pages_of_runs import PAGES, REGIONS, RUN, hostile_run
from playwright.sync_api import expect

from orchestrator.git.pinned import record_git
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import Journal, journal_file
from state.records.calls import Message, MessageKind

pytestmark = pytest.mark.browser


@pytest.fixture
def context(browser):
    made = browser.new_context(viewport={"width": 1440, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context):
    """A page whose mistakes fail the test."""
    opened, mistakes = context.new_page(), []
    opened.on("pageerror", lambda error: mistakes.append(f"error: {error}"))
    opened.on("dialog", lambda dialog: (mistakes.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    opened.on(
        "console",
        lambda message: (
            mistakes.append(message.text)
            if message.type in {"error", "warning"} and "Failed to load resource" not in message.text
            else None
        ),
    )
    yield opened
    assert mistakes == []


def enter(page, dash, path=RUN):
    """Use the token and go to a page."""
    page.goto(dash.address)
    page.goto(dash.origin + path)
    page.wait_for_selector("#link[data-state=live]")


def contains(page, selector, text):
    """Wait until an element holds a text. The page's own policy forbids to evaluate a condition in it."""
    expect(page.locator(selector)).to_contain_text(text, timeout=15_000)


def dom(page):
    """The regions of a page without the counted times and without what the user opened."""
    return page.evaluate(
        """(ids) => Object.fromEntries(ids.map((id) => {
            const held = document.getElementById(id);
            if (!held) return [id, null];
            const copy = held.cloneNode(true);
            for (const one of copy.querySelectorAll('time[data-since]')) one.textContent = '';
            for (const one of copy.querySelectorAll('details')) one.removeAttribute('open');
            return [id, copy.outerHTML];
        }))""",
        list(REGIONS),
    )


def same_as_fresh(context, page, dash, path=RUN):
    """Whether a page that was followed shows what a new one shows. Both are looked at until they do."""
    fresh = context.new_page()
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        fresh.goto(dash.origin + path)
        if (live := dom(page)) == (new := dom(fresh)):
            break
        page.wait_for_timeout(100)
    fresh.close()
    return live == new and live["r-tasks"] is not None


def stuck(state, task_id="invoice", reason="it cannot go on"):
    with Journal(state / "runs" / RUN_ID) as journal:
        journal.append(e.TaskStuck(task_id=task_id, reason=reason))


def test_events_of_another_process_appear_while_focus_and_opened_parts_stay(context, page, dash, state):
    enter(page, dash)
    page.click("#w-11 summary")
    page.focus("#w-9 summary")
    page.evaluate("window.kept = document.activeElement")
    with Journal(state / "runs" / RUN_ID) as journal:
        for number in range(5):
            journal.append(e.TaskStuck(task_id="invoice", reason=f"reason {number}"))
            contains(page, "#r-needs", f"reason {number}")
        assert page.inner_text("#r-head .chip").endswith("active")
    assert page.evaluate("document.querySelector('#w-11').open && window.kept === document.activeElement")
    assert same_as_fresh(context, page, dash)


@pytest.mark.late
def test_a_run_that_begins_appears_in_the_list(page, dash, state):
    enter(page, dash, "/")
    expect(page.locator("#r-runs tbody tr")).to_have_count(1)
    write(state / "runs" / "20260131-150000-late", twelve_tasks(ended=True))
    expect(page.locator("#r-runs tbody tr")).to_have_count(2, timeout=15_000)
    contains(page, "#r-runs tbody tr:first-child", "failed")


@pytest.mark.late
def test_a_killed_server_is_waited_for_and_found_again_on_its_port(context, page, state, home):
    with dash_on(state) as first:
        enter(page, first)
        port = first.port
        first.kill()
        page.wait_for_selector("#link[data-state=reconnecting]")
        stuck(state, reason="while nobody served")
    with dash_on(state, port=port) as second:
        page.wait_for_selector("#link[data-state=live]", timeout=25_000)
        contains(page, "#r-needs", "while nobody served")
        assert same_as_fresh(context, page, second)
        assert page.is_hidden("#stale")


@pytest.mark.late
def test_a_page_whose_cookie_no_longer_holds_says_so(page, state, home):
    with dash_on(state) as first:
        enter(page, first)
        port = first.port
        first.kill()
    for file in (home / ".local" / "state" / "sq" / "dash").glob("*.json"):
        file.unlink()
    with dash_on(state, port=port):
        page.wait_for_selector("#link[data-state=closed]", timeout=25_000)
        page.wait_for_selector("#stale:not([hidden])")
        assert "Open the address that sq dash prints" in page.inner_text("#stale")


@pytest.mark.late
def test_after_25_s_of_silence_the_page_says_since_when_it_is_stale_and_goes_on_by_itself(
    context, page, dash, state
):
    page.clock.install()
    enter(page, dash)
    dash.freeze()
    page.clock.run_for(20_000)
    assert page.is_hidden("#stale")
    page.clock.run_for(40_000)  # a minute without a sign in all
    page.wait_for_selector("#stale:not([hidden])")
    assert page.inner_text("#stale").startswith("Stale since ")
    stuck(state, reason="during the freeze")
    dash.thaw()
    for _ in range(100):
        page.clock.run_for(1000)
        page.wait_for_timeout(50)
        if page.is_hidden("#stale"):
            break
    page.wait_for_selector("#link[data-state=live]")
    contains(page, "#r-needs", "during the freeze")
    assert same_as_fresh(context, page, dash)


@pytest.mark.late
def test_a_page_that_is_shown_again_connects_anew(page, dash):
    enter(page, dash)
    with page.expect_request(lambda one: "/stream" in one.url) as asked:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert asked.value.headers["accept"] == "text/event-stream"


@pytest.mark.late
@pytest.mark.parametrize("seed", range(3))
def test_events_in_several_parts_with_lost_connections_end_in_the_same_page(context, page, state, dash, seed):
    events = twelve_tasks(ended=True)
    folder = state / "runs" / "20260131-150000-late"
    cuts = [0, *(len(events) * (part + seed) // (5 + seed) for part in range(1, 5)), len(events)]
    write(folder, events[: cuts[1]])
    enter(page, dash, f"/run/{folder.name}")
    for begin, end in pairwise(cuts[1:]):
        if (begin + seed) % 2:
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        append(folder, events[begin:end])
        page.wait_for_timeout(150)
    contains(page, "#r-head", "failed")
    assert same_as_fresh(context, page, dash, f"/run/{folder.name}")


def append(folder, events):
    with closing(sqlite3.connect(journal_file(folder), isolation_level=None)) as db:
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO events (seq, at, name, version, body) VALUES (?, ?, ?, ?, ?)", rows_of(events)
        )
        db.execute("COMMIT")


@pytest.mark.late
def test_a_page_asks_its_own_server_alone_stores_nothing_and_is_small(page, dash):
    asked, sizes = [], {}
    page.on("request", lambda one: asked.append(one.url))
    page.on(
        "response",
        lambda one: (
            sizes.update({one.url: len(gzip.compress(one.body(), 9))})
            if "/stream" not in one.url and one.status == 200
            else None
        ),
    )
    enter(page, dash)
    page.wait_for_timeout(300)
    held = {url: size for url, size in sizes.items() if url == dash.origin + RUN or "/assets/" in url}
    assert len(held) == 5
    assert sum(held.values()) <= 60_000
    assert sum(size for url, size in held.items() if url.endswith(".js")) <= 17_000
    assert sum(size for url, size in held.items() if url.endswith(".css")) <= 8_000
    for path in PAGES:
        page.goto(dash.origin + path)
    assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {f"127.0.0.1:{dash.port}"}
    stored = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert stored == [0, 0, ""]


def test_hostile_texts_do_nothing_on_any_page(page, tmp_path):
    folder = tmp_path / "hostile" / "runs" / RUN_ID
    write(folder, hostile_run(FRAGMENTS * 3))
    with dash_on(tmp_path / "hostile") as dash:
        asked = []
        page.on("request", lambda one: asked.append(one.url))
        page.add_init_script(
            "window.broken = []; document.addEventListener('securitypolicyviolation',"
            " (event) => window.broken.push(event.blockedURI + ' ' + event.violatedDirective))"
        )
        page.goto(dash.address)
        for path in PAGES:
            if "/task/" in path or "/call/" in path:
                continue  # their ids are hostile too
            page.goto(dash.origin + path)
            page.wait_for_timeout(100)
            follow_links = page.evaluate("[...document.querySelectorAll('a')].map((one) => one.href)")
            assert all(link.startswith(f"{dash.origin}/") for link in follow_links)
            assert page.evaluate("window.broken") == []
            assert (
                page.evaluate(
                    "document.querySelectorAll('img, iframe, script:not([src^=\"/assets/\"])').length"
                )
                == 0
            )
        assert {url.split("/")[2] for url in asked if url.startswith("http")} == {f"127.0.0.1:{dash.port}"}


def test_the_policy_stops_what_an_escape_would_let_through(context, dash):
    """The second wall: markup that did get into the page runs nothing and fetches nothing."""
    page = context.new_page()
    answered, broken = [], []
    page.on("requestfinished", lambda one: answered.append(one.url))
    page.expose_function("blocked", lambda one: broken.append(one))  # noqa: PLW0108  Playwright marks it
    page.on("dialog", lambda dialog: (broken.append("DIALOG"), dialog.dismiss()))
    enter(page, dash)
    page.evaluate(
        """() => {
            document.addEventListener('securitypolicyviolation', (event) => blocked(event.violatedDirective));
            document.querySelector('#r-needs').innerHTML = '<img src=https://evil.example/x onerror=alert(1)>'
              + '<svg onload=alert(1)></svg><iframe src=https://evil.example></iframe><b style="color:red">x</b>'
              + '<form action=https://evil.example><button id=go>go</button></form>';
            document.querySelector('#go').click();
        }"""
    )
    page.wait_for_timeout(300)
    assert "DIALOG" not in broken
    assert {"img-src", "frame-src"} <= {one.split("-elem")[0] for one in broken}
    assert [url for url in answered if "evil" in url] == []


def test_changes_of_a_commit_are_loaded_when_they_are_opened(page, tmp_path):
    folder = tmp_path / "state" / "runs" / RUN_ID
    events = twelve_tasks(tmp_path / "made")
    write(folder, events)
    with ThreadPoolExecutor() as elsewhere:  # Playwright has an event loop in this thread
        elsewhere.submit(anyio.run, record_git, tmp_path / "made", folder, None).result()
    commit = next(one.event.commit for one in events if isinstance(one.event, e.TaskCommitted))
    with dash_on(tmp_path / "state") as dash:
        page.goto(dash.address)
        page.goto(f"{dash.origin}{RUN}/diff/{commit}")
        assert page.inner_text("#main h1") == f"Changes of {commit[:12]}"
        page.locator("details[data-load] summary").nth(1).click()
        contains(page, "table.diff", "def counter_1")
        assert page.locator("details[data-load][data-loaded]").count() == 1
        page.goto(f"{dash.origin}{RUN}/diff/{'0' * 40}")
        assert "There is no such page" in page.content()


@pytest.mark.late
def test_the_keyboard_alone_reaches_and_opens_everything(page, dash):
    enter(page, dash)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
    wanted = page.evaluate(
        "[...document.querySelectorAll('main a, main summary')].filter((one) => one.offsetParent !== null"
        " && !one.closest('details:not([open]) > :not(summary)')).map((one) => one.outerHTML.slice(0, 200))"
    )
    assert set(wanted) <= reached
    page.focus("#w-9 summary")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('#w-9').open")
    page.focus("#r-tasks a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/task/**")


@pytest.mark.late
def test_a_run_of_100_000_events_is_shown_within_a_second_and_stays_small(page, tmp_path):
    folder = tmp_path / "state" / "runs" / RUN_ID
    began = datetime.now(UTC) - timedelta(hours=30)
    events = many_events(100_000, began=began)
    write(folder, events)
    call_id = events[-1].event.call_id
    with dash_on(tmp_path / "state") as dash, Journal(folder):
        page.goto(dash.address)
        page.goto(f"{dash.origin}/run/nothing")
        page.goto(dash.origin + RUN)
        times = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
        shown = times["domContentLoadedEventEnd"] - times["startTime"]
        assert shown <= 1000 * SLACK, times
        assert times["responseStart"] - times["startTime"] <= 200 * SLACK, times
        assert page.evaluate("document.querySelectorAll('*').length") <= 5000
        page.wait_for_selector("#link[data-state=live]")
        client = page.context.new_cdp_session(page)
        before = heap(client)
        for batch in range(20):
            append(folder, [message(events[-1], batch * 5000 + number, call_id) for number in range(1, 5001)])
            contains(page, "#r-tasks", f"says {(batch + 1) * 5000}")
        assert page.evaluate("document.querySelectorAll('*').length") <= 5000
        assert heap(client) - before <= 5_000_000


SLACK = 3  # other tests run beside this one


def message(last, number, call_id):
    text = json.dumps({"command": f"says {number}"})
    event = e.MessageReceived(
        call_id=call_id, message=Message(kind=MessageKind.TOOL_CALL, text=text, tool="Bash")
    )
    return Stored(last.seq + number, last.at + timedelta(seconds=1), event)


def heap(client):
    client.send("HeapProfiler.collectGarbage")
    return client.send("Runtime.getHeapUsage")["usedSize"]
