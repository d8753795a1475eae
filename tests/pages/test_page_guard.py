"""The guard of the page on raw sockets: only the page of the user who was given the token is answered."""

import json
import re
import socket
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from dash_served import asked, dash_on, request, signed_in
from language.large_runs import RUN_ID
from language.tables import table

RUN = f"/run/{RUN_ID}"
PATHS = ("/", RUN, f"{RUN}/stream", "/stream", "/assets/live.js", f"{RUN}/events", "/nothing")


@pytest.fixture(scope="module")
def cookie(shared):
    return signed_in(shared)


def test_the_token_is_good_once_and_makes_a_cookie_that_scripts_and_other_sites_do_not_get(dash):
    status, headers, body = asked(dash, request(dash, f"{RUN}?t={dash.token}"))
    assert (status, headers["location"], body) == (303, RUN, b"")
    made = headers["set-cookie"]
    assert re.fullmatch(rf"sq-dash-{dash.port}=[\w-]{{43}}; HttpOnly; SameSite=Strict; Path=/", made)
    assert dash.token not in made
    assert asked(dash, request(dash, f"/?t={dash.token}"))[0] == 403
    cookie = made.split(";")[0]
    assert asked(dash, request(dash, "/", cookie=cookie))[0] == 200
    again = asked(dash, request(dash, f"/?t={dash.token}", cookie=cookie))
    assert (again[0], again[1]["location"]) == (303, "/")


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_nothing_is_answered(shared, path):
    dash = shared
    assert asked(dash, request(dash, path))[::2] == (403, b"")
    assert asked(dash, request(dash, path, cookie=f"sq-dash-{dash.port}=" + "x" * 43))[::2] == (403, b"")
    assert asked(dash, request(dash, f"{path}?t=x"))[::2] == (403, b"")


REFUSED = table(__file__, "refused")


@pytest.mark.parametrize("case", REFUSED)
def test_a_request_that_no_page_of_ours_sends_is_refused_without_a_body(shared, cookie, case):
    dash, (changes, wanted) = shared, REFUSED[case]
    known = {
        key: [row.format(port=dash.port) for row in value] if isinstance(value, list) else value
        for key, value in changes.items()
    }
    if "host" in known:
        known["host"] = known["host"].format(port=dash.port)
    assert asked(dash, request(dash, cookie=cookie, **known))[::2] == (wanted, b"")
    assert asked(dash, request(dash, cookie=cookie))[0] == 200  # the same one, unchanged


def test_a_request_that_breaks_http_is_refused_without_a_body(shared, cookie):
    dash = shared
    twice = request(dash, cookie=cookie, more=[f"Host: 127.0.0.1:{dash.port}"])
    assert asked(dash, twice)[::2] in {(400, b""), (421, b"")}
    assert asked(dash, request(dash, cookie=cookie, host=""))[::2] in {(400, b""), (421, b"")}
    old = f"GET / HTTP/1.0\r\nCookie: {cookie}\r\n\r\n".encode()
    assert asked(dash, old)[::2] == (421, b"")
    assert asked(dash, request(dash, cookie=cookie, more=["X-Long: " + "x" * 9000]))[::2] == (431, b"")


def test_fetching_ahead_and_head_do_not_use_up_the_token(dash):
    for more, method in ((["Sec-Purpose: prefetch"], "GET"), ([], "HEAD")):
        assert asked(dash, request(dash, f"/?t={dash.token}", method=method, more=more))[0] == 403
    signed_in(dash)


@pytest.mark.parametrize("path", [*PATHS, f"{RUN}/report"])
def test_every_answer_has_the_headers_of_protection(shared, cookie, path):
    dash = shared
    for headers in (
        asked(dash, request(dash, path, cookie=cookie))[1],
        asked(dash, request(dash, path))[1],
    ):
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "eval" not in policy
        assert ("unsafe" in policy) == (path.endswith("report") and "script-src" not in policy)
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in headers if name.startswith("access-control")]
        assert "server" not in headers


def test_names_that_are_allowed_are_those_of_the_server_and_no_other(state):
    with dash_on(state, "--allow-host", "sq.test") as dash:
        assert dash.address.startswith(f"http://sq.test:{dash.port}/?t=")
        named = request(dash, f"/?t={dash.token}", host=f"SQ.test:{dash.port}")
        assert asked(dash, named)[0] == 303
        assert asked(dash, request(dash, host="sq.test"))[0] == 421
        assert (
            asked(dash, request(dash, host=f"localhost:{dash.port}"))[0] == 403
        )  # a name of ours, no cookie


def test_the_stored_cookies_are_hashes_that_only_the_user_can_read(dash, home):
    cookie = signed_in(dash).split("=")[1]
    [file] = (home / ".local" / "state" / "sq" / "dash").glob("*.json")
    assert cookie not in file.read_text()
    assert dash.token not in file.read_text()
    assert len(json.loads(file.read_text())["cookies"]) == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_cookie_outlives_its_server_and_the_token_does_not(state):
    with dash_on(state) as first:
        cookie = signed_in(first)
        port, token = first.port, first.token
        first.kill()
    with dash_on(state, port=port) as second:
        assert asked(second, request(second, cookie=cookie))[0] == 200
        assert asked(second, request(second, f"/?t={token}"))[0] == 403


def test_there_are_at_most_sixteen_streams(dash):
    cookie = signed_in(dash)
    lines = []
    try:
        for number in range(17):
            line = socket.create_connection(("127.0.0.1", dash.port), timeout=10)
            lines.append(line)
            line.sendall(request(dash, f"{RUN}/stream", cookie=cookie))
            status = line.recv(100).split()[1]
            assert status == (b"200" if number < 16 else b"503")
        lines[0].close()
        for _ in range(200):
            again = asked(dash, request(dash, "/stream", cookie=cookie))[0]
            if again == 200:
                break
        assert again == 200
    finally:
        for line in lines:
            line.close()


def test_nothing_but_the_address_is_printed_and_ctrl_c_ends_it_with_code_0(state):
    with dash_on(state) as dash:
        cookie = signed_in(dash)
        asked(dash, request(dash, f"{RUN}?x=1", cookie=cookie))
        asked(dash, request(dash, "/nothing", cookie=cookie))
        stream = socket.create_connection(("127.0.0.1", dash.port), timeout=10)
        stream.sendall(request(dash, "/stream", cookie=cookie))
        assert b"200" in stream.recv(100)
        dash.process.send_signal(2)
        assert dash.process.wait(10) == 0
        stream.close()
        printed = dash.process.stdout.read() + dash.process.stderr.read()
        assert printed == "This address is good once. Ctrl-C ends the page, and no run with it.\n"


def test_the_guard_stands_before_everything():
    """No address of the site is reachable around the guard: the server is given the guard alone."""
    text = (Path(__file__).parents[2] / "orchestrator" / "views" / "page" / "serving.py").read_text()
    assert "guard = Guard(app, hosts, sessions, port, controls=controls)" in text
    assert "_Server(_config(guard))" in text


@pytest.mark.parametrize(
    "beginning", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"]
)
def test_silent_connections_hold_the_page_for_nobody(shared, cookie, beginning):
    with ExitStack() as stack:
        for _ in range(300):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", shared.port), timeout=20))
            with suppress(OSError):
                line.sendall(beginning)
                if beginning.endswith(b"\r\n\r\n"):
                    line.recv(1)
        assert asked(shared, request(shared, cookie=cookie))[0] == 200
