"""Which commands are test runs, and how they ended: by exit code, else by the summary in their output."""

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from agents.transcript_shell import Simple, simple_commands

_NOT_STARTED = (126, 127)  # the shell's own exit codes: nothing was tested
_RUNNERS = frozenset({
    "pytest", "py.test", "unittest", "nose2", "nosetests", "trial", "stestr", "tox", "nox", "behave",
    "jest", "vitest", "mocha", "ava", "karma", "rspec", "phpunit", "pest", "bats", "ctest", "ginkgo",
    "gotestsum", "runtests", "busted", "prove", "cypress", "cargo-nextest",
})  # fmt: skip
_BY_SUBCOMMAND = {
    "cargo": ("test", "t", "nextest"), "go": ("test",), "dotnet": ("test",), "swift": ("test",),
    "mix": ("test",), "lein": ("test",), "deno": ("test",), "bun": ("test",), "flutter": ("test",),
    "dart": ("test",), "rails": ("test",), "composer": ("test",), "bazel": ("test",), "ng": ("test",),
    "sbt": ("test",), "playwright": ("test",), "mvn": ("test", "verify", "integration-test"),
    "setup.py": ("test",),
    "mvnw": ("test", "verify", "integration-test"), "artisan": ("test",), "manage.py": ("test",),
    "django-admin": ("test",), "stack": ("test",), "cabal": ("test",), "forge": ("test",), "meson": ("test",),
}  # fmt: skip
_NODE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_BY_TARGET = frozenset({
    "make", "gmake", "just", "task", "rake", "invoke", "inv", "ninja", "gradle", "gradlew", "zig", "doit",
    "turbo", "nx", "dune", "moon", "pants", "please", "meltano", "mage", "ant", "waf",
})  # fmt: skip
_RUN_INSIDE = frozenset(
    {"docker", "docker-compose", "podman", "kubectl", "vagrant", "ssh", "nix", "devbox", "ddev", "sail"}
)
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|php|perl|bash|sh|zsh")
_ONLY_ASKS = frozenset({
    "--version", "--help", "-h", "--collect-only", "--co", "--no-run", "--list", "--listTests",
    "--fixtures", "--dry-run",
})  # fmt: skip
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COUNTS = re.compile(  # pytest, and lines of the same shape: "1 failed, 2 passed in 0.1s"
    r"^=*[ ]?((?:\d+ (?:(?:subtests )?passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?"
    r"|rerun)(?:, )?)+)(?: in [\d.:hms ()]+)?[ ]?=*$",
    re.MULTILINE,
)
_FAILING = re.compile(
    r"^(?:FAILED\b|ERROR (?:\S+::|collecting)|FAIL\b|--- FAIL|FAILURES!|ERRORS!|not ok \d|Failed!\s"
    r"|BUILD FAIL|test result: FAILED|\[(?:ERROR|INFO)\] .*BUILD FAILURE|=*[ ]?no tests ran\b"
    r"|[ \t]*[1-9]\d* failing\b|[#\u2139] fail [1-9]"
    r"|\d+ examples?, [1-9]\d* failures?"
    r"|[ \t]*Tests?(?: Suites| Files)?:? .*\b[1-9]\d* failed\b|[ \t]*Summary \[.*\b[1-9]\d* failed\b"
    r"|.*Failures: [1-9]|.*Errors: [1-9]|\d+% tests passed, [1-9]\d* tests? failed|[ \t]+\S+: FAIL\b"
    r"|nox > Session .* failed|npm ERR!|npm error|error: test failed|error Command failed)",
    re.MULTILINE,
)
_PASSING = re.compile(
    r"^(?:OK(?: \(.*\))?$|ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))|ok \d+\b|ok$|PASS$|Passed!\s"
    r"|test result: ok\.|[ \t]*[1-9]\d* passing\b|[#\u2139] pass [1-9]|[1-9]\d* examples?, 0 failures"
    r"|All tests passed|[ \t]*Tests?:? .*\b[1-9]\d* passed\b|[ \t]*Summary \[.*\b[1-9]\d* passed\b"
    r"|.*Tests run: [1-9]|100% tests passed|BUILD SUCCESS|\[INFO\] BUILD SUCCESS|[ \t]+congratulations :\)"
    r"|nox > Session .* was successful)",
    re.MULTILINE,
)


class Outcome(StrEnum):
    """How a test run or a check ended, as far as its exit code or its summary tells."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


def outcome_of(command: str, exit_code: int | None, output: str) -> Outcome | None:
    """How the tests that the command line runs ended; None if it runs none.

    The exit code counts where nothing hides it (`| tail`, `|| true`, `; echo done`), the summary elsewhere.
    """
    runs = [simple for simple in simple_commands(command) if is_test_run(simple)]
    if not runs:
        return None
    if exit_code in _NOT_STARTED:
        return Outcome.UNKNOWN
    if exit_code == 0 and all(run.decides for run in runs):
        return Outcome.PASSED
    if exit_code and len(runs) == 1 and runs[0].is_last:
        return Outcome.FAILED
    told = summary_of(output)
    if told is Outcome.UNKNOWN and exit_code and all(run.decides for run in runs):
        return Outcome.FAILED  # they or what came after them
    return told


def summary_of(output: str) -> Outcome:
    """What the summary lines in a test runner's output say; words elsewhere in a line say nothing."""
    text = _ANSI.sub("", output)
    counts = [found[1] for found in _COUNTS.finditer(text)]
    if _FAILING.search(text) or any(re.search(r"\b[1-9]\d* (?:failed|errors?)\b", line) for line in counts):
        return Outcome.FAILED
    if _PASSING.search(text) or any(re.search(r"\b[1-9]\d* passed\b", line) for line in counts):
        return Outcome.PASSED
    return Outcome.UNKNOWN


def is_test_run(simple: Simple) -> bool:
    """Whether the command runs tests. Only asking about them, or installing a runner, is none."""
    if _ONLY_ASKS.intersection(simple.words):
        return False
    name, plain = simple.name, simple.plain
    if name in _RUN_INSIDE:  # another machine, or a container: the command stands behind its name
        inner = (replace(simple, words=simple.words[at:]) for at in range(1, len(simple.words)))
        return any(is_test_run(one) for one in inner if one.name not in _RUN_INSIDE)
    if name == "node" and "--test" in simple.words:
        return True
    if _INTERPRETERS.fullmatch(name) and plain:
        script = plain[0].rsplit("/", maxsplit=1)[-1]
        return _is_test_file(plain[0]) or (script in _BY_SUBCOMMAND and _subcommand(script, plain[1:]))
    if name in _NODE_MANAGERS:
        return _npm_script(simple)
    if name in _BY_TARGET:
        return any(_names_tests(target, "check", "runtest") for target in plain)
    if name in _BY_SUBCOMMAND:
        return _subcommand(name, plain)
    return name in _RUNNERS or any("/" in path and _is_test_file(path) for path in simple.words[:1])


def _subcommand(name: str, plain: Sequence[str]) -> bool:
    words = [word for word in plain if not word.startswith("+")]
    known = _BY_SUBCOMMAND[name]
    return bool(words) and (
        words[0] in known or (name.startswith(("mvn", "sbt")) and not {*known}.isdisjoint(words))
    )


def _npm_script(simple: Simple) -> bool:
    """`npm test`, `pnpm -r test`, `yarn workspace app test:unit`, `npm --prefix web run test`."""
    values = {
        simple.option(name) for name in ("--prefix", "-w", "--workspace", "-C", "--filter", "--cwd", "-F")
    }
    words = [word for word in simple.plain if word not in values]
    if words[:1] == ["workspace"]:
        words = words[2:]
    if words[:1] in (["run"], ["run-script"]):
        return bool(words[1:]) and _names_tests(words[1], "check")
    return bool(words) and (words[0] in {"t", "tst", *_RUNNERS} or _names_tests(words[0]))


def _names_tests(target: str, *more: str) -> bool:
    """Whether a target's name has test as a word of its own: `test:unit`, `:app:test`, not `latest`."""
    return not {"test", "tests", "e2e", *more}.isdisjoint(re.split(r"[^A-Za-z0-9]+", target.lower()))


def _is_test_file(path: str) -> bool:
    stem = path.rsplit("/", maxsplit=1)[-1].split(".", maxsplit=1)[0].lower()
    return not {"test", "tests", "runtests"}.isdisjoint(re.split(r"[^a-z0-9]+", stem))
