"""A git server over HTTP on loopback that wants a name and a password: git's own program behind Python's server."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

USER = "x-access-token"


@contextmanager
def git_over_http(root: Path, password: str) -> Iterator[str]:
    """Serve the repositories below a folder, and provide the address of it."""
    wanted = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            if self.headers.get("authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            asked = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length) if length else self._chunks()
            more = {
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": asked.path,
                "QUERY_STRING": asked.query,
                "CONTENT_TYPE": self.headers.get("content-type") or "",
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding") or "",
                "GIT_PROTOCOL": self.headers.get("git-protocol") or "",
                "REMOTE_USER": USER,
            }
            done = subprocess.run(
                ["git", "http-backend"],
                input=body,
                env={**os.environ, **more},
                capture_output=True,
                check=True,
            )
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _chunks(self) -> bytes:
            found = b""
            while self.headers.get("transfer-encoding") == "chunked" and (
                n := int(self.rfile.readline(), 16)
            ):
                found += self.rfile.read(n)
                self.rfile.readline()
            return found

        do_GET = do_POST = _serve  # noqa: N815  the server asks for these names

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
