"""What is compared with the base: one command on the tree of a change, and the functions that changed."""

from dataclasses import dataclass

from orchestrator.checks.touched import Touched
from orchestrator.project.functions.functions import ChangedFunction
from orchestrator.project.runners.suite import Suite
from state.records.commands import CommandRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultComparison:
    """A command's result `now` on the tree of a change, and `before` on its base, if that is known.

    `there` and `here` are the command's suites at the base and in the tree. `elsewhere` are tests that other
    commands ran on the tree.
    """

    command: str
    there: Suite
    here: Suite
    before: CommandRun | None
    now: CommandRun
    touched: Touched
    elsewhere: tuple[str, ...] = ()

    @property
    def suites(self) -> list[Suite]:
        """The command's suites at the base, then in the tree."""
        return [self.there, self.here]


@dataclass(frozen=True, kw_only=True)
class Work:
    """The functions that a work changed between two trees: the sources on the new one, and the changes."""

    tree: str
    sources: dict[str, bytes]
    changes: tuple[ChangedFunction, ...]
    defaults: frozenset[str]
