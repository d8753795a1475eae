"""The new tests without what they set: a variable or a flag of the product that nobody but they knows.

A user of the product has neither. So where new tests pass only with a name set that stands in no line of the
spec, no document and no code of the base, they show a product that nobody has. (product.md, section 12)
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial

import msgspec

from agents.concurrency import aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.names_of_tests import of_files
from orchestrator.checks.objecting import set_by_tests
from orchestrator.checks.running import run_on
from orchestrator.checks.touched import PROSE
from orchestrator.git.command import git
from orchestrator.git.trees import contents_at, with_contents
from orchestrator.project.files import belongs_to_tests
from state.decoding import table_beside
from state.errors import GitError
from state.records.commands import TestState
from state.words import names_of

_LARGEST = 300_000  # bytes of a file
_MOST = 12  # names that are asked about
_NAME = r"[A-Za-z_][A-Za-z0-9_]{3,60}"
_SETTING = re.compile(r"(?:^|/)(?:\.env[\w.]*|\w+\.(?:ini|cfg|toml)|Makefile|\.mocharc\.\w+)$")


class _Forms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rows of `props.yaml`, whose head describes them."""

    variables: tuple[str, ...]
    flags: tuple[str, ...]
    usual: str


@cache
def _forms() -> tuple[list[re.Pattern[str]], re.Pattern[str]]:
    """Return how names are set, and the names that every user may have."""
    rows = msgspec.convert(table_beside(__file__, "props.yaml"), _Forms)
    every = [re.compile(one.replace("NAME", _NAME), re.MULTILINE) for one in (*rows.variables, *rows.flags)]
    return every, re.compile(rows.usual.replace(" ", ""))


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return the names that the new tests set, and that only they know, if they fail without them."""
    touched = compared.touched
    own = [*touched.new, *touched.held]
    around = [one for one in (*touched.configuration, *touched.data, *touched.code) if _is_around(one)]
    contents = await contents_at(change.repository, change.tree, [*own, *around], largest=_LARGEST)
    names = await aside(partial(_names_set, contents), "the tests of the work")
    unknown = [one for one in names if not await _is_known(change, one)][:_MOST]
    if not unknown:
        return Answers()
    without = {path: _without(content, unknown) for path, content in contents.items()}
    without = {path: text for path, text in without.items() if text != contents[path]}
    tree = await with_contents(change.repository, change.tree, without)
    done = await run_on(bench, compared, tree, own)
    passed = of_files(names_of(compared.now.count, TestState.PASSED), own)
    failed = [name for name in passed if done.count.tests.get(name) is TestState.FAILED]
    uncounted = not compared.now.count.tests and done.exit_code
    if not (failed or uncounted):
        return Answers()
    place = next(iter(without), "")
    return Answers(objections=(set_by_tests(compared.command, unknown, failed, place),))


def _is_around(path: str) -> bool:
    return belongs_to_tests(path) or bool(_SETTING.search(path))


def _found(text: str) -> Iterator[re.Match[str]]:
    forms, usual = _forms()
    for form in forms:
        yield from (one for one in form.finditer(text) if not usual.fullmatch(one[1]))


def _names_set(contents: Mapping[str, bytes]) -> list[str]:
    texts = (content.decode("utf-8", "replace") for content in contents.values())
    return list(dict.fromkeys(one[1] for text in texts for one in _found(text)))


async def _is_known(change: Change, name: str) -> bool:
    """Whether people know a name: by the spec, a document or the base, or the product does not read it."""
    if name in change.spec or await _holding(change, change.base, name):
        return True
    now = await _holding(change, change.tree, name)
    return any(PROSE.search(path) for path in now) or all(map(belongs_to_tests, now))


async def _holding(change: Change, tree: str, name: str) -> list[str]:
    """Return the files of a tree that hold a name as a word."""
    try:
        told = await git(change.repository, "grep", "-I", "-l", "-z", "-w", "-F", "-e", name, tree)
    except GitError:  # none does
        return []
    return [one.partition(":")[2] for one in told.split("\0") if one]


def _without(content: bytes, names: Iterable[str]) -> bytes:
    """Return a file in which these names are set under another name, or to the other value."""
    text, wanted = content.decode("utf-8", "replace"), set(names)
    edits = {}
    for one in _found(text):
        if one[1] in wanted and one.re.groups > 1:
            edits[one.span(2)] = "False" if one[2] == "True" else "false"
        elif one[1] in wanted:
            edits[one.span(1)] = f"{one[1]}_UNSET"
    for start, end in sorted(edits, reverse=True):
        text = text[:start] + edits[start, end] + text[end:]
    return text.encode()
