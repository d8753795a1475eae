"""One line that a carrier runs."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A shell line that is run in `folder`.

    `passes` is what stands between the carrier's own command and arguments that shall reach the end of this
    line
    (`" --"` for npm); None: none reach it. `programs` is a folder that is in front of PATH. `choose` is an
    argument of `line` by which it takes files, `TEST={files}`; empty: they are appended. `replaces`:
    arguments
    that pass take the place of the files in `line`. `elsewhere`: the line runs in an environment that only
    the
    carrier makes.
    """

    line: str
    folder: Path
    passes: str | None = None
    programs: str = ""
    choose: str = ""
    replaces: bool = False
    elsewhere: bool = False
