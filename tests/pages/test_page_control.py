"""The page's controls: there only with `--control`, behind a token, an origin and a secret of the page's own."""

import re
from urllib.parse import urlencode

import pytest
from dash_served import asked, dash_on, request, signed_in
from language.large_runs import RUN_ID
from playwright.sync_api import expect

from state.inbox import left_in, remove
from state.journal import events as e
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.records.questions import Answer

RUN = f"/run/{RUN_ID}"


@pytest.fixture
def control(state):
    with dash_on(state, "--control") as served:
        yield served


def posted(
    dash,
    cookie,
    fields,
    *,
    path=f"{RUN}/word",
    origin=None,
    kind="application/x-www-form-urlencoded",
    more=(),
):
    body = urlencode(fields)
    rows = [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    rows += [f"Origin: http://127.0.0.1:{dash.port}" if origin is None else origin] if origin != "" else []
    return asked(dash, request(dash, path, method="POST", cookie=cookie, more=[*rows, *more], body=body))


def secret_of(page, context=""):
    return re.search(r'name="secret" value="([^"]+)"', page)[1]


def page_of(dash, cookie):
    """The page without its live regions is enough."""
    import http.client

    line = http.client.HTTPConnection("127.0.0.1", dash.port, timeout=20)
    line.request("GET", RUN, headers={"Cookie": cookie})
    text = line.getresponse().read().decode()
    line.close()
    return text


def test_a_word_of_the_page_is_left_for_the_run_with_who_said_it(control, state):
    cookie = signed_in(control)
    assert cookie.startswith(f"sq-control-{control.port}=")
    secret = secret_of(page_of(control, cookie))
    status, headers, _ = posted(control, cookie, {"secret": secret, "kind": "say", "text": "Be brief."})
    assert (status, headers["location"]) == (303, RUN)
    [word] = left_in(state / "runs" / RUN_ID)
    assert (word.kind, word.text, word.about) == ("say", "Be brief.", "")
    assert word.by.endswith("(page)")
    status, _, body = posted(
        control, cookie, {"secret": secret, "kind": "say", "text": "x", "about": "nobody"}
    )
    assert status == 400
    assert b"there is no task nobody" in body


def test_without_the_secret_the_origin_or_the_cookie_nothing_is_taken(control, state):
    cookie = signed_in(control)
    good = {"secret": secret_of(page_of(control, cookie)), "kind": "pause"}
    assert posted(control, "", good)[0] == 403
    assert posted(control, cookie, {**good, "secret": "x.y"})[0] == 403
    assert posted(control, cookie, {"kind": "pause"})[0] == 403
    assert posted(control, cookie, good, origin="")[0] == 403
    assert posted(control, cookie, good, origin="Origin: http://evil.example")[0] == 403
    assert posted(control, cookie, good, more=["Sec-Fetch-Site: cross-site"])[0] == 403
    assert posted(control, cookie, good, kind="text/plain")[0] == 403
    assert posted(control, cookie, good, path="/run/other/word")[0] == 404
    assert posted(control, cookie, {**good, "kind": "shout"})[0] == 400
    assert left_in(state / "runs" / RUN_ID) == []
    assert posted(control, cookie, good)[0] in {303, 400}


def test_without_control_there_is_no_form_and_no_word_is_taken(dash, state):
    cookie = signed_in(dash)
    assert '<form class="part control"' not in page_of(dash, cookie)
    assert posted(dash, cookie, {"secret": "x", "kind": "pause"})[0] == 403
    assert left_in(state / "runs" / RUN_ID) == []


def test_a_browser_sends_the_form_and_shows_the_run_again(control, state, browser):
    page = browser.new_page()
    page.goto(f"{control.origin}{RUN}?t={control.token}")
    page.fill("textarea[name=text]", "Use short lines.")
    page.click("button[value=say]")
    page.wait_for_url(f"**{RUN}")
    assert page.locator("form.control").count() == 1
    [word] = left_in(state / "runs" / RUN_ID)
    assert word.text == "Use short lines."
    expect(page.locator("#r-words")).to_contain_text("(page) says to all: Use short lines.")
    page.close()


def test_a_question_shows_its_name_and_its_options_and_after_an_answer_that_it_is_answered(
    control, state, browser
):
    page = browser.new_page()
    page.goto(f"{control.origin}{RUN}?t={control.token}")
    needs, words = page.locator("#r-needs"), page.locator("#r-words")
    expect(needs).to_contain_text("a question is parked (q1) in accounts: Delete the column users.legacy")
    assert needs.locator("ol.options li").all_inner_texts() == ["yes", "no"]
    expect(needs).to_contain_text(f'sq answer {RUN_ID} q1 "…"')
    expect(words).to_be_hidden()
    page.fill("textarea[name=text]", "9")
    page.click("button[value=answer]")
    expect(page.locator("main")).to_contain_text(
        "9 is no option of the question. The options are: 1 yes, 2 no"
    )
    page.click(f"nav.tabs a[href='{RUN}']")
    page.fill("textarea[name=text]", "2")
    page.click("button[value=answer]")
    expect(needs).to_contain_text("(page) has answered: 2.")
    expect(needs).to_contain_text(f"sq resume {RUN_ID}")
    assert "sq answer" not in needs.inner_text()
    expect(words).to_contain_text("(page) answers q1: 2")
    [word] = left_in(state / "runs" / RUN_ID)
    with Journal(state / "runs" / RUN_ID) as journal:  # as the run that takes it
        said = e.WordSaid(
            word_id="later", by="ann@host (sq say)", text="<b>Be brief.</b>", task_id="accounts"
        )
        chosen = Answer(
            question="Delete the column users.legacy, which nothing reads any more?", labels=("no",)
        )
        ask_id = next(iter(waiting_in(state))).asked.ask_id
        journal.append(said, e.PersonAnswered(word_id=word.word_id, by=word.by, ask_id=ask_id, answer=chosen))
    remove(state / "runs" / RUN_ID, word)
    expect(words).to_contain_text("ann@host (sq say) says to accounts: <b>Be brief.</b>")
    expect(words).to_contain_text("no agent has read it yet")
    expect(words).to_contain_text(
        "answers the parked question: Delete the column users.legacy, which nothing"
    )
    expect(words).not_to_contain_text("left for the run")
    expect(needs).not_to_contain_text("a question is parked (q1)")
    page.close()


def waiting_in(state):
    with JournalReader(state / "runs" / RUN_ID) as journal:
        return [ask for ask, _ in fold(journal.read()).waiting_questions.values()]
