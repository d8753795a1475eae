"""Changed tests of the base that may check less now, and which of the changed ones somebody announced."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from agents.concurrency import aside
from orchestrator.checks.answers import Answers, not_asked
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.inline import tests_in
from orchestrator.checks.names_of_tests import is_of, leaf_of
from orchestrator.checks.of_tests.announced import with_expectations
from orchestrator.checks.of_tests.edits import TestEdit, edits_about, edits_of, identifiers_for
from orchestrator.checks.touched import Touched, is_test_data
from orchestrator.git.trees import changed_paths, contents_at, renamed_files
from orchestrator.project.functions.statements import Statement
from state.records.reviews import TestChange, TestChangeKind


async def with_weakened(
    change: Change, compared: Sequence[ResultComparison], known: Answers
) -> tuple[TestChange, ...]:
    """Return the changed tests, each once, with those that may check less, and with their announcements."""
    edits = await _edits_between(change, [one.touched for one in compared])
    tests = {name for one in compared if one.before for name in one.before.count.tests}
    others = _once(known.changes)
    found = with_expectations(
        [*others, *await aside(partial(weakened, edits, tests, others), "the tests of the work")],
        change.announced,
        partial(identifiers_for, edits=edits),
    )
    found = tuple(_without_excuse(one, edits, known.idle) for one in found)
    changed = set[str]()
    for one in compared:
        roles = one.touched
        changed |= {*roles.as_it_was, *roles.new, *roles.manifests, *filter(is_test_data, roles.code)}
    return with_built_together(found, edits, changed)


def _without_excuse(change: TestChange, edits: Sequence[TestEdit], idle: Collection[str]) -> TestChange:
    """Return an announced change as one that nothing announced, if the test shows nothing of the work now.

    A line of the spec asks for other results of a test. It asks for none without checks, and for none that
    passes without the work.
    """
    own = edits_about(change, edits) if change.expected_by and change.test else []
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


async def _edits_between(change: Change, touched: Sequence[Touched]) -> list[TestEdit]:
    """Return the changed tests, helpers and tables between two trees, as the commands' roles of files say."""
    data = {path for one in touched for path in one.data}
    tests = {path for one in touched for path in (*one.held, *one.configuration) if path not in data}
    if not (data or tests):
        return []
    changed = set(await changed_paths(change.repository, change.base, change.tree))
    before = await contents_at(change.repository, change.base, changed)
    after = await contents_at(change.repository, change.tree, changed)
    moved = await renamed_files(change.repository, change.base, change.tree)

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


def _named(edit: TestEdit, tests: Collection[str]) -> str:
    """Return a test's name as its runner has it, or its file with its own name, "" for a whole file."""
    if not edit.unit:
        return ""
    leaves = {name.partition("[")[0] for name in tests if leaf_of(name).partition("[")[0] == edit.unit[-1]}
    own = sorted(name for name in leaves if is_of(name, edit.path)) or sorted(leaves)
    return own[0] if len(own) == 1 else f"{edit.path}::{'::'.join(edit.unit)}"


def otherwise(compared: Sequence[ResultComparison], known: Answers) -> tuple[TestChange, ...]:
    """Return that each changed file of tests may check less, which stands for no answer."""
    held = [path for one in compared for path in one.touched.held]
    return (*known.changes, *not_asked(held, TestChangeKind.WEAKENED, "sq did not compare it"))
