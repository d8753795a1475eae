"""axe-core finds no violation of WCAG 2.2 AA: light and dark, on a phone and on a desk, on every page."""

from itertools import product
from pathlib import Path

import pytest
from language.sampled import sampled
from pages_of_runs import LONG, PAGES, RUN, axe_violations

pytestmark = pytest.mark.browser
AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@pytest.fixture(scope="module")
def state_of(browser, shared):
    """The cookies of a browser that was let in."""
    context = browser.new_context()
    context.new_page().goto(shared.address)
    held = context.storage_state()
    context.close()
    return held


@pytest.mark.late
@pytest.mark.parametrize(
    ("width", "scheme"),
    sampled(product((360, 1440), ("light", "dark")), (360, "dark")),
)
def test_no_page_violates_a_rule_or_is_wider_than_its_window(browser, shared, state_of, scheme, width):
    context = browser.new_context(
        bypass_csp=True,  # for axe alone, which is added to the page
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
        storage_state=state_of,
    )
    page = context.new_page()
    found = {}
    for path in (*PAGES, f"/run/{LONG}", f"/run/{LONG}/task/counter"):
        page.goto(shared.origin + path)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        if violations := axe_violations(page, AXE):
            found[path] = violations
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, path
    context.close()
    assert found == {}


@pytest.mark.late
def test_the_page_that_says_that_it_is_stale_is_accessible_too(browser, shared, state_of):
    context = browser.new_context(bypass_csp=True, storage_state=state_of)
    page = context.new_page()
    page.goto(shared.origin + RUN)
    page.evaluate(
        "document.getElementById('stale').hidden = false; document.getElementById('stale').textContent = 'Stale'"
    )
    assert axe_violations(page, AXE) == []
    context.close()
