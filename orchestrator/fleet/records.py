"""What is submitted to a fleet, how it stands, and the engine that queues, claims and fences: nine methods.

The records lie in the database, as JSON. They hold ids, hashes, names, outcomes and costs. Specs travel
through git, keys stay on workers. `tests/orchestrator/fleet/test_port.py` is the contract of the engine. It
holds for DBOS on SQLite and on PostgreSQL, and for the double in memory that shows what else could stand
here.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from state.outcome import Outcome

PROTOCOL = "1"  # of the records and refs: workers take what has the same
_ID = 16  # hexadecimal digits
UNDER_WAY = {"claimed", "fetching", "working", "handing in"}  # phases in which a worker has a run
PRIORITY = 100  # of a submission that names none. Lower ones are first


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One run that is asked for.

    `repository` is an address of git's, `base` the commit where it begins, `branch` the branch of that name.
    `spec` is the SHA-256 of everything that travels through git. `budget_usd` and `deadline_s` are limits
    of the run, `pool` the budget that pays. `nonce` makes the same work another submission.
    """

    repository: str
    base: str
    branch: str
    spec: str
    title: str
    effort: str = "medium"
    budget_usd: float = 0.0
    deadline_s: float = 0.0
    priority: int = PRIORITY
    labels: tuple[str, ...] = ()
    pool: str = "default"
    pull_request: bool = False
    nonce: str = ""

    @property
    def id(self) -> str:
        """The id that follows from the content: the same submission has it whoever makes it."""
        same = (self.repository, self.base, self.spec, self.effort, self.budget_usd, self.deadline_s)
        more = (self.pull_request, self.nonce)
        return f"sq-{hashlib.sha256(json.dumps([*same, *more]).encode()).hexdigest()[:_ID]}"

    @property
    def queue(self) -> str:
        """The queue of its labels."""
        return queue_of(self.labels)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON values."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def submission_of(data: Mapping[str, Any]) -> Submission:
    """Return the submission that `as_data` made JSON values of.

    Raises:
        msgspec.ValidationError: they are not one.
    """
    return msgspec.convert(data, Submission)


def queue_of(labels: tuple[str, ...]) -> str:
    """Return the name of the queue for work that needs a worker with all these labels."""
    return ".".join(["runs", *sorted(labels)])


class UnitState(StrEnum):
    """Where a submission stands."""

    QUEUED = "queued"
    WORKING = "working"
    ENDED = "ended"
    CANCELLED = "cancelled"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How the run of a submission ended. `problem` says why it is not complete, in words for people."""

    outcome: Outcome
    run: str = ""
    commit: str = ""
    cost_usd: float = 0.0
    host: str = ""
    problem: str = ""
    pull_request: str = ""

    @property
    def branch(self) -> str:
        """The branch of the repository with the work, or "" without any."""
        return f"sq/{self.run}" if self.commit else ""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON values."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def report_of(data: Mapping[str, Any]) -> Report:
    """Return the report that `as_data` made JSON values of."""
    return msgspec.convert(data, Report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A submission as the engine has it.

    `executor`: the worker that has claimed it last. `error`: why the engine could not go on with it.
    """

    id: str
    submission: Submission
    state: UnitState
    executor: str = ""
    report: Report | None = None
    error: str = ""
    submitted_at: float = 0.0

    @property
    def exit_code(self) -> int | None:
        """The exit code of its run, or None while it has none."""
        if self.report:
            return self.report.outcome.exit_code
        ends = {UnitState.CANCELLED: Outcome.INTERRUPTED, UnitState.BROKEN: Outcome.FAILED}
        return ends[self.state].exit_code if self.state in ends else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetLimits:
    """The limits of a queue over all workers. None: no limit."""

    repository: int | None = 4
    total: int | None = None
    per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a worker last said of a submission it works on: the columns of its table.

    `deaths`: workers that died at it without progress.
    """

    phase: str = ""
    executor: str = ""
    run: str = ""
    cost_usd: float = 0.0
    merged: int = 0
    tasks: int = 0
    claims: int = 0
    deaths: int = 0


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
