"""The sessions that may ask a model: a token each, for one caller and one model, until the session ends.

Each has an account: its cap, its spending, and calls under way that hold some of the rest.
"""

import hmac
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

from agents.gateway.call import TRACES_ENDPOINT, TRACES_HEADERS, Call, Refusal, caller_path, wrong_path
from agents.gateway.forward.meter import Tokens, usd
from agents.gateway.forward.upstream import token_in
from state.settings.records import Model

_AGENT = b"x-claude-code-agent-id"  # sent with the requests of a sub-agent
_ALIAS = re.compile(r"[a-z]*(\[1m\])?")  # a name that Claude Code resolves. Others go on as they are
_USED_UP = 402


class CallerSession:
    """One session's pass for a model, and what came of its calls."""

    def __init__(
        self, model: Model, *, caller: str, tools: tuple[str, ...], account: "Account", url: str, traces: bool
    ) -> None:
        self.url = url
        self.token = f"sqk_{secrets.token_urlsafe(32)}"
        self.caller = caller
        self.model = model  # whose prices count
        self.account = account
        self.ended = anyio.Event()
        self.lacking = ""
        self.exhausted = ""
        self.partial_calls = 0
        self.resets_at: float | None = None
        self._traces = traces
        self._pinned = "" if _ALIAS.fullmatch(model.id) else model.id
        self._tools = tools
        self._checked = not tools

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

    def allow(self, call: Call, model: str, offered: frozenset[str]) -> None:
        """Check the model of a request, and the tools of the first one.

        Raises:
            Refusal: another model, or typed tools are missing.
        """
        if self.lacking:
            raise self._tools_missing()
        self.allow_model(model)
        if self._checked or any(name == _AGENT for name, _ in call.headers):
            return
        if missing := [name for name in self._tools if name not in offered]:
            self.lacking = ", ".join(missing)
            raise self._tools_missing()
        self._checked = True

    def _tools_missing(self) -> Refusal:
        return Refusal(
            f"the first request of this session does not offer its model {self.lacking}. "
            "sq ends this session and starts it again",
            403,
        )

    def allow_model(self, model: str) -> None:
        """Check the model of a request.

        Raises:
            Refusal: it is another one.
        """
        if not model or (self._pinned and model != self._pinned):
            allowed = self._pinned or self.model.id
            raise Refusal(
                f"this session may use the model {allowed}, and the request names {model or 'none'}. "
                f"Ask {allowed}, or choose another model for the role (`sq run --model`)",
                403,
            )
        self._pinned = self._pinned or model  # an alias that Claude Code resolves

    def settle(self, tokens: Tokens, *, partial: bool) -> None:
        """Add the cost of a call."""
        self.account.spent_usd += usd(tokens, self.model)
        self.partial_calls += partial


class Callers:
    """All open sessions of a run. `traces`: they send spans to the gateway."""

    def __init__(self, run_id: str, *, traces: bool = False) -> None:
        self._run_id = run_id
        self._traces = traces
        self._open: set[CallerSession] = set()

    @contextmanager
    def opened(
        self,
        base_url: str,
        caller: tuple[str, str, str],
        model: Model,
        tools: tuple[str, ...] = (),
        cap_usd: float | None = None,
    ) -> Iterator[CallerSession]:
        """Provide a pass that is good while the block runs. Its calls under way end with it.

        `caller` is role, task and attempt. `tools` are typed tools that its first request has to offer its
        model. `cap_usd` None is no limit.
        """
        url, account = base_url + caller_path(self._run_id, caller), Account(cap_usd)
        name = "/".join(caller)
        session = CallerSession(
            model, caller=name, tools=tools, account=account, url=url, traces=self._traces
        )
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
            raise Refusal(
                "this token is not valid. It is good for one session of an sq run and ends with it. "
                "Use your own key at the API's own address",
                401,
            )
        if call.run_id != self._run_id or found[0].caller != call.caller:
            raise wrong_path(f"/{call.run_id}/{call.caller}")
        return found[0]


def refused(error: Refusal, session: CallerSession) -> Refusal:
    """Return the refusal, after noting in the session that its budget is used up."""
    if error.status == _USED_UP:
        session.exhausted = str(error)
    return error


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
            raise Refusal(
                f"this session's share of the budget, ${self._cap:.2f}, is used up (${self.spent_usd:.2f} "
                "spent). Give the run a larger one (`sq resume RUN --budget USD`)",
                _USED_UP,
            )
        return not self._held or self.spent_usd + self._held + usd <= self._cap
