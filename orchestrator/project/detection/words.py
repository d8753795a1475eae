"""Which runner of tests, or which linter, is called in a line of a recipe, a script or a workflow."""

import re
from collections.abc import Iterable

_ARGUMENTS = r"(?:\s+[^\s;&|]+)*?\s+"  # possible words between a program and its task
_RUNNERS = {
    "pytest": r"py\.?test",
    "unittest": r"(?:-m\s+)unittest|manage\.py\s+test|trial",
    "tox": r"tox",
    "nox": r"nox",
    "jest": r"jest|react-scripts\s+test|craco\s+test",
    "vitest": r"vitest",
    "mocha": r"_?mocha|nyc|c8",
    "ava": r"ava",
    "node": rf"node{_ARGUMENTS}--test|node\s+--test\S*",
    "tap": r"tap|tape|uvu|lab|qunit",
    "jasmine": r"jasmine|karma|ng\s+test",
    "playwright": r"playwright\s+test|cypress\s+run",
    "bun": r"bun\s+test",
    "deno": r"deno\s+test",
    "cargo": r"cargo\s+(?:\+\S+\s+)?(?:test|nextest|t)",
    "go": r"go\s+test|gotestsum|ginkgo|richgo\s+test",
    "maven": rf"mvnw?{_ARGUMENTS}(?:test|verify|install|package)",
    "gradle": rf"gradlew?{_ARGUMENTS}(?:\S*:)?(?:test|check|build)",
    "sbt": rf"sbt{_ARGUMENTS}['\"+]*test\S*|mill{_ARGUMENTS}\S*test",
    "clojure": r"lein\s+(?:\S+\s+)*test|(?:clj|clojure)\s+\S*:test\S*|bb\s+test",
    "dotnet": r"dotnet\s+test",
    "rspec": r"rspec|rake\s+spec",
    "minitest": r"(?:rake|rails)\s+test|ruby\s+.*[_/]test\S*|minitest",
    "phpunit": r"(?:simple-)?phpunit|paratest|artisan\s+test|codecept\s+run",
    "pest": r"pest",
    "mix": r"mix\s+(?:test|coveralls\S*)",
    "ctest": r"ctest",
    "meson": r"meson\s+test",
    "swift": rf"swift\s+test|xcodebuild{_ARGUMENTS}test",
    "bazel": rf"bazel(?:isk)?{_ARGUMENTS}test",
    "prove": r"prove",
    "bats": r"bats",
    "stack": r"stack\s+test",
    "cabal": r"cabal\s+(?:v2-)?test",
    "zig": r"zig\s+(?:build\s+)?test",
    "dart": r"(?:flutter|dart)\s+test",
    "busted": r"busted|shellspec|shunit2",
    "crystal": r"crystal\s+spec|nimble\s+test|gleam\s+test|dune\s+(?:run)?test|rebar3\s+(?:eunit|ct)",
}
# Groups of runners. Some in a group also run the tests of the others.
_ALIKE = ({"pytest", "unittest", "tox", "nox"}, {"phpunit", "pest"})
_BEFORE, _AFTER = r"(?<![\w.\-=$])", r"(?![\w\-=]|\.\w)"
_RUNNER = {name: re.compile(f"{_BEFORE}(?:{words}){_AFTER}") for name, words in _RUNNERS.items()}
_NEEDS_CONTAINER = re.compile(
    r"(?<![\w.\-])(?:docker(?:-compose)?|podman|vagrant|kubectl|minikube)(?![\w\-])"
)
_LINTER = re.compile(
    _BEFORE
    + r"(?:ruff|flake8|pyflakes|pycodestyle|pydocstyle|pylint|mypy|pyright|basedpyright|pytype|black|isort|"
    r"bandit|vulture|codespell|typos|pre-commit|prek|lint-imports|eslint|prettier|tsc|vue-tsc|xo|standard|semistandard|"
    r"biome|oxlint|stylelint|dprint|(?:cargo\s+(?:\+\S+\s+)?(?:clippy|fmt|deny|check|audit))|go\s+vet|gofmt|gofumpt|"
    r"goimports|staticcheck|golangci-lint|revive|rubocop|standardrb|shellcheck|shfmt|hadolint|yamllint|"
    r"markdownlint\S*|actionlint|phpstan|psalm|php-cs-fixer|phpcs|pint|credo|mix\s+(?:format|dialyzer)|checkstyle|"
    r"spotless\S*|ktlint|detekt|swiftlint|swiftformat|clang-format|clang-tidy|cppcheck|dart\s+(?:analyze|format)|"
    r"flutter\s+analyze|hlint|fourmolu|ormolu|vale|lint\S*|typecheck|type-check|fmt|format)" + _AFTER
)


def runners_of(lines: Iterable[str]) -> frozenset[str]:
    """Return the runners of tests that these lines call, each by one name."""
    text = "\n".join(lines)
    return frozenset(name for name, pattern in _RUNNER.items() if pattern.search(text))


def begins_with_runner(command: str) -> bool:
    """Whether the program that a command starts is a runner of tests."""
    return any(pattern.match(command) for pattern in _RUNNER.values())


def alike(runners: Iterable[str]) -> frozenset[str]:
    """Return these runners and the others of their groups."""
    found = frozenset(runners)
    return found.union(*(group for group in _ALIKE if group & found))


def calls_linter(lines: Iterable[str]) -> bool:
    """Whether one of these lines calls a linter, a formatter or a type checker."""
    return any(_LINTER.search(line) for line in lines)


def needs_container(lines: Iterable[str]) -> bool:
    """Whether one of these lines runs something in a container, which may be missing."""
    return any(_NEEDS_CONTAINER.search(line) for line in lines)
