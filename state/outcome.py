"""How a run ends: the outcomes, their exit codes, and their precedence."""

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    FAILED = "failed"
    USAGE = "usage"
    STUCK = "stuck"
    LIMIT = "limit"
    UNVERIFIED = "unverified"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        """The process exit code for this outcome."""
        return EXIT_CODES[self]


EXIT_CODES = {
    Outcome.COMPLETE: 0,
    Outcome.FAILED: 1,
    Outcome.USAGE: 2,
    Outcome.STUCK: 3,
    Outcome.LIMIT: 4,
    Outcome.UNVERIFIED: 5,
    Outcome.INTERRUPTED: 130,
}

MEANINGS = {
    Outcome.COMPLETE: "every task built, verified by sq's own commands, reviewed and merged",
    Outcome.FAILED: "an agent or the infrastructure failed for good, and the cause is named",
    Outcome.USAGE: "a bad flag, spec or plan, a missing SDK or CLI, or no credentials",
    Outcome.STUCK: "tasks remain and none can move",
    Outcome.LIMIT: "budget, time or iteration limit reached",
    Outcome.UNVERIFIED: "everything built, but something could not be verified",
    Outcome.INTERRUPTED: "state saved, `sq resume` goes on",
}

# If several hold, the first of these is the run's outcome.
PRECEDENCE = (
    Outcome.INTERRUPTED,
    Outcome.USAGE,
    Outcome.FAILED,
    Outcome.LIMIT,
    Outcome.STUCK,
    Outcome.UNVERIFIED,
)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome with the highest precedence, or complete if there is none."""
    present = set(outcomes)
    return next((outcome for outcome in PRECEDENCE if outcome in present), Outcome.COMPLETE)
