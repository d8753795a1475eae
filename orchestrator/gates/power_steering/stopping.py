"""Whether a person's session may stop: the decision, and the valve that releases one without progress.

In a run such a task is stuck instead. The valve is only for people's sessions.
"""

from dataclasses import dataclass

from orchestrator.gates.power_steering.examination import Examination, SteeringDecision
from orchestrator.gates.session_state.records import MOST_BLOCKS
from orchestrator.gates.session_state.store import Saved, SteeringStore
from state.atomic_files import LockTimeoutError, WriteFailedError
from state.truncation import as_written

SAME_FAILURES = 3  # the same failure set this often means no progress
MOST_IN_A_ROW = 5  # blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAnswer:
    """The answer to a stop. `message` is for the agent if it is blocked, else for people, and may be empty.

    A session that is not done may stop without progress. The agent never sees in advance when.
    """

    allows: bool
    message: str


def answer_stop(store: SteeringStore, examination: Examination, *, prompt_id: str) -> StopAnswer:
    """Record the examination and return whether the session may stop.

    If the state cannot be stored, it may stop: a broken counter must not hold a session for ever. Limits are
    read and counted under one lock, so that concurrent stops are not held beyond them.
    """
    try:
        with store.alone():
            return _answered(store, examination, prompt_id)
    except (LockTimeoutError, WriteFailedError) as error:
        return _let_go(examination.decision, f"the state of its checks could not be stored ({error})")


def _answered(store: SteeringStore, examination: Examination, prompt_id: str) -> StopAnswer:
    decision = examination.decision
    recorded = store.record_check(examination.figures, decision.failures, _unmet(examination))
    if decision.allows:
        store.clear_blocks()
        return StopAnswer(allows=True, message="\n".join([decision.summary, *decision.notes]))
    why = _why_let_go(recorded, prompt_id)
    if not why:
        counted = store.count_block(prompt_id)
        if counted.stored:
            return StopAnswer(allows=False, message=decision.message)
        why = f"the count of blocks could not be stored ({counted.error})"
    store.clear_blocks()
    return _let_go(decision, why)


def _let_go(decision: SteeringDecision, why: str) -> StopAnswer:
    open_points = [f"{one.consideration_id}: {as_written(one.reason)}" for one in decision.blocked_by]
    told = [f"The session stops although it is not done: {why}.", *open_points, *decision.notes]
    return StopAnswer(allows=True, message="\n".join(told))


def _unmet(examination: Examination) -> dict[str, str]:
    return {result.consideration_id: result.reason for result in examination.results if not result.satisfied}


def _why_let_go(recorded: Saved, prompt_id: str) -> str:
    state = recorded.state
    if not recorded.stored:
        return f"the state of its checks could not be stored ({recorded.error})"
    if state.same_failures() >= SAME_FAILURES:
        return f"the same points were open {SAME_FAILURES} times running"
    if state.consecutive_blocks >= MOST_IN_A_ROW:
        return f"it was held {MOST_IN_A_ROW} times in a row"
    if state.blocks_for(prompt_id) >= MOST_BLOCKS:
        return f"it was held {MOST_BLOCKS} times"
    return ""
