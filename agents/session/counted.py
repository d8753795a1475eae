"""The cost of a session as the forwarding gateway counts it, beside Claude Code's own figure.

The larger of the two counts: Claude Code does not see a call that a command makes with the session's token,
and forgets its cost when it is killed.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agents.session.exchange import Difference, SessionSpec
from state.records.calls import CallEnd

if TYPE_CHECKING:
    from agents.caller import CallerPass

_TOLERATED = 0.02  # of the larger figure
_LEAST_USD = 0.0001  # a smaller difference is one of rounding


class Counted:
    """What the gateway knows of one session. Without a gateway it knows nothing and changes nothing."""

    def __init__(self) -> None:
        self._pass: CallerPass | None = None
        self._counted = 0.0  # of the gateway's figure, given to exchanges so far
        self._said = 0.0  # by Claude Code
        self._all_said = True

    @contextmanager
    def admitted(self, spec: SessionSpec) -> Iterator[dict[str, str]]:
        """Hold the session's pass while the block runs. Provides the environment of its process."""
        if spec.admit is None:
            yield dict(spec.environment)
            return
        cap = None if spec.max_cost_usd is None else spec.max_cost_usd - spec.cost_before_usd
        with spec.admit(cap) as caller:
            self._pass = caller
            yield {**spec.environment, **caller.environment}

    @property
    def lacking(self) -> str:
        """The typed tools that the first request did not offer, in a sentence, or ""."""
        if self._pass is None or not self._pass.lacking:
            return ""
        return f"Claude Code did not offer its model {self._pass.lacking} in its first request"

    @property
    def resets_at(self) -> float | None:
        """When the API can be asked again, in seconds since 1970, if it named a time in the future."""
        at = self._pass.resets_at if self._pass else None
        return at if at and at > time.time() else None

    def end(self, end: CallEnd, detail: str) -> tuple[CallEnd, str]:
        """Return the end of an exchange: by its budget, if the gateway passed on no further call."""
        if self._pass and self._pass.exhausted and end is CallEnd.API_ERROR:
            return CallEnd.BUDGET, self._pass.exhausted
        return end, detail

    def cost(self, said_usd: float, *, is_result: bool = True) -> float:
        """Return the cost of an exchange. `said_usd` is that of Claude Code, or of its replies if it died."""
        self._said += said_usd
        self._all_said = self._all_said and is_result
        if self._pass is None:
            return said_usd
        counted, self._counted = self._pass.spent_usd - self._counted, self._pass.spent_usd
        return max(said_usd, counted)

    def difference(self) -> Difference | None:
        """Return by how much the figures differ at the session's end, or None if they agree."""
        if self._pass is None or not self._all_said:
            return None
        spent = self._pass.spent_usd
        apart = abs(spent - self._said)
        if apart <= max(_TOLERATED * max(spent, self._said), _LEAST_USD):
            return None
        return Difference(claude_code_usd=self._said, gateway_usd=spent, cut=self._pass.partial_calls)
