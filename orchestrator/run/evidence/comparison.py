"""One command on a tree, compared with the tree that the work began with: the subject of the proofs.

The work between the two is the functions that it changed. Of the base's test files it can reach those that
name a changed function, directly or through others: only changes within functions, in languages that sq
reads, are followed, else every test counts. A file that holds code and its tests is separated into the two.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agents.concurrency import aside, aside_or
from orchestrator.git.trees import changed_paths, contents_at, files_in, links_in, text_at, with_files
from orchestrator.project.build_files.builds import is_built
from orchestrator.project.files import changed_lines, third_party, written_here
from orchestrator.project.functions.emptying import types_with_a_default
from orchestrator.project.functions.functions import (
    ChangedFunction,
    SourceFunctions,
    changed_functions,
    read_source,
)
from orchestrator.project.functions.languages import language_of
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.evidence.changes import Touched, classified, touched
from orchestrator.run.record import Run
from state.records.commands import CommandRun
from state.records.reviews import TestChange
from state.safe_paths import files_inside, read_inside

_MARK = "#[cfg(test)]"
_THE_WORK = "the sources of the work"
_INLINE = (".rs",)
_OUTPUT_KEPT = 1_500  # characters of a failing test's output
_LARGEST = 1_000_000  # bytes of a source that is read
_MOST = 400  # files that are read
# Methods that other code calls without their names, and functions that run by themselves.
_IMPLICIT = re.compile(
    r"(?:__\w+__|operator.*|method_missing|initialize|constructor|init|deinit|main|get|set|iter|each|next|call|drop|from|into"
    r"|to_?s(?:tr(?:ing)?)?|value_?of|equals?|hash|hash_?code|compare\w*|cmp|partial_cmp|eq|fmt|format|error|len|less|swap"
    r"|read|write|close|clone|dispose|default|deref|index|add|sub|mul|div|rem|neg|not)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"main|init|function \d+")
_QUIET = re.compile(  # lines outside functions that change nothing elsewhere
    r"\s*(?:$|//|/?\*|#(?! *(?:define|undef|if|el|pragma))|--|@\w|[{}()\];,]*\s*$"
    r"|import\b|from\b.*\bimport\b|use\b|using\b|package\b|namespace\b|module\b"
    r"|end\b|require\b|\w+ .*= require\()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultComparison:
    """A command's result `now` on `tree`, and its result `before` on `base`, if that is known.

    `there` and `here` are the command's suites at the base and in the tree.
    """

    command: str
    base: str
    tree: str
    there: Suite
    here: Suite
    before: CommandRun | None
    now: CommandRun
    touched: Touched

    @property
    def asks_the_base(self) -> bool:
        """Whether the base's tests can say something: they were counted there, or their files changed."""
        count = self.before.count if self.before and self.before.answered else None
        changed = self.touched.as_it_was or self.touched.manifests
        return count is not None and bool(count.tests or count.ran or changed)

    @property
    def suites(self) -> list[Suite]:
        """The command's suites at the base, then in the tree."""
        return [self.there, self.here]


async def subject_of(run: Run, now: CommandRun, base: str, tree: str) -> ResultComparison:
    """Compare a command on both trees.

    Raises:
        GitError: one of them cannot be put into a folder.
    """
    repository = run.repository
    changed = await changed_paths(repository, base, tree)
    async with run.evidence.scratch_worktree(run, base) as scratch:
        there = suite_of(now.command, scratch.folder)
        by = [classified(there, changed)]
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        here = suite_of(now.command, scratch.folder)
        by.append(classified(here, changed))
    sorted_ = touched(by, changed, await files_in(repository, base), await files_in(repository, tree))
    before = at_base(run, base, now.command)
    return ResultComparison(
        command=now.command,
        base=base,
        tree=tree,
        there=there,
        here=here,
        before=before,
        now=now,
        touched=sorted_,
    )


def at_base(run: Run, base: str, command: str) -> CommandRun | None:
    """Return a command's result on the tree that the work began with, else on the run's base."""
    verified = run.view.evidence.verifications.get(base)
    done = next((one for one in verified.runs if one.command == command), None) if verified else None
    if done is None and command in run.view.baseline.checks:
        return run.view.baseline.checks[command].run
    return done


def is_inline(path: str, text: str) -> bool:
    """Whether a file holds code and, after a mark, its tests."""
    return path.endswith(_INLINE) and _MARK in text


def tests_in(path: str, content: bytes) -> bytes:
    """Return the tests of an inline file, else the whole content."""
    if not is_inline(path, content.decode("utf-8", "replace")):
        return content
    return content.partition(_MARK.encode())[2]


async def with_tests_of(repository: Path, tree: str, *, of: str, paths: list[str]) -> str:
    """Return the tree `tree` with these inline files' tests taken from the tree `of`."""
    files = {}
    for path in paths:
        code, tests = await text_at(repository, tree, path), await text_at(repository, of, path)
        if code and tests:
            files[path] = code.partition(_MARK)[0] + _MARK + tests.partition(_MARK)[2]
    return await with_files(repository, tree, files) if files else tree


async def inline_among(repository: Path, tree: str, paths: list[str]) -> list[str]:
    """Return those of the paths that are inline files in a tree."""
    candidates = [path for path in paths if path.endswith(_INLINE)]
    return [path for path in candidates if is_inline(path, await text_at(repository, tree, path))]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTestResults:
    """The tests that do not hold as they were, and the checks without an answer."""

    changes: tuple[TestChange, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Work:
    """The functions that a work changed between two trees: the sources on the new one, and the changes."""

    tree: str
    sources: dict[str, bytes]
    changes: tuple[ChangedFunction, ...]
    defaults: frozenset[str]


async def work_between(run: Run, subject: ResultComparison) -> Work:
    """Return the changed functions of the product: not those of tests, or generated or third-party files.

    A committed build counts: tests may load it in place of its source.
    """
    touched = subject.touched
    inline = [path for path in (*touched.held, *touched.new) if (one := language_of(path)) and one.tests]
    links = await links_in(run.repository, subject.tree)  # the target of one is no code
    every = dict.fromkeys((*touched.code, *touched.manifests, *inline)).keys() - links.keys()
    paths = [path for path in sorted(every) if language_of(path)]
    before = await contents_at(run.repository, subject.base, paths)
    after = await contents_at(run.repository, subject.tree, paths)
    built = [path for path in after if is_built(path) and not third_party(path)]
    olds, news = written_here(before, after)
    before = olds | {path: before[path] for path in built if path in before}
    after = news | {path: after[path] for path in built}
    changes = await aside(partial(changed_functions, before, after), _THE_WORK)
    defaults = await _defaults(run, subject.tree, {one.function.file for one in changes})
    return Work(tree=subject.tree, sources=after, changes=tuple(changes), defaults=defaults)


async def _defaults(run: Run, tree: str, files: Iterable[str]) -> frozenset[str]:
    """Return the types of the project that say they have a default value, in a language where that counts."""
    found_languages = (language_of(file) for file in files)
    languages = {one.name: one for one in found_languages if one and one.types.known}
    if not languages:
        return frozenset()

    def found_in(folder: Path) -> frozenset[str]:
        found = frozenset[str]()
        for file in files_inside(folder):
            for language in languages.values():
                if file.endswith(tuple(language.suffixes)):
                    with suppress(OSError):
                        found |= types_with_a_default(read_inside(folder, file, largest=_LARGEST), language)
        return found

    async with run.evidence.scratch_worktree(run, tree) as scratch:  # with what its set-up made
        return await aside_or(frozenset(), partial(found_in, scratch.folder), _THE_WORK)


async def reached(run: Run, subject: ResultComparison) -> list[str] | None:
    """Return the base's test files that the work can reach, or None if sq cannot say: then all of them."""
    code = [*subject.touched.code]
    before = await contents_at(run.repository, subject.base, code)
    after = await contents_at(run.repository, subject.tree, code)
    if subject.touched.manifests or not all(language_of(path) for path in code):
        return None
    words = await aside_or(None, partial(_changed_names, code, before, after), _THE_WORK)
    tests = set(subject.there.test_files(await files_in(run.repository, subject.base)))
    every = await files_in(run.repository, subject.tree)
    paths = [path for path in every if language_of(path) and (path in tests or not third_party(path))]
    if words is None or len(paths) > _MOST:
        return None
    contents = await contents_at(run.repository, subject.tree, paths)
    contents |= await contents_at(run.repository, subject.base, list(subject.touched.as_it_was))

    def using(words: set[str]) -> list[str]:
        sources = [read_source(path, content) for path, content in contents.items()]
        used = _closure(words, sources, code)
        return [one.file for one in sources if one.file in tests and one.uses & used]

    return await aside_or(None, partial(using, words), _THE_WORK)


def _changed_names(
    code: Iterable[str], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> set[str] | None:
    """Return the names of the changed functions, or None if something else changed that tests may reach."""
    words: set[str] = set()
    for path in code:
        for content, changed in changed_lines(before.get(path, b""), after.get(path, b"")):
            found = _functions_at(read_source(path, content), content, changed)
            if found is None:
                return None
            words |= found
    return words


def _functions_at(source: SourceFunctions, content: bytes, changed: list[int]) -> set[str] | None:
    """Return the names of the functions on these lines, or None if a line elsewhere means something."""
    text = content.decode("utf-8", "replace").splitlines()
    names: set[str] = set()
    for line in changed:
        inside = [one.name for one in source.functions if one.line <= line <= one.last_line]
        if not inside and not _QUIET.match(text[line - 1]):
            return None
        for name in inside:
            scope, _, leaf = name.rpartition(".")
            if (_IMPLICIT if scope else _ALONE).fullmatch(leaf):
                return None
            names.add(leaf)
    return names


def _closure(words: set[str], sources: list[SourceFunctions], code: list[str]) -> set[str]:
    """Return the words with the names of all functions that use one of them, and of other files that do."""
    found = set(words)
    while True:
        more = {
            one.name.rpartition(".")[2]
            for source in sources
            for one in source.functions
            if any(text in found for _, text in one.form)
        }
        more |= {name for one in sources if one.file not in code and one.uses & found for name in one.defines}
        if more <= found:
            return found
        found |= more
