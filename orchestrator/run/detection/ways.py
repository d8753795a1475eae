"""A way to verify a folder: one command, where it was seen, and what it runs as far as that can be read."""

from dataclasses import dataclass

from orchestrator.run.detection.words import needs_container, runners_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to verify.

    `lines` is what the command runs, with what that runs in turn; empty if nothing can be read. `tests` is
    False for a command that only lints. `own`: the project itself names it, as a target or a script, and it
    does not merely follow from the language. `one_language`: whatever it runs is the tests of one language.
    """

    command: str
    source: str
    lines: tuple[str, ...] = ()
    tests: bool = True
    own: bool = False
    one_language: bool = False

    @property
    def runners(self) -> frozenset[str]:
        """The runners of tests that it is known to call."""
        return runners_of((self.command, *self.lines))

    @property
    def stands_for_all(self) -> bool:
        """Whether it is taken for all tests of the project, as nothing says which it runs."""
        unknown = self.own and self.tests and not self.runners and not needs_container(self.lines)
        return unknown and not self.one_language

    def calls(self, other: "Way") -> bool:
        """Whether the other command is one of those that this one runs."""
        return any(other.command in line for line in self.lines)
