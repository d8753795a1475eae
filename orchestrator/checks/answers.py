"""What the checks found of a work, so far."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from state.records.commands import CanaryResult, WithoutWork
from state.records.objections import Objection
from state.records.reviews import TestChange, TestChangeKind
from state.records.work import WorkFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What was found by one check, or by all that were asked so far: `+` adds what the next one finds.

    `changes` are tests of the base that no longer count as they were. `unproven` are tests that the work adds
    or changes and that also pass without it. `failed_before` are those that fail on the code before it.
    `canaries`: whether commands notice a failing test.
    `only_here` are commands that pass in the checkout and not on a clean copy of the same files.
    `without_work` are the results of commands with the changed functions emptied. `marks` is product code
    that newly looks at a test runner, as `file: code`. `stubs` are functions that the spec wants built and
    that do nothing. `later` are files that run later. `facts` are computed from the files, and `broken` are
    the constraints that do not hold by them, each its id and why. `only_prose`: the work changes documents
    alone. `objections` are what else was found, and the questions without an answer.

    Others are for the checks that follow: `added` are functions that the work added, as `file: name`, `idle`
    tests of changed files that pass without the work, and `shown` commands of which each new test needs it.
    """

    changes: tuple[TestChange, ...] = ()
    unproven: tuple[str, ...] = ()
    failed_before: tuple[str, ...] = ()
    canaries: tuple[CanaryResult, ...] = ()
    only_here: tuple[str, ...] = ()
    without_work: tuple[WithoutWork, ...] = ()
    marks: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    later: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()
    added: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    facts: WorkFacts | None = None
    only_prose: bool = False

    def __add__(self, other: "Answers") -> "Answers":
        """Return both together."""
        lists = [one.name for one in fields(self) if isinstance(getattr(self, one.name), tuple)]
        both = {name: (*getattr(self, name), *getattr(other, name)) for name in lists}
        only_prose = self.only_prose or other.only_prose
        return Answers(**both, facts=other.facts or self.facts, only_prose=only_prose)


def not_asked(paths: Iterable[str], kind: TestChangeKind, why: str) -> tuple[TestChange, ...]:
    """Return each file of tests as changed, which stands for the answer of a question without one."""
    return tuple(TestChange(test="", path=path, kind=kind, detail=why) for path in paths)
