"""Which commands check a project other than by its tests, and which run the program itself."""

import re
from collections.abc import Container

from agents.shell import Simple

_CHECKERS = frozenset({
    "ruff", "flake8", "pylint", "mypy", "pyright", "pyre", "black", "isort", "bandit", "eslint", "tsc",
    "prettier", "biome", "stylelint", "golangci-lint", "staticcheck", "shellcheck", "shfmt", "rubocop",
    "phpstan", "clang-tidy", "ktlint", "swiftlint", "pre-commit", "tox", "nox", "yamllint", "hadolint",
    "actionlint", "lint-imports", "svelte-check", "vue-tsc", "checkov", "tflint", "compileall",
    "py_compile", "ansible-lint", "sphinx-build", "latexmk", "html-validate", "linkinator", "lychee",
    "markdownlint", "vale", "kubeconform", "kubeval", "cfn-lint", "sqlfluff", "buf", "promtool", "msgfmt",
})  # fmt: skip
_NO_TESTS = frozenset({
    "git", "gh", "ls", "cat", "grep", "rg", "ag", "find", "fd", "head", "tail", "sed", "awk", "echo",
    "printf", "cd", "pwd", "wc", "diff", "cmp", "sort", "uniq", "cut", "tr", "mkdir", "cp", "mv", "rm",
    "touch", "ln", "which", "env", "export", "source", "sleep", "true", "false", "tree", "stat", "file",
    "jq", "yq", "tee", "chmod", "date", "ps", "kill", "pkill", "du", "df", "less", "more", "pip", "pip3",
    "set", "test", "[", "unset", "type", "command", "id", "whoami", "hostname", "basename", "dirname",
    "realpath", "readlink", "md5sum", "sha256sum", "tar", "unzip", "magick", "convert", "open", "code",
    "history", "wait", "read", "exit", "bd",
})  # fmt: skip
_NO_TEST_TARGETS = ("start", "dev", "install", "add", "clean", "docs")
_CHECKING_VERBS = {
    "cargo": ("check", "clippy", "build", "fmt"), "go": ("vet", "build"), "dotnet": ("build", "format"),
    "mvn": ("compile", "package", "verify", "install"), "mvnw": ("compile", "package", "verify", "install"),
    "gradle": ("build", "check", "lint"), "gradlew": ("build", "check", "lint"), "swift": ("build",),
    "terraform": ("validate", "plan", "fmt"), "helm": ("lint", "template"), "docker": ("build",),
    "cmake": ("--build",), "bazel": ("build",), "mix": ("compile", "credo", "format"), "stack": ("build",),
    "cabal": ("build",), "zig": ("build",), "mkdocs": ("build",), "nginx": ("-t",), "jekyll": ("build",),
    "quarto": ("render",), "hugo": ("--panicOnWarning",), "cdk": ("synth",),
    "dbt": ("build", "compile", "parse"),
    "typst": ("compile",), "forge": ("build",), "meson": ("compile",), "dune": ("build",), "elm": ("make",),
    "node": ("--check",), "bash": ("-n",), "sh": ("-n",),
}  # fmt: skip
_TARGET = re.compile(
    r"(?:.*[:_-])?(?:lint|check|typecheck|type-check|types|build|all|ci|verify|validate|format|compile)\b.*"
)
_BY_TARGET = frozenset(
    {"make", "gmake", "just", "task", "rake", "npm", "pnpm", "yarn", "bun", "invoke", "nx", "turbo"}
)
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|php|perl|bash|sh|deno|bun|java|ts-node|tsx")
_STARTERS = {
    "cargo": ("run",), "go": ("run",), "npm": ("start", "dev"), "yarn": ("start", "dev"),
    "pnpm": ("start", "dev"), "dotnet": ("run",), "docker": ("run", "compose"), "flask": ("run",),
    "uvicorn": (), "gunicorn": (), "curl": (), "http": (), "wget": (), "playwright": (),
    "streamlit": ("run",), "mix": ("run",), "swift": ("run",),
}  # fmt: skip


def is_no_test(simple: Simple) -> bool:
    """Whether the command is one that runs no tests. An unknown program may do anything."""
    name, plain = simple.name, simple.plain
    if not name or name in _NO_TESTS or _INTERPRETERS.fullmatch(name):
        return True
    if name in _STARTERS and not set(_STARTERS[name]).isdisjoint(plain):
        return name != "docker"
    if name in _BY_TARGET:
        return not {*plain}.isdisjoint(_NO_TEST_TARGETS) or any(_TARGET.fullmatch(word) for word in plain)
    return is_other_check(simple)


def is_other_check(simple: Simple) -> bool:
    """Whether the command checks the project other than by tests: by linters, types, or a build."""
    name, plain = simple.name, simple.plain
    if name in _CHECKERS:
        return True
    if name in _BY_TARGET:
        return not plain or any(_TARGET.fullmatch(word) for word in plain)
    if name in _CHECKING_VERBS and not set(_CHECKING_VERBS[name]).isdisjoint(simple.words[1:]):
        return True
    script = plain[0] if _INTERPRETERS.fullmatch(name) and plain else name
    return bool(_TARGET.fullmatch(script.rsplit("/", 1)[-1].split(".")[0]))


def runs_program(simple: Simple, own: Container[str]) -> bool:
    """Whether the command, which runs no tests, runs a program of the project and not its checks.

    `own` are names of the project's folders and files, since `python -m NAME` is parsed as NAME.
    """
    name, plain = simple.name, simple.plain
    if not simple.words or is_other_check(simple):
        return False
    if name.split(".")[0] in own:
        return True
    if _INTERPRETERS.fullmatch(name):
        return bool(plain) or not {"-c", "-m", "-e"}.isdisjoint(simple.words)
    if name in _STARTERS:
        return not _STARTERS[name] or not set(_STARTERS[name]).isdisjoint(plain)
    return "/" in simple.words[0]
