"""The notes of one attempt for the next."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The notes of one attempt for the next: work done, state of the tests, obstacles.

    `attempt` is its number. `tests` is the result that sq saw, or else the Worker's account. `decisions` are
    answers that held. `ended` is why the attempt ended. `since` lists the changes after its end.
    """

    attempt: int = 0
    done: str = ""
    tests: str = ""
    next_step: str = ""
    blockers: tuple[str, ...] = ()
    notes: str = ""
    decisions: tuple[str, ...] = ()
    ended: str = ""
    since: tuple[str, ...] = ()
