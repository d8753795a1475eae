"""The request to stop a run, as a signal or the end of its process makes it."""

import anyio


class StopRequest:
    """Requests a run to stop. `reason` is the signal's name."""

    def __init__(self) -> None:
        self.reason = ""
        self.leaves_time = False
        self._asked = anyio.Event()

    def ask(self, reason: str, *, leaves_time: bool = False) -> None:
        """Request it, once or more often. `leaves_time`: verified work may be merged first."""
        if not self.reason:
            self.reason, self.leaves_time = reason, leaves_time
        self._asked.set()

    async def wait(self) -> None:
        """Wait until a stop is requested."""
        await self._asked.wait()
