"""A build file: its text, the targets that it declares, and the steps of one call."""

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LONGEST_SCRIPT = 200_000


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One target of a build file: the targets before it, and the lines that it runs."""

    before: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFile:
    """The targets of a build file. `first` is the one that is made if none is named."""

    path: Path
    targets: Mapping[str, Target]
    first: str = ""

    def steps(self, goals: Iterable[str], folder: Path, *, whole: bool = False) -> list[ShellStep] | None:
        """Return the lines that these targets run, those before them first, or None if one is missing.

        `whole`: a target before one of them may not be missing either.
        """
        lines: list[str] = []
        seen: set[str] = set()
        known = [self._collect(goal, lines, seen, whole=whole) for goal in goals]
        return [ShellStep(line=line, folder=folder) for line in lines] if all(known) else None

    def _collect(self, goal: str, lines: list[str], seen: set[str], *, whole: bool) -> bool:
        if goal in seen:
            return True
        if goal not in self.targets:
            return False
        seen.add(goal)
        known = [self._collect(one, lines, seen, whole=whole) for one in self.targets[goal].before]
        lines.extend(self.targets[goal].lines)
        return all(known) or not whole


def first_file(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the path of the first of these files that exists in a folder."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def text_of(path: Path) -> str:
    """Return the text of a file, or "" if it cannot be read or a link leads out of its repository."""
    path, real = Path(os.path.abspath(path)), os.path.realpath(path)  # noqa: PTH100  links are not followed
    root = next((one for one in path.parents if os.path.lexists(one / ".git")), path.parent)
    if not Path(real).is_relative_to(os.path.realpath(root)):
        return ""
    try:
        opened = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe does not make it wait
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return ""
    with suppress(OSError, ValueError), os.fdopen(opened, encoding="utf-8-sig", errors="replace") as file:
        return file.read(_LONGEST_SCRIPT)
    return ""
