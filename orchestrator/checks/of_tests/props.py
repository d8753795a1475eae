"""The new tests without their props: names that they set, functions that they call, files that they bring.

A prop is a variable or a flag of the product, a function of the work that the product never calls, a library
that the product does not load itself, or a program below the tests in the place of one that users lack. If
new tests pass only with a prop that neither the spec nor a document nor code of the base names, users do not
have the product that they show. (product.md, section 12)
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PurePosixPath

import msgspec

from agents.concurrency import aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.names_of_tests import of_files, tests_below
from orchestrator.checks.objecting import set_by_tests
from orchestrator.checks.results.running import run_on
from orchestrator.checks.touched import PROSE, is_test_data
from orchestrator.git.trees import (
    changed_paths,
    contents_at,
    files_in,
    files_with,
    pieced_together,
    with_contents,
)
from orchestrator.project.files import belongs_to_tests, is_code
from orchestrator.project.functions.languages import language_of
from state.decoding import table_beside
from state.records.commands import TestState
from state.words import names_of

_LARGEST = 300_000  # bytes of a file
_MOST = 12  # names that are asked about
_NAME = r"[A-Za-z_][A-Za-z0-9_]{3,60}"
_SHORTEST = 4  # characters of a name: a shorter one stands in any text
_BARE_CALL = re.compile(
    r"^[ \t]*(?P<call>(?:await[ \t]+)?(?:\w+(?:\.|::|->))*(?P<name>[A-Za-z_]\w{3,60})\([^\n]*\);?)[ \t]*$",
    re.MULTILINE,
)
_NOTHING = {".py": "pass", ".sh": ":", ".bash": ":"}
# A line that gives a function to others: its definition, its declaration, a list of exports, a remark.
_GIVES = re.compile(
    r"^\s*(?:#|//|/?\*|--)|\b(?:def|func|fn|function|sub|exports?|__all__|import|require|use|declare)\b"
    r"|^\s*(?!return\b|await\b|else\b)(?:[\w:<>,]+[\s*&]+)+\w+\s*\("
)
_LOADED = re.compile(r"^[ \t]*require[ (]+[\"']([\w/]{3,60})[\"']\)?[ \t]*$", re.MULTILINE)  # ruby
_MODULE = re.compile(r"\.p[lm]$")  # code of a language without a parser here
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


@dataclass(frozen=True, kw_only=True)
class _Props:
    """What only the new tests do: names that they set, functions that they call, stand-ins below them."""

    names: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        loaded = (f'require "{one}"' for one in self.loaded)
        return [*self.names, *(f"{one}()" for one in self.calls), *self.files, *loaded]


async def ask(change: Change, bench: Bench, compared: ResultComparison, known: Answers) -> Answers:
    """Return what the new tests set, call or bring, and only they know, if they fail without it."""
    touched = compared.touched
    own = [*touched.new, *touched.held]
    around = [one for one in (*touched.configuration, *touched.data, *touched.code) if _is_around(one)]
    changed = await changed_paths(change.repository, change.base, change.tree)
    around += [
        one for one in changed if is_test_data(one) and _is_program(one) and one not in (*own, *around)
    ]
    contents = await contents_at(change.repository, change.tree, [*own, *around], largest=_LARGEST)
    built = {one.rpartition(": ")[2].rpartition(".")[2] for one in known.added}
    names, called = await aside(partial(_done_by, contents, built), "the tests of the work")
    stubs = [one for one in (*own, *around) if one in own or not is_test_data(one) or _MODULE.search(one)]
    props = _Props(
        names=tuple([one for one in names if not await _is_known(change, one)][:_MOST]),
        calls=tuple([one for one in called if not await _is_called(change, one)][:_MOST]),
        files=tuple([one for one in stubs if await _stands_in(change, contents, one, own)][:_MOST]),
        loaded=tuple(await _loaded(change, contents)),
    )
    if not props.all:
        return Answers()
    without = {path: _without(path, content, props) for path, content in contents.items()}
    without = {path: text for path, text in without.items() if text != contents[path]}
    tree = await with_contents(change.repository, change.tree, without)
    tree = await pieced_together(change.repository, tree, of=change.base, paths=props.files)
    files = own if compared.now.count.tests else []
    done = await run_on(bench, compared, tree, files)
    passed = names_of(compared.now.count, TestState.PASSED)
    passed = of_files(passed, own) or passed
    fails = names_of(done.count, TestState.FAILED)
    broken = {below for one in fails for below in (one, *tests_below(one, passed))}
    failed = [name for name in passed if name in broken]
    uncounted = bool(done.exit_code) and not (compared.now.count.tests and done.count.tests)
    if uncounted and compared.now.count.tests:  # it may not run alone as it is
        uncounted = (await run_on(bench, compared, change.tree, files)).passed
    if not (failed or uncounted):
        return Answers()
    place = next(iter([*without, *props.files]), "")
    return Answers(objections=(set_by_tests(compared.command, props.all, failed, place),))


def _is_around(path: str) -> bool:
    return belongs_to_tests(path) or bool(_SETTING.search(path))


def _is_program(path: str) -> bool:
    return language_of(path) is not None or bool(_MODULE.search(path))


def _found(text: str) -> Iterator[re.Match[str]]:
    forms, usual = _forms()
    for form in forms:
        yield from (one for one in form.finditer(text) if not usual.fullmatch(one[1]))


def _done_by(contents: Mapping[str, bytes], built: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the names that tests set, and those of functions of the work that they call for their effect."""
    texts = [content.decode("utf-8", "replace") for content in contents.values()]
    names = dict.fromkeys(one[1] for text in texts for one in _found(text))
    called = dict.fromkeys(one["name"] for text in texts for one in _BARE_CALL.finditer(text))
    return list(names), [one for one in called if one in built]


async def _is_known(change: Change, name: str) -> bool:
    """Whether people know a name: by the spec, a document or the base, or the product does not read it."""
    if name in change.spec or await _holding(change, change.base, name):
        return True
    now = await _holding(change, change.tree, name)
    return any(PROSE.search(path) for path in now) or all(map(belongs_to_tests, now))


async def _holding(change: Change, tree: str, name: str) -> list[str]:
    """Return the files of a tree that hold a name as a word."""
    return await files_with(change.repository, tree, "-w", "-F", "-e", name)


async def _is_called(change: Change, name: str) -> bool:
    """Whether people know a function, or the product itself uses it."""
    if name in change.spec or await _holding(change, change.base, name):
        return True
    now = await _holding(change, change.tree, name)
    product = [path for path in now if not belongs_to_tests(path)]
    texts = await contents_at(change.repository, change.tree, product, largest=_LARGEST)
    lines = (line for text in texts.values() for line in text.decode("utf-8", "replace").splitlines())
    uses = [one for one in lines if re.search(rf"(?<!\w){name}(?!\w)", one) and not _GIVES.search(one)]
    return bool(uses) or any(PROSE.search(path) for path in now)


async def _loaded(change: Change, contents: Mapping[str, bytes]) -> list[str]:
    """Return libraries that new tests of Ruby load, and only the product uses, which does not load them."""
    every = [path for path in await files_in(change.repository, change.tree) if path.endswith(".rb")]
    paths = [path for path in every if not belongs_to_tests(path)]
    own = await contents_at(change.repository, change.tree, paths, largest=_LARGEST)
    both = ([text for path, text in one.items() if path in every] for one in (contents, own))
    tests, product = (b"\n".join(texts).decode("utf-8", "replace") for texts in both)
    found = []
    for name in dict.fromkeys(_LOADED.findall(tests)):
        word = re.compile(rf"(?<![\w:])(?=[A-Z])(?i:{name.replace('_', '').replace('/', '::')})(?!\w)")
        is_needed = word.search(product) and not word.search(tests) and name not in _LOADED.findall(product)
        if is_needed and name not in change.spec and not await _holding(change, change.base, name):
            found.append(name)
    return found


async def _stands_in(change: Change, contents: Mapping[str, bytes], path: str, tests: Sequence[str]) -> bool:
    """Whether a new file of code below the tests is one that the product, and no test, asks for by name."""
    name = PurePosixPath(path).stem
    is_new = path not in await files_in(change.repository, change.base)
    if not is_new or len(name) < _SHORTEST or not is_code(path, contents.get(path, b"")):
        return False
    if name in change.spec or await _holding(change, change.base, name):
        return False
    file = PurePosixPath(path).name
    if file != name and [one for one in await _holding(change, change.tree, file) if one != path]:
        return False  # it is started by its file
    now = [one for one in await _holding(change, change.tree, name) if one != path]
    of_tests = (belongs_to_tests(one) or one in tests or PROSE.search(one) for one in now)
    return bool(now) and all(map(_is_program, now)) and not any(of_tests)


def _without(path: str, content: bytes, props: _Props) -> bytes:
    """Return a file in which nobody sets these names or makes these calls."""
    text, wanted = content.decode("utf-8", "replace"), set(props.names)
    edits = {}
    for one in _found(text):
        if one[1] in wanted and one.re.groups > 1:
            edits[one.span(2)] = "False" if one[2] == "True" else "false"
        elif one[1] in wanted:
            edits[one.span(1)] = f"{one[1]}_UNSET"
    for one in _BARE_CALL.finditer(text):
        if one["name"] in props.calls:
            edits[one.span("call")] = _NOTHING.get(PurePosixPath(path).suffix, ";")
    edits |= {one.span(): "" for one in _LOADED.finditer(text) if one[1] in props.loaded}
    for start, end in sorted(edits, reverse=True):
        text = text[:start] + edits[start, end] + text[end:]
    return text.encode()
