"""Requests of sessions that begin with the same tools and system prompt, as those of parallel Workers do.

The API caches such a beginning once it has begun to answer. So of several that come at once the first is sent
alone, and the others follow when its answer begins, or after a short time in any case.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

MOST_WAIT_S = 5.0
_KEPT_S = 300  # by the API, from the last use on


class SharedPrefixes:
    """Knows which beginnings the API has cached, and which are being sent for the first time."""

    def __init__(self, most_wait_s: float = MOST_WAIT_S) -> None:
        self._most_wait_s = most_wait_s
        self._cached_at: dict[str, float] = {}
        self._first: dict[str, anyio.Event] = {}

    @asynccontextmanager
    async def turn(self, prefix: str) -> AsyncIterator[Callable[[], None]]:
        """Wait until the answer to the first request with this beginning begins. With "" it never waits.

        Yields a function to call when the answer begins.
        """
        cached = time.monotonic() - self._cached_at.get(prefix, float("-inf")) < _KEPT_S
        if first := self._first.get(prefix):
            with anyio.move_on_after(self._most_wait_s):
                await first.wait()
        elif prefix and not cached:
            first = self._first[prefix] = anyio.Event()
            try:
                yield lambda: self._begun(prefix)
            finally:
                self._first.pop(prefix, None)
                first.set()
            return
        yield lambda: self._begun(prefix)

    def _begun(self, prefix: str) -> None:
        self._cached_at[prefix] = time.monotonic()
        if first := self._first.pop(prefix, None):
            first.set()
