"""Marks: product code that newly looks at a test runner, or touches it. It may behave otherwise when tested.

The rows of the table say what code does so, for all runners. Tests and their environment may do it, and so
may a product that did it at the base. (product.md, section 12)
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import runner_mark
from orchestrator.checks.touched import is_test_data
from orchestrator.git.trees import contents_at, files_with
from orchestrator.project.files import is_test_file
from orchestrator.project.functions.languages import language_of
from orchestrator.project.runners.table import usual_table

_LARGEST, _LARGE = 100_000_000, 1_000_000  # bytes of a file
_COMMENT = re.compile(r"\s*(?://|\*|/\*|--|#(?![\[!]|define\b))")
_LEAST_WORD = 6  # characters: a shorter word stands in any text
_MOST_MARKS = 10
_LONGEST = 80  # characters of code that are named


async def ask(change: Change, _: Bench, compared: ResultComparison, __: Answers) -> Answers:
    """Return where the work makes product code look at a runner or touch it, as `file: code`."""
    touched = compared.touched
    inline = [path for path in (*touched.held, *touched.new) if (one := language_of(path)) and one.tests]
    paths = [path for path in (*touched.code, *inline) if not is_test_data(path)]
    if not paths:
        return Answers()
    found: dict[str, None] = {}
    olds, news = [
        await contents_at(change.repository, tree, paths, largest=_LARGEST)
        for tree in (change.base, change.tree)
    ]
    for path in _shadowing(olds, news, change.spec):
        found[f"{path}: it stands in for a module of Python's"] = None
    for path in paths:
        if not language_of(path) and _is_no_text(news.get(path, b"")):
            continue
        before, after = (each.get(path, b"").decode(errors="replace") for each in (olds, news))
        for code in _new_marks(before, after, _patterns_for(PurePosixPath(path).suffix)):
            if not _is_asked_for(code, change.spec) and not await _stood_before(change, code):
                found[f"{path}: {code[:_LONGEST]}"] = None
    return Answers(objections=tuple(map(runner_mark, list(found)[:_MOST_MARKS])))


def _is_no_text(content: bytes) -> bool:
    """Whether a large file is none that a person writes, as git sees it: read as lines it takes gigabytes."""
    return len(content) > _LARGE and b"\0" in content[:8_000]


def _shadowing(olds: Mapping[str, bytes], news: Mapping[str, bytes], spec: str) -> Iterator[str]:
    """Yield new modules that are loaded in place of one of Python's library, unless the spec has its word."""
    for path in news:
        place = PurePosixPath(path)
        top = place.parent if place.name == "__init__.py" else place
        if path in olds or place.suffix != ".py" or str(top.parent) not in {".", "src"}:
            continue
        if top.stem in sys.stdlib_module_names and not re.search(rf"\b{top.stem}\b", spec, re.IGNORECASE):
            yield path


@cache
def _patterns_for(suffix: str) -> list[re.Pattern[str]]:
    """Return the patterns of the runners whose tests are files of this suffix, or no files of a language."""
    found = []
    language = language_of(f"x{suffix}")
    own = {f"x{suffix}", language.name if language else ""}
    for row in usual_table().runners.values():
        suffixes = {f"x{PurePosixPath(glob).suffix}" for one in row.tests for glob in one.globs}
        languages = {one.name for one in map(language_of, suffixes) if one}
        if not languages or own & (suffixes | languages):
            found += [re.compile(one, re.MULTILINE) for one in row.canary.marks]
    return found


def _new_marks(before: str, after: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    left = Counter(line.strip() for line in before.splitlines())
    added = []
    for line in after.splitlines():
        if left[line.strip()] > 0:
            left[line.strip()] -= 1
        elif not _COMMENT.match(line):
            added.append(line)
    text = "\n".join(added)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if found[0] not in before:
                yield found[0].strip().splitlines()[0]


def _is_asked_for(code: str, spec: str) -> bool:
    """Whether the spec names the longest word of the code, if that is no ordinary one."""
    word = max(re.findall(r"[\w.]+", code), key=len, default="")
    return len(word) >= _LEAST_WORD and not word.islower() and word in spec


async def _stood_before(change: Change, code: str) -> bool:
    """Whether product code at the base did the same."""
    files = await files_with(change.repository, change.base, "-F", "-e", code)
    return any(not is_test_file(file) and not is_test_data(file) for file in files)
