"""An event loop whose clock skips to the next timer when nothing else is to be done: no test waits for it."""

import asyncio
import selectors


class _Skipping(selectors.DefaultSelector):
    """Never waits for a timer: it moves the loop's clock there."""

    loop: "SkippingLoop"

    def select(self, timeout=None):
        ready = super().select(timeout=0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:  # no timer: something outside has to happen
            return super().select(timeout=None)
        self.loop.now += timeout
        return []


class SkippingLoop(asyncio.SelectorEventLoop):
    """Begins at 0 seconds; `now` is what its clock shows."""

    def __init__(self):
        self.now = 0.0
        selector = _Skipping()
        selector.loop = self
        super().__init__(selector)

    def time(self):
        return self.now
