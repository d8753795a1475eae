"""The regions of the page without a browser: what a client was sent in pieces is what a new client gets."""

import re
import sqlite3
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.event_strategies import legal_runs
from language.large_runs import _rows as rows_of
from language.large_runs import many_events, twelve_tasks, write

from orchestrator.views.models.summary import RunState
from orchestrator.views.models.work import recorded_work
from orchestrator.views.page import pages
from orchestrator.views.page.followed import FollowedRun
from orchestrator.views.page.pages import overview_regions
from orchestrator.views.page.sections import TEMPLATES, engine
from orchestrator.views.report.rendering import RunRead, web
from orchestrator.views.run.story import RunStory
from state.journal import events as e
from state.journal.store import Journal, journal_file

slowly = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
RENDERS = {"overview": overview_regions, "decisions": pages.decisions_regions}


def seen(run, name="overview"):
    return run.current().regions(name, RENDERS[name])


@pytest.fixture
def followed(tmp_path):
    """Write a run and follow it. All are closed at the end."""
    opened = []

    def follow(events, name="run"):
        folder = tmp_path / name
        if not journal_file(folder).exists():
            write(folder, events)
        opened.append(FollowedRun(folder))
        return opened[-1]

    yield follow
    for run in opened:
        run.close()


def appended(folder, events):
    """Store more events with their own times, as another process would."""
    db = sqlite3.connect(journal_file(folder), isolation_level=None)
    db.executemany(
        "INSERT INTO events (seq, at, name, version, body) VALUES (?, ?, ?, ?, ?)", rows_of(events)
    )
    db.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(slowly, max_examples=1000)
@given(run=legal_runs(), data=st.data(), active=st.booleans())
def test_a_thousand_orders_of_events_and_cuts_end_in_the_same_page(tmp_path_factory, run, data, active):
    check_live_is_fresh(tmp_path_factory, run, data, active)


@pytest.mark.late
@slowly
@given(run=legal_runs(), data=st.data(), active=st.booleans())
def test_a_client_that_is_sent_the_changes_alone_ends_with_the_page_of_a_new_client(
    tmp_path_factory, run, data, active
):
    """In any order of events, with any cuts, and with connections that begin anew in between."""
    check_live_is_fresh(tmp_path_factory, run, data, active)


def check_live_is_fresh(tmp_path_factory, run, data, active):
    folder = tmp_path_factory.mktemp("runs") / "run"
    cuts = sorted({0, *data.draw(st.lists(st.integers(0, len(run)), max_size=5)), len(run)})
    lost = data.draw(st.lists(st.booleans(), min_size=len(cuts), max_size=len(cuts)))
    write(folder, run[: cuts[0]])
    with ExitStack() as stack:
        if active:
            stack.enter_context(Journal(folder))
        live, page, sent = follow(stack, folder, run), {}, {}
        for (begin, end), is_lost in zip(pairwise(cuts), lost, strict=False):
            appended(folder, run[begin:end])
            regions = seen(live)
            if is_lost:  # the connection is lost: the next event holds everything
                sent = {}
            page |= {name: html for name, html in regions.items() if sent.get(name) != html}
            sent = regions
        fresh = follow(stack, folder, run)
        assert page == seen(fresh)
        assert fresh.active == (active and not fresh.story.view.ended)
        assert seen(live, "decisions") == seen(fresh, "decisions")
        for task_id in live.story.view.tasks:
            both = [pages.task_regions(one, task_id=task_id, attempt=0) for one in (live, fresh)]
            assert both[0] == both[1]


SHARED = ("criteria", "decisions", "findings", "unchecked", "time", "cost")
PAGE_ALONE = (
    r'<details><summary>by (?:task|model)</summary><ul class="plain">.*?</ul></details>',
    r'<div class="small soft">[^<]*, \$[\d.,]+</div>',
    r' href="[^"]*"',
    r' id="k-[^"]*"',
)


def plain_section(html):
    """The inside of a section without addresses and without the links that a page adds."""
    inside = re.search(r"<section[^>]*>\s*(.*?)\s*</section>", html, re.DOTALL)[1]
    for one in PAGE_ALONE:
        inside = re.sub(one, "", inside, flags=re.DOTALL)
    inside = re.sub(
        r'(<th scope="row"><span class="small soft">)[\d:]+ <a>([^<]*)</a>(?:, asked again)?', r"\1\2", inside
    )
    return re.sub(r"\s*([<>])\s*", r"\1", inside)


def check_sections_are_those_of_the_report(folder, run):
    run = [one for one in run if not isinstance(one.event, e.MessageReceived)]  # a report reads none
    write(folder, run)
    with ExitStack() as stack:
        page = follow(stack, folder, run)
        regions = seen(page) | seen(page, "decisions")
    story = RunStory()
    story.add_all(run)
    read = RunRead(story, folder.name, RunState.KILLED, recorded_work(story.view))
    report = web(read.report("1", with_paths=True), version="1")
    for name in SHARED:
        html = regions[f"r-{name}"]
        if " none" not in html.split(">")[0]:
            whole = re.search(rf'<section class="part" id="{name}">.*?</section>', report, re.DOTALL)[0]
            assert plain_section(html) == plain_section(whole), name
    assert "by model" in regions["r-cost"] or not story.view.calls
    cards = re.findall(r'<section class="card">.*?</section>', report, re.DOTALL)
    for name, card in zip(("asked", "look", "commands"), cards, strict=False):
        html = regions[f"r-{name}"]
        if " none" not in html.split(">")[0]:
            assert plain_section(html) == plain_section(card), name


@slowly
@given(run=legal_runs())
def test_the_sections_of_the_page_are_those_of_the_report(tmp_path_factory, run):
    check_sections_are_those_of_the_report(tmp_path_factory.mktemp("runs") / "run", run)


@pytest.mark.parametrize("ended", [False, True])
def test_the_sections_of_a_run_with_every_state_are_those_of_its_report(tmp_path, ended):
    check_sections_are_those_of_the_report(tmp_path / "run", twelve_tasks(ended=ended))


def follow(stack, folder, run):
    moment = run[-1].at.timestamp() + 20
    one = FollowedRun(folder, wall=lambda: moment)
    stack.callback(one.close)
    return one


@pytest.mark.parametrize("more", [0, 30, 4500])
def test_the_present_action_of_a_call_is_its_newest_message_however_many_others_came_since(followed, more):
    events = twelve_tasks()
    by_cart = next(
        one.event.call_id
        for one in reversed(events)
        if isinstance(one.event, e.CallStarted) and one.event.task_id == "cart"
    )
    noise = [replace(events[-1], seq=events[-1].seq + number) for number in range(1, more + 1)]
    run = followed([*events, *noise])
    with Journal(run.folder):
        regions = seen(run)
    assert by_cart in run.story.history.doing
    assert "Read shop/cart.py" in regions["r-tasks"]
    assert "Bash python -m pytest -q tests/test_invoice.py" in regions["r-tasks"]


def test_regions_have_ids_that_occur_once_and_each_is_one_element(followed):
    run = followed(twelve_tasks())
    regions = seen(run)
    ids = re.findall(r'\sid="([^"]*)"', "".join(regions.values()))
    assert len(ids) == len(set(ids))
    for name, html in regions.items():
        assert re.match(rf'<section id="{name}"', html.lstrip())
        assert html.rstrip().endswith("</section>")
        assert len(re.findall(r"<section\b", html)) == 1


def test_the_order_is_needs_you_then_not_finished_then_working_waiting_merged(followed):
    regions = seen(followed(twelve_tasks()))
    assert list(regions)[:6] == ["r-head", "r-needs", "r-words", "r-asked", "r-criteria", "r-tasks"]
    rows = re.findall(r'<tr id="t-\d+" class="([\w-]+)"', regions["r-tasks"])
    order = ["needs-you", "not-finished", "working", "waiting", "merged"]
    assert rows == sorted(rows, key=order.index)
    assert set(rows) == set(order)
    assert "Delete the column users.legacy" in regions["r-needs"]


def test_a_state_is_a_glyph_and_a_word(followed):
    regions = seen(followed(twelve_tasks()))
    chips = re.findall(
        r'<span class="chip[^>]*><span aria-hidden="true">(.)</span>([^<]+)</span>', regions["r-tasks"]
    )
    assert len(chips) == 12
    assert {("✓", "merged"), ("✗", "stuck"), ("○", "waiting"), ("‖", "needs you")} <= set(chips)


def test_time_that_goes_on_changes_no_byte(followed):
    """Clocks are counted by the page. Otherwise every region would be sent each second."""
    run = followed(twelve_tasks())
    run.current()
    run.active = True
    before = overview_regions(run)
    run.story.view.clock.last_at -= timedelta(0)
    assert overview_regions(run) == before
    assert 'data-since="' in before["r-tasks"]


def test_an_event_is_on_the_page_after_the_next_look(followed):
    events = twelve_tasks()
    run = followed(events)
    before = dict(seen(run))
    with Journal(run.folder) as journal:
        journal.append(e.TaskStuck(task_id="invoice", reason="it <b>cannot</b> go on"))
        after = seen(run)
    changed = {name for name in after if after[name] != before[name]}
    assert {"r-needs", "r-tasks", "r-feed"} <= changed
    assert "r-criteria" not in changed
    assert "it &lt;b&gt;cannot&lt;/b&gt; go on" in after["r-needs"]
    assert "it <b>" not in "".join(after.values())


def test_a_task_says_why_each_attempt_ended_with_gates_commands_findings_and_questions(followed):
    run = followed(twelve_tasks())
    run.current()
    text = unescape("".join(pages.task_regions(run, task_id="prices", attempt=1).values()))
    assert "Attempt 1" in text
    assert "gate tests" in text
    assert "sq ran `python -m pytest -q`: passed" in text
    assert "shop/prices.py:7" in text
    assert "sent back" in text
    second = unescape("".join(pages.task_regions(run, task_id="prices", attempt=2).values()))
    assert "won't fix" in second
    asked = unescape("".join(pages.task_regions(run, task_id="rounding", attempt=0).values()))
    assert "Which rounding does the spec mean?" in asked
    assert "half to even" in asked
    stuck = unescape("".join(pages.task_regions(run, task_id="mail", attempt=0).values()))
    assert "4 failed, 11 passed" in stuck


def test_a_page_of_a_very_long_run_stays_small(followed):
    run = followed(many_events(20_000))
    regions = seen(run)
    assert sum(html.count("<") for html in regions.values()) < 2 * 5000  # opening and closing tags
    for task_id in list(run.story.view.tasks)[:3]:
        html = "".join(pages.task_regions(run, task_id=task_id, attempt=0).values())
        assert html.count("<") < 2 * 5000


def test_the_time_of_the_last_event_reads_as_a_sentence_before_a_script_runs_and_afterwards():
    at = twelve_tasks()[0].at
    made = str(engine().get_template("macros.html.j2").module.ago(at))
    assert re.search(r'data-after=" ago"[^>]*>at [\d:]+</time>$', made), made
    assert "m.ago(last_at)" in (TEMPLATES / "head.html.j2").read_text()
    assert "dataset.after" in (TEMPLATES.parent / "assets" / "live.js").read_text()
