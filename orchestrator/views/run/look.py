"""The look of a run that is shown: its form, and how much of it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class LookMode(StrEnum):
    """The form in which a run is shown."""

    JSON = "json"
    PLAIN = "plain"
    LIVE = "live"


class Detail(StrEnum):
    """How much of a run is shown: nothing, its end, its story, or every event."""

    NONE = "none"
    END = "end"
    STORY = "story"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The form in which a run is shown, and how much of it. JSON has always all.

    `follow` are commands that show more of the run, which a live table names.
    """

    mode: LookMode = LookMode.PLAIN
    detail: Detail = Detail.STORY
    follow: tuple[str, ...] = ()


def chosen_look(
    *, as_json: bool, plain: bool, verbose: bool, quiet: bool, environ: Mapping[str, str]
) -> Look:
    """JSON if it was asked for, live on a terminal, and plain elsewhere, under CI and on a dumb terminal."""
    detail = Detail.ALL if verbose else Detail.END if quiet else Detail.STORY
    if as_json:
        return Look(mode=LookMode.JSON, detail=detail)
    no_terminal = environ.get("CI") or environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return Look(mode=LookMode.PLAIN if plain or quiet or no_terminal else LookMode.LIVE, detail=detail)
