"""Changed tests of the base: which may check less now, and which names stand on their changed lines.

Each is compared with its text at the base, statement by statement. Other names of one thing, added statements
and added rows weaken nothing. A check, a round or a value that is gone may. (product.md, section 12)
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.git.diffs import changed_paths
from orchestrator.git.scratch import contents_at, renamed_files
from orchestrator.project.functions.form import Token
from orchestrator.project.functions.statements import Statement, statements_of, words
from orchestrator.run.evidence.changes import Touched, is_of, leaf_of
from orchestrator.run.evidence.comparison import tests_in
from orchestrator.run.record import Run
from state.records.reviews import TestChange, TestChangeKind

_DEEPEST = 60  # nodes below one another that are compared
_LINES_SHOWN = 6  # statements of a test that are told as gone, and as new
Unit = tuple[str, ...]
Tree = tuple[str, str, tuple["Tree", ...]]  # a token, with those inside it


@dataclass(frozen=True, kw_only=True)
class TestEdit:
    """The statements of one test, helper or table of the base that are gone, and those that are new in it.

    `names` are those that it gives, before or now. `weaker` are the statements by which it may check less.
    `is_missing`: nothing of its name is there any more.
    """

    __test__ = False

    path: str
    unit: Unit
    gone: tuple[Statement, ...]
    new: tuple[Statement, ...]
    names: frozenset[str] = frozenset()
    weaker: tuple[Statement, ...] = ()
    is_missing: bool = False

    @property
    def identifiers(self) -> frozenset[str]:
        """The identifiers on the changed lines that mean something outside the test."""
        return frozenset(
            text
            for one in (*self.gone, *self.new)
            for kind, text in one.tokens
            if kind == "id"
            and text not in self.names
            and text not in self.unit
            and not (words().fits("checks", text) or words().fits("common", text))
        )

    @property
    def words(self) -> str:
        """The changed statements for a reviewer, as a diff has them."""
        lines = [f"- {one.text}" for one in (self.weaker or self.gone)[:_LINES_SHOWN]]
        return "\n".join([*lines, *(f"+ {one.text}" for one in self.new[:_LINES_SHOWN])])


def edits_of(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    moved: Mapping[str, str],
    data: Collection[str] = (),
) -> list[TestEdit]:
    """Return the changed tests and tables of test files, with their statements that may check less.

    Args:
        before: the files of tests and their data as they were, by path.
        after: all changed files as they are, by path.
        moved: files that have another path now: old → new.
        data: those of `before` that tests only read. Each of their lines counts.
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
    names = _Names(
        frozenset[str]().union(*(one.names for each in olds.values() for one in each)),
        frozenset[str]().union(*(one.names for each in news.values() for one in each)),
    )
    found = []
    for path, old in olds.items():
        there = news.get(moved.get(path, path))
        if there is None and path not in data:
            there, old = [], [one for one in old if one.unit]  # noqa: PLW2901
        for unit in dict.fromkeys(one.unit for one in old):
            was = [one for one in old if one.unit == unit]
            now = _counterpart(unit, there or [], fresh)
            gone, new = _without(was, now), _without(now, was)
            if gone or new:
                used = frozenset[str]().union(*(one.used for one in now))
                compared = _Compared(names, gone, new, used, fresh, is_data=path in data)
                edit = TestEdit(
                    path=path,
                    unit=unit,
                    gone=tuple(gone),
                    new=tuple(new),
                    names=frozenset[str]().union(*(one.names for one in (*was, *now))),
                    weaker=tuple(compared.weaker()),
                    is_missing=bool(unit) and not now,
                )
                found.append(edit)
    return found


async def edits_between(run: Run, base: str, tree: str, touched: Sequence[Touched]) -> list[TestEdit]:
    """Return the changed tests, helpers and tables between two trees, as the commands' roles of files say."""
    data = {path for one in touched for path in one.data}
    tests = {path for one in touched for path in (*one.held, *one.configuration) if path not in data}
    if not (data or tests):
        return []
    changed = set(await changed_paths(run.repository, base, tree))
    before = await contents_at(run.repository, base, tests | data)
    after = await contents_at(run.repository, tree, changed)
    moved = await renamed_files(run.repository, base, tree)
    return edits_of(
        {path: tests_in(path, content) for path, content in before.items()},
        {path: tests_in(path, content) for path, content in after.items()},
        moved=moved,
        data=data,
    )


def weakened(
    edits: Iterable[TestEdit], tests: Collection[str], known: Iterable[TestChange]
) -> list[TestChange]:
    """Return the edits that may check less as changed tests, without those that are named already.

    `tests` are the names of the base's tests, `known` other changes of tests.
    """
    others = [(one.test.partition("[")[0], one.path if not one.test else "") for one in known]
    found = []
    for edit in edits:
        if not edit.weaker:
            continue
        name = _named(edit, tests)
        if edit.is_missing and tests and name.startswith(f"{edit.path}::") and name not in tests:
            continue  # a helper
        if any((test and test == name) or (path and path == edit.path) for test, path in others):
            continue
        kind = TestChangeKind.WEAKENED
        found.append(TestChange(test=name, path=edit.path, kind=kind, detail=edit.words))
    return found


def identifiers_for(change: TestChange, edits: Iterable[TestEdit]) -> frozenset[str]:
    """Return the identifiers on the changed lines of a changed test, or of its file if that is meant."""
    every = list(edits)
    at = [one for one in every if one.path == change.path or (change.test and is_of(change.test, one.path))]
    leaf = leaf_of(change.test).partition("[")[0]
    own = [one for one in (at or every) if leaf in one.unit] if leaf else at
    own = own or [one for one in at if not one.unit]
    return frozenset[str]().union(*(one.identifiers for one in own))


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


@dataclass(frozen=True)
class _Names:
    """The names that the files give, before and now."""

    before: frozenset[str]
    now: frozenset[str]


@dataclass
class _Compared:
    """The statements of one test that are gone or new, and which of them check less."""

    names: _Names
    gone: list[Statement]
    new: list[Statement]
    used: frozenset[str]
    fresh: Sequence[Statement]
    is_data: bool = False
    renamed: dict[str, str] = field(default_factory=dict)

    def weaker(self) -> Iterator[Statement]:
        """Yield the old statements that no new one stands for, and new ones that switch a test off."""
        left, alone = list(self.new), []
        for old in self.gone:
            new = next((one for one in left if self._stands_for(one, old)), None)
            if new is None:
                alone.append(old)
            else:
                left.remove(new)
                if _switches_off(new) - _switches_off(old):
                    yield old
        moved = {one.tokens for one in self.fresh}
        checking = {one.unit for one in self.fresh if one.checks}
        values_of = [*left, *(one for one in self.fresh if one.unit not in checking)]
        spare = Counter(text for one in values_of for text in one.literals)
        for old in alone:
            if not self.is_data and old.tokens in moved:
                continue
            values = Counter(old.literals)
            if self.is_data or old.checks or old.loops or values - spare:
                yield old
            spare -= values
        left_before = any(_leaves(one) for one in self.gone)
        yield from (one for one in left if _switches_off(one) or (_leaves(one) and not left_before))

    def _stands_for(self, new: Statement, old: Statement) -> bool:
        """Whether a new statement checks what an old one did, other names and added entries aside."""
        before = dict(self.renamed)
        heads = list(new.around)
        grows = not (old.checks or self.is_data)
        fits = len(heads) == len(old.around)
        fits = fits and all(self._fits(a, b, grows=True) for a, b in zip(old.around, heads, strict=True))
        if fits and self._fits(old.tokens, new.tokens, grows=grows):
            return True
        self.renamed = before
        return False

    def _fits(self, old: Sequence[Token], new: Sequence[Token], *, grows: bool) -> bool:
        return self._alike(_tree(old), _tree(new), grows=grows, depth=0)

    def _alike(self, old: Tree, new: Tree, *, grows: bool, depth: int) -> bool:
        if old[0] != new[0] or depth > _DEEPEST:
            return False
        if old[0] == "id":
            return self._is_renamed(old[1], new[1])
        if old[1] != new[1]:
            return False
        if not (grows and words().fits("growing", old[1])):
            return len(old[2]) == len(new[2]) and all(
                self._alike(one, other, grows=grows, depth=depth + 1)
                for one, other in zip(old[2], new[2], strict=True)
            )
        rest = iter(new[2])
        return all(
            any(self._alike(one, other, grows=grows, depth=depth + 1) for other in rest) for one in old[2]
        )

    def _is_renamed(self, old: str, new: str) -> bool:
        """Whether a name stands for another one throughout: the files gave the old one, and give the new."""
        if old == new and old not in self.renamed:
            return new not in self.renamed.values()
        if old not in self.renamed and new not in self.renamed.values():
            if old in self.used or old not in self.names.before or new not in self.names.now:
                return False
            self.renamed[old] = new
        return self.renamed.get(old) == new


def _tree(tokens: Sequence[Token]) -> Tree:
    """Return tokens as a tree of the brackets among them."""
    stack: list[tuple[str, str, list[Tree]]] = [("(", "", [])]
    for kind, text in tokens:
        if kind == "(":
            stack.append((kind, text, []))
        elif kind == ")" and len(stack) > 1:
            own, type_, children = stack.pop()
            stack[-1][2].append((own, type_, tuple(children)))
        else:
            stack[-1][2].append((kind, text, ()))
    return ("(", "", tuple(child for one in stack for child in one[2]))


def _switches_off(one: Statement) -> frozenset[str]:
    return frozenset(text for kind, text in one.tokens if kind == "id" and words().fits("disabling", text))


def _leaves(one: Statement) -> bool:
    """Whether a statement ends a test early."""
    return bool(one.tokens) and one.tokens[0][1].startswith("return") and not one.around
