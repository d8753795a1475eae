"""`sq dash` as a user calls it."""

import subprocess
import sys
from pathlib import Path

import pytest
from dash_served import asked, dash_on, request, signed_in
from language.large_runs import RUN_ID


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


def test_open_starts_a_browser_with_the_address(state, tmp_path):
    """A browser of the user's that notes its arguments."""
    browser = tmp_path / "bin" / "xdg-open"
    browser.parent.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    with dash_on(state, "--open", PATH=f"{browser.parent}:/usr/bin:/bin") as dash:
        for _ in range(200):
            if asked(dash, request(dash, "/"))[0] == 403 and (tmp_path / "opened").exists():
                break
        assert (tmp_path / "opened").read_text().strip() == dash.address


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
