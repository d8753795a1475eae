"""The records of a session's state, and how a stored state is read and validated (seed 001)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum
from typing import Self

from orchestrator.gates.session_state.diagnostics import safe_name, time_of, utc_text
from state.decoding import decoded

MAX_COUNT = 1000  # a larger counter is invalid (seed 001)
QUALITY_THRESHOLD = 70  # (seed 001)
MOST_BLOCKS = 7  # since one prompt of the user: Claude Code overrides the ninth in a row
FAILURE_SETS_KEPT = 3  # this many equal ones in a row end the checking
PROMPTS_KEPT = 20
_MOST_SCORE = 100


class StateCode(IntEnum):
    """How an operation on the state ended (seed 001). The values are for reports and logs, not exit codes."""

    OK = 0
    SAVE_FAILED = 1
    VALIDATION_FAILED = 2
    VERIFICATION_FAILED = 3
    RETRIES_EXHAUSTED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """One check that applied, or was not made: whether it is satisfied, a blocker, of the kind workflow."""

    satisfied: bool
    blocker: bool
    workflow: bool = False
    made: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResults:
    """The last check in three figures (seed 001). `quality_score` is from 0 to 100.

    A figure is None if nothing was checked.
    """

    files_modified: tuple[str, ...] = ()
    workflow_compliant: bool | None = None
    quality_score: int | None = None

    @classmethod
    def of(cls, files_modified: Iterable[str], outcomes: Sequence[CheckOutcome]) -> Self:
        """The results of checks. The score is 100 times satisfied by applicable weight, and blockers weigh 2.

        A check that was not made is not known to be satisfied. If none was made there is no score. The
        workflow is followed if none of its blockers failed.
        """
        files = tuple(files_modified)
        if not any(one.made for one in outcomes):
            return cls(files_modified=files)
        weights = [(2 if one.blocker else 1, one.made and one.satisfied) for one in outcomes]
        total = sum(weight for weight, _ in weights)
        satisfied = sum(weight for weight, fulfilled in weights if fulfilled)
        return cls(
            files_modified=files,
            workflow_compliant=not any(x.workflow and x.blocker and not x.satisfied for x in outcomes),
            quality_score=100 * satisfied // total,
        )

    def message(self) -> str:
        """One of the four messages of seed 001, in plain words, or that nothing was checked."""
        count = len(self.files_modified)
        files = f"{count} modified file{'' if count == 1 else 's'}"
        if self.quality_score is None:
            return f"{files if count else 'No files were modified'}, not checked."
        if not count:
            return "No files were modified."
        if not self.workflow_compliant:
            return f"There {'is' if count == 1 else 'are'} {files}, but the workflow was not followed."
        if self.quality_score < QUALITY_THRESHOLD:
            return f"{files}. {self.quality_score} % of the checks are met by weight: look at the others."
        return f"{files}. {self.quality_score} % of the checks are met by weight."


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringState:
    """The stored state of a session.

    Times are UTC text. `failure_sets` are sorted ids, the newest set last. `unmet` has by id why the last
    check found something open, warnings too.
    """

    consecutive_blocks: int = 0
    session_id: str
    last_check_timestamp: str | None = None
    check_results: CheckResults = field(default_factory=CheckResults)
    failure_sets: tuple[tuple[str, ...], ...] = ()
    unmet: Mapping[str, str] = field(default_factory=dict)
    blocks_by_prompt: Mapping[str, int] = field(default_factory=dict)
    disabled_until: str | None = None

    def blocks_for(self, prompt_id: str) -> int:
        """How often stops were blocked since this prompt of the user."""
        return self.blocks_by_prompt.get(safe_name(prompt_id), 0)

    def same_failures(self) -> int:
        """How many of the last checks, the newest included, failed with exactly the same set, at most 3."""
        sets = self.failure_sets
        if not sets or not sets[-1]:
            return 0
        return next((count for count, one in enumerate(reversed(sets)) if one != sets[-1]), len(sets))

    def blocked(self, prompt_id: str) -> Self:
        """The state with one more block, counted in the row and for the prompt."""
        return replace(self.held(prompt_id), consecutive_blocks=min(self.consecutive_blocks + 1, MAX_COUNT))

    def held(self, prompt_id: str) -> Self:
        """The state with one more stop held since this prompt of the user."""
        name = safe_name(prompt_id)
        others = [(key, count) for key, count in self.blocks_by_prompt.items() if key != name]
        count = min(self.blocks_for(prompt_id) + 1, MAX_COUNT)
        return replace(self, blocks_by_prompt={**dict(others[1 - PROMPTS_KEPT :]), name: count})

    def checked(
        self, results: CheckResults, failures: Iterable[str], unmet: Mapping[str, str], at: datetime
    ) -> Self:
        """The state after a check. A check without failures ends the row of blocks."""
        failed = tuple(sorted(set(failures)))
        return replace(
            self,
            consecutive_blocks=self.consecutive_blocks if failed else 0,
            last_check_timestamp=utc_text(at),
            check_results=results,
            failure_sets=(*self.failure_sets, failed)[-FAILURE_SETS_KEPT:],
            unmet=dict(unmet),
        )


def invalid_reason(found: object) -> str:
    """Return why this is not a valid state, in seed 001's words, or "". A boolean is not a counter."""
    if not isinstance(found, Mapping):
        return "state_not_dict"
    counter = found.get("consecutive_blocks")
    if counter is None:
        return "missing_counter"
    if not isinstance(counter, int) or isinstance(counter, bool):
        return "counter_not_int"
    if counter < 0:
        return "negative_counter"
    if counter > MAX_COUNT:
        return "counter_too_large"
    session_id = found.get("session_id")
    if not isinstance(session_id, str) or not session_id:
        return "invalid_session_id"
    return ""


def parsed(found: Mapping[str, object]) -> SteeringState:
    """Return the state in a stored object, with defaults for missing fields.

    Raises:
        ValueError: a field is wrong or unknown.
    """
    state = decoded(SteeringState, found)
    score = state.check_results.quality_score
    if not all(0 <= count <= MAX_COUNT for count in state.blocks_by_prompt.values()):
        raise ValueError("a counter is out of bounds")
    if score is not None and not 0 <= score <= _MOST_SCORE:
        raise ValueError("quality_score is out of bounds")
    if state.disabled_until is not None:
        time_of(state.disabled_until)
    return state
