"""The network of verification commands."""

import socket
from pathlib import Path

import pytest
from hostile_runs import callers_of, make_repository, run_sq, write

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("network", "is_reached"), [("none", False), ("full", True)])
def test_verification_has_no_network_unless_it_is_asked_for(
    tmp_path: Path, home: Path, network: str, *, is_reached: bool
) -> None:
    repository = make_repository(tmp_path / "project")
    (repository / "sq.toml").write_text(f'[sandbox]\nnetwork = "{network}"\n')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        ask = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        done = run_sq(
            tmp_path,
            callers_of(write("notes.txt", "A line.\n")),
            home=home,
            sandbox="whole",
            verify=(f'python3 -c "{ask}" || true',),
        )
        try:
            server.accept()[0].close()
            reached = True
        except BlockingIOError:
            reached = False
    assert done.returncode == 0, done.stdout + done.stderr
    assert reached is is_reached
