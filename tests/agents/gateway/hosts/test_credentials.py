"""Credentials at a registry: for which paths they go out, and that no answer brings them back."""

import base64
import gzip
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import h11
import pytest
from anyio import to_thread
from language.registry import PACKAGE, REGISTRY, stand_in
from language.spoken import spoken
from language.tables import table

from agents.gateway.hosts.credentials import Answer, Credential, asked_paths
from agents.gateway.hosts.rules import OpenHosts
from tests.agents.gateway.hosts.test_hosts_proxy import asks, opened

ROWS: dict[str, dict[str, Any]] = table(__file__, "paths")
TOKEN, PASSWORD = "npm_Zx81Qr5tUv7wXy9zAb3cDe", "pass/word & more"
BASIC = f"Basic {base64.b64encode(f'me:{PASSWORD}'.encode()).decode()}"


def credential(name: str, authorization: str = f"Bearer {TOKEN}") -> Credential:
    row = ROWS[name]
    return Credential(
        authorization=authorization,
        path=row["path"],
        ecosystem=row.get("ecosystem", name),
        scopes=frozenset(row.get("scopes", ())),
    )


def paths(kind: str) -> list[tuple[str, str]]:
    return [(name, path) for name, row in ROWS.items() for path in row[kind]]


@pytest.mark.parametrize(("name", "path"), paths("with"))
def test_what_the_client_of_an_ecosystem_asks_for_goes_out_with_the_credentials(name: str, path: str) -> None:
    assert credential(name).fits(path)


@pytest.mark.parametrize(("name", "path"), paths("without"))
def test_no_other_path_goes_out_with_the_credentials(name: str, path: str) -> None:
    assert not credential(name).fits(path)


def test_each_shape_has_a_source_and_each_of_them_is_tried() -> None:
    clients = asked_paths().clients
    assert {row.get("ecosystem", name) for name, row in ROWS.items()} == {*clients}
    assert all(row.source.startswith("https://") for client in clients.values() for row in client.rows)


def spellings(secret: str) -> dict[str, str]:
    """How a registry may write what it was sent."""
    data = secret.encode()
    return {
        "plain": secret,
        "in JSON": json.dumps(secret)[1:-1],
        "in HTML": html.escape(secret),
        "percent": quote(secret, safe=""),
        "small percent": re.sub("%..", lambda one: one[0].lower(), quote(secret, safe="")),
        "base64": base64.b64encode(data).decode(),
        "inside base64": base64.b64encode(b"authorization=" + data + b";").decode(),
        "inside base64, elsewhere": base64.b64encode(b"authorization: " + data + b";").decode(),
        "for addresses": base64.urlsafe_b64encode(b"a" + data).decode(),
        "hexadecimal": data.hex(),
        "backwards": secret[::-1],
    }


SECRETS = {
    "header": (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
    "bare token": (f"Bearer {TOKEN}", TOKEN),
    "basic": (BASIC, BASIC),
    "basic part": (BASIC, BASIC.partition(" ")[2]),
    "user and password": (BASIC, f"me:{PASSWORD}"),
    "password": (BASIC, PASSWORD),
}


def remains(secret: str, shown: bytes) -> bool:
    """Whether 13 bytes of a spelling are left."""
    written = spellings(secret)
    cut = {"inside base64", "inside base64, elsewhere", "for addresses"}
    needles = {text.encode() for name, text in written.items() if name not in cut}
    needles |= {base64.b64encode(secret.encode())[4:-4]}
    return any(
        one[at : at + 13] in shown for one in needles for at in range(max(1, len(one) - 12)) if len(one) > 12
    )


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("kind", SECRETS)
def test_no_spelling_of_the_credentials_comes_back_in_a_body(kind: str, size: int) -> None:
    authorization, secret = SECRETS[kind]
    for name, text in spellings(secret).items():
        body = b"before " * 20 + text.encode() + b" after" * 20
        for packed, encoding in (
            (body, b""),
            (gzip.compress(body), b"gzip"),
            (zlib.compress(body), b"deflate"),
        ):
            answer = Answer(authorization)
            headers = [(b"content-length", b"%d" % len(packed))] + (
                [(b"content-encoding", encoding)] if encoding else []
            )
            head = answer.head(h11.Response(status_code=200, headers=headers))
            parts = [packed[at : at + size] for at in range(0, len(packed), size)]
            shown = b"".join(map(answer.part, parts)) + answer.part(b"", last=True)
            assert b"before" in shown
            assert b"after" in shown
            assert not remains(secret, shown), (name, encoding, shown)
            assert len(shown) == len(body)
            assert bool(encoding) != any(header == b"content-length" for header, _ in head.headers)


def test_a_beginning_of_the_credentials_at_which_an_answer_breaks_off_stays_outside() -> None:
    for cut in range(12, len(TOKEN)):
        answer = Answer(f"Bearer {TOKEN}")
        answer.head(h11.Response(status_code=200, headers=[]))
        shown = answer.part(f"you sent {TOKEN[:cut]}".encode()) + answer.part(b"", last=True)
        assert TOKEN[:12].encode() not in shown


def test_an_answer_that_cannot_be_looked_into_is_none() -> None:
    for encoding in (b"br", b"zstd", b"gzip, gzip", b"compress"):
        with pytest.raises(h11.RemoteProtocolError):
            Answer(BASIC).head(h11.Response(status_code=200, headers=[(b"content-encoding", encoding)]))
    packed = Answer(BASIC)
    packed.head(h11.Response(status_code=200, headers=[(b"content-encoding", b"gzip")]))
    with pytest.raises(h11.RemoteProtocolError):
        packed.part(BASIC.encode())


def test_headers_and_errors_bring_nothing_back() -> None:
    sent = [
        (b"x-echo", BASIC.encode()),
        (b"location", f"https://x.example.test/?t={quote(BASIC)}".encode()),
        (b"content-length", b"9"),
    ]
    for status in (301, 401, 404, 500):
        head = Answer(BASIC).head(h11.Response(status_code=status, headers=sent, reason=BASIC.encode()))
        assert [name for name, _ in head.headers] == [b"location", b"content-length"]
        assert not remains(BASIC, repr(head).encode())
        assert dict(head.headers)[b"content-length"] == b"0"


async def test_the_proxy_asks_with_credentials_where_they_fit_and_hides_what_is_repeated(
    tmp_path: Path,
) -> None:
    own = Credential(authorization=BASIC, path="/", ecosystem="node")
    hosts = OpenHosts(registries={(REGISTRY, 443): (own,)})
    with stand_in(tmp_path) as found:
        found.more = {"/echo": f"you sent {BASIC}".encode()}
        async with opened(tmp_path, found.environ, hosts) as (_, path):
            said = [
                await to_thread.run_sync(
                    spoken, path, *asks(one, Range="bytes=0-9", **{"Accept-Encoding": "gzip"})
                )
                for one in ("/echo", f"/{PACKAGE}", "/-/npm/v1/tokens", "/gone")
            ]
    assert [one.headers.get("authorization") for one in found.asked] == [BASIC, BASIC, None, BASIC]
    assert [one.headers.get("range") for one in found.asked] == [None, None, "bytes=0-9", None]
    assert said[0].endswith(b"you sent " + b"*" * len(BASIC))
    assert json.loads(said[1].partition(b"\r\n\r\n")[2])["name"] == PACKAGE
    assert said[3].startswith(b"HTTP/1.1 404 ")
