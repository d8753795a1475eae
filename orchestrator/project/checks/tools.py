"""The tools of `checks.yaml`, and which commands are checks that run no tests and change no file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from orchestrator.project.runners.row import Detection
from orchestrator.project.runners.suite import Suite, SuiteRun
from orchestrator.project.shell import Simple


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTool:
    """A row. The head of `checks.yaml` describes the fields."""

    called: Mapping[str, tuple[str, ...]]
    only_with: tuple[str, ...] = ()
    never_with: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    found: tuple[Detection, ...] = ()

    def is_called(self, simple: Simple) -> bool:
        """Whether a command is a call of this tool."""
        return _is_among(simple, self.called)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTable:
    """The rows by name, the names of scripts that check or build, and the patterns of complaints."""

    names: str
    builds: str
    never_with: tuple[str, ...]
    compilers: Mapping[str, tuple[str, ...]]
    harmless: frozenset[str]
    tools: Mapping[str, CheckTool]
    complaints: tuple[str, ...]
    header: str
    notes: str
    listing: frozenset[str]


@cache
def check_table() -> CheckTable:
    """Return the table. A pattern that is none is an error."""
    text = (files("orchestrator.project.checks") / "checks.yaml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
    table = msgspec.convert(loaded, CheckTable)
    for pattern in (table.names, table.builds, *table.complaints, table.header, table.notes):
        re.compile(pattern)
    return table


def is_check(suite: Suite) -> bool:
    """Whether a command checks or builds the code without running a test, as far as that is known.

    Where a part of it is unknown its last word decides, as in `make lint`.
    """
    if suite.runs_tests is None:
        return named_as_check(suite.command.split()[-1]) and not any(run.runs_tests for run in suite.runs)
    return suite.runs_tests is False and any(run.lints or is_compiler(run) for run in suite.runs)


def named_as_check(name: str) -> bool:
    """Whether the name of a script, a target or an environment is one of a check."""
    return re.fullmatch(check_table().names, name) is not None


def named_as_build(name: str) -> bool:
    """Whether the name of a script or a target is one of a build."""
    return re.fullmatch(check_table().builds, name) is not None


def is_compiler(run: SuiteRun) -> bool:
    """Whether a command translates the code."""
    return _is_among(run.simple, check_table().compilers)


def tools_of(suite: Suite) -> Iterator[tuple[str, CheckTool]]:
    """Yield the rows that a command calls, with their names."""
    for name, tool in check_table().tools.items():
        if any(tool.is_called(run.simple) for run in suite.runs):
            yield name, tool


def changing_part(suite: Suite) -> str:
    """Return the line of the first part that changes files of the project, or ""."""
    table = check_table()
    for run in suite.runs:
        words = [word.split("=", maxsplit=1)[0] for word in run.simple.words[1:]]
        tool = next((one for one in table.tools.values() if one.is_called(run.simple)), None)
        never = {*table.never_with, *(tool.never_with if tool else ())}
        if (run.lints or tool) and (
            not never.isdisjoint(words) or (tool and tool.only_with and {*tool.only_with}.isdisjoint(words))
        ):
            return " ".join(run.simple.words)
    return ""


def machine_options(suite: Suite) -> str:
    """Return the text that makes a command report to machines, if it is a lone call of a tool, else ""."""
    if len(suite.runs) != 1 or suite.runs[0].passes is None or suite.runs[0].through:
        return ""
    tool = next((tool for _, tool in tools_of(suite)), None)
    words = suite.runs[0].simple.words
    given = {word.split("=", maxsplit=1)[0] for word in words}
    if tool is None or not given.isdisjoint({"--", "-f", *(one.split("=")[0] for one in tool.machine)}):
        return ""
    return "".join(f" {option}" for option in tool.machine)


def _is_among(simple: Simple, programs: Mapping[str, tuple[str, ...]]) -> bool:
    known = programs.get(simple.name)
    first = [word for word in simple.plain if not word.startswith("+")][:1]  # `cargo +nightly fmt`
    return known is not None and (not known or not {*known}.isdisjoint(first))
