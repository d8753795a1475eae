"""`sq watch` without a terminal: its screen as text, and the keys."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from orchestrator.views.watch.app import WatchApp
from orchestrator.views.watch.following import Following
from orchestrator.views.watch.run_screen import RunScreen


class Watched:
    """The program with a screen of so many columns and lines."""

    def __init__(self, app: WatchApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> str:
        """Press keys, wait until all is drawn, and return the screen."""
        await self.pilot.press(*keys)
        return await self.settled()

    async def settled(self) -> str:
        if under_way := [one for one in self.app.workers if one.group in {"diff", "runs"}]:
            await self.app.workers.wait_for_complete(under_way)
        await self.pilot.pause()
        return self.text

    async def until(self, met: Callable[[str], object]) -> str:
        """Wait until the screen meets this, at most ten seconds."""
        for _ in range(400):
            if met(await self.settled()):
                return self.text
            await self.pilot.pause(0.025)
        raise AssertionError(f"not within 10 s:\n{self.text}")

    @property
    def text(self) -> str:
        """The screen as it is now, a line each."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    def row(self, words: str) -> str:
        """The first line that holds these words."""
        return next(line for line in self.text.splitlines() if words in line)


@asynccontextmanager
async def watching(
    folder: Path, *, size: tuple[int, int] = (120, 40), colours: bool = True, **more: Any
) -> AsyncIterator[Watched]:
    """Follow the run of a folder."""
    following = Following(folder)
    following.load()
    try:
        async with showing(lambda _: RunScreen(following, **more), size=size, colours=colours) as watched:
            yield watched
    finally:
        following.close()


@asynccontextmanager
async def showing(
    first: Callable[[WatchApp], Screen[None]], *, size: tuple[int, int] = (120, 40), colours: bool = True
) -> AsyncIterator[Watched]:
    """Show a screen."""
    app = WatchApp(first, colours=colours)
    async with app.run_test(size=size) as pilot:
        watched = Watched(app, pilot)
        await watched.settled()
        yield watched
