"""One line that a carrier runs."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellStep:
    """A shell line that runs in `folder`.

    `passes` is the text between the carrier's own command and arguments that shall reach the end of this line
    (`" --"` for npm), None if they cannot reach it. `programs` is a folder in front of PATH. `choose` is the
    command that takes files, with `{files}` in it, "" if they are appended to `line`. `replaces`: arguments
    that pass take the place of the files in `line`. `elsewhere`: the line runs in an environment that only
    the carrier makes.
    """

    line: str
    folder: Path
    passes: str | None = None
    programs: str = ""
    choose: str = ""
    replaces: bool = False
    elsewhere: bool = False
