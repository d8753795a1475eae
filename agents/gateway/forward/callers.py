"""The sessions that may ask a model: a token each, for one caller and one model, until the session ends.

Each has an account: its cap, its spending, and calls under way that hold some of the rest.
"""

import hmac
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio

from agents.gateway.call import TRACES_ENDPOINT, TRACES_HEADERS, Call, caller_path
from agents.gateway.forward import refusals
from agents.gateway.forward.meter import Tokens, usd
from agents.gateway.forward.refusals import Refusal
from agents.gateway.forward.upstream import token_in
from state.settings.records import Model

_AGENT = b"x-claude-code-agent-id"  # sent with the requests of a sub-agent
_FULL_NAME = "claude-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one session may do. `tools` are the typed tools that its first request has to offer its model.

    `cap_usd` None is no limit. `caller` is role, task and attempt.
    """

    caller: tuple[str, str, str]
    model: Model
    tools: tuple[str, ...] = ()
    cap_usd: float | None = None


class CallerSession:
    """One session's pass, and what came of its calls."""

    def __init__(self, terms: Terms, *, url: str, token: str, traces: bool = False) -> None:
        self.url = url
        self.token = token
        self.caller = "/".join(terms.caller)
        self.account = Account(terms.cap_usd)
        self.ended = anyio.Event()
        self.lacking = ""
        self.exhausted = ""
        self.partial_calls = 0
        self.resets_at: float | None = None
        self._traces = traces
        self._model = terms.model
        self._pinned = terms.model.id if terms.model.id.startswith(_FULL_NAME) else ""
        self._tools = terms.tools
        self._checked = not terms.tools

    def __repr__(self) -> str:
        return f"<CallerSession {self.caller} ${self.spent_usd:.4f}>"

    @property
    def spent_usd(self) -> float:
        """The cost of all its calls so far, in USD."""
        return self.account.spent_usd

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which Claude Code asks through this pass, and sends its spans if they are on."""
        spans = {TRACES_ENDPOINT: f"{self.url}/v1/traces", TRACES_HEADERS: f"x-api-key={self.token}"}
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": self.token,
            **(spans if self._traces else {}),
        }

    @property
    def model(self) -> Model:
        """The model whose prices count."""
        return self._model

    def allow(self, call: Call, model: str, offered: set[str]) -> None:
        """Check the model of a request, and the tools of the first one.

        Raises:
            Refusal: another model, or typed tools are missing.
        """
        if self.lacking:
            raise refusals.tools_missing(self.lacking.split(", "))
        self.allow_model(model)
        if self._checked or any(name == _AGENT for name, _ in call.headers):
            return
        if missing := [name for name in self._tools if name not in offered]:
            self.lacking = ", ".join(missing)
            raise refusals.tools_missing(missing)
        self._checked = True

    def allow_model(self, model: str) -> None:
        """Check the model of a request.

        Raises:
            Refusal: it is another one.
        """
        if not model or (self._pinned and model != self._pinned):
            raise refusals.wrong_model(model, self._pinned or self._model.id)
        self._pinned = self._pinned or model  # an alias that Claude Code resolves

    def settle(self, tokens: Tokens, *, partial: bool) -> None:
        """Add the cost of a call."""
        self.account.spent_usd += usd(tokens, self._model)
        self.partial_calls += partial


class Callers:
    """All open sessions of a run. `traces`: they send spans to the gateway."""

    def __init__(self, run_id: str, *, traces: bool = False) -> None:
        self._run_id = run_id
        self._traces = traces
        self._open: set[CallerSession] = set()

    @contextmanager
    def opened(self, terms: Terms, base_url: str) -> Iterator[CallerSession]:
        """Provide a pass that is good while the block runs. Its calls under way end with it."""
        url = base_url + caller_path(self._run_id, terms.caller)
        token = f"sqk_{secrets.token_urlsafe(32)}"
        session = CallerSession(terms, url=url, token=token, traces=self._traces)
        self._open.add(session)
        try:
            yield session
        finally:
            self._open.discard(session)
            session.ended.set()

    def session_of(self, call: Call) -> CallerSession:
        """Return the session whose token and path the call has.

        Raises:
            Refusal: the token is wrong or has ended, or it is another caller's.
        """
        token = token_in(call.headers).encode()
        found = [one for one in self._open if hmac.compare_digest(one.token.encode(), token)]
        if not found:
            raise refusals.wrong_token()
        if call.run_id != self._run_id or found[0].caller != call.caller:
            raise refusals.wrong_path(f"/{call.run_id}/{call.caller}")
        return found[0]


def refused(error: Refusal, session: CallerSession) -> Refusal:
    """Return the refusal, after noting in the session that its budget is used up."""
    if error.kind == "billing_error":
        session.exhausted = str(error)
    return error


def names_in(tools: object) -> set[str]:
    """Return the names of the tools in a request."""
    found = tools if isinstance(tools, list) else []
    return {str(tool.get("name")) for tool in found if isinstance(tool, Mapping)}


class Account:
    """Holds money for calls under way. Without a cap it only adds up."""

    def __init__(self, cap_usd: float | None) -> None:
        self.spent_usd = 0.0
        self._cap = cap_usd
        self._held = 0.0
        self._changed = anyio.Event()

    @asynccontextmanager
    async def hold(self, usd: float) -> AsyncIterator[None]:
        """Hold the most that a call may cost, while the block lasts. Wait if other calls hold the rest.

        A call that is alone may begin while anything is left, so the cap is exceeded by one call at most.

        Raises:
            Refusal: nothing is left.
        """
        while not self._fits(usd):
            await self._changed.wait()
        self._held += usd
        try:
            yield
        finally:
            self._held -= usd
            changed, self._changed = self._changed, anyio.Event()
            changed.set()

    def _fits(self, usd: float) -> bool:
        if self._cap is None:
            return True
        if self.spent_usd >= self._cap:
            raise refusals.used_up(self.spent_usd, self._cap)
        return not self._held or self.spent_usd + self._held + usd <= self._cap
