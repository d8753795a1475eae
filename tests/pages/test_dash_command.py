"""`sq dash` as a user calls it."""

import subprocess
import sys
from pathlib import Path

import pytest
from dash_served import asked, dash_on, request, signed_in
from language.large_runs import RUN_ID
from playwright.sync_api import expect


def sq(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "orchestrator.cli", "dash", *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip


def test_a_run_that_is_named_is_the_first_page(state):
    with dash_on(state, "rbeg") as dash:
        assert dash.address.startswith(f"{dash.origin}/run/{RUN_ID}?t=")


def test_a_run_that_is_not_there_is_a_mistake_of_the_user(state):
    done = sq("nothing", "--state-dir", state)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such run" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.20", "::"])
def test_another_address_than_that_of_this_machine_needs_a_name_by_which_it_may_be_called(state, host):
    done = sq("--state-dir", state, "--host", host)
    assert done.returncode == 2
    assert "--allow-host" in done.stderr


def test_a_host_is_an_address(state):
    done = sq("--state-dir", state, "--host", "example.com")
    assert done.returncode == 2
    assert "is not an address" in done.stderr


def test_a_port_that_is_taken_is_named(state):
    with dash_on(state) as dash:
        done = sq("--state-dir", state, "--port", dash.port)
    assert done.returncode == 2
    assert f"port {dash.port}" in done.stderr
    assert "--port" in done.stderr


def test_open_starts_a_browser_with_a_file_of_the_users_alone_that_leads_to_the_page(
    state, tmp_path, browser
):
    """A browser of the user's that notes its arguments."""
    program = tmp_path / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/noted && mv {tmp_path}/noted {tmp_path}/opened\n')
    program.chmod(0o755)
    with dash_on(state, "--open", PATH=f"{program.parent}:/usr/bin:/bin") as dash:
        for _ in range(200):
            if asked(dash, request(dash, "/"))[0] == 403 and (tmp_path / "opened").exists():
                break
        opened = (tmp_path / "opened").read_text().strip()
        assert dash.token not in opened
        file = Path(opened)
        assert [file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777] == [0o600, 0o700]
        page = browser.new_page()
        page.goto(file.as_uri())
        page.wait_for_url(f"{dash.origin}/")
        expect(page.locator("h1")).to_be_visible()
        assert dash.token not in page.url
        page.close()
        assert asked(dash, request(dash, f"/?t={dash.token}"))[0] == 403, "it is good once"
    assert not file.parent.exists()


def test_another_site_gets_nothing_by_an_address_without_the_token(dash, state):
    cross = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
    for path, more in (
        ("/", cross), ("/?t=x", cross), (f"/?t={dash.token}", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"]),
        (f"/?t={dash.token}", ["Sec-Fetch-Site: cross-site"]), (f"/?t={dash.token}", [*cross, "Origin: https://evil.example"]),
        (f"/?t={dash.token}", [*cross[:2], "Sec-Fetch-Dest: iframe"]),
    ):  # fmt: skip
        assert asked(dash, request(dash, path, more=more))[0] == 403
    cookie = signed_in(dash)
    assert asked(dash, request(dash, "/", cookie=cookie, more=cross))[0] == 403


def test_a_damaged_journal_is_said_on_its_page_and_the_others_are_shown(state):
    broken = state / "runs" / "20260131-160000-brok"
    broken.mkdir()
    (broken / "journal.db").write_bytes(b"no database" * 100)
    with dash_on(state) as dash:
        cookie = signed_in(dash)
        status, _, body = asked(dash, request(dash, f"/run/{broken.name}", cookie=cookie))
        assert status == 500
        assert b"journal" in body
        assert asked(dash, request(dash, f"/run/{RUN_ID}", cookie=cookie))[0] == 200
        assert asked(dash, request(dash, "/", cookie=cookie))[0] == 200


def test_a_folder_without_runs_has_a_page_that_says_how_to_begin_one(tmp_path):
    with dash_on(tmp_path / "none") as dash:
        assert asked(dash, request(dash, "/", cookie=signed_in(dash)))[0] == 200
