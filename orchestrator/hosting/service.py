"""Requests to a hosting service: sent with a token to one host, repeated where that is safe, and bounded.

A refusal is a sentence that says what to do. Its rows are data: `refusals.yaml`.
"""

import json
import re
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin, urlsplit

import anyio
import msgspec
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)

from orchestrator.hosting.remote import AccessToken
from state.decoding import table_beside
from state.errors import SqError
from state.hidden import visible

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response


_WORDS_KEPT = 300


class HostingError(SqError):
    """The service did not do what was asked. `status` is 0 if it gave no answer."""

    def __init__(self, message: str, *, status: int = 0, said: str = "") -> None:
        super().__init__(message)
        self.status, self.said = status, said


class UnsureError(HostingError):
    """Whether the service did what was asked is unknown: it has to be looked at before it is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReply:
    """An answer of the service. `body` is parsed JSON, or a text."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def said(self) -> str:
        """Return the service's own words in one line, cut."""
        if not isinstance(self.body, dict):
            return visible(str(self.body or ""))[:_WORDS_KEPT]
        errors = self.body.get("errors")
        each = [
            one.get("message")
            or " ".join(str(one.get(key, "")) for key in ("resource", "field", "code")).strip()
            if isinstance(one, dict)
            else str(one)
            for one in (errors if isinstance(errors, list) else [])
        ]
        return visible("; ".join([str(self.body.get("message") or ""), *each]).strip("; "))[:_WORDS_KEPT]


class _Refusals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `refusals.yaml`: a pattern of words with what it means, for a status of the service."""

    service: tuple[tuple[int, str, str], ...]
    push: tuple[tuple[str, str], ...]


@cache
def refusal_rows() -> _Refusals:
    """Return the rows by which refusals are explained."""
    return msgspec.convert(table_beside(__file__, "refusals.yaml"), _Refusals)


def meaning_of(said: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return what the first of these rows says that fits the words of a refusal, or ""."""
    return next((then for pattern, then in rows if re.search(pattern, said, re.IGNORECASE)), "")


def refusal(answer: ServiceReply, asked: str) -> HostingError:
    """Return the error for an answer that is no success. `asked` says what sq wanted, as `to open …`."""
    said = f' It says: "{answer.said}".' if answer.said else ""
    if answer.status >= 500:  # noqa: PLR2004  an error of the service
        text = f"the service failed when sq wanted {asked} (status {answer.status}).{said} Try again later"
        return HostingError(text, status=answer.status, said=answer.said)
    rows = [row for row in refusal_rows().service if row[0] == answer.status]
    what = meaning_of(answer.said, [row[1:] for row in rows]) or "the answer is one that sq does not know"
    wanted = answer.headers.get("x-accepted-github-permissions") or answer.headers.get(
        "x-accepted-oauth-scopes"
    )
    what = what.replace("{scopes}", f" ({visible(wanted)})" if wanted else "")
    return HostingError(
        f"sq wanted {asked}, and the service refused (status {answer.status}): {what}.{said}",
        status=answer.status,
        said=answer.said,
    )


_TRIES, _FIRST_WAIT_S, _LONGEST_WAIT_S = 4, 0.5, 60.0
_REDIRECTS = 3
_LARGEST = 8_000_000  # bytes of an answer
_MOST_PAGES = 30
_OK, _REDIRECTED, _NOT_MODIFIED, _FAILED = range(200, 300), {301, 302, 303, 307, 308}, 304, 500
_LIMITED = {403, 429}
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What is sent: `url` is an address, or a path below the service's. `body` is sent as JSON."""

    method: str
    url: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str | int] | None = None
    headers: Mapping[str, str] | None = None


@dataclass(kw_only=True)
class Service:
    """A connection to a service. `patience_s` bounds each wait for a limit of its rate.

    Nothing is sent to another host than `address`, where redirects lead or not.
    """

    address: str
    client: "AsyncClient"
    patience_s: float = _LONGEST_WAIT_S

    @classmethod
    @asynccontextmanager
    async def at(cls, address: str, token: AccessToken, *, agent: str) -> AsyncIterator[Self]:
        """Open a connection. `agent` names this program, as the service asks for."""
        import httpx2

        headers = {
            "authorization": f"Bearer {token.value}",
            "accept": "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
            "user-agent": agent,
        }
        timeout = httpx2.Timeout(30.0, connect=10.0)
        here = {"http://": None} if address.startswith("http://") else None  # this machine: past any proxy
        async with httpx2.AsyncClient(
            headers=headers, timeout=timeout, follow_redirects=False, mounts=here
        ) as client:
            yield cls(address=address, client=client)

    async def ask(
        self,
        method: str,
        path: str,
        asked: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceReply:
        """Send a request and return the answer, a success or "not modified".

        Args:
            method: of HTTP.
            path: below the service's address, or a whole address there.
            asked: what is wanted, for an error: `to open the pull request`.
            body: sent as JSON.
            query: of the address.
            headers: more of them.

        Raises:
            UnsureError: a request that changes something may have had its effect.
            HostingError: the service refused, failed or was not reached.
        """
        request = _Request(method=method, url=path, body=body, query=query, headers=headers)
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_AgainError),
            stop=stop_after_attempt(_TRIES),
            wait=_wait_s,
            sleep=anyio.sleep,
            reraise=True,
        )
        try:
            return await retrying(self._answer, request, asked)
        except _AgainError as again:
            raise again.then from again

    async def _answer(self, request: _Request, asked: str) -> ServiceReply:
        """Send a request once. `_AgainError`: it may be sent again, a POST only if it has not arrived."""
        try:
            answer = await self._once(request)
        except _NotSentError as error:
            raise _AgainError(
                HostingError(f"sq wanted {asked}, and the service is not reached: {error}")
            ) from error
        except _NoAnswerError as error:
            text = f"sq wanted {asked}, and no answer came: {error}"
            raise (
                UnsureError(text) if request.method == "POST" else _AgainError(HostingError(text))
            ) from error
        if answer.status in _OK and isinstance(answer.body, str):
            text = f"sq wanted {asked}, and the answer is no JSON, as behind a portal or a broken proxy"
            raise UnsureError(text) if request.method == "POST" else _AgainError(HostingError(text))
        if answer.status in _OK or answer.status == _NOT_MODIFIED:
            return answer
        if (pause := _pause(answer)) is not None:
            limited = _limited(answer, asked, pause)
            raise limited if pause > self.patience_s else _AgainError(limited, pause)
        refused = refusal(answer, asked)
        if answer.status < _FAILED:
            raise refused
        if request.method == "POST":
            raise UnsureError(str(refused), status=answer.status, said=answer.said)
        raise _AgainError(refused)

    async def pages(
        self, path: str, asked: str, *, within: str = "", query: Mapping[str, str | int] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the things of a list, page by page. `within`: the member of each page that holds the list.

        Raises:
            HostingError: as `ask`, or an answer is no list.
        """
        next_page = path
        given: Mapping[str, str | int] | None = {"per_page": 100, **(query or {})}
        for _ in range(_MOST_PAGES):
            answer = await self.ask("GET", next_page, asked, query=given)
            found = answer.body.get(within) if within and isinstance(answer.body, dict) else answer.body
            if not isinstance(found, list):
                raise HostingError(f"sq wanted {asked}, and the answer is no list", status=answer.status)
            for one in found:
                if isinstance(one, dict):
                    yield one
            following = _NEXT.search(answer.headers.get("link", ""))
            if not following:
                return
            next_page, given = following[1], None

    async def text_behind(self, path: str) -> str:
        """Return the text that a path redirects to, such as a log on another host, "" if it is gone.

        The token does not go to the other host: the address itself gives the right to read.
        """
        import httpx2

        answer = await self._sent(_Request(method="GET", url=f"{self.address}{path}"))
        if answer.status in _OK:
            return answer.body if isinstance(answer.body, str) else ""
        url = urljoin(self.address, answer.headers.get("location", ""))
        if answer.status not in _REDIRECTED or urlsplit(url).scheme not in {
            "https",
            urlsplit(self.address).scheme,
        }:
            return ""
        bare = Service(address=self.address, client=httpx2.AsyncClient(timeout=self.client.timeout))
        async with bare.client:
            text = (await bare._sent(_Request(method="GET", url=url))).body
        return text if isinstance(text, str) else ""

    async def _once(self, request: _Request) -> ServiceReply:
        """Send one request, to where it is redirected too.

        After a rename the service asks for the same there.
        """
        url, query = request.url, request.query
        url = url if "://" in url else f"{self.address}{url}"
        for _ in range(_REDIRECTS + 1):
            if not self._is_here(url):
                raise _NotSentError(
                    f"the request would go to {urlsplit(url).netloc}, another host than {self.address}"
                )
            answer = await self._sent(replace(request, url=url, query=query))
            if answer.status not in _REDIRECTED:
                return answer
            url, query = urljoin(url, answer.headers.get("location", "")), None
        raise _NotSentError("the service redirects in a circle")

    def _is_here(self, url: str) -> bool:
        there, here = urlsplit(url), urlsplit(self.address)
        return (there.scheme, there.netloc) == (here.scheme, here.netloc)

    async def _sent(self, request: _Request) -> ServiceReply:
        import httpx2

        has_body = request.body is not None
        content = json.dumps(request.body).encode() if has_body else None
        headers = {**(request.headers or {}), **({"content-type": "application/json"} if has_body else {})}
        try:
            async with self.client.stream(
                request.method, request.url, content=content, params=request.query, headers=headers
            ) as response:
                return await _read(response)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:
            raise _NotSentError(str(error) or type(error).__name__) from error
        except httpx2.HTTPError as error:
            raise _NoAnswerError(str(error) or type(error).__name__) from error


class _AgainError(Exception):
    """The request may be sent again, after `wait_s` or the usual wait. `then` is raised after the last."""

    def __init__(self, then: HostingError, wait_s: float = 0.0) -> None:
        super().__init__(str(then))
        self.then, self.wait_s = then, wait_s


def _wait_s(state: RetryCallState) -> float:
    """Return how long the service asks to wait, or else a time that doubles."""
    error = state.outcome.exception() if state.outcome else None
    named = error.wait_s if isinstance(error, _AgainError) else 0.0
    return named or wait_exponential(multiplier=_FIRST_WAIT_S)(state)


class _NotSentError(Exception):
    """The service has not received the request."""


class _NoAnswerError(Exception):
    """The service may have received the request."""


async def _read(response: "Response") -> ServiceReply:
    data = b""
    async for part in response.aiter_bytes():
        data += part
        if len(data) > _LARGEST:
            raise _NoAnswerError(f"the answer has more than {_LARGEST:,} bytes")
    headers = {name.lower(): value for name, value in response.headers.items()}
    text = data.decode(errors="replace")
    try:
        return ServiceReply(status=response.status_code, headers=headers, body=json.loads(text or "null"))
    except ValueError:
        return ServiceReply(status=response.status_code, headers=headers, body=text)


def _pause(answer: ServiceReply) -> float | None:
    """Return how many seconds a limit of the rate asks to wait, or None if it is no such limit."""
    if answer.status not in _LIMITED:
        return None
    if (after := answer.headers.get("retry-after", "")).isdigit():
        return float(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        return max(0.0, float(reset) - time.time()) + 1
    is_secondary = "rate limit" in answer.said.lower() or "too quickly" in answer.said.lower()
    return _LONGEST_WAIT_S if answer.status == 429 or is_secondary else None  # noqa: PLR2004  too many requests


def _limited(answer: ServiceReply, asked: str, pause: float) -> HostingError:
    until = time.strftime("%H:%M", time.localtime(time.time() + pause))
    return HostingError(
        f"sq wanted {asked}, and the service's limit of requests is used up until {until}. Repeat the "
        "command then",
        status=answer.status,
        said=answer.said,
    )
