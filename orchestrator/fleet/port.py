"""What sq needs of an engine that queues, claims and fences: nine methods.

`tests/orchestrator/fleet/test_port.py` is the contract. It holds for DBOS on SQLite and on PostgreSQL, and
for the double in memory that shows what else could stand here.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from orchestrator.fleet.records import FleetLimits, Submission, Unit

# A step of the work on a submission: gets what the step before returned, and returns JSON values.
Step = tuple[str, Callable[[Submission, dict[str, Any]], dict[str, Any]]]


class Engine(Protocol):
    """Queues submissions and has each worked on by one worker at a time."""

    def submit(self, submission: Submission) -> bool:
        """Queue a submission. Return False if one of this id is known, which stays as it is."""
        ...

    def units(self, ids: Collection[str] = ()) -> list[Unit]:
        """Return these submissions, or all, in the order of their submission."""
        ...

    def serve(self, steps: Sequence[Step], *, places: int, labels: Sequence[str]) -> None:
        """Claim submissions from now on, `places` at a time, and take the steps of each one after the other.

        The result of a step that has returned is kept: whoever claims the submission next takes those
        after it.
        """
        ...

    def drain(self) -> None:
        """Claim nothing more."""
        ...

    def release(self, executor: str) -> list[str]:
        """Put what a worker has claimed and not finished back into its queue, and return the ids.

        The caller makes sure that this worker works on them no longer.
        """
        ...

    def cancel(self, id_: str) -> bool:
        """Cancel a submission. The step under way goes on, no other begins. False: it had ended."""
        ...

    def again(self, id_: str) -> bool:
        """Queue a submission anew that has ended. False: it has not."""
        ...

    def limit(self, limits: FleetLimits | None = None) -> FleetLimits:
        """Change the limits if some are given, and return those that hold."""
        ...

    def close(self) -> None:
        """Stop everything in this process, without waiting for steps under way."""
        ...
