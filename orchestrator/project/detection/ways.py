"""A way to verify a folder: one command, its source, and as far as known everything that it runs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.project.runners.recognise import RUN_INSIDE, recognised
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.suite import SuiteRun, runs_of

# Words for a check that does not run the code, where no row knows the program: `poetry run lint`.
_LINTS = re.compile(r"(?<![\w.\-=$])(?:lint\S*|typecheck|type-check|fmt|format)(?![\w\-=]|\.\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to verify.

    `runs` are the commands that it runs in the end. `tests` is False for a command that only lints. `own`:
    the project itself names it, as a target or a script, and it does not merely follow from the language.
    `one_language`: it runs the tests of one language only. `runners` are the families of the runners of tests
    that it calls, as far as known. `lints`: it calls a linter, a formatter or a type checker, and no runner.
    """

    command: str
    source: str
    runs: tuple[SuiteRun, ...]
    runners: frozenset[str]
    lints: bool = False
    tests: bool = True
    own: bool = False
    one_language: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines that the command runs, directly or indirectly."""
        return [line for run in self.runs for line in run.lines if line != self.command]

    @property
    def stands_for_all(self) -> bool:
        """Whether it is taken for all tests of the project, because its runners are unknown."""
        unknown = self.own and self.tests and not self.runners and not self.needs_more
        return unknown and not self.one_language

    @property
    def needs_more(self) -> bool:
        """Whether it runs something in a container or on another machine, which may be missing."""
        return any(run.simple.name in RUN_INSIDE for run in self.runs)

    def calls(self, other: "Way") -> bool:
        """Whether this command runs the other one."""
        return any(other.command in line for line in self.lines)


def way(
    command: str,
    source: str,
    folder: Path,
    table: Table,
    *,
    line: str = "",
    also: Iterable[str] = (),
    own: bool = False,
    one_language: bool = False,
) -> Way:
    """Return a way to verify a folder.

    Args:
        command: the command.
        source: the file that shows it.
        folder: the folder in which it runs.
        table: the table of runners.
        line: the line that it runs, if no row of the table knows how to find it.
        also: families of runners that it is known to call.
        own: as in `Way`.
        one_language: as in `Way`.
    """
    runs = runs_of(line or command, folder, table)
    families = {family for run in runs if (family := _family(run, folder, table))}
    return Way(
        command=command,
        source=source,
        runs=runs,
        runners=frozenset({*families, *also}),
        lints=not families and any(_lints(run, table) for run in runs),
        own=own,
        one_language=one_language,
    )


def _family(run: SuiteRun, folder: Path, table: Table) -> str:
    """Return the family of a run, of the command that gets its words by `xargs` too."""
    words = run.simple.words if run.simple.name == "xargs" else ()
    inner = (replace(run.simple, words=words[at:]) for at in range(1, len(words)))
    return run.family or next(
        (found for one in inner if (found := recognised(one, folder, table).family)), ""
    )


def _lints(run: SuiteRun, table: Table) -> bool:
    inside = run.simple.name in RUN_INSIDE and not {*run.simple.words}.isdisjoint(table.programs.linters)
    return run.lints or inside or _LINTS.search(run.line) is not None
