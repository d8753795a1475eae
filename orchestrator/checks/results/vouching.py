"""The commands that vouch for a tree: those of the user, else those that the repository shows."""

import re
import shutil
from pathlib import Path

from agents.process.frozen import is_living
from orchestrator.checks.change import Baseline
from orchestrator.checks.results.verdict import usable
from orchestrator.project.configured_checks import configured_checks
from orchestrator.project.detection import detect
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import only_installs

_PROGRAM = re.compile(r"[\w.-]+")


def commands_for(base: Baseline, folder: Path, tree: str = "") -> tuple[str, ...]:
    """Return the commands that vouch for a folder, without those that give no result on this machine.

    These are the user's, or else those of the baseline, which the repository shows or the analysis named, and
    those that the folder itself shows. If its `tree` is given, the folder is read once for it. A folder in
    which a session works is not read: it shows what it showed before.
    """
    if base.verify:
        given = dict.fromkeys((*base.verify, *base.also))
        return tuple(command for command in given if usable(base.checks.get(command)))
    found = dict.fromkeys(
        [
            *(
                command
                for command, check in base.checks.items()
                if check.run.count.ran or not check.run.nothing_yet
            ),
            *_shown_by(folder, tree),
        ]
    )
    return tuple(command for command in found if usable(base.checks.get(command)))


_shown: dict[Path, tuple[str, tuple[str, ...]]] = {}  # by folder: the tree that it held, and the commands


def _shown_by(folder: Path, tree: str) -> tuple[str, ...]:
    known = _shown.get(folder)
    if not is_living(folder) and not (tree and known and known[0] == tree):
        known = _shown[folder] = (tree, tuple(shown_commands(folder)[0]))
    return known[1] if known else ()


def shown_commands(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the commands that a folder shows with their sources, and why checks are left out."""
    tests = {_runnable_here(one.command, folder): one.source for one in detect(folder)}
    checks = configured_checks(folder, tuple(tests))
    return tests | checks.commands, checks.left_out


def _runnable_here(command: str, folder: Path) -> str:
    """Return the lines of a recipe in place of a command whose program is not on this machine.

    A script may lead to another such program: then those of the recipe below it. Lines that only install are
    left out, because the set-up has done that, with the network.
    """
    runs = [one for one in suite_of(command, folder).runs if one.through]
    programs = {one for run in runs for row in run.through for call in row.called for one in call.programs}
    found = command
    for depth in range(max((len(one.lines) for one in runs), default=0)):
        lines, below = (
            dict.fromkeys(one.lines[at].strip() for one in runs if len(one.lines) > at)
            for at in (depth, depth + 1)
        )
        named = [one for line in lines for one in _PROGRAM.findall(line) if one in programs]
        lacks = named and not any(_is_here(one, folder) for one in named)
        if lacks and below and not any("\n" in one for one in below):
            found = " && ".join([one for one in below if not only_installs(one)] or below)
    return found


def _is_here(program: str, folder: Path) -> bool:
    return bool(shutil.which(program)) or (folder / "node_modules/.bin" / program).exists()
