"""Makes tests that must fail: a suite that still passes with them does not run the tests that it counts.

Their names and numbers are ordinary ones, made out of random letters. They load the modules that the tests
beside them load, and fail by the same assertions.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from orchestrator.project.build_files.step import text_of
from orchestrator.project.files import walked
from orchestrator.project.runners.listings import runner_words
from orchestrator.project.runners.recognise import targets
from orchestrator.project.runners.row import FailingTest, Runner
from orchestrator.project.runners.suite import Suite, SuiteRun
from state.records.commands import TestCount, TestState

_MOST = 4  # failing tests
_PLACE = "{fails}"
_ENDING = re.compile(r"(?:[._-](?:test|spec))?\.\w+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """Failing tests: `content` is the whole new text of `path`, which may exist already.

    `names` are the tests' own names. Their names in a count end with them. It is empty if a counted test
    fails instead. `only` are the files to give to `only_these` to run them.
    """

    path: str
    content: str
    names: tuple[str, ...]
    only: tuple[str, ...]


def canary_for(suite: Suite, count: TestCount, token: str) -> Canary | None:
    """Return tests that must fail, in a file whose tests the baseline counted or in a new file beside one.

    `token` is some random letters, from which ordinary-looking paths, names and words are made. Returns None
    if the suite runs no tests that the table knows, or no form of a failing test fits.
    """
    for run in suite.test_runs:
        for path in _counted_files(suite, run, count):
            if canary := _beside(suite, run, path, token):
                return canary
    return None


def _counted_files(suite: Suite, run: SuiteRun, count: TestCount) -> Iterator[str]:
    """Yield the test files of the run, first those whose tests the count names as passed."""
    named = _named_files(suite, run)
    every = named or [
        path
        for path in walked(suite.folder)
        if suite.holds_tests(run, path) and _is_reached(run, suite, path)
    ]
    if run.runner and (only := run.runner.select.only):  # files that `only_these` takes come first
        every.sort(key=lambda path: not re.search(only, path))
    passed = " ".join(name for name, state in count.tests.items() if state is TestState.PASSED)
    counted = [path for path in every if _is_told(path, passed)]
    yield from counted
    yield from (path for path in every if path not in counted)


def _named_files(suite: Suite, run: SuiteRun) -> list[str]:
    """Return the test files that the command itself names."""
    found: list[str] = []
    for word in targets(run.simple, run.runner):
        path = run.folder / word.split("::", maxsplit=1)[0]
        if not path.is_file() and run.runner and run.runner.name == "unittest":
            path = run.folder / f"{word.replace('.', '/')}.py"
        if path.is_file() and path.is_relative_to(suite.folder):
            found.append(path.relative_to(suite.folder).as_posix())
    return found


def _is_reached(run: SuiteRun, suite: Suite, path: str) -> bool:
    """Whether a file lies in one of the folders that the command names, if it names any."""
    start = (
        run.simple.option("-s", "--start-directory") if run.runner and run.runner.name == "unittest" else None
    )
    words = [*targets(run.simple, run.runner), *([start] if start else [])]
    folders = [folder for word in words if (folder := run.folder / word.removesuffix("/...")).is_dir()]
    return not folders or any((suite.folder / path).is_relative_to(folder) for folder in folders)


def _is_told(path: str, names: str) -> bool:
    """Whether names of tests mention a file, by its path, its module or its class."""
    pure = PurePosixPath(path)
    module = path.removesuffix(pure.suffix).replace("/", ".")
    return (
        path in names or f"{module}." in names or re.search(rf"\b{re.escape(pure.stem)}\b", names) is not None
    )


def _beside(suite: Suite, run: SuiteRun, path: str, token: str) -> Canary | None:
    if run.runner is None:
        return None
    text = text_of(suite.folder / path)
    is_named = path in _named_files(suite, run)
    for form in run.runner.canary.forms:
        if not re.search(form.path, path) or not re.search(form.when, text):
            continue
        if form.new and not is_named:
            if canary := _new_file(suite, path, text, form, run.runner, token):
                return canary
        elif not form.whole:
            tests = _tests(path, text, form, run.runner, token)
            content = _put_in(text, "\n\n".join(tests.values()), form.before)
            return Canary(path=path, content=content, names=_names(tests), only=(path,))
    return None


def _tests(path: str, text: str, form: FailingTest, runner: Runner, token: str) -> dict[str, str]:
    """Return the failing tests by name: one for each statement that the tests in `text` use, at most four."""
    statements = [one.text for one in runner.canary.fails if re.search(one.when, text)] or [""]
    if _PLACE not in form.text:
        statements = statements[:1]
    found: dict[str, str] = {}
    for number, statement in enumerate(statements[:_MOST]):
        values = _values(path, ordinary(f"{token}{number or ''}"))
        values["fails"] = statement.format_map(values)
        found.setdefault(form.name.format_map(values), form.text.format_map(values))
    return found


def _names(tests: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(filter(None, tests))


def _new_file(
    suite: Suite, path: str, text: str, form: FailingTest, runner: Runner, token: str
) -> Canary | None:
    new = posixpath.join(posixpath.dirname(path), form.new.format_map(_values(path, ordinary(token))))
    if (suite.folder / new).exists():
        return None
    header = [found[0] for pattern in form.header if (found := re.search(pattern, text, re.MULTILINE))]
    if form.header and form.header[0].startswith("^\\s*require"):
        header = [found[0] for found in re.finditer(form.header[0], text, re.MULTILINE)]
    header += _loading(text, runner)
    front = "".join(f"{line}\n" for line in header) + form.opening
    tests = _tests(path, text, form, runner, token)
    separator = "\n" if front and not front.endswith("\n\n") else ""
    body = "\n\n".join(tests.values())
    return Canary(path=new, content=f"{front}{separator}{body}", names=_names(tests), only=(new,))


def _loading(text: str, runner: Runner) -> list[str]:
    """Return lines that load the modules that the tests in `text` load."""
    found = [
        one.text.format_map(match.groupdict())
        for one in runner.canary.loads
        for match in re.finditer(one.pattern, text)
    ]
    return list(dict.fromkeys(found))


def _put_in(text: str, test: str, before: str) -> str:
    """Return the text with the test at its end, or in front of the line that must stay the last one."""
    found = re.search(before, text, re.MULTILINE) if before else None
    at = found.start() if found else len(text)
    front = text[:at] if not text[:at] or text[:at].endswith("\n") else text[:at] + "\n"
    gap = "\n\n" if found else ""
    return f"{front}\n{test}{gap}{text[at:]}"


def _values(path: str, words: Mapping[str, str]) -> dict[str, str]:
    name = posixpath.basename(path)
    ending = _ENDING.search(name)
    return {
        **words,
        "ending": ending[0] if ending else "",
        "extension": name.rsplit(".", maxsplit=1)[-1],
    }


def ordinary(token: str) -> dict[str, str]:
    """Return words and numbers made from some random letters, the same ones for the same letters."""
    digest = hashlib.sha256(token.encode()).digest()
    lists = runner_words().canary.values()
    chosen = [words[byte % len(words)] for words, byte in zip(lists, digest, strict=False)]
    words = " ".join(chosen).split()
    a, b = 11 + digest[3] % 80, 11 + digest[4] % 80
    camel = "".join(word.capitalize() for word in words)
    return {
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "phrase": " ".join(words),
        "Camel": camel,
        "camel": camel[0].lower() + camel[1:],
        "a": str(a),
        "b": str(b),
        "wrong": str(a + b + 1 + digest[5] % 9),
    }
