"""A way to verify a folder: one command, its source, and as far as known everything that it runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.runners.recognise import RUN_INSIDE
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.suite import SuiteRun, runs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to verify.

    `runs` are the commands that it runs in the end. `tests` is False for a command that only lints. `own`:
    the project itself names it, as a target or a script, and it does not merely follow from the language.
    `one_language`: it runs the tests of one language only. `runners` are the families of the runners of tests
    that it calls, as far as known.
    """

    command: str
    source: str
    runs: tuple[SuiteRun, ...]
    runners: frozenset[str]
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

    @property
    def lints(self) -> bool:
        """Whether it calls a linter, a formatter or a type checker, and no runner of tests."""
        return not self.runners and any(run.lints for run in self.runs)

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
    families = {run.family for run in runs if run.family}
    return Way(
        command=command,
        source=source,
        runs=runs,
        runners=frozenset({*families, *also}),
        own=own,
        one_language=one_language,
    )
