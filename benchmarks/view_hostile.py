"""Hostile texts in the page and the report, and how many of them act. Used by `benchmarks.views`."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.view_processes import SQ, MadeRun, dash, environment, made_run
from state.journal.events import ActionRefused, CallStarted, QuestionsAsked, TaskReopened
from state.journal.store import Journal
from state.records.questions import Question, QuestionOption
from state.records.reviews import ReviewIssue

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

_PAGE = 200  # events of one page
# Elements and attributes that a text of an agent must never become.
_STRAY = """() => [...document.querySelectorAll(
    "img, iframe, object, embed, form[action], base, meta[http-equiv=refresh], svg[onload], [onerror]," +
    "[onload], [onmouseover], [onclick], [hx-get], a[href^='javascript:'], link[href^='//']," +
    "a[href*='evil.example']"
  )].map((one) => one.outerHTML.slice(0, 200))"""


def hostile_texts_acting(chromium: "Browser", state: Path, count: int) -> int:
    """How many things happened that only a text can have caused: dialogs, violations, requests, elements."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from language.hostile_texts import hostile_texts  # type: ignore[import-not-found]

    run = made_run(state)
    _tell(run, hostile_texts(count))
    report = state / "hostile.html"
    subprocess.run(
        [*SQ, "report", run.run_id, "--state-dir", str(run.state), "-o", str(report)],
        env=environment(), stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    acted: list[str] = []
    with dash(run) as (address, _):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address)
        own = urlsplit(page.url).netloc
        base = f"http://{own}/run/{run.run_id}"
        _listen(page, own, acted)
        pages = [base, f"{base}/decisions", f"{base}/report", report.as_uri()]
        pages += [f"{base}/events?after={after}" for after in range(0, count + 2 * _PAGE, _PAGE)]
        for place in pages:
            page.goto(place)
            page.wait_for_timeout(100)
            acted += [f"{place}: {one}" for one in page.evaluate(_STRAY)]
        context.close()
    for line in acted[:20]:
        sys.stderr.write(f"{line}\n")
    return len(acted)


def _tell(run: MadeRun, texts: Sequence[str]) -> None:
    """Put the texts into events of a run: most as refusals, some as questions and findings."""
    with Journal(run.state / "runs" / run.run_id) as journal:
        started = [one.event for one in journal.read() if isinstance(one.event, CallStarted)]
        call = [one for one in started if one.task_id][-1]
        for number, text in enumerate(texts[:50]):
            question = Question(text=text or "?", options=(QuestionOption(label=text, description=text),))
            issue = ReviewIssue(task_id=call.task_id, file=text, description=text, suggestion=text)
            journal.append(
                QuestionsAsked(
                    ask_id=f"hostile-{number}",
                    call_id=call.call_id,
                    task_id=call.task_id,
                    questions=(question,),
                ),
                TaskReopened(task_id=call.task_id, issues=(issue,), by=text),
            )
        for start in range(50, len(texts), 500):
            some = texts[start : start + 500]
            journal.append(*(ActionRefused(call_id=call.call_id, tool=one, reason=one) for one in some))


def _listen(page: "Page", own: str, acted: list[str]) -> None:
    def dialog(one: "Dialog") -> None:
        acted.append(f"dialog: {one.message}")
        one.dismiss()

    def console(one: "ConsoleMessage") -> None:
        if "Content Security Policy" in one.text:
            acted.append(one.text)

    def error(one: object) -> None:
        acted.append(f"error: {one}")

    def request(one: "Request") -> None:
        parts = urlsplit(one.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != own:
            acted.append(f"request: {one.url}")

    page.on("dialog", dialog)
    page.on("pageerror", error)
    page.on("console", console)
    page.on("request", request)
