"""A real `sq dash` on runs that were written for it, and a real browser."""

import os
from pathlib import Path

import pytest
from dash_served import dash_on
from language.large_runs import RUN_ID, many_events, twelve_tasks, write
from pages_of_runs import LONG

CHROMIUM = "/usr/bin/chromium-headless-shell"
_QUIET = ("--disable-background-networking", "--disable-component-update", "--no-first-run")


@pytest.fixture
def state(tmp_path):
    """A state folder with a run of twelve tasks in every state, and a git repository with its commits."""
    folder = tmp_path / "state"
    write(folder / "runs" / RUN_ID, twelve_tasks(tmp_path / "made"))
    return folder


@pytest.fixture
def dash(state):
    with dash_on(state) as served:
        yield served


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server that the tests of a module share. Its runs do not change."""
    place = tmp_path_factory.mktemp("shared")
    write(place / "state" / "runs" / RUN_ID, twelve_tasks(place / "made"))
    write(place / "state" / "runs" / LONG, many_events(2000))
    with dash_on(place / "state", HOME=str(place)) as served:
        yield served


@pytest.fixture(scope="module")
def browser():
    """Chromium. Without one the tests are skipped, but where CI is set they fail."""
    missing = "" if Path(CHROMIUM).exists() else f"{CHROMIUM} is missing: .ci/install-tools installs it"
    if missing and os.environ.get("CI"):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*_QUIET, *root])
        yield started
        started.close()
