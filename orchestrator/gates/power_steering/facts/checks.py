"""Finds test runs among commands."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.project.files import is_test_file
from orchestrator.project.runners.recognise import RUN_INSIDE, recognised
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import Simple

_NAMES_A_WAY = 2  # words after the program
_NOWHERE = Path("/nonexistent")  # scripts of the session's project are not read
_NEVER_FAIL = frozenset({"tail", "head", "tee", "cat"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun", "composer"})
_BY_TARGET = frozenset({
    "make", "gmake", "just", "task", "rake", "invoke", "inv", "ninja", "gradle", "gradlew", "zig", "doit",
    "turbo", "nx", "dune", "moon", "pants", "please", "meltano", "mage", "ant", "waf",
})  # fmt: skip
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|php|perl|bash|sh|zsh")
_TESTS_IN_CODE = re.compile(
    r"\bPkg\.test\(|\bdevtools::(?:test|check)\(|\btestthat::test_|\bInvoke-Pester\b|\bunittest\.main\("
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")  # also of `testDebugUnit`
_ONLY_MAKES = frozenset({"assemble", "compile", "process", "clean", "lint"})
_ONLY_ASKS = frozenset({
    "--version", "--help", "-h", "--collect-only", "--co", "--no-run", "--list", "--listTests",
    "--fixtures", "--dry-run",
})  # fmt: skip


def way_of(simple: Simple) -> tuple[str, ...]:
    """Return a command without its options. Commands with the same way run the same kind of thing."""
    return (simple.name, *simple.plain[:_NAMES_A_WAY])


def passes_on(every: Sequence[Simple]) -> bool:
    """Whether a line ends in a pipe to a command that does not fail itself: its exit code is another's."""
    return len(every) > 1 and every[-1].name in _NEVER_FAIL


def may_run_tests(simple: Simple) -> bool:
    """Whether a program may run tests although it is not known to."""
    if _ONLY_ASKS.intersection(simple.words) or not simple.words:
        return False
    return recognised(simple, _NOWHERE, usual_table()).runs_tests is not False


def is_test_run(simple: Simple) -> bool:
    """Whether the command runs tests. Only asking about them, or installing a runner, does not count."""
    if _ONLY_ASKS.intersection(simple.words):
        return False
    name, plain = simple.name, simple.plain
    if name in RUN_INSIDE:  # another machine, or a container: the command comes after its name
        inner = (replace(simple, words=simple.words[at:]) for at in range(1, len(simple.words)))
        return any(is_test_run(one) for one in inner if one.name not in RUN_INSIDE)
    if any(_TESTS_IN_CODE.search(word) for word in simple.words):
        return True
    if name in _MANAGERS and plain[:1] and plain[0] in _BY_TARGET:  # `pnpm turbo run test`
        return is_test_run(replace(simple, words=simple.words[simple.words.index(plain[0]) :]))
    if name in _MANAGERS and not _is_runner(simple):
        return _npm_script(simple)
    if name in _BY_TARGET:
        return any(_names_tests(target, "check", "runtest") for target in plain)
    paths = plain[:1] if _INTERPRETERS.fullmatch(name) else [one for one in simple.words[:1] if "/" in one]
    return any(is_test_file(path) for path in paths) or _is_runner(simple)


def _is_runner(simple: Simple) -> bool:
    """Whether the table knows the command as a runner of tests."""
    known = recognised(simple, _NOWHERE, usual_table())
    return bool(known.family) and known.runs_tests is not False


def _npm_script(simple: Simple) -> bool:
    """Whether a package manager runs tests: `npm test`, `pnpm -r test`, `npm --prefix web run test`."""
    values = {
        simple.option(name) for name in ("--prefix", "-w", "--workspace", "-C", "--filter", "--cwd", "-F")
    }
    words = [word for word in simple.plain if word not in values]
    if words[:1] == ["workspace"]:
        words = words[2:]
    if words[:1] in (["run"], ["run-script"]):
        return bool(words[1:]) and (words[1] == "check" or _names_tests(words[1]))
    if not words or words[0] in {"t", "tst"} or _names_tests(words[0]):
        return bool(words)
    return _is_runner(replace(simple, words=tuple(words)))


def _names_tests(target: str, *more: str) -> bool:
    """Whether a target's name has test as a word of its own: `test:unit`, `testDebugUnitTest`, not `latest`.

    `more` are whole names of targets that run tests: `check`, not `ktlintCheck`. A target that only builds
    the tests does not count: `compileTestKotlin`.
    """
    words = [word.lower() for word in _WORD.findall(target)]
    named = target.rsplit(":", 1)[-1] in more or not {"test", "tests", "e2e"}.isdisjoint(words)
    return named and _ONLY_MAKES.isdisjoint(words)
