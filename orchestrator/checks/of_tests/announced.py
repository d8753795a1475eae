"""Changed tests that somebody asked for: a line of the spec, or of a reviewed plan, announces each."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from orchestrator.checks.names_of_tests import BOUNDARY, is_of, leaf_of
from orchestrator.checks.objecting import BASE_TESTS
from state.records.objections import Objection, Weight
from state.records.plan import TestThatChanges
from state.records.reviews import TestChange
from state.records.spec_check import plain

_LEAST_WORD = 3
_LEAST_QUOTE = 12  # characters of a line: a shorter one stands in any text


def with_expectations(
    changes: Iterable[TestChange],
    announced: Sequence[TestThatChanges],
    identifiers: Callable[[TestChange], Collection[str]],
) -> tuple[TestChange, ...]:
    """Return the changes, each with the line of the spec that announces it, or "".

    `announced` are the entries of a reviewed plan. One counts if its line names the test, its file, or one of
    the `identifiers` on the changed lines.
    """
    return tuple(replace(one, expected_by=_announcement(one, announced, identifiers(one))) for one in changes)


def _announcement(
    change: TestChange, announced: Sequence[TestThatChanges], identifiers: Collection[str]
) -> str:
    leaf = leaf_of(change.test).partition("[")[0]
    names = {change.test, leaf, change.path, PurePosixPath(change.path).name, *identifiers}
    return next(
        (
            entry.line
            for entry in announced
            if (_is_meant(entry.test, change) and any(_stands_in(name, entry.line) for name in names))
            or (not change.test and _stands_in(change.path, entry.line))
        ),
        "",
    )


def _stands_in(name: str, line: str) -> bool:
    """Whether a line holds a name as a word. A name of one or two characters has to look like code there."""
    if not name:
        return False
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    if len(name) < _LEAST_WORD:
        word = rf"`[^`]*{word}[^`]*`|{word}\("
    return bool(re.search(word, line))


def _is_meant(entry: str, change: TestChange) -> bool:
    entry = entry.strip().removeprefix("./")
    if not entry:
        return False
    test = change.test.partition("[")[0]  # without its parameters: the entry may mean all of them
    if entry in {change.test, test, change.path}:
        return True
    if any(one and (entry == leaf_of(one) or _ends_with(one, entry)) for one in (change.test, test)):
        return True
    return bool(change.test) and "/" in entry + change.test and is_of(change.test, entry)


def _ends_with(name: str, end: str) -> bool:
    return bool(end) and name.endswith(end) and name[: -len(end)][-1:] in BOUNDARY


def unannounced(objections: Iterable[Objection]) -> list[Objection]:
    """Return the changed tests that neither the spec nor a reviewed plan announces."""
    return [one for one in objections if one.check == BASE_TESTS and one.weight is Weight.ONCE]


def are_explained(changes: Sequence[Objection], notes: str, spec: str) -> bool:
    """Whether a Worker's notes name each changed test, and quote a line of the spec."""
    said = " ".join(notes.split())
    lines = (plain(line) for line in spec.splitlines())
    tests = {leaf_of(one.subject).partition("[")[0] or one.place for one in changes}
    quotes = any(len(line) >= _LEAST_QUOTE and line in said for line in lines)
    return quotes and all(_stands_in(test, said) for test in tests)
