"""What the checks found of a work, so far."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from state.records.commands import WithoutWork
from state.records.objections import Objection, Proof
from state.records.reviews import TestChange, TestChangeKind
from state.records.work import WorkFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What was found by one check, or by all that were asked so far: `+` adds what the next one finds.

    `objections` speak against the work or name a question without an answer, `proofs` speak for it. `facts`
    are computed from the files. `only_prose`: the work changes documents alone.

    Others are for the checks that follow. `changes` are tests of the base that no longer count as they were,
    and `without_work` the results of commands with the changed functions emptied: what they mean is known
    when all was asked. `added` are functions that the work added, as `file: name`, `idle` tests of changed
    files that pass without the work, and `shown` commands of which each new test needs it.
    `same_inputs` are functions that were called on both trees.
    """

    objections: tuple[Objection, ...] = ()
    proofs: tuple[Proof, ...] = ()
    changes: tuple[TestChange, ...] = ()
    without_work: tuple[WithoutWork, ...] = ()
    added: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    same_inputs: tuple[str, ...] = ()
    facts: WorkFacts | None = None
    only_prose: bool = False

    def __add__(self, other: "Answers") -> "Answers":
        """Return both together."""
        lists = [one.name for one in fields(self) if isinstance(getattr(self, one.name), tuple)]
        both = {name: (*getattr(self, name), *getattr(other, name)) for name in lists}
        only_prose = self.only_prose or other.only_prose
        return Answers(**both, facts=other.facts or self.facts, only_prose=only_prose)


def answers_of(found: Iterable[Objection | Proof]) -> Answers:
    """Return objections and proofs as answers."""
    every = list(found)
    return Answers(
        objections=tuple(one for one in every if isinstance(one, Objection)),
        proofs=tuple(one for one in every if isinstance(one, Proof)),
    )


def not_asked(paths: Iterable[str], kind: TestChangeKind, why: str) -> tuple[TestChange, ...]:
    """Return each file of tests as changed, which stands for the answer of a question without one."""
    return tuple(TestChange(test="", path=path, kind=kind, detail=why) for path in paths)
