"""Does a claim stand, what does its builder hear, is the end code 0? Only this place decides with objections.

Plain functions over objections and proofs, whoever made the work. (house.md)
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from state.outcome import Outcome
from state.records.objections import Objection, Proof, Weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How much is asked of a work, beside the weights of its objections.

    The builder hears of notes of the checks in `heard_notes` once, as of others that weigh more, and of those
    in `told_along` when it has to hear of something anyway. A check in
    `needed` that could not be asked costs code 0, unless something else shows that the work is needed. Notes
    of the checks in `costly` cost it too, and so does a command whose tests notice a smaller share of the
    small changes in the work than `least_strength`.
    """

    heard_notes: frozenset[str] = frozenset()
    told_along: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    costly: frozenset[str] = frozenset()
    least_strength: float = 0


def blocking(objections: Iterable[Objection]) -> list[Objection]:
    """Return those with which a claim does not stand."""
    return [one for one in objections if one.weight is Weight.BLOCKS]


def unheard(objections: Iterable[Objection], heard: Collection[str], policy: Policy) -> list[Objection]:
    """Return those that the builder has to hear now. It hears of each check once: `heard` are their names."""
    new = [one for one in objections if one.check not in heard]
    notes = [one for one in new if one.weight is Weight.NOTE]
    found = [
        one for one in new if one.weight is Weight.ONCE or (one in notes and one.check in policy.heard_notes)
    ]
    return [*found, *(one for one in notes if one.check in policy.told_along)] if found else []


def gaps(objections: Sequence[Objection], proofs: Iterable[Proof], policy: Policy) -> list[Objection]:
    """Return those that keep the end from code 0."""
    every = list(proofs)
    weak = {(one.check, one.command) for one in every if one.strength < policy.least_strength}
    found = [
        one
        for one in objections
        if one.weight not in {Weight.NOTE, Weight.UNKNOWN}
        or (one.weight is Weight.NOTE and one.check in policy.costly)
        or (one.check, one.subject) in weak
    ]
    if any(one.needs_work for one in every):
        return found
    return [
        *found,
        *(one for one in objections if one.weight is Weight.UNKNOWN and one.check in policy.needed),
    ]


def verdict(open_: Collection[Objection]) -> Outcome:
    """Return the end of a work with these gaps: complete, unverified, or failed if one speaks against it."""
    if any(map(speaks_against, open_)):
        return Outcome.FAILED
    return Outcome.UNVERIFIED if open_ else Outcome.COMPLETE


def speaks_against(one: Objection) -> bool:
    """Whether an objection shows something wrong, and not only that something is missing."""
    return one.against or one.weight is Weight.BLOCKS
