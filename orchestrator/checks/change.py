"""A work that the checks are asked about: what it began with, what it is, and what was to be built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from state.records.commands import BaselineCheck, CommandRun
from state.records.plan import Criterion, Reading, ReadingKind, TestThatChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What is known of the commands before any work: their results on `tree`, by command.

    `verify` are the commands that the user named in place of those of the repository, `also` those beside.
    """

    tree: str = ""
    checks: Mapping[str, BaselineCheck] = field(default_factory=dict)
    verify: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def notices_a_canary(self, command: str) -> bool:
        """Whether a command failed there with a test added that must fail."""
        check = self.checks.get(command)
        return bool(check and check.canary and check.canary.caught)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A work: the difference of two trees of a repository. `base` may also be a commit.

    `own` is the tree without the commits of others that were merged with the work. `spec` are the words that
    ask for it, `own_words` those about this part of it. `announced` are the tests that were to change, each
    with the line that asks, and `readings` other lines as a plan reads them. `is_part`: other works build the
    rest, so what is missing may be theirs. `is_whole`: what they build is in the tree, so nothing is missing.
    `is_final`: nothing is asked later. `was_asked`: its parts were
    asked before, each alone. `earlier` are results of commands on `base`, if it is not the baseline's tree.
    """

    repository: Path
    base: str
    tree: str
    own: str = ""
    spec: str = ""
    own_words: str = ""
    criteria: tuple[Criterion, ...] = ()
    announced: tuple[TestThatChanges, ...] = ()
    readings: tuple[Reading, ...] = ()
    is_part: bool = False
    is_whole: bool = True
    is_final: bool = True
    was_asked: bool = False
    baseline: Baseline = Baseline()
    earlier: Mapping[str, CommandRun] = field(default_factory=dict)

    @property
    def asks_for_the_suite(self) -> bool:
        """Whether all tests have to pass, also those that failed before."""
        return any(one.kind is ReadingKind.SUITE for one in self.readings)

    @property
    def left_empty(self) -> frozenset[str]:
        """The names of functions that shall do nothing."""
        return frozenset(name for one in self.readings if one.kind is ReadingKind.EMPTY for name in one.names)

    @property
    def own_tree(self) -> str:
        """The tree of this work alone."""
        return self.own or self.tree

    def before(self, command: str) -> CommandRun | None:
        """Return a command's result on the tree that the work began with, else on the baseline's."""
        check = self.baseline.checks.get(command)
        return self.earlier.get(command) or (check.run if check else None)
