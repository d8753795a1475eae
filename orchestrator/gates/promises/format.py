"""Convert a promise to the object that is stored, and back. An invalid object raises `ValueError`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from orchestrator.gates.promises.criterion import MOST_DEADLINE_S, CriterionCheck, PromiseCriterion
from orchestrator.gates.promises.promise import Promise, PromiseEvidence, State

_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")
_TREE = re.compile(r"[a-z]+:[0-9a-f]{40,64}")


def as_json(promise: Promise) -> dict[str, object]:
    """The object that is stored."""
    return {**asdict(promise), "criteria": [asdict(one) for one in promise.criteria]}


def parsed(value: Mapping[str, object]) -> Promise:
    """Return the promise in a stored object.

    Raises:
        ValueError: it is not a promise, with the reason.
    """
    criteria = tuple(_criterion(one) for one in _list(value, "criteria"))
    evidence = tuple(None if one is None else _evidence(one) for one in _list(value, "evidence"))
    if not criteria or len(criteria) != len(evidence):
        raise ValueError("criteria and evidence do not fit together")
    base = _text(value, "base")
    if not _COMMIT.fullmatch(base):
        raise ValueError("base is no commit")
    created = _text(value, "created_at")
    if datetime.fromisoformat(created).tzinfo is None:
        raise ValueError("created_at names no zone")
    return Promise(
        id=_text(value, "id"),
        text=_text(value, "text"),
        criteria=criteria,
        created_at=created,
        base=base,
        nonce=_text(value, "nonce"),
        owner=_text(value, "owner"),
        evidence=evidence,
        ended=State(_text(value, "ended")),
        ended_at=_text(value, "ended_at"),
        reason=_text(value, "reason"),
    )


def _criterion(value: object) -> PromiseCriterion:
    found = _object(value, "a criterion")
    deadline = found.get("deadline_s")
    if isinstance(deadline, bool) or not isinstance(deadline, int | float):
        raise ValueError("deadline_s is no number")  # noqa: TRY004  one error for all invalid objects
    if not 0 < deadline <= MOST_DEADLINE_S:
        raise ValueError("deadline_s is out of bounds")
    return PromiseCriterion(
        text=_text(found, "text"),
        kind=CriterionCheck(_text(found, "kind")),
        target=_text(found, "target"),
        deadline_s=float(deadline),
    )


def _evidence(value: object) -> PromiseEvidence:
    found = _object(value, "evidence")
    passed, code = found.get("passed"), found.get("exit_code")
    if not isinstance(passed, bool) or isinstance(code, bool) or not isinstance(code, int | None):
        raise ValueError("evidence has no boolean `passed` or no whole exit code")  # noqa: TRY004  as above
    if not _TREE.fullmatch(tree := _text(found, "tree")):
        raise ValueError("evidence names no tree")
    return PromiseEvidence(
        tree=tree,
        passed=passed,
        exit_code=code,
        output=_text(found, "output"),
        at=_text(found, "at"),
        seal=_text(found, "seal"),
    )


def _object(value: object, what: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{what} is no object")


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    if isinstance(found, str):
        return found
    raise ValueError(f"{key} is no text")


def _list(value: Mapping[str, object], key: str) -> Sequence[object]:
    found = value.get(key)
    if isinstance(found, list):
        return found
    raise ValueError(f"{key} is no list")
