"""The base's tests on the finished work, with everything as it was that decides what they say.

The base decides what belongs to that: its files of tests, their helpers and data, and the configuration and
scripts of its commands. What the work changed of it is put back, what it added is taken out. Tests that were
red count too, if the spec asks for them. (product.md, section 12)
"""

import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from orchestrator.checks.answers import Answers, not_asked
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.inline import inline_among, with_tests_of
from orchestrator.checks.names_of_tests import is_of, leaf_of, of_files, tests_below
from orchestrator.checks.objecting import BASE_TESTS, unknown
from orchestrator.checks.of_tests.reached import reached
from orchestrator.checks.results.output import cause_of, readable
from orchestrator.checks.results.running import flaky_at_the_base, run_on
from orchestrator.checks.touched import PROSE, is_test_data
from orchestrator.checks.work import work_between
from orchestrator.git.trees import (
    changed_paths,
    contents_at,
    files_in,
    files_with,
    pieced_together,
    renamed_files,
    text_at,
    with_files,
)
from orchestrator.project.build_files.manifests import with_base_parts
from orchestrator.project.files import is_test_file
from orchestrator.project.functions.functions import read_source
from orchestrator.project.functions.languages import language_of
from state.records.commands import CommandRun, TestState
from state.records.reviews import TestChange, TestChangeKind
from state.words import listed, names_of

_OUTPUT_KEPT = 1_500  # characters of a failing test's output
_WORD = re.compile(r"\w+")
_LIKE_A_HELPER = re.compile(
    r"(?i)(?:^|[._-])(?:test\w*|specs?|fixtures?|mocks?|stubs?|fakes?|expected|golden|assertions?|helpers?)(?:$|[._-])"
)
_MAKE = frozenset({"gnumakefile", "makefile"})  # make reads the first of these, in lower case first
_BUILDS = re.compile(
    r"(?:^|/)(?:CMakeLists\.txt|meson\.build|dune|BUILD(?:\.bazel)?|[^/]+\.(?:cmake|mk|cabal|gpr))$"
)
_LEAST_NAME = 4  # characters: a shorter name stands in any text
_PYTHON = re.compile(r"^(?:src/)?(\w+)(?:\.py$|/)")


def applies(_: Change, __: Bench, compared: ResultComparison, ___: Answers) -> bool:
    """Whether the base's tests can say something: they were counted there, or their files changed."""
    count = compared.before.count if compared.before and compared.before.answered else None
    changed = compared.touched.as_it_was or compared.touched.manifests
    return count is not None and bool(count.tests or count.ran or changed)


def otherwise(compared: ResultComparison) -> Answers:
    """Return that no changed file of tests holds as it was, which stands for no answer."""
    why = "sq did not run it as it was"
    return Answers(changes=not_asked(compared.touched.as_it_was, TestChangeKind.FAILS, why))


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Run a command with the base's tests, and everything of theirs, on the new product.

    Each test that passed at the base has to pass, and each that was red and that the spec asks for. Of a work
    that is only a part, only the files of tests that it changed are run, if it changed nothing else of the
    tests: the whole is asked for the others.
    """
    before, command = compared.before, compared.command
    if before is None or not before.answered:
        return Answers()
    mixed, files, restored = await _as_at_the_base(change, compared)
    files = files if of_files(before.count.tests, files) else []
    now = compared.now if mixed == change.tree else await run_on(bench, compared, mixed, files)
    if not before.count.tests:
        return await _unnamed(change, compared, now, restored)
    passed = names_of(before.count, TestState.PASSED)
    failing = [name for name in (of_files(passed, files) if files else passed) if not _passes(name, now)]
    if failing and mixed != change.tree:
        again = await run_on(bench, compared, mixed, files, again=True)
        unsteady = [name for name in failing if _passes(name, again)]
        flaky = await flaky_at_the_base(change, bench, command, unsteady)
        failing = [name for name in failing if name not in flaky]
    elif mixed == change.tree:
        failing = []  # the verification itself has judged them
    red = list(names_of(before.count, TestState.FAILED))
    paths = await files_in(change.repository, change.base) if red else []
    red = [
        still
        for name in red
        for still in _still_red(name, now if not files or of_files([name], files) else compared.now, paths)
    ]
    asked = await _asked(change, bench, compared, red, paths) if red else []
    changes = [_change(compared, name, now) for name in (*failing, *asked)]
    left = [name for name in red if name not in asked]
    told = f"whether the work matters to {listed(left)}, which failed before and fail now in `{command}`"
    silent = unknown(BASE_TESTS, command, told)
    return Answers(changes=tuple(changes), objections=(silent,) if left and mixed != change.tree else ())


async def _as_at_the_base(change: Change, compared: ResultComparison) -> tuple[str, list[str], list[str]]:
    """Return the new tree with the base's test environment, and without what the work added to it.

    Also returns the files of tests that the work can reach, if only files of tests were put back (without any
    the tree is the new one itself), and the files of the base that were put back.
    """
    touched, repository = compared.touched, change.repository
    at_base = set(await files_in(repository, change.base))
    inline = await inline_among(repository, change.base, list(touched.held))
    added = [
        path for path in (*touched.code, *touched.new) if path not in at_base and _is_added(path, touched.new)
    ]
    builds = [one for one in (*touched.code, *touched.manifests) if _BUILDS.search(one)]
    built = await contents_at(repository, change.tree, builds)
    listed_there = b"\n".join(built.values())  # a build that lists a file does not begin without it
    added = [one for one in added if os.fsencode(PurePosixPath(one).name) not in listed_there]
    known = {*touched.as_it_was, *touched.new, *touched.manifests, *added}
    others = set(await changed_paths(repository, change.base, change.tree)) - known
    added += [path for path in sorted(others) if await _is_of_the_tests(change, compared, path)]
    paths = [path for path in (*touched.as_it_was, *added) if path not in inline]
    mixed = await pieced_together(repository, change.tree, of=change.base, paths=paths)
    manifests = {}
    for path in touched.manifests:
        before, now = await text_at(repository, change.base, path), await text_at(repository, mixed, path)
        if now and (merged := with_base_parts(path, before, now)) != now:
            manifests[path] = merged
    mixed = await with_files(repository, mixed, manifests) if manifests else mixed
    alone = set(paths) <= {*touched.held, *touched.new} and not (inline or manifests)
    tree = await with_tests_of(repository, mixed, of=change.base, paths=inline)
    concerned = ([] if change.is_part else await reached(change, compared)) if alone else None
    if concerned is None:
        return tree, [], [path for path in paths if path in at_base]
    files = sorted({*touched.held, *concerned})
    return tree if files else change.tree, files, [*touched.as_it_was]


async def _is_of_the_tests(change: Change, compared: ResultComparison, path: str) -> bool:
    """Whether a path outside the folders of tests belongs to them, judged by the base's files that name it.

    A file with a name like that of a helper does if files of tests name it and neither product nor the spec
    does. A file of data does likewise, by its own name, else by its folder's. A new module of Python does if
    code that ran at the base imports one of its name: it stands in for one from elsewhere.
    """
    pure = PurePosixPath(path)
    is_new = not await text_at(change.repository, change.base, path)
    module = _PYTHON.match(path) if is_new else None
    if module and await _was_a_module(change, f"{path[: module.end(1)]}.py"):
        return False  # it became a package
    root = path[: module.end(1)] if module else ""
    if root and any(one.startswith(f"{root}/") for one in await files_in(change.repository, change.base)):
        return False  # a module of a package that was there
    if module and (named := await _naming(change, rf"^\s*(import|from)\s+{module[1]}\b")):
        passed = names_of(compared.before.count, TestState.PASSED) if compared.before else ()
        return any(not is_test_file(one) or of_files(passed, [one]) for one in named)
    is_data = not language_of(path)
    word = pure.name if is_data else pure.stem
    if is_new or not (is_data or _LIKE_A_HELPER.search(pure.stem)) or word in change.spec:
        return False
    # A folder's name is an everyday word, so it counts only as a piece of a path.
    folders = [rf"[\"'`/]{re.escape(folder)}[\"'`/]" for folder in reversed(pure.parts[:-1]) if is_data]
    for pattern in (rf"\b{re.escape(word)}\b", *folders):
        named = [one for one in await _naming(change, pattern) if one != path]
        if any(is_test_file(one) or language_of(one) for one in named):
            return all(is_test_file(one) or is_test_data(one) or not language_of(one) for one in named)
    return False


async def _was_a_module(change: Change, path: str) -> bool:
    before, now = [await text_at(change.repository, tree, path) for tree in (change.base, change.tree)]
    return bool(before) and not now


async def _naming(change: Change, pattern: str) -> list[str]:
    """Return the base's files, without prose, that hold a pattern."""
    files = await files_with(change.repository, change.base, "-E", "-e", pattern)
    return [name for name in files if not PROSE.search(name)]


def _is_added(path: str, new_tests: Collection[str]) -> bool:
    """Whether a new file belongs to the tests: in their folders, or a shadow of a module of Python's own."""
    module = _PYTHON.match(path)
    return path in new_tests or is_test_data(path) or bool(module and module[1] in sys.stdlib_module_names)


async def _unnamed(
    change: Change, compared: ResultComparison, now: CommandRun, restored: Sequence[str]
) -> Answers:
    """Return the results where nothing names the tests: files of the base that fail, or that are gone.

    `restored`: the files that are as at the base.
    """
    before, paths = compared.before, list(dict.fromkeys((*compared.touched.as_it_was, *restored)))
    assert before  # noqa: S101  the caller has seen it
    there = await files_in(change.repository, change.tree)
    moved = await renamed_files(change.repository, change.base, change.tree)
    gone = [path for path in compared.touched.held if path not in there and path not in moved]
    lost = tuple(TestChange(test="", path=path, kind=TestChangeKind.GONE) for path in gone)
    at_base = await files_in(change.repository, change.base)
    concerns = any(path in at_base or _goes_before(path, at_base) for path in paths)
    altered = not (before.nothing_yet or now.nothing_yet) and concerns
    if now.exit_code != 0 and (before.exit_code == 0 or (altered and compared.now.exit_code == 0)):
        changes = [
            TestChange(test="", path=path, kind=TestChangeKind.FAILS, detail=_end_of(now)) for path in paths
        ]
        return Answers(changes=tuple(changes))
    if before.exit_code != 0 and now.exit_code != 0 and paths:
        told = (
            f"whether the work passes {listed(paths)} as at the base: `{compared.command}` fails at the base "
            f"too ({cause_of(before)}). Read the change of these tests"
        )
        return Answers(objections=(unknown(BASE_TESTS, compared.command, told),), changes=lost)
    return Answers(changes=lost)


def _goes_before(path: str, at_base: Iterable[str]) -> bool:
    """Whether a new file is read in place of one of the base in its folder: of its name in another case."""
    pure = PurePosixPath(path)
    others = {one.name.lower() for one in map(PurePosixPath, at_base) if one.parent == pure.parent}
    name = pure.name.lower()
    return name in others or (name in _MAKE and not _MAKE.isdisjoint(others))


def _passes(name: str, done: CommandRun) -> bool:
    return done.count.tests.get(name) is TestState.PASSED


def _still_red(name: str, now: CommandRun, files: Collection[str]) -> list[str]:
    """Return the red test if it is red now, or those of the file or package that it stands for.

    A file or package that could not be loaded at the base has one name there, and those of its tests now.
    """
    if name in now.count.tests:
        return [] if _passes(name, now) else [name]
    last = _WORD.findall(name)[-1:]
    named = [path for path in files if is_test_file(path) and [PurePosixPath(path).stem] == last]
    inside = [*of_files(now.count.tests, named), *tests_below(name, now.count.tests)]
    return [one for one in inside if not _passes(one, now)] if inside else [name]


async def _asked(
    change: Change, bench: Bench, compared: ResultComparison, red: Sequence[str], paths: Sequence[str]
) -> list[str]:
    """Return those of the red tests that have to pass: the spec asks for them, or they run changed code."""
    found = [name for name in red if _is_the_specs(name, change, paths)]
    others = [name for name in red if name not in found]
    if not change.spec:  # no line asks for a test that the work leaves alone
        others = of_files(others, compared.touched.held)
    work = await work_between(change, bench, compared) if others else None
    named = {_WORD.findall(one.function.name)[-1] for one in work.changes} if work else set()
    if not named:
        return found
    tests = [path for path in paths if language_of(path) and is_test_file(path)]
    for name in others:
        own = await _names_in(change, name, [path for path in tests if is_of(name, path)] or tests)
        found += [name] if named & own else []
    return found


async def _names_in(change: Change, name: str, paths: Sequence[str]) -> set[str]:
    """Return the identifiers in a test's code, or in its file's if no function has its name."""
    sources = [
        read_source(path, (await text_at(change.repository, change.base, path)).encode()) for path in paths
    ]
    leaf = leaf_of(name).partition("[")[0]
    bodies = [one for source in sources for one in source.functions if _WORD.findall(one.name)[-1:] == [leaf]]
    if bodies:
        return {text for one in bodies for _, text in one.form}
    return {word for source in sources for word in source.uses} if len(sources) == 1 else set()


def _is_the_specs(name: str, change: Change, files: Collection[str]) -> bool:
    """Whether the spec asks for a test that failed at the base: by name, by its file, or for the suite."""
    leaf = re.sub(r"\W.*$", "", leaf_of(name))
    spec = change.spec
    if change.asks_for_the_suite or (len(leaf) >= _LEAST_NAME and leaf in spec):
        return True
    return any(PurePosixPath(file).name in spec and is_of(name, file) for file in files)


def _change(compared: ResultComparison, name: str, now: CommandRun) -> TestChange:
    path = next((path for path in compared.touched.held if is_of(name, path)), "")
    return TestChange(test=name, path=path, kind=TestChangeKind.FAILS, detail=_end_of(now))


def _end_of(done: CommandRun) -> str:
    return readable(done.output_tail, _OUTPUT_KEPT)
