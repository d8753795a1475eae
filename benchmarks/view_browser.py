"""The page of `sq dash` and the report in a headless Chromium, measured, hostile texts too.

Used by `benchmarks.views`.
"""

import gzip
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.figures import ROOT, of_tests, percentile
from benchmarks.watching import RATES, MadeRun, dash, made_run, write_report, writer
from state.journal.events import ActionRefused, CallStarted, QuestionsAsked, TaskReopened
from state.journal.store import Journal
from state.records.questions import Question, QuestionOption
from state.records.reviews import ReviewIssue

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response


AXE = ROOT / "tests" / "pages" / "vendor" / "axe.min.js"
_BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
_MB = 1_000_000
# Notes when the line of each probe came into the page.
_OBSERVE = """
() => {
  window.seen = {};
  const look = () => {
    const now = Date.now() / 1000;
    for (const found of document.querySelector("main").textContent.matchAll(/probe-(\\d{6})/g))
      window.seen[Number(found[1])] ??= now;
  };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true});
}
"""
_WHOLE = """() => [...document.querySelectorAll("main > *, main section")].map(
    (one) => one.outerHTML.replace(/<time[^>]*>[^<]*<\\/time>/g, "")).join("\\n")"""


def in_browser(place: Path, long: MadeRun, twelve: MadeRun, *, events: int, texts: int) -> dict[str, object]:
    """All figures that need a browser."""
    with browser() as chromium:
        return {
            **_loaded(chromium, long, twelve),
            "commit_to_dom_p95_ms": _latency(chromium, place / "pages"),
            **_long_open(chromium, made_run(place / "open"), events),
            "live_equals_fresh": _live_equals_fresh(chromium, made_run(place / "killed")),
            "axe_violations": _violations(chromium, twelve),
            "hostile_texts_acting": hostile_texts_acting(chromium, place / "hostile", texts),
        }


@contextmanager
def browser() -> Iterator["Browser"]:
    """A headless Chromium that sends no requests of its own."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        sys.exit("no Chromium here: apt-get install chromium-headless-shell")
    arguments = ["--disable-background-networking", "--js-flags=--expose-gc"]
    if os.getuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=arguments)
        yield chromium
        chromium.close()


@contextmanager
def opened(chromium: "Browser", address: str, **options: Any) -> "Iterator[Page]":  # noqa: ANN401  Playwright's
    """A page of a browser that has never seen this server."""
    context = chromium.new_context(**options)
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def _run_address(page: "Page", run: MadeRun) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}/run/{run.run_id}"


def _loaded(chromium: "Browser", long: MadeRun, twelve: MadeRun) -> dict[str, object]:
    """Time to the overview of a long run, and all that a page loads."""
    with dash(long) as (address, _), opened(chromium, address) as page:
        began = time.perf_counter()
        page.goto(_run_address(page, long))
        page.locator("#r-tasks tr").first.wait_for()
        overview_s = time.perf_counter() - began
    answers: list[Response] = []
    urls: list[str] = []
    with dash(twelve) as (address, _), opened(chromium, address) as page:
        page.on("request", lambda one: urls.append(one.url))
        page.on("response", answers.append)
        page.goto(_run_address(page, twelve), wait_until="load")
        page.locator("#r-tasks tr").first.wait_for()
        bodies = [one.body() for one in answers if one.request.resource_type != "eventsource"]
        page.wait_for_timeout(1000)
    return {
        "overview_s": round(overview_s, 2),
        "page_kb_gz": round(sum(len(gzip.compress(body)) for body in bodies) / 1024, 1),
        "foreign_requests": sum(_is_foreign(url, address) for url in urls),
    }


def _is_foreign(url: str, own: str) -> bool:
    return urlsplit(url).scheme != "data" and urlsplit(url).netloc != urlsplit(own).netloc


def _latency(chromium: "Browser", state: Path) -> float:
    found = []
    for number, (pause_s, count) in enumerate(RATES):
        run = made_run(state / str(number))
        with dash(run) as (address, _), opened(chromium, address) as page:
            page.goto(_run_address(page, run))
            page.wait_for_timeout(1000)
            page.evaluate(_OBSERVE)
            with writer(run, count, pause_s) as stored:
                _keep_turning(page, stored, count)
            page.wait_for_timeout(1000)
            seen = {int(one): at for one, at in page.evaluate("window.seen").items()}
        found.append(_p95_ms(stored, seen))
    return round(max(found), 1)


def _p95_ms(stored: dict[int, float], seen: dict[int, float]) -> float:
    """The 95th percentile of the time from an event's storage until it, or a later one, was seen."""
    if not seen or max(seen) < max(stored):
        sys.exit(f"of {max(stored)} events the last one seen is {max(seen, default=0)}")
    waits, first = [], float("inf")
    for number in sorted(stored, reverse=True):
        first = min(first, seen.get(number, first))
        waits.append((first - stored[number]) * 1000)
    return percentile(waits, 95)


def _keep_turning(page: "Page", stored: dict[int, float], count: int) -> None:
    while max(stored, default=0) < count:
        page.wait_for_timeout(50)


def _long_open(chromium: "Browser", run: MadeRun, events: int) -> dict[str, object]:
    """Nodes and growth of the heap of a page that stays open while very many events come in."""
    with dash(run) as (address, _), opened(chromium, address) as page:
        page.goto(_run_address(page, run))
        page.wait_for_timeout(2000)
        before = _heap(page)
        with writer(run, events, -1) as stored:
            _keep_turning(page, stored, events - 200)
        page.wait_for_timeout(2000)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        return {"dom_nodes": nodes, "heap_growth_mb": round((_heap(page) - before) / _MB, 2)}


def _heap(page: "Page") -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return float(used)


def _live_equals_fresh(chromium: "Browser", run: MadeRun) -> bool:
    """A page goes on after its server was killed and started again, and is then as one just opened."""
    with dash(run) as (address, process), opened(chromium, address) as page:
        page.goto(_run_address(page, run))
        page.wait_for_timeout(500)
        port = urlsplit(page.url).port or 0
        process.send_signal(signal.SIGKILL)
        process.wait()
        with writer(run, 60, 0.01):
            pass
        with dash(run, port=port):
            page.wait_for_timeout(4000)
            with writer(run, 40, 0.01):
                pass
            page.wait_for_timeout(2000)
            live = page.evaluate(_WHOLE)
            page.reload()
            page.wait_for_timeout(1500)
            return bool(live == page.evaluate(_WHOLE) and "probe-000040" in live)


def _violations(chromium: "Browser", run: MadeRun) -> int:
    """Violations that axe finds in the pages of a run and in its report: light and dark, narrow and wide."""
    found: list[str] = []
    report = run.state / "report.html"
    for scheme in ("light", "dark"):
        for width in (360, 1440):
            look = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
            with dash(run) as (address, _), opened(chromium, address, bypass_csp=True, **look) as page:
                base = _run_address(page, run)
                pages = [base, *(f"{base}/{one}" for one in ("task/invoice", "decisions", "events"))]
                for place in [*pages, report.as_uri()]:
                    page.goto(place)
                    page.wait_for_timeout(500)
                    page.add_script_tag(path=str(AXE))
                    tags = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']}"
                    result = page.evaluate(f"axe.run({tags})")
                    found += [f"{scheme} {width} {place}: {one['id']}" for one in result["violations"]]
    sys.stderr.writelines(f"{line}\n" for line in found)
    return len(found)


_PAGE = 200  # events of one page
# Elements and attributes that a text of an agent must never become.
_STRAY = """() => [...document.querySelectorAll(
    "img, iframe, object, embed, form[action], base, meta[http-equiv=refresh], svg[onload], [onerror]," +
    "[onload], [onmouseover], [onclick], [hx-get], a[href^='javascript:'], link[href^='//']," +
    "a[href*='evil.example']"
  )].map((one) => one.outerHTML.slice(0, 200))"""


def hostile_texts_acting(chromium: "Browser", state: Path, count: int) -> int:
    """How many things happened that only a text can have caused: dialogs, violations, requests, elements."""
    run = made_run(state)
    _tell(run, of_tests("language.hostile_texts").hostile_texts(count))
    report = state / "hostile.html"
    write_report(run, report)
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
    sys.stderr.writelines(f"{line}\n" for line in acted[:20])
    return len(acted)


def _tell(run: MadeRun, texts: Sequence[str]) -> None:
    """Put the texts into events of a run: most as refusals, some as questions and findings."""
    with Journal(run.folder) as journal:
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

    def request(one: "Request") -> None:
        parts = urlsplit(one.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != own:
            acted.append(f"request: {one.url}")

    page.on("dialog", dialog)
    page.on("pageerror", lambda one: acted.append(f"error: {one}"))
    page.on("console", console)
    page.on("request", request)
