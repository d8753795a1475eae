"""Promises as lines for people, and as objects for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion, State, StoredPromises
from orchestrator.views.words import columns

_TEXT_SHOWN = 70  # characters of a promise in the table


def promises_lines(found: StoredPromises) -> list[str]:
    """All promises as a table, and below it the damaged files."""
    rows = [
        (one.id, one.state, one.owner, one.created_at, _one_line(one.text, _TEXT_SHOWN))
        for one in found.promises
    ]
    lines = columns(("promise", "state", "session", "made", "text"), rows) if rows else []
    return [*lines, *(f"damaged: {one}" for one in found.damaged)]


def promise_lines(promise: Promise, unproven: Mapping[int, str]) -> list[str]:
    """A promise with its checks. `unproven` has by a criterion's number why it is not known to be met."""
    return list(_promise(promise, unproven))


def criterion_lines(promise: Promise, number: int, unproven: Mapping[int, str]) -> list[str]:
    """One criterion, and, if it failed, the end of its command's output."""
    return list(_criterion(promise, number, unproven))


def in_words(kind: CriterionCheck, target: str) -> str:
    """The meaning of a check in words, if the author gave none."""
    match kind:
        case CriterionCheck.COMMAND:
            return f"{target} exits with 0"
        case CriterionCheck.FILE:
            return f"{target} is there"
        case CriterionCheck.COMMIT:
            return f"a commit says {target}" if target else "there is a new commit"


def promise_object(promise: Promise, unproven: Mapping[int, str] | None = None) -> dict[str, object]:
    """A promise for JSON. With `unproven` each criterion has `met`, and `why` it is not met now."""
    criteria = []
    for number, (criterion, evidence) in enumerate(zip(promise.criteria, promise.evidence, strict=True), 1):
        found = asdict(evidence) if evidence else None
        now = {} if unproven is None else {"met": number not in unproven, "why": unproven.get(number, "")}
        criteria.append({"number": number, **asdict(criterion), **now, "evidence": found})
    return {
        "id": promise.id,
        "text": promise.text,
        "state": promise.state,
        "altered": promise.is_altered,
        "owner": promise.owner,
        "created_at": promise.created_at,
        "ended_at": promise.ended_at,
        "reason": promise.reason,
        "criteria": criteria,
    }


def _promise(promise: Promise, unproven: Mapping[int, str]) -> Iterator[str]:
    since = f" since {promise.ended_at}" if promise.state is not State.OPEN else ""
    yield f"{promise.id}: {_one_line(promise.text)}"
    yield f"{promise.state}{since}, of session {promise.owner}, made {promise.created_at}"
    if promise.reason:
        yield f"reason: {_one_line(promise.reason)}"
    if promise.is_altered:
        yield "changed after it was made, so nothing can show that it is kept"
    for number in range(1, len(promise.criteria) + 1):
        yield from _criterion(promise, number, unproven)


def _criterion(promise: Promise, number: int, unproven: Mapping[int, str]) -> Iterator[str]:
    criterion, evidence = promise.criteria[number - 1], promise.evidence[number - 1]
    yield f"  {number}. {_one_line(criterion.text)}: {unproven.get(number, '') or 'met'}"
    yield f"     {_check(criterion)}"
    if number in unproven and evidence and evidence.exit_code and promise.is_genuine(number):
        yield from (f"     | {line}" for line in evidence.output.splitlines())


def _check(criterion: PromiseCriterion) -> str:
    if criterion.kind is CriterionCheck.COMMAND:
        return f"command: {_one_line(criterion.target)} (within {criterion.deadline_s:g} s)"
    return f"{criterion.kind}: {_one_line(criterion.target) or 'any'}"


def _one_line(text: str, most: int | None = None) -> str:
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"
