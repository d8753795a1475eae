"""Asks through the Anthropic API in a process that needs one answer, a hook: it blocks and starts fast.

The client of `agents.ask.api` takes a second to import, so this one uses the standard library. The request is
the same, but not streamed. HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR are
respected.
"""

import json
import time
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

from agents.access import ApiAccess
from agents.ask.port import Ask, Reply, error_words, from_api, is_here, late, seconds_of, to_api
from agents.claude_code.results import usage_of
from state.records.calls import CallEnd

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

_ADDRESS = "https://api.anthropic.com"
_VERSION = "2026-10-21"  # sent like `Authorization`, as the anthropic client does
_OK = 200
_ELSEWHERE = range(300, 400)
_LONGEST = 4 * 2**20  # bytes: many times the longest answer
_PIECE = 2**16
_SHOWN = 200  # characters of an answer that is not the API's
_SLACK_S = 1.0  # between the deadline, which decides, and the socket's limit


def ask_now(ask: Ask, access: ApiAccess) -> Reply:
    """Return the model's answer, or why there is none, within the deadline.

    Failures of the model, the API or the network never raise. They are in the reply. `on_begun` is called
    when the whole answer has arrived. A late request is left behind in its thread, which ends with the
    process, because no limit of a socket covers a name look-up, or an answer that comes a byte at a time.
    """
    began = time.monotonic()
    body = json.dumps(to_api(ask)).encode()
    came: list[Reply | BaseException] = []

    def work() -> None:
        try:
            came.append(_asked(ask, access, body, began))
        except BaseException as error:  # noqa: BLE001  raised in the caller's thread
            came.append(error)

    thread = Thread(target=work, name="ask", daemon=True)
    thread.start()
    thread.join(max(0.0, ask.deadline_s))
    if not came:
        return late(ask, began)
    if isinstance(came[0], BaseException):
        raise came[0]
    if ask.on_begun and came[0].end not in {CallEnd.API_ERROR, CallEnd.TIMED_OUT}:
        ask.on_begun()
    return came[0]


def _asked(ask: Ask, access: ApiAccess, body: bytes, began: float) -> Reply:
    from http.client import HTTPException
    from urllib.request import Request

    if not (access.key.isascii() and access.key.isprintable()):  # the library's error would show the key
        return _failed(began, "the API key has characters that no key has")
    if time.monotonic() >= began + ask.deadline_s:  # too late: send and pay for nothing
        return late(ask, began)
    base = access.base_url or _ADDRESS
    headers = {
        "Authorization": f"Bearer {access.key}",
        "anthropic-version": _VERSION,
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": "sq",  # some servers refuse the library's own name
    }
    try:
        request = Request(f"{base.rstrip('/')}/v1/messages", body, headers, method="POST")  # noqa: S310
        with _opener(base).open(request, timeout=max(0.0, ask.deadline_s) + _SLACK_S) as response:
            said = _read(response, until=began + ask.deadline_s)
    except (OSError, HTTPException, ValueError) as error:
        if time.monotonic() >= began + ask.deadline_s:  # however it fails then
            return late(ask, began)
        return _failed(began, str(getattr(error, "reason", "") or error) or repr(error))
    return _answered(ask, said, began) if response.status == _OK else _refused(response, said, began)


def _opener(base: str) -> "OpenerDirector":
    """Return an opener for HTTP and HTTPS: no files, no redirects (which leak the key), no status errors."""
    from urllib import request

    found = {} if is_here(base) else request.getproxies()
    proxies = {scheme: found.get(scheme) or found.get("all") for scheme in ("http", "https")}
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler({scheme: proxy for scheme, proxy in proxies.items() if proxy}),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _read(response: "HTTPResponse", *, until: float) -> bytes:
    said = bytearray()
    while time.monotonic() < until and (piece := response.read1(_PIECE)):
        said += piece
        if len(said) > _LONGEST:
            raise ValueError(f"the server is not the API: its answer has more than {_LONGEST} bytes")
    if response.length:
        raise ValueError(f"the answer was cut off, {response.length} bytes before its end")
    return bytes(said)


def _answered(ask: Ask, said: bytes, began: float) -> Reply:
    try:
        message = json.loads(said)
        text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
        stop_reason, usage = message["stop_reason"], usage_of(message["usage"])
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return _failed(began, f"the server is not the API. It said: {_start_of(said)}")
    return from_api(ask, text, stop_reason, usage, began=began)


def _refused(response: "HTTPResponse", said: bytes, began: float) -> Reply:
    try:
        told = error_words(json.loads(said))
    except (RecursionError, ValueError):
        told = ""
    detail = told or f"status {response.status} {response.reason}: {_start_of(said)}"
    if response.status in _ELSEWHERE:
        where = response.headers.get("location", "nowhere")
        detail = f"status {response.status}: sent elsewhere, where the key does not go: {where[:_SHOWN]}"
    return replace(
        _failed(began, detail),
        api_status=response.status,
        retry_after_s=seconds_of(response.headers.get("retry-after")),
    )


def _failed(began: float, detail: str) -> Reply:
    return Reply(end=CallEnd.API_ERROR, detail=detail, seconds=time.monotonic() - began)


def _start_of(said: bytes) -> str:
    return " ".join(said[:_SHOWN].decode(errors="replace").split()) or "nothing"
