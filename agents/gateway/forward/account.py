"""The money of one lane: its cap, its spending, and calls under way that hold some of the rest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from agents.gateway.forward import refusals


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
