"""The base's test files that a work can reach: they name a changed function, directly or through others.

Only changes within functions, in languages that sq reads, are followed. Else every test counts.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import PurePosixPath

from agents.concurrency import aside_or
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.git.trees import contents_at, files_in
from orchestrator.project.files import changed_lines, third_party
from orchestrator.project.functions.functions import SourceFunctions, read_source
from orchestrator.project.functions.languages import language_of

_THE_WORK = "the sources of the work"
_MOST = 400  # files that are read
# Methods that other code calls without their names, and functions that run by themselves.
_IMPLICIT = re.compile(
    r"(?:__\w+__|operator.*|method_missing|initialize|constructor|init|deinit|main|get|set|iter|each|next|call|drop|from|into"
    r"|to_?s(?:tr(?:ing)?)?|value_?of|equals?|hash|hash_?code|compare\w*|cmp|partial_cmp|eq|fmt|format|error|len|less|swap"
    r"|read|write|close|clone|dispose|default|deref|index|add|sub|mul|div|rem|neg|not)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"main|init|function \d+")
# A decorator may hand its function on, as a route, a command or an event: tests reach it without its name.
_HANDED_ON = re.compile(
    r"^\s*(?:@(?!(?:static|class)method\b|(?:cached_)?property\b|\w+\.setter\b|abstract\w*\b|over(?:ride|load)\b|Override\b"
    r"|(?:functools\.)?(?:lru_)?cache\b|(?:functools\.)?wraps\b|(?:contextlib\.)?(?:async)?contextmanager\b)|#?\[)",
    re.MULTILINE,
)
_QUIET = re.compile(  # lines outside functions that change nothing elsewhere
    r"\s*(?:$|//|/?\*|#(?! *(?:define|undef|if|el|pragma))|--|@\w|[{}()\];,]*\s*$"
    r"|import\b|from\b.*\bimport\b|use\b|using\b|package\b|namespace\b|module\b"
    r"|end\b|require\b|\w+ .*= require\()"
)


async def reached(change: Change, compared: ResultComparison) -> list[str] | None:
    """Return the base's test files that the work can reach, or None if sq cannot say: then all of them.

    The work's new files of tests are left out, as they are from the tree on which the base's tests are run.
    """
    code = [*compared.touched.code]
    before = await contents_at(change.repository, change.base, code)
    after = await contents_at(change.repository, change.tree, code)
    if compared.touched.manifests or not all(language_of(path) for path in code):
        return None
    words = await aside_or(None, partial(_changed_names, code, before, after), _THE_WORK)
    tests = set(compared.there.test_files(await files_in(change.repository, change.base)))
    every = set(await files_in(change.repository, change.tree)) - {*compared.touched.new}
    paths = [path for path in every if language_of(path) and (path in tests or not third_party(path))]
    if words is None or len(paths) > _MOST:
        return None
    contents = await contents_at(change.repository, change.tree, paths)
    contents |= await contents_at(change.repository, change.base, list(compared.touched.as_it_was))

    def using(words: set[str]) -> list[str]:
        sources = [read_source(path, content) for path, content in contents.items()]
        used = _closure(words, sources, {*code, *_loaded_by_none(tests, contents)})
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
        inside = [one for one in source.functions if one.line <= line <= one.last_line]
        if not inside and not _QUIET.match(text[line - 1]):
            return None
        for function in inside:
            scope, _, leaf = function.name.rpartition(".")
            if (_IMPLICIT if scope else _ALONE).fullmatch(leaf) or _HANDED_ON.search(function.head):
                return None
            names.add(leaf)
    return names


def _loaded_by_none(tests: Iterable[str], contents: Mapping[str, bytes]) -> set[str]:
    """Return the files of tests that no other file names: what they define is theirs alone."""
    return {
        file
        for file in tests
        if not any(
            PurePosixPath(file).stem.encode() in text for path, text in contents.items() if path != file
        )
    }


def _closure(words: set[str], sources: list[SourceFunctions], alone: Collection[str]) -> set[str]:
    """Return the words with the names of all functions that use one of them, and of other files that do.

    Those are left out of which each name is followed by itself, or is not used elsewhere.
    """
    found = set(words)
    while True:
        more = {
            one.name.rpartition(".")[2]
            for source in sources
            for one in source.functions
            if any(text in found for _, text in one.form)
        }
        more |= {
            name for one in sources if one.file not in alone and one.uses & found for name in one.defines
        }
        if more <= found:
            return found
        found |= more
