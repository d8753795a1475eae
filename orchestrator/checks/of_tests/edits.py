"""Changed tests of the base, statement by statement: which are gone, which are new, which may check less.

Other names of one thing, added statements and added rows weaken nothing. A check, a round or a value that is
gone may. (product.md, section 12)
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix

from orchestrator.checks.names_of_tests import is_of, leaf_of
from orchestrator.project.functions.statements import (
    Names,
    Statement,
    StatementComparison,
    statements_of,
    words,
)
from state.records.reviews import TestChange

_SHOWN, _BEFORE = 300, 40  # characters of a statement, of these before a difference
_LINES_SHOWN = 6  # statements of a test: of those that are gone, and of those that are new
Unit = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TestEdit:
    """The statements of one test, helper or table of the base that are gone, and those that are new in it.

    `names` are those that it gives, before or now. `weaker` are the statements by which it may check less.
    `rows_of` are the identifiers of the checks to which changed rows are given, where only rows changed.
    `is_missing`: nothing of its name is there any more. `checks_nothing`: it did, and is still there.
    """

    __test__ = False

    path: str
    unit: Unit
    gone: tuple[Statement, ...]
    new: tuple[Statement, ...]
    names: frozenset[str] = frozenset()
    weaker: tuple[Statement, ...] = ()
    is_missing: bool = False
    checks_nothing: bool = False
    rows_of: frozenset[str] = frozenset()

    @property
    def only_values(self) -> bool:
        """Whether its changed checks are the same but for numbers, texts and the like."""
        was, now = (Counter(one.shape for one in each if one.checks) for each in (self.gone, self.new))
        return was == now

    @property
    def identifiers(self) -> frozenset[str]:
        """The identifiers on the changed lines that mean something outside the test."""
        changed = {
            text for one in (*self.gone, *self.new) for kind, text in one.tokens if kind == "id"
        } | self.rows_of
        return frozenset(
            text
            for text in changed
            if text not in self.names
            and text not in self.unit
            and not (words().fits("checks", text) or words().fits("common", text))
        )

    @property
    def words(self) -> str:
        """The changed statements for a reviewer, as a diff has them. A long one begins where it differs."""
        gone = [one.text for one in (self.weaker or self.gone)[:_LINES_SHOWN]]
        new = [one.text for one in self.new[:_LINES_SHOWN]]
        lines = [f"- {_from_the_difference(one, new)}" for one in gone]
        return "\n".join([*lines, *(f"+ {_from_the_difference(one, gone)}" for one in new)])


def _from_the_difference(text: str, others: Iterable[str]) -> str:
    """Return the part of a statement that is shown, so that it differs from the most similar other one."""
    alike = (len(commonprefix((text, one))) for one in others if one != text)  # noqa: RUF071  of characters
    same = max(alike, default=0)
    start = max(0, same - _BEFORE) if len(text) > _SHOWN else 0
    end = start + _SHOWN
    return f"{'…' * bool(start)}{text[start:end]}{'…' * (end < len(text))}"


def edits_of(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    moved: Mapping[str, str],
    data: Collection[str] = (),
    product: Mapping[str, bytes] | None = None,
) -> list[TestEdit]:
    """Return the changed tests and tables of test files, with their statements that may check less.

    Args:
        before: the files of tests and their data as they were, by path.
        after: all changed files as they are, by path.
        moved: files that have another path now: old → new.
        data: those of `before` that tests only read. Each of their lines counts.
        product: the other changed files as they were, which gave names too.
    """
    olds = {path: statements_of(path, content) for path, content in before.items()}
    news = {path: statements_of(path, content) for path, content in after.items()}
    known = {one.unit for each in olds.values() for one in each}
    stayed = {moved.get(path, path) for path in olds}
    fresh = [
        one
        for path, each in news.items()
        for one in each
        if one.unit not in known or (not one.unit and path not in stayed)
    ]
    others = [statements_of(path, content) for path, content in (product or {}).items()]
    names = Names(_names_of(*olds.values(), *others), _names_of(*news.values()))
    found = []
    for path, old in olds.items():
        there = news.get(moved.get(path, path))
        if there is None and path not in data:
            there, old = [], [one for one in old if one.unit]  # noqa: PLW2901
        checked = frozenset[str]().union(*(one.checked for one in (*old, *(there or ()))))
        for unit in dict.fromkeys(one.unit for one in old):
            was = [one for one in old if one.unit == unit]
            now = _counterpart(unit, there or [], fresh)
            gone, new = _without(was, now), _without(now, was)
            if gone or new:
                used = frozenset[str]().union(*(one.used for one in now))
                compared = StatementComparison(names, gone, new, used, fresh, checked, is_data=path in data)
                weaker, missing = tuple(compared.weaker()), bool(unit) and not now
                empty = bool(now) and any(one.checks for one in was) and not any(one.checks for one in now)
                edit = TestEdit(path=path, unit=unit, gone=tuple(gone), new=tuple(new), weaker=weaker)
                edit = replace(edit, is_missing=missing, checks_nothing=empty)
                edit = replace(edit, rows_of=_rows_of(edit, there or []))
                found.append(replace(edit, names=_names_of(was, now)))
    return found


def _rows_of(edit: TestEdit, there: Sequence[Statement]) -> frozenset[str]:
    """Return the identifiers of the checks that changed rows of a table are for, as a `TestEdit` has them."""
    if any(one.checks for one in (*edit.gone, *edit.new)):
        return frozenset()
    tables = _names_of(edit.gone)
    units = {edit.unit} if edit.unit else {one.unit for one in there if one.unit and one.used & tables}
    own = [one for one in there if one.unit in units]
    found = frozenset[str]().union(*(one.used for one in own if one.checks))
    return found - _names_of(own) - tables


def _names_of(*sources: Iterable[Statement]) -> frozenset[str]:
    return frozenset[str]().union(*(one.names for each in sources for one in each))


def identifiers_for(change: TestChange, edits: Iterable[TestEdit]) -> frozenset[str]:
    """Return the identifiers on the changed lines of a changed test, or of its file if that is meant."""
    return frozenset[str]().union(*(one.identifiers for one in edits_about(change, list(edits))))


def edits_about(change: TestChange, edits: Sequence[TestEdit]) -> list[TestEdit]:
    """Return the edits of a changed test, or of its file if that is meant."""
    at = [one for one in edits if one.path == change.path or (change.test and is_of(change.test, one.path))]
    leaf = leaf_of(change.test).partition("[")[0]
    own = [one for one in (at or edits) if leaf in one.unit] if leaf else at
    return own or [one for one in at if not one.unit]


def _counterpart(unit: Unit, there: Sequence[Statement], fresh: Sequence[Statement]) -> list[Statement]:
    """Return the statements of a test now, by its whole name or the last part, there or in a new place."""
    if own := [one for one in there if one.unit == unit]:
        return own
    for place in (there, fresh):
        units = {one.unit for one in place if unit and one.unit[-1:] == unit[-1:]}
        if units:
            nearest = min(units, key=lambda one: (len(one), one))
            return [one for one in place if one.unit == nearest]
    return []


def _without(some: Iterable[Statement], others: Iterable[Statement]) -> list[Statement]:
    """Return the statements that the others lack, however often each stands there."""
    left = Counter((one.around, one.tokens) for one in others)
    found = []
    for one in some:
        if left[one.around, one.tokens]:
            left[one.around, one.tokens] -= 1
        else:
            found.append(one)
    return found
