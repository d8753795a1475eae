"""The effects of a change on the tests: which changed files hold tests, and which tests are in which file."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from orchestrator.checks.objecting import BASE_TESTS
from orchestrator.project.files import is_test_file
from orchestrator.project.runners.suite import Suite
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import TestState
from state.records.objections import Objection
from state.records.plan import TestThatChanges
from state.records.reviews import TestChange, TestChangeKind
from state.records.spec_check import plain

_PARTS = re.compile(r"[\\/.:>#\s]+")
_OF_TESTS = frozenset(
    {"test", "tests", "spec", "specs", "__tests__", "testing", "testdata", "test_data", "t", "e2e"}
)
_RECORDED = frozenset({"__snapshots__", "snapshots", "__image_snapshots__", "golden", "goldens", "fixtures"})
_SNAPSHOT = re.compile(r"\.(?:snap|snapshot|golden|approved\.\w+)$")
PROSE = re.compile(
    r"(?:^|/)docs?/|\.(?:md|rst|txt|adoc)$|(?:^|/)(?:LICENSE|CHANGELOG|README)[^/]*$", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?<=[\[-])([A-Za-z_]+)\d+(?=[\]-])")  # how pytest names parameters without a text
_LEAST_WORD = 3
_LEAST_QUOTE = 12  # characters of a line: a shorter one stands in any text
_SEPARATORS = ("::", " > ", " » ", "#", "/", ".")  # the first one in a test's name is its separator
_BOUNDARY = frozenset(".:/># »")


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """The changed paths, sorted by their role for the tests.

    `held` are files that hold tests at the base, `new` those that hold tests only now, `data` files that
    tests compare with or read. `configuration` only decides how tests are run, `manifests` do so and have
    other content. `code` is the rest except prose.
    """

    held: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    configuration: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    code: tuple[str, ...] = ()

    @property
    def as_it_was(self) -> tuple[str, ...]:
        """The files that have to be as at the base when the base's tests are run."""
        return (*self.held, *self.data, *self.configuration)

    @property
    def decides(self) -> bool:
        """Whether a file was changed that decides how tests are run."""
        return bool(self.configuration or self.manifests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """The roles of changed paths for a command in one tree."""

    tests: frozenset[str]
    deciders: frozenset[str]
    manifests: frozenset[str]


def classified(suite: Suite, changed: Sequence[str]) -> Classified:
    """Classify changed paths, while the suite's folder holds its tree.

    If no row knows the runner, files of tests are known by their usual names.
    """
    unknown = not suite.test_runs and suite.runs_tests is None
    tests = filter(is_test_file, changed) if unknown else suite.test_files(changed)
    return Classified(
        tests=frozenset(tests),
        deciders=frozenset(suite.deciders(changed)),
        manifests=frozenset(suite.manifests(changed)),
    )


def touched(
    by: Sequence[Classified], changed: Sequence[str], at_base: Collection[str], now: Collection[str]
) -> Touched:
    """Sort changed paths.

    Args:
        by: their roles for the command, at the base and now.
        changed: the paths that differ.
        at_base: all paths at the base.
        now: all paths now.
    """
    tests = frozenset[str]().union(*(one.tests for one in by))
    deciders = frozenset[str]().union(*(one.deciders for one in by)) - tests
    manifests = frozenset[str]().union(*(one.manifests for one in by)) & deciders
    rest = [path for path in changed if path not in tests | deciders]
    data = [path for path in rest if is_test_data(path)]
    return Touched(
        held=tuple(path for path in changed if path in tests and path in at_base),
        new=tuple(path for path in changed if path in tests and path in now and path not in at_base),
        data=tuple(path for path in data if path in at_base),
        configuration=tuple(path for path in changed if path in deciders - manifests),
        manifests=tuple(path for path in changed if path in manifests),
        code=tuple(path for path in rest if path not in data and not PROSE.search(path)),
    )


def is_test_data(path: str) -> bool:
    """Whether a path is in a folder of tests, or holds results recorded by a test."""
    folders = {part.lower() for part in PurePosixPath(path).parts[:-1]}
    return bool(folders & (_OF_TESTS | _RECORDED)) or bool(_SNAPSHOT.search(path))


def lost_tests(before: Mapping[str, TestState], after: Mapping[str, TestState]) -> list[TestChange]:
    """Return the tests that ran before and are gone or skipped. Renamed or moved tests are not gone."""
    ran = {name for name, state in before.items() if state is not TestState.SKIPPED}
    now = [name for name, state in after.items() if state is TestState.SKIPPED and name in ran]
    skipped = [TestChange(test=name, kind=TestChangeKind.SKIPPED) for name in now]
    added = [name for name in after if name not in before and after[name] is not TestState.SKIPPED]
    gone = [name for name in before if name in ran - set(after)]
    left = [name for name in gone if before[name] is not TestState.FAILED or not tests_below(name, after)]
    for mark in (leaf_of, unnumbered, _place_of):
        left = _without_pairs(left, added, mark)
    return [*skipped, *(TestChange(test=name, kind=TestChangeKind.GONE) for name in left)]


def tests_below(name: str, tests: Iterable[str]) -> list[str]:
    """Return the tests of a package or file, named by a test that stands for all of it."""
    return [one for one in tests if one.startswith(name) and one[len(name) :][:1] in _BOUNDARY]


def files_of(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the test files that hold these tests, empty if the file of one of them is unknown."""
    found: dict[str, None] = {}
    for name in names:
        holding = [file for file in files if is_of(name, file)]
        if not holding:
            return []
        found.update(dict.fromkeys(holding))
    return list(found)


def is_of(name: str, file: str) -> bool:
    """Whether a test's name begins with a file: as a path, or as a module in dotted form.

    `tests/test_a.py::T::test_x`, `tests.test_a.T.test_x` and `test_a.T.test_x` are of `tests/test_a.py`.
    """
    if name.startswith(file):
        return True
    folder, _, own = file.rsplit(".", maxsplit=1)[0].rpartition("/")
    folders, stem, parts = ([part for part in _PARTS.split(text) if part] for text in (folder, own, name))
    wholes = [[*folders[skipped:], *stem] for skipped in range(len(folders) + 1)]
    return bool(stem) and any(parts[: len(whole)] == whole for whole in wholes)


def of_files(names: Iterable[str], files: Collection[str]) -> list[str]:
    """Return the tests that are in one of these files."""
    return [name for name in names if any(is_of(name, file) for file in files)]


def _without_pairs(gone: list[str], added: list[str], mark: Callable[[str], str]) -> list[str]:
    """Return the tests without an added one of the same mark. Each added one replaces only one test."""
    left = []
    for name in gone:
        same = next((one for one in added if mark(one) == mark(name)), None)
        if same is None:
            left.append(name)
        else:
            added.remove(same)
    return left


def leaf_of(name: str) -> str:
    """Return a test's own name without its file, class and group."""
    return name[len(_place_of(name)) :]


def unnumbered(name: str) -> str:
    """Return a test's own name without the numbers that pytest gives parameters by their order."""
    return _NUMBERED.sub(r"\1", leaf_of(name))


def _place_of(name: str) -> str:
    """Return a test's name without the last part."""
    plain = name.partition("[")[0]
    separator = next((one for one in _SEPARATORS if one in plain), "")
    return plain[: plain.rindex(separator) + len(separator)] if separator else ""


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
    return bool(end) and name.endswith(end) and name[: -len(end)][-1:] in _BOUNDARY


def unannounced(objections: Iterable[Objection]) -> list[Objection]:
    """Return the changed tests that neither the spec nor a reviewed plan announces."""
    return [one for one in objections if one.check == BASE_TESTS and not one.because]


def changes_of(view: RunView, task: TaskView) -> list[Objection]:
    """Return the changed tests of a task's committed work that nothing announces."""
    proofs = view.evidence.proofs.get((task.task.id, task.claim.committed_tree))
    return unannounced(proofs.objections) if proofs else []


def ruling_words(view: RunView, name: str) -> str:
    """Return in words how reviewers ruled on a changed test. A refusal outweighs the others."""
    rulings = [ruling for task in view.tasks.values() for ruling in task.review.rulings]
    rulings += view.whole.reviews[-1].tests if view.whole.reviews else ()
    ruled = [one for one in rulings if one.test == name and one.ruled]
    if not ruled:
        return "no reviewer ruled on it"
    last = next((one for one in ruled if not one.accepted), ruled[-1])
    return f"the reviewer {'accepts' if last.accepted else 'refuses'}: {last.why}"


def are_explained(changes: Sequence[Objection], notes: str, spec: str) -> bool:
    """Whether a Worker's notes name each changed test, and quote a line of the spec."""
    said = " ".join(notes.split())
    lines = (plain(line) for line in spec.splitlines())
    tests = {leaf_of(one.subject).partition("[")[0] or one.place for one in changes}
    quotes = any(len(line) >= _LEAST_QUOTE and line in said for line in lines)
    return quotes and all(_stands_in(test, said) for test in tests)
