"""The light way to the Messages API: what is its own beside the contract of `test_asking`, on real servers."""

import contextlib
import datetime as dt
import gzip
import ipaddress
import json
import math
import selectors
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agents.access import ApiAccess, KeyConnection
from agents.api_key import ApiKey
from agents.ask.api import ApiAsker
from agents.ask.light import ask_now
from agents.ask.port import Ask
from agents.caller import Caller
from state.records.calls import CallEnd, Usage
from state.roles import Role
from state.settings.presets import model_named

KEY = "sk-very-secret"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
NAME = "api.test"  # resolves nowhere; proxies and certificates know it


def ask(deadline_s=20.0, **changes):
    return Ask(
        caller=Caller(role=Role.JUDGE, task="stop", attempt=1),
        model=model_named("haiku"),
        system="You judge.",
        schema=SCHEMA,
        deadline_s=deadline_s,
        **{"prompt": "Is “it” done?", **changes},
    )


def asked(url, deadline_s=20.0, **changes):
    return ask_now(ask(deadline_s, **changes), ApiAccess(key=KEY, base_url=url))


def message(text='{"name": "x"}', stop_reason="end_turn", usage=None):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 1000, "output_tokens": 10},
    }


class Api(ThreadingHTTPServer):
    """Gives the same answer to every request, and keeps the requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Answering)
        self.status, self.headers, self.body = 200, {}, json.dumps(message()).encode()
        self.seen = []

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def says(self, body, *, status=200, **headers):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers = status, headers
        return self

    def handle_error(self, request, client_address):
        """The client went away: that is for the test to see, in its reply."""


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(self.server.status)
        for name, value in {"content-length": str(len(self.server.body)), **self.server.headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(self.server.body)

    def do_GET(self):
        self.do_POST()

    def log_message(self, *args):
        """Says nothing."""


class Proxy(socketserver.ThreadingTCPServer):
    """A forward proxy to whom every name is one machine's; keeps the head of each request that it gets."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), _Forwarding)
        self.port_behind = port
        self.heads = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Forwarding(socketserver.StreamRequestHandler):
    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.rfile.readline()
        self.server.heads.append(head.decode())
        with socket.create_connection(("127.0.0.1", self.server.port_behind)) as behind:
            if head.startswith(b"CONNECT "):
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                method, target, rest = head.split(b" ", 2)
                behind.sendall(b" ".join([method, b"/" + target.split(b"/", 3)[3], rest]))
                behind.sendall(self.rfile.read1())
            _relay(self.connection, behind)


def _relay(one, other):
    with selectors.DefaultSelector() as waiting:
        waiting.register(one, selectors.EVENT_READ, other)
        waiting.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in waiting.select():
                piece = key.fileobj.recv(2**16)
                if not piece:
                    return
                key.data.sendall(piece)


@contextlib.contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    with server:
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def api():
    with serving(Api()) as server:
        yield server


@pytest.fixture
def proxy(api):
    with serving(Proxy(api.port)) as server:
        yield server


@contextlib.contextmanager
def handling(handle):
    """A raw server; `handle(connection, ended)` has each connection, in a thread, until `ended` is set."""
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):  # the client went away
                handle(self.request, ended)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            ended.set()


def begin(connection, headers):
    """Takes what the request begins with, and begins to answer."""
    connection.recv(2**16)
    connection.sendall(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode())


# --- what is sent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", ["", "the transcript\n"])
async def test_the_request_is_the_one_that_the_anthropic_client_sends(api, tmp_path, shared):
    asker = ApiAsker(KeyConnection(key=ApiKey(key=KEY), base_url=f"{api.url}/a/caller/", config_dir=tmp_path))
    with anyio.fail_after(20):
        await asker.ask(ask(shared=shared))
        await anyio.to_thread.run_sync(lambda: asked(f"{api.url}/a/caller/", shared=shared))
    (path, headers, body), (light_path, light_headers, light_body) = api.seen
    client_body = json.loads(body)
    assert client_body.pop("stream") is True
    assert client_body == json.loads(light_body)
    assert path == light_path == "/a/caller/v1/messages"
    for name in ("authorization", "anthropic-version", "content-type"):
        assert headers[name] == light_headers[name]
    assert light_headers["accept-encoding"] == "identity"
    assert "x-api-key" not in light_headers


def test_the_shared_part_goes_first_and_is_to_be_cached(api):
    asked(api.url, shared="the transcript", prompt="the question")
    assert json.loads(api.seen[0][2])["messages"][0]["content"] == [
        {"type": "text", "text": "the transcript", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "the question"},
    ]


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nx-more: 1", f"{KEY}…", f"{KEY}\x7f"])
def test_a_key_that_no_header_can_carry_is_a_reply_that_does_not_show_it(api, key):
    reply = ask_now(ask(), ApiAccess(key=key, base_url=api.url))
    assert reply.end is CallEnd.API_ERROR
    assert "API key" in reply.detail
    assert KEY not in repr(reply)
    assert api.seen == []


@pytest.mark.parametrize(
    "url", ["file:///etc", "ftp://127.0.0.1", "nonsense", "http://[::1", "http://a..b", "http://x:y"]
)
def test_an_address_that_is_none_is_a_reply_that_says_so(url):
    reply = asked(url)
    assert reply.end is CallEnd.API_ERROR
    assert reply.detail


# --- what comes back ------------------------------------------------------------------------------------


def test_the_answer_its_tokens_and_its_cost_are_in_the_reply(api):
    api.says(
        message(
            usage={
                "input_tokens": 200,
                "output_tokens": 30,
                "cache_read_input_tokens": 4000,
                "cache_creation_input_tokens": None,
            }
        )
    )
    begun = []
    reply = asked(api.url, on_begun=lambda: begun.append(threading.current_thread()))
    usage = Usage(input_tokens=200, output_tokens=30, cache_read_tokens=4000)
    assert (reply.end, reply.answer, reply.detail) == (CallEnd.COMPLETED, {"name": "x"}, "")
    assert (reply.usage, reply.cost_usd) == (usage, model_named("haiku").cost(usage))
    assert reply.seconds > 0
    assert begun == [threading.current_thread()]


@pytest.mark.parametrize(
    ("text", "stop_reason", "end"),
    [
        ('{"name": "x"}', "refusal", CallEnd.REFUSED),
        ('{"name": "x', "max_tokens", CallEnd.TRUNCATED),
        ("NOT SATISFIED: no tests", "end_turn", CallEnd.UNUSABLE),
        ('["x"]', "end_turn", CallEnd.UNUSABLE),
        ("[" * 100_000, "end_turn", CallEnd.UNUSABLE),
        ("", "end_turn", CallEnd.UNUSABLE),
    ],
)
def test_an_answer_that_is_none_is_told_by_why_and_still_costs(api, text, stop_reason, end):
    api.says(message(text, stop_reason))
    reply = asked(api.url)
    assert (reply.end, reply.answer) == (end, None)
    assert reply.text == (text if end is CallEnd.UNUSABLE else "")
    assert text[:10] in reply.detail
    assert reply.cost_usd > 0


@pytest.mark.parametrize("after", ["7", "0.5", "inf", "Wed, 21 Oct 2026 07:28:00 GMT", None])
def test_an_error_has_its_status_its_words_and_the_time_until_the_next_try(api, after):
    words = {"type": "error", "error": {"type": "rate_limit_error", "message": "not today"}}
    api.says(words, status=429, **({"retry_after": after} if after else {}))
    begun = []
    reply = asked(api.url, on_begun=lambda: begun.append(1))
    assert (reply.end, reply.api_status, begun) == (CallEnd.API_ERROR, 429, [])
    assert reply.detail == "rate_limit_error: not today"
    assert reply.retry_after_s == {"7": 7.0, "0.5": 0.5}.get(after)


@pytest.mark.parametrize("body", [b"<html>\n  <p>Bad  gateway", b"[]", b"{}", b'{"error": "no"}', b""])
def test_an_error_that_is_not_the_apis_is_told_in_its_own_words(api, body):
    reply = asked(api.says(body, status=502).url)
    assert (reply.end, reply.api_status) == (CallEnd.API_ERROR, 502)
    assert "status 502 Bad Gateway" in reply.detail
    assert " ".join(body.decode().split()) in reply.detail


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Please sign in to this network</html>",
        b"{cut",
        b"",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe\x00",
        gzip.compress(json.dumps(message()).encode()),
        json.dumps(message(usage={"input_tokens": math.inf})).encode(),
        json.dumps({**message(), "content": [{"type": "text", "text": None}]}).encode(),
        json.dumps({**message(), "usage": ["x"]}).encode(),
    ],
)
def test_what_is_no_message_is_a_reply_that_shows_how_it_begins(api, body):
    reply = asked(api.says(body).url)
    assert (reply.end, reply.answer, reply.api_status) == (CallEnd.API_ERROR, None, None)
    assert "not the API" in reply.detail
    assert len(reply.detail) < 300


def test_a_body_beyond_all_measure_is_not_read_to_its_end(api):
    reply = asked(api.says(b" " * 5 * 2**20).url)
    assert reply.end is CallEnd.API_ERROR
    assert "more than" in reply.detail


def test_a_body_without_an_end_is_not_read_for_ever():
    def pour(connection, ended):
        begin(connection, "transfer-encoding: chunked")
        while not ended.is_set():
            connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

    with handling(pour) as url:
        reply = asked(url)
    assert reply.end is CallEnd.API_ERROR
    assert "more than" in reply.detail


@pytest.mark.parametrize("headers", ["content-length: 999", "transfer-encoding: chunked"])
def test_an_answer_that_is_cut_off_is_none(headers):
    def cut(connection, ended):
        begin(connection, headers)
        connection.sendall(b'2\r\n{"\r\n')

    with handling(cut) as url:
        reply = asked(url)
    assert reply.end is CallEnd.API_ERROR
    assert "cut off" in reply.detail or "IncompleteRead" in reply.detail


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_key_does_not_go_where_a_redirect_points_to(api, status):
    with serving(Api()) as elsewhere:
        api.says(b"", status=status, location=f"{elsewhere.url}/v1/messages")
        reply = asked(api.url)
        assert elsewhere.seen == []
    assert (reply.end, reply.api_status) == (CallEnd.API_ERROR, status)
    assert elsewhere.url in reply.detail


# --- the deadline ---------------------------------------------------------------------------------------


def drips(connection, ended):
    begin(connection, "content-length: 1000")
    while not ended.wait(0.2):
        connection.sendall(b" ")


def drips_headers(connection, ended):
    connection.recv(2**16)
    connection.sendall(b"HTTP/1.1 200 OK\r\nx-long: ")
    while not ended.wait(0.2):
        connection.sendall(b"x")


def hangs_before_the_headers(connection, ended):
    connection.recv(2**16)
    ended.wait()


def hangs_after_the_headers(connection, ended):
    begin(connection, "content-length: 1000")
    ended.wait()


def never_answers(connection, ended):
    ended.wait()


@pytest.mark.parametrize(
    "handle", [drips, drips_headers, hangs_before_the_headers, hangs_after_the_headers, never_answers]
)
@pytest.mark.parametrize("deadline_s", [-1.0, 0.0, 0.1, 0.5])
def test_the_deadline_holds_whatever_the_server_does(handle, deadline_s):
    with handling(handle) as url:
        reply = asked(url, deadline_s)
    assert (reply.end, reply.answer, reply.cost_usd) == (CallEnd.TIMED_OUT, None, 0.0)
    assert "no answer within" in reply.detail
    assert reply.seconds < 10


def test_after_the_deadline_nothing_is_asked(api):
    assert asked(api.url, 0.0).end is CallEnd.TIMED_OUT
    for thread in threading.enumerate():
        if thread.name == "ask":
            thread.join()
    assert api.seen == []


def test_a_name_that_does_not_resolve_is_a_reply():
    reply = asked("http://no-such-name.invalid", 2.0)
    assert reply.end in {CallEnd.API_ERROR, CallEnd.TIMED_OUT}
    assert reply.detail
    assert reply.seconds < 10


ONCE = f"""
import sys
from agents.ask.port import Ask
from agents.ask.light import ask_now
from agents.access import ApiAccess
from agents.caller import Caller
from state.roles import Role
from state.settings.records import Model
caller = Caller(role=Role.JUDGE, task="stop", attempt=1)
model = Model(alias="m", id="m", context=1000, prices=None)
ask = Ask(caller=caller, model=model, system="", prompt="?", schema={{}}, deadline_s=float(sys.argv[2]))
print(ask_now(ask, ApiAccess(key={KEY!r}, base_url=sys.argv[1])).end)
print(*sys.modules)
"""


def in_a_process(url, deadline_s):
    """What a process says that asks once: how it ended, and its modules."""
    done = subprocess.run(
        [sys.executable, "-c", ONCE, url, str(deadline_s)],
        capture_output=True, text=True, timeout=20, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    end, modules = done.stdout.splitlines()
    return end, {name.partition(".")[0] for name in modules.split()}


@pytest.mark.parametrize("handle", [drips_headers, never_answers])
def test_a_process_can_end_over_a_late_request(handle):
    with handling(handle) as url:
        assert in_a_process(url, 0.3)[0] == CallEnd.TIMED_OUT


def test_a_process_that_asks_loads_no_package_but_its_own(api):
    end, modules = in_a_process(api.url, 20)
    assert end == CallEnd.COMPLETED
    assert modules & {"anthropic", "httpx2", "anyio", "asyncio", "pydantic", "yaml", "structlog"} == set()


# --- proxies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_is_asked_for_an_address_without_tls(api, proxy, monkeypatch, variable):
    monkeypatch.setenv(variable, proxy.url)
    reply = asked(f"http://{NAME}:8080/base")
    assert (reply.end, reply.detail) == (CallEnd.COMPLETED, "")
    assert proxy.heads[0].startswith(f"POST http://{NAME}:8080/base/v1/messages HTTP/1.1\r\n")
    assert api.seen[0][0] == "/base/v1/messages"


def test_a_proxy_gets_its_own_password_and_for_tls_not_the_key(api, proxy, monkeypatch, certificates):
    certificates.secure(api)
    monkeypatch.setenv("SSL_CERT_FILE", certificates.trusted)
    monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//user:p%40ss@"))
    reply = asked(f"https://{NAME}")
    assert (reply.end, reply.detail) == (CallEnd.COMPLETED, "")
    assert proxy.heads[0].startswith(f"CONNECT {NAME}:443 HTTP/1.")
    assert "Basic dXNlcjpwQHNz" in proxy.heads[0]
    assert KEY not in "".join(proxy.heads)
    assert api.seen[0][1]["authorization"] == f"Bearer {KEY}"
    assert "proxy-authorization" not in api.seen[0][1]


def test_a_proxy_is_not_asked_for_what_no_proxy_names(api, proxy, monkeypatch):
    url = f"http://0.0.0.0:{api.port}"  # this machine by a name that is not treated as its own
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    assert asked(url).end is CallEnd.COMPLETED
    assert len(proxy.heads) == 1
    monkeypatch.setenv("NO_PROXY", "example.com, 0.0.0.0")
    assert asked(url).end is CallEnd.COMPLETED
    assert len(proxy.heads) == 1


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_proxy_is_never_asked_for_this_machine(api, proxy, monkeypatch, name):
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, proxy.url)
    assert asked(f"http://{name}:{api.port}").end is CallEnd.COMPLETED
    assert proxy.heads == []


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_a_reply_that_says_so(api, monkeypatch, scheme):
    def refuse(connection, ended):
        connection.recv(2**16)
        connection.sendall(b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n")

    with handling(refuse) as url:
        monkeypatch.setenv(f"{scheme}_proxy", url)
        reply = asked(f"{scheme}://{NAME}")
    assert reply.end is CallEnd.API_ERROR
    assert "407" in reply.detail
    assert "Who are you" in reply.detail


# --- TLS ------------------------------------------------------------------------------------------------


class Certificates:
    """An authority of the test's own, and what it signed: a certificate for NAME and 127.0.0.1."""

    def __init__(self, folder):
        self._folder = folder
        authority = self._certificate("the authority", None, (), None)
        self._certificate("server", authority, (NAME,), ipaddress.ip_address("127.0.0.1"))
        self._certificate("other", authority, ("other.test",), None)

    @property
    def trusted(self):
        return str(self._folder / "the authority.pem")

    def secure(self, api, certificate="server"):
        """Has `api` speak TLS; its address."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / f"{certificate}.pem", self._folder / f"{certificate}.key")
        api.socket = context.wrap_socket(api.socket, server_side=True)
        return f"https://127.0.0.1:{api.port}"

    def _certificate(self, name, signer, names, address):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer, issuer_key = signer or (subject, key)
        now = dt.datetime.now(dt.UTC)
        alternatives = [x509.DNSName(found) for found in names]
        builder = (
            x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
            )
        )
        if names:
            alternatives += [x509.IPAddress(address)] if address else []
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        else:
            usage = dict.fromkeys(
                (
                    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
                    "key_agreement", "encipher_only", "decipher_only",
                ),
                False,
            )  # fmt: skip
            builder = builder.add_extension(
                x509.KeyUsage(key_cert_sign=True, crl_sign=True, **usage), critical=True
            )
        made = builder.sign(issuer_key, hashes.SHA256())
        (self._folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (self._folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return subject, key


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


def test_a_certificate_of_an_authority_that_the_user_named_is_trusted(api, certificates, monkeypatch):
    url = certificates.secure(api)
    monkeypatch.setenv("SSL_CERT_FILE", certificates.trusted)
    reply = asked(url)
    assert (reply.end, reply.detail) == (CallEnd.COMPLETED, "")


def test_a_certificate_of_anybody_else_is_refused_before_the_key_is_sent(api, certificates):
    reply = asked(certificates.secure(api))
    assert reply.end is CallEnd.API_ERROR
    assert "CERTIFICATE_VERIFY_FAILED" in reply.detail
    assert api.seen == []


def test_a_certificate_for_another_name_is_refused_before_the_key_is_sent(api, certificates, monkeypatch):
    url = certificates.secure(api, "other")
    monkeypatch.setenv("SSL_CERT_FILE", certificates.trusted)
    reply = asked(url)
    assert reply.end is CallEnd.API_ERROR
    assert "certificate is not valid for '127.0.0.1'" in reply.detail
    assert api.seen == []
