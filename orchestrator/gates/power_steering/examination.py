"""An examination of a session: the judge, the results of the checks, the decision, and the answer to a stop.

Blockers hold the session, warnings are reported, and abstentions are counted. A person's session without
progress is released. In a run such a task is stuck instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.caller import Caller
from agents.roles.judge import AskJudge
from orchestrator.gates.power_steering.considerations import Consideration, SessionType
from orchestrator.gates.session_state.records import MOST_BLOCKS, QUALITY_THRESHOLD, CheckResults
from orchestrator.gates.session_state.store import Saved, SteeringStore
from state.atomic_files import LockTimeoutError, WriteFailedError
from state.roles import Role
from state.settings.records import Model
from state.truncation import as_written, smart_truncate
from state.verdicts import CheckResult, Source
from state.words import alike, checks_named, without_ids

MAX_MESSAGE_LENGTH = 2000  # characters of all that a held session is told (seed 001)


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringDecision:
    """The decision on a session. `blocked_by` are the unmet blockers.

    `summary` is one line of at most 200 characters. `message` is for the agent if the session is held, and
    says how to go on. `notes` are for people: warnings, and checks that could not be made.
    """

    blocked_by: tuple[CheckResult, ...]
    warnings: tuple[CheckResult, ...]
    not_checked: tuple[CheckResult, ...]
    summary: str
    message: str
    notes: tuple[str, ...]

    @property
    def allows(self) -> bool:
        """Whether nothing holds the session."""
        return not self.blocked_by

    @property
    def failures(self) -> tuple[str, ...]:
        """The ids of the unmet blockers, sorted. The same set three times means no progress."""
        return tuple(sorted(result.consideration_id for result in self.blocked_by))


def decide(
    results: Sequence[CheckResult],
    considerations: Mapping[str, Consideration],
    figures: CheckResults,
    *,
    claims: Sequence[str] = (),
) -> SteeringDecision:
    """Decide by the results of one examination.

    Args:
        considerations: the ones that were asked, by id.
        figures: the results in seed 001's figures, for the summary.
        claims: the sentences in which the agent says that it is done.
    """
    unmet = [result for result in results if not result.satisfied]
    blocked_by = tuple(result for result in unmet if result.blocker)
    warnings = tuple(result for result in unmet if not result.blocker)
    not_checked = tuple(result for result in results if result.source is Source.NOT_CHECKED)
    notes, summary = _notes(warnings, not_checked), _summary(figures, len(blocked_by))
    counted = f"{len(not_checked)} of {len(results)} checks could not be made"
    if not_checked and figures.quality_score is None:
        notes.insert(0, counted)
    elif not_checked:
        summary = f"{summary} {counted}."
    return SteeringDecision(
        blocked_by=blocked_by,
        warnings=warnings,
        not_checked=not_checked,
        summary=summary,
        message=_message(blocked_by, considerations, summary, claims) if blocked_by else "",
        notes=tuple(map(as_written, notes)),
    )


def _message(
    blocked_by: Sequence[CheckResult],
    considerations: Mapping[str, Consideration],
    summary: str,
    claims: Sequence[str],
) -> str:
    """Return the words for the agent: without details if they are too long, and then with fewer points."""
    asked = [(result, considerations[result.consideration_id]) for result in blocked_by]
    end = ["", summary]
    if claims:
        end.append(f"Your claim, which has to be true before you repeat it: {claims[-1]}")
    points = [[*_point(*one), *_details(*one)] for one in asked]
    if len(text := _told(points, end)) > MAX_MESSAGE_LENGTH:
        points = [_point(*one) for one in asked]
    for count in range(len(points), 0, -1):
        rest = [f"{len(points) - count} more are left out here."] if count < len(points) else []
        if len(text := _told(points[:count], [*rest, *end])) <= MAX_MESSAGE_LENGTH:
            return text
    return smart_truncate(text, MAX_MESSAGE_LENGTH)


def _told(points: Sequence[Sequence[str]], end: Sequence[str]) -> str:
    begin = ["The work was looked at as a whole, and this is not done yet:", ""]
    return as_written("\n".join([*begin, *(line for point in points for line in point), *end]))


def _point(result: CheckResult, consideration: Consideration) -> list[str]:
    return [f"- {consideration.question} No: {result.reason}"]


def _details(result: CheckResult, consideration: Consideration) -> list[str]:
    seen = f"Seen: {result.evidence}" if result.evidence else ""
    return [f"  {words}" for words in (seen, consideration.guidance) if words]


def _summary(figures: CheckResults, open_blockers: int) -> str:
    """Seed 001's message, but without praise if the session is held."""
    score = figures.quality_score or 0
    praised = figures.files_modified and figures.workflow_compliant and score >= QUALITY_THRESHOLD
    if open_blockers and praised:
        count = len(figures.files_modified)
        files = f"{count} modified file{'' if count == 1 else 's'}"
        unmet = "1 required check is" if open_blockers == 1 else f"{open_blockers} required checks are"
        return f"{files}. {unmet} not met."
    return smart_truncate(figures.message())


def _notes(warnings: Sequence[CheckResult], not_checked: Sequence[CheckResult]) -> list[str]:
    several = [group for group in _by_reason(not_checked) if len(group) > 1]
    return [_for_one_reason(group) for group in (*_by_reason(warnings), *several)]


def _by_reason(results: Sequence[CheckResult]) -> list[list[CheckResult]]:
    return alike(results, lambda one: without_ids(one.reason))


def _for_one_reason(group: Sequence[CheckResult]) -> str:
    return f"{checks_named(one.consideration_id for one in group)}: {group[0].reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The judge to ask. With `ask` None there is no judge, and rules answer. `together`: as in a look."""

    model: Model
    ask: AskJudge | None
    caller: Caller = field(default_factory=lambda: Caller(role=Role.JUDGE, task="session", attempt=1))
    together: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The result of an examination. `figures` are the checks in seed 001's three figures."""

    session_type: SessionType
    results: tuple[CheckResult, ...]
    figures: CheckResults
    decision: SteeringDecision

    @property
    def cost_usd(self) -> float:
        """The cost of all checks."""
        return sum(result.cost_usd for result in self.results)


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
    unmet = {one.consideration_id: one.reason for one in examination.results if not one.satisfied}
    recorded = store.record_check(examination.figures, decision.failures, unmet)
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
    told = [*open_points, decision.summary, *decision.notes]
    message = "\n".join([f"The session stops although it is not done: {why}.", *told])
    return StopAnswer(allows=True, message=message)


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
