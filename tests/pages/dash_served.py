"""`sq dash` in a process of its own, and raw requests to it."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Dash:
    """A server. `address` holds the token, `origin` does not."""

    process: subprocess.Popen
    address: str

    @property
    def origin(self):
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def port(self):
        return urlsplit(self.address).port

    @property
    def token(self):
        return self.address.split("t=")[1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def dash_on(state, *arguments, port=0, **environ):
    """Serve the runs of a state folder."""
    command = [sys.executable, "-m", "orchestrator.cli", "dash", "--state-dir", str(state), *arguments]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environ},
    )  # fmt: skip
    deadline = threading.Timer(60, process.kill)  # to its address; what a test may take is the test's own
    deadline.start()
    try:
        first = process.stdout.readline().strip()
        deadline.cancel()
        assert re.match(r"http://\S+\?t=\S+$", first), first + process.stderr.read()
        yield Dash(process, first)
    finally:
        deadline.cancel()
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(10)
        process.stdout.close()
        process.stderr.close()


def request(dash, path="/", *, method="GET", host=None, cookie="", more=(), body=""):
    """The bytes of a request."""
    host = f"127.0.0.1:{dash.port}" if host is None else host
    rows = [f"{method} {path} HTTP/1.1", f"Host: {host}"] if host else [f"{method} {path} HTTP/1.1"]
    rows += [f"Cookie: {cookie}"] if cookie else []
    return ("\r\n".join([*rows, *more, "", ""]) + body).encode("latin-1")


def asked(dash, data):
    """Send the bytes of a request and return the status, the headers, and the body if its length is known."""
    with socket.create_connection(("127.0.0.1", dash.port), timeout=20) as line:
        line.sendall(data)
        answer = b""
        while b"\r\n\r\n" not in answer and (more := line.recv(65536)):
            answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        status, *rows = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (row.split(": ", 1) for row in rows)}
        wanted = int(headers.get("content-length", 0))
        while len(body) < wanted and (more := line.recv(65536)):
            body += more
        if not wanted and "content-length" in headers:  # and then nothing more comes
            line.settimeout(0.2)
            with suppress(TimeoutError):
                body += line.recv(65536)
        return int(status.split()[1]), headers, body


def signed_in(dash, token=None):
    """Redeem the token and return the cookie for further requests."""
    status, headers, body = asked(dash, request(dash, f"/?t={token or dash.token}"))
    assert (status, headers["location"], body) == (303, "/", b"")
    return headers["set-cookie"].split(";")[0]
