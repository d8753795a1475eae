"""A way to verify a folder: one command, its source, and as far as known the lines that it runs."""

from dataclasses import dataclass

from orchestrator.project.detection.words import needs_container, runners_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to verify.

    `lines` are the lines that the command runs, directly or indirectly, and empty if they are unknown.
    `tests` is False for a command that only lints. `own`: the project itself names it, as a target or a
    script, and it does not merely follow from the language. `one_language`: it runs the tests of one language
    only.
    """

    command: str
    source: str
    lines: tuple[str, ...] = ()
    tests: bool = True
    own: bool = False
    one_language: bool = False

    @property
    def runners(self) -> frozenset[str]:
        """The runners of tests that it calls, as far as known."""
        return runners_of((self.command, *self.lines))

    @property
    def stands_for_all(self) -> bool:
        """Whether it is taken for all tests of the project, because its runners are unknown."""
        unknown = self.own and self.tests and not self.runners and not needs_container(self.lines)
        return unknown and not self.one_language

    def calls(self, other: "Way") -> bool:
        """Whether this command runs the other one."""
        return any(other.command in line for line in self.lines)
