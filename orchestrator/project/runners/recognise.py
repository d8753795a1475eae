"""Finds the row of the table that a command belongs to, and whether the command runs tests at all."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from orchestrator.project.build_files.step import text_of
from orchestrator.project.runners.row import Invocation, Runner, Table
from orchestrator.project.shell import Simple

# Programs that run the command behind their own words in a container or on another machine.
RUN_INSIDE = frozenset({
    "docker", "docker-compose", "podman", "kubectl", "minikube", "vagrant", "ssh", "nix", "devbox", "ddev",
    "sail",
})  # fmt: skip
_ONLY_ASKS = frozenset({"--version", "--help", "-h"})
_AROUND = frozenset(
    {"cross-env", "cross-env-shell", "dotenv", "env-cmd", "c8", "nyc", "retry", "catchsegv", "spring"}
)
_INTERPRETERS = re.compile(r"(?P<name>python|pypy|node|nodejs|ruby|php|perl)[\d.]*")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT_ENDING = re.compile(r"\.(?:c?js|mjs|phar|rb|pl)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """The row of a command, if it has one, and whether it runs tests (None if unknown).

    `simple` is the command as its row knows it, without an interpreter or wrapper in front. `family` is the
    name of the runners of the same tests, "" if it is known of none. `lints`: it checks the code without
    running it. `script` is a shell script of the project that it runs.
    """

    simple: Simple
    runner: Runner | None = None
    runs_tests: bool | None = None
    family: str = ""
    lints: bool = False
    script: Path | None = None


def recognised(simple: Simple, folder: Path, table: Table) -> Recognised:
    """Return the row and kind of one command that runs in `folder`."""
    simple = _bare(simple)
    if not simple.words:
        return Recognised(simple=simple, runs_tests=False)
    asks = not _ONLY_ASKS.isdisjoint(simple.words)
    for one in _readings(simple):
        for row in table.runners.values():
            if any(_is_call(call, one, row, folder) for call in row.called):
                return _of_row(row, one, table, asks=asks)
    lints = is_among(simple, table.programs.linters)
    if asks or lints or is_among(simple, table.programs.others):
        return Recognised(simple=simple, runs_tests=False, lints=lints)
    return Recognised(simple=simple, family=_named(simple, table), script=_shell_script(simple, folder))


def _of_row(row: Runner, simple: Simple, table: Table, *, asks: bool) -> Recognised:
    lints = row.carrier and is_among(simple, table.programs.linters)
    runs_none = lints or (row.carrier and is_among(simple, table.programs.others))
    asks = asks or runs_none or not set(row.not_with).isdisjoint(simple.words)
    return Recognised(
        simple=simple,
        runner=row,
        runs_tests=None if row.carrier and not asks else not asks,
        family="" if asks else row.family or _named(simple, table),
        lints=lints,
    )


def targets(simple: Simple, row: Runner | None) -> list[str]:
    """Return the positional words of a call without its subcommand: the things it shall run."""
    words = simple.positional(row.select.values if row else ())
    subcommands = (
        {word for call in row.called if simple.name in call.programs for word in call.subcommands}
        if row
        else ()
    )
    at = next((number for number, word in enumerate(words) if word in subcommands), None)
    return words if at is None else [*words[:at], *words[at + 1 :]]


def _bare(simple: Simple) -> Simple:
    words = list(simple.words)
    if words[:1] == ["-m"]:  # of an interpreter in a variable that is not set
        words = words[1:]
    while words and (words[0].rsplit("/", maxsplit=1)[-1] in _AROUND or _ASSIGNMENT.match(words[0])):
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
    return replace(simple, words=tuple(words))


def _readings(simple: Simple) -> Iterator[Simple]:
    """Yield a command as it is, and without its interpreter: `node node_modules/jest/bin/jest.js` is jest."""
    name = _INTERPRETERS.fullmatch(simple.name)
    if name and (plain := simple.plain):
        at = simple.words.index(plain[0])
        script = _SCRIPT_ENDING.sub("", plain[0].rsplit("/", maxsplit=1)[-1])
        yield replace(simple, words=(script, *simple.words[at + 1 :]))
    first = {"nodejs": "node", "pypy": "python"}.get(name["name"], name["name"]) if name else simple.name
    yield replace(simple, words=(first, *simple.words[1:]))


def _is_call(call: Invocation, simple: Simple, row: Runner, folder: Path) -> bool:
    if simple.name not in call.programs:
        return False
    if call.flags and not any(
        word == flag or word.startswith(f"{flag}=") for word in simple.words for flag in call.flags
    ):
        return False
    if call.subcommands:
        words = [word for word in simple.positional(row.select.values) if not word.startswith("+")]
        looked_at = [word.rsplit(":", maxsplit=1)[-1] for word in words] if call.anywhere else words[:1]
        if set(call.subcommands).isdisjoint([*looked_at, *(words if call.anywhere else ())]):
            return False
    if call.contains:
        return re.search(call.contains, _code(simple, row, folder)) is not None
    return True


def _code(simple: Simple, row: Runner, folder: Path) -> str:
    """Return the code that an interpreter runs: the text after `-e` or `-c`, else the text of the script."""
    given = simple.option("-e", "-c", "--eval")
    if given is not None:
        return given
    scripts = simple.positional(row.select.values)[:1]
    return "\n".join(text_of(folder / script) for script in scripts)


def _named(simple: Simple, table: Table) -> str:
    """Return the family of a runner of which no more than its name is known, or ""."""
    for one in _readings(simple):
        patterns = table.programs.runners.get(one.name)
        texts = (" ".join(one.plain), " ".join(one.words[1:]))
        if patterns is not None and (
            not patterns or any(fnmatch(f"{text} ", f"{each} *") for text in texts for each in patterns)
        ):
            return table.programs.families.get(one.name, one.name)
    return ""


def is_among(simple: Simple, programs: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a command is a call of one of these programs, with one of its subcommands if it names some."""
    known = programs.get(simple.name)
    words = [word for word in simple.plain if not word.startswith("+")]  # `cargo +nightly fmt`
    return known is not None and (not known or not {*known}.isdisjoint(words[:1]))


def _shell_script(simple: Simple, folder: Path) -> Path | None:
    if simple.name in _SHELLS and simple.plain:
        path = folder / simple.plain[0]
        return path if path.is_file() else None
    path = folder / simple.words[0]
    if "/" not in simple.words[0] or not path.is_file():
        return None
    first = text_of(path)[:100].split("\n", maxsplit=1)[0]
    return path if re.match(r"#!.*\b(?:ba|da|z|k)?sh\b", first) else None
