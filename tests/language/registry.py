"""A package registry on this machine behind a proxy, which leads every name to it. Its certificates are the test's own."""

import base64
import hashlib
import io
import json
import shutil
import socket
import ssl
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme
import yaml

from language.tables import table

PACKAGE = "tinydep"  # which each of the ecosystems has, with the licence MIT


def _tar(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            one = tarfile.TarInfo(name)
            one.size = len(text.encode())
            tar.addfile(one, io.BytesIO(text.encode()))
    return packed.getvalue()


def _wheel() -> bytes:
    packed, info = io.BytesIO(), f"{PACKAGE}-1.0.dist-info"
    with zipfile.ZipFile(packed, "w") as wheel:
        wheel.writestr(f"{PACKAGE}.py", "ANSWER = 42\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return packed.getvalue()


WHEEL = _wheel()
NPM = _tar(**{
    "package/package.json": json.dumps({"name": PACKAGE, "version": "1.0.0", "main": "index.js"}),
    "package/index.js": "module.exports = 42\n",
})  # fmt: skip
CRATE = _tar(**{
    f"{PACKAGE}-1.0.0/Cargo.toml": f'[package]\nname = "{PACKAGE}"\nversion = "1.0.0"\nedition = "2021"\n',
    f"{PACKAGE}-1.0.0/src/lib.rs": "pub fn answer() -> u32 { 42 }\n",
})  # fmt: skip


def content(host: str) -> dict[str, bytes]:
    """What the registry holds, by path, for every ecosystem, as if it were `host`."""
    npm = {
        "name": PACKAGE, "version": "1.0.0", "license": "MIT",
        "dist": {
            "tarball": f"https://{host}/{PACKAGE}/-/{PACKAGE}-1.0.0.tgz",
            "integrity": f"sha512-{base64.b64encode(hashlib.sha512(NPM).digest()).decode()}",
        },
    }  # fmt: skip
    versions = {"name": PACKAGE, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": npm}}
    crate = {"name": PACKAGE, "vers": "1.0.0", "deps": [], "features": {}, "yanked": False}
    wheel = f"/files/{PACKAGE}-1.0-py3-none-any.whl"
    link = f'<a href="{wheel}#sha256={hashlib.sha256(WHEEL).hexdigest()}">{wheel.rpartition("/")[2]}</a>'
    texts = {
        f"/simple/{PACKAGE}/": f"<!DOCTYPE html><html><body>{link}</body></html>",
        f"/pypi/{PACKAGE}/1.0/json": json.dumps({"info": {"version": "1.0", "license": "MIT"}}),
        f"/{PACKAGE}": json.dumps(versions),
        f"/{PACKAGE}/1.0.0": json.dumps(npm),
        "/config.json": json.dumps({"dl": f"https://{host}/dl", "api": f"https://{host}"}),
        f"/ti/ny/{PACKAGE}": json.dumps(crate | {"cksum": hashlib.sha256(CRATE).hexdigest()}),
        f"/api/v1/crates/{PACKAGE}/1.0.0": json.dumps({"version": {"num": "1.0.0", "license": "MIT"}}),
    }
    files = {
        wheel: WHEEL,
        f"/{PACKAGE}/-/{PACKAGE}-1.0.0.tgz": NPM,
        f"/dl/{PACKAGE}/1.0.0/download": CRATE,
    }
    return {**{path: text.encode() for path, text in texts.items()}, **files}


def many(host: str, count: int, files: int) -> dict[str, bytes]:
    """So many packages `bulk-NUMBER` of so many files, for Python and npm, by path."""
    found: dict[str, bytes] = {}
    for name in (f"bulk-{number}" for number in range(count)):
        packed, module = io.BytesIO(), name.replace("-", "_")
        info = f"{module}-1.0.dist-info"
        texts = {f"{module}/m{number}.py": f"NUMBER = {number}\n" * 50 for number in range(files)}
        texts[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        texts[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(packed, "w") as wheel:
            for path, text in texts.items():
                wheel.writestr(path, text)
            wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*texts, f"{info}/RECORD")))
        file = f"/files/{module}-1.0-py3-none-any.whl"
        found[file] = packed.getvalue()
        link = (
            f'<a href="{file}#sha256={hashlib.sha256(found[file]).hexdigest()}">{file.rpartition("/")[2]}</a>'
        )
        found[f"/simple/{name}/"] = f"<!DOCTYPE html><html><body>{link}</body></html>".encode()
        facts = {"name": name, "version": "1.0.0"}
        scripts = {f"package/m{number}.js": f"exports.number = {number};\n" * 50 for number in range(files)}
        tarball = f"/{name}/-/{name}-1.0.0.tgz"
        found[tarball] = _tar(**{"package/package.json": json.dumps(facts), **scripts})
        digest = base64.b64encode(hashlib.sha512(found[tarball]).digest()).decode()
        dist = {"tarball": f"https://{host}{tarball}", "integrity": f"sha512-{digest}"}
        told = {
            "name": name,
            "dist-tags": {"latest": "1.0.0"},
            "versions": {"1.0.0": {**facts, "dist": dist}},
        }
        found[f"/{name}"] = json.dumps(told).encode()
    return found


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    host: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class StandIn:
    """`proxy` is the address for `HTTPS_PROXY`, `authority` the file of the test's certificate.

    `connected` are the names and ports that the proxy was asked for, `asked` the requests to the registry.
    `more` is further content by path, and each answer takes `pause_s`, as over a network.
    """

    authority: Path
    proxy: str = ""
    more: dict[str, bytes] = field(default_factory=dict)
    pause_s: float = 0.0
    connected: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """The variables with which a user reaches the registry."""
        return {"HTTPS_PROXY": self.proxy, "SSL_CERT_FILE": str(self.authority)}


@contextmanager
def stand_in(folder: Path) -> Iterator[StandIn]:
    """Serve the registry and the proxy while the block runs."""
    authority = trustme.CA()
    found = StandIn(authority=folder / "authority.pem")
    authority.cert_pem.write_to_path(str(found.authority))
    with _registry(found, authority) as port, socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_proxy, args=(server, found, port), daemon=True).start()
        found.proxy = f"http://127.0.0.1:{server.getsockname()[1]}"
        try:
            yield found
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


@contextmanager
def _registry(found: StandIn, authority: trustme.CA) -> Iterator[int]:
    class Registry(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            host = self.headers.get("Host", "")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.asked.append(Asked(host, self.command, self.path, headers, body))
            time.sleep(found.pause_s)
            data = (found.more | content(host)).get(self.path.partition("?")[0])
            self.send_response(200 if data is not None else 404)
            kind = "text/html" if self.path.startswith("/simple/") else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Set-Cookie", "kept=1")
            if self.path.startswith("/files/"):
                self.send_header("Cache-Control", "max-age=365000000, immutable, public")  # as the real one
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data or b"")

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:  # a client that broke off
            pass

    contexts: dict[str, ssl.SSLContext] = {}
    making = threading.Lock()

    def named(connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        with making:  # several handshakes of one name may begin together
            if (name or "") not in contexts:
                made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                authority.issue_cert(name or "localhost").configure_cert(made)
                contexts[name or ""] = made
        connection.context = contexts[name or ""]

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    context.sni_callback = named
    with Server(("127.0.0.1", 0), Registry) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _proxy(server: socket.socket, found: StandIn, port: int) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_through, args=(client, found, port), daemon=True).start()


def _through(client: socket.socket, found: StandIn, port: int) -> None:
    """Answer a CONNECT with the registry, whatever name it asks for."""
    with client, socket.create_connection(("127.0.0.1", port)) as far, suppress(OSError):
        head = b""
        while b"\r\n\r\n" not in head:
            if not (data := client.recv(4096)):
                return
            head += data
        found.connected.append(head.split()[1].decode())
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        back = threading.Thread(target=_pump, args=(far, client), daemon=True)
        back.start()
        _pump(client, far)
        back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def installed(*programs: str) -> bool:
    return all(map(shutil.which, programs))


REGISTRY = "registry.example.test"  # which the acts of `hosts.yaml` know as open for reading
_ACTS = Path(__file__).parents[1] / "hostile" / "hosts.yaml"
_PASSED_ON = {"host", "user-agent", "accept", "accept-encoding", "range"}
_MOST_PATH = 2_000


def acts() -> dict[str, tuple[bytes, bytes]]:
    """The acts by name: what is sent to the proxy, and what to the registry behind it."""
    rows = yaml.safe_load(_ACTS.read_text("utf-8"))
    begin = f"CONNECT {REGISTRY}:443 HTTP/1.1\r\nHost: {REGISTRY}:443\r\n\r\n".encode()
    long = f"GET /{'x' * 2_500} HTTP/1.1\r\nHost: {REGISTRY}\r\n\r\n"
    wide = f"GET /x HTTP/1.1\r\nHost: {REGISTRY}\r\nAccept: {'x' * 900}\r\n\r\n"
    targets = {
        f"connect to {one}": f"CONNECT {one} HTTP/1.1\r\nHost: {one}\r\n\r\n" for one in rows["connect"]
    }
    return {
        **{name: (text.encode("latin-1"), b"") for name, text in (targets | rows["outer"]).items()},
        **{
            f"inside: {name}": (begin, text.encode("latin-1"))
            for name, text in (rows["inner"] | {"a long path": long, "a wide header": wide}).items()
        },
    }


# A program that does acts in a sandbox: their file and the port of the proxy are its arguments. It says how many were answered.
ACTOR = table(__file__, "actor")


def acts_for_actor() -> str:
    """The acts as the file of the actor."""
    return json.dumps([[base64.b64encode(part).decode() for part in act] for act in acts().values()])


def reached_beside(found: StandIn) -> list[str]:
    """What was reached beside reading from the registry."""
    bad = [f"CONNECT {one}" for one in found.connected if one != f"{REGISTRY}:443"]
    for one in found.asked:
        beside = {*one.headers} - _PASSED_ON
        if one.method not in {"GET", "HEAD"} or one.body or one.host != REGISTRY or beside:
            bad.append(f"{one.method} {one.host}{one.path[:50]} {sorted(beside)}")
        elif len(one.path) > _MOST_PATH or "carried" in f"{one.path}{one.headers}":
            bad.append(f"carried: {one.path[:50]}")
        elif any(len(value) > 500 for value in one.headers.values()):
            bad.append("a wide header")
    return bad
