"""Changed tests of the base: which may check less now, and which names stand on their changed lines.

Each is compared with its text at the base, statement by statement. Other names of one thing, added statements
and added rows weaken nothing. A check, a round or a value that is gone may. (product.md, section 12)
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import commonprefix

from agents.concurrency import aside
from orchestrator.git.trees import changed_paths, contents_at, renamed_files
from orchestrator.project.functions.statements import (
    Names,
    Statement,
    StatementComparison,
    statements_of,
    words,
)
from orchestrator.run.evidence.changes import Touched, is_of, is_test_data, leaf_of, with_expectations
from orchestrator.run.evidence.comparison import ResultComparison, tests_in
from orchestrator.run.record import Run
from state.records.plan import TestThatChanges
from state.records.reviews import TestChange, TestChangeKind
from state.settings.records import Workflow

_SHOWN, _BEFORE = 300, 40  # characters of a statement, of these before a difference
_NAMES = re.compile(r"[\w./:-]*(?:test|spec|Test|Spec)[\w./:-]*\w")  # of a test or its file
_CHANGES = re.compile(
    r"\b(?:chang|updat|adapt|adjust|rewrit|replac|remov|delet|drop|renam|fix|correct|expect|instead|now|rather)\w*",
    re.IGNORECASE,
)
_STAYS = re.compile(
    r"\b(?:unchanged|untouched|as (?:it is|they are|before)|stays?|keeps?|still pass\w*"
    r"|(?:do not|don't|never|must not|may not|no need to) \w*)\b",
    re.IGNORECASE,
)
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


async def with_weakened(
    run: Run,
    base: str,
    tree: str,
    subjects: Sequence[ResultComparison],
    changes: Iterable[TestChange],
    *,
    idle: Collection[str] = (),
) -> tuple[TestChange, ...]:
    """Return the changed tests, each once, with those that may check less, and with their announcements.

    `idle` are the tests of changed files that pass with the work taken out.
    """
    edits = await _edits_between(run, base, tree, [one.touched for one in subjects])
    tests = {name for one in subjects if one.before for name in one.before.count.tests}
    known = _once(changes)
    found = with_expectations(
        [*known, *await aside(partial(weakened, edits, tests, known), "the tests of the work")],
        _announced(run),
        partial(identifiers_for, edits=edits),
    )
    found = tuple(_without_excuse(one, edits, idle) for one in found)
    changed = set[str]()
    for one in subjects:
        roles = one.touched
        changed |= {*roles.as_it_was, *roles.new, *roles.manifests, *filter(is_test_data, roles.code)}
    return with_built_together(found, edits, changed)


def _announced(run: Run) -> Sequence[TestThatChanges]:
    """Return the announcements of a reviewed plan, or without a Planner those in the lines of the spec."""
    plan = run.view.plan
    if run.settings.workflow is Workflow.ORCHESTRATED:
        return plan.tests_that_change if plan.reviewed else ()
    lines = [line.strip() for line in run.view.spec_words.splitlines()]
    asking = [line for line in lines if _CHANGES.search(line) and not _STAYS.search(line)]
    return [TestThatChanges(test=word, line=line) for line in asking for word in _NAMES.findall(line)]


def _without_excuse(change: TestChange, edits: Sequence[TestEdit], idle: Collection[str]) -> TestChange:
    """Return an announced change as one that nothing announced, if the test shows nothing of the work now.

    A line of the spec asks for other results of a test. It asks for none without checks, and for none that
    passes without the work.
    """
    own = _edits_of(change, edits) if change.expected_by and change.test else []
    hollow = [one for one in own if one.checks_nothing or (change.test in idle and not one.only_values)]
    if not hollow:
        return change
    return replace(change, kind=TestChangeKind.WEAKENED, detail=hollow[0].words, expected_by="")


def with_built_together(
    changes: tuple[TestChange, ...], edits: Sequence[TestEdit], changed: Collection[str]
) -> tuple[TestChange, ...]:
    """Return the changes, where an announced one also stands for tests that only fail to build with it.

    That is so if the work changed no test but announced ones, and nothing else of the tests: the others pass
    on it as they were. `changed` are all paths of tests, their data and configuration that the work changed.
    """
    lines = {leaf_of(one.test).partition("[")[0]: one.expected_by for one in changes if one.expected_by}
    announced = [next((lines[part] for part in edit.unit if part in lines), "") for edit in edits]
    if not announced or not all(announced) or {edit.path for edit in edits} != set(changed):
        return changes
    own = {part for edit in edits for part in edit.unit}
    return tuple(
        replace(one, expected_by=announced[0])
        if one.kind is TestChangeKind.FAILS and one.test and leaf_of(one.test).partition("[")[0] not in own
        else one
        for one in changes
    )


def _once(changes: Iterable[TestChange]) -> list[TestChange]:
    """Return each test once, preferring how it fails to the fact that it is gone."""
    found: dict[str, TestChange] = {}
    for change in sorted(changes, key=lambda one: one.kind is not TestChangeKind.FAILS):
        found.setdefault(change.name, change)
    return list(found.values())


async def _edits_between(run: Run, base: str, tree: str, touched: Sequence[Touched]) -> list[TestEdit]:
    """Return the changed tests, helpers and tables between two trees, as the commands' roles of files say."""
    data = {path for one in touched for path in one.data}
    tests = {path for one in touched for path in (*one.held, *one.configuration) if path not in data}
    if not (data or tests):
        return []
    changed = set(await changed_paths(run.repository, base, tree))
    before = await contents_at(run.repository, base, changed)
    after = await contents_at(run.repository, tree, changed)
    moved = await renamed_files(run.repository, base, tree)

    def edits() -> list[TestEdit]:
        return edits_of(
            {path: tests_in(path, content) for path, content in before.items() if path in tests | data},
            {path: tests_in(path, content) for path, content in after.items()},
            moved=moved,
            data=data,
            product={path: content for path, content in before.items() if path not in tests | data},
        )

    return await aside(edits, "the tests of the work")


def weakened(
    edits: Iterable[TestEdit], tests: Collection[str], known: Iterable[TestChange]
) -> list[TestChange]:
    """Return the edits that may check less as changed tests, without those that are named already.

    `tests` are the names of the base's tests, `known` other changes of tests.
    """
    known = list(known)
    others = [(one.test.partition("[")[0], one.path if not one.test else "") for one in known]
    titles = frozenset(leaf_of(one.test) for one in known if one.test)
    every = {leaf_of(name) for name in tests}
    found = []
    for edit in edits:
        if all(not edit.unit and _is_of_a_title(one, edit.new, titles, every) for one in edit.weaker):
            continue
        name = _named(edit, tests)
        if edit.is_missing and tests and name.startswith(f"{edit.path}::") and name not in tests:
            continue  # a helper
        if any((test and test == name) or (path and path == edit.path) for test, path in others):
            continue
        kind = TestChangeKind.WEAKENED
        found.append(TestChange(test=name, path=edit.path, kind=kind, detail=edit.words))
    return found


def _is_of_a_title(
    old: Statement, new: Iterable[Statement], known: frozenset[str], titles: Collection[str]
) -> bool:
    """Whether a statement outside of any function is one of the known tests, or has another title now.

    Such a statement holds the test's title as a text. `titles` are those of all tests at the base.
    """
    before = [text.strip("\"'`") for text in old.literals]
    if not known.isdisjoint(before):
        return True
    alike = (one.literals for one in new if one.shape == old.shape)
    return any(
        len(now) == len(before)
        and all(was in titles or was == is_now.strip("\"'`") for was, is_now in zip(before, now, strict=True))
        for now in alike
    )


def identifiers_for(change: TestChange, edits: Iterable[TestEdit]) -> frozenset[str]:
    """Return the identifiers on the changed lines of a changed test, or of its file if that is meant."""
    return frozenset[str]().union(*(one.identifiers for one in _edits_of(change, list(edits))))


def _edits_of(change: TestChange, edits: Sequence[TestEdit]) -> list[TestEdit]:
    at = [one for one in edits if one.path == change.path or (change.test and is_of(change.test, one.path))]
    leaf = leaf_of(change.test).partition("[")[0]
    own = [one for one in (at or edits) if leaf in one.unit] if leaf else at
    return own or [one for one in at if not one.unit]


def _named(edit: TestEdit, tests: Collection[str]) -> str:
    """Return a test's name as its runner has it, or its file with its own name, "" for a whole file."""
    if not edit.unit:
        return ""
    leaves = {name.partition("[")[0] for name in tests if leaf_of(name).partition("[")[0] == edit.unit[-1]}
    own = sorted(name for name in leaves if is_of(name, edit.path)) or sorted(leaves)
    return own[0] if len(own) == 1 else f"{edit.path}::{'::'.join(edit.unit)}"


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
