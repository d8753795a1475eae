"""The tools of `checks.yaml`, and which commands are checks that run no tests and change no file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from orchestrator.project.build_files import packages
from orchestrator.project.build_files.makefile import makefile_in
from orchestrator.project.build_files.python_envs import tox_environments
from orchestrator.project.build_files.recipes import justfile_in, taskfile_in
from orchestrator.project.detection.rows import files_showing
from orchestrator.project.detection.ways import workflow_ways
from orchestrator.project.files import Shown, look
from orchestrator.project.runners.recognise import RUN_INSIDE
from orchestrator.project.runners.row import Detection, Table
from orchestrator.project.runners.suite import Suite, SuiteRun, suite_of
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import Simple
from state.decoding import table_beside


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
    table = msgspec.convert(table_beside(__file__, "checks.yaml"), CheckTable)
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


_MOST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredChecks:
    """The commands of checks with the files that show them, and why others are left out."""

    commands: dict[str, str]
    left_out: tuple[str, ...] = ()


def configured_checks(folder: Path, taken: Sequence[str] = ()) -> ConfiguredChecks:
    """Return the checks of a folder that change no file, each tool once. Nothing is run.

    `taken` are commands that run anyway. What they check is not checked again.
    """
    suites = [suite_of(command, folder) for command in taken]
    commands: dict[str, str] = {}
    left_out: list[str] = []
    for command, source, tool in _candidates(folder):
        suite = suite_of(command, folder)
        if _is_covered(suite, tool, suites) or not (tool or _is_known(suite)):
            continue
        why = _why_not(suite) or ("there are enough others" if len(commands) >= _MOST else "")
        if why:
            left_out.append(f"`{command}` ({source}) is left out: {why}")
        else:
            commands[command] = source
        suites.append(suite)
    return ConfiguredChecks(commands=commands, left_out=tuple(left_out))


def _candidates(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield commands with the files that show them and the tools that they are for, if files show that."""
    shown = look(folder)
    own = [(command, source, "") for command, source in _own(folder)]
    yield from sorted(own, key=lambda one: -len(suite_of(one[0], folder).runs))
    for one in workflow_ways(shown, usual_table(), _is_known_check):
        yield one.command, one.source, ""
    yield from _of_tools(shown)


def _own(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the project's own targets, scripts and environments that are named as checks or builds."""
    files = {"make": makefile_in(folder), "just": justfile_in(folder), "task": taskfile_in(folder)}
    built = {f"{program} ": file for program, file in files.items() if file is not None}
    places = {call: (file.path.name, list(file.targets)) for call, file in built.items()}
    scripts = list(packages.scripts_of(folder / packages.MANIFEST))
    places[f"{packages.manager_of(folder)} run "] = (packages.MANIFEST, scripts)
    places["composer run-script "] = ("composer.json", packages.composer_scripts(folder))
    places["tox -e "] = ("the configuration of tox", list(tox_environments(folder)))
    for call, (source, names) in places.items():
        for name in names:
            if named_as_check(name) or named_as_build(name):
                yield f"{call}{name}", source


def _of_tools(shown: Shown) -> Iterator[tuple[str, str, str]]:
    for name, tool in check_table().tools.items():
        for found in tool.found:
            if files := files_showing(shown, found):
                yield found.command, files[-1][0], name
                break


def may_be_run(suite: Suite) -> bool:
    """Whether a command that others name is a check that sq knows, whole, and that changes no file."""
    return suite.runs_tests is False and _is_known(suite) and not _why_not(suite)


def _is_known_check(folder: Path, command: str, table: Table) -> bool:
    return may_be_run(suite_of(command, folder, table))


def _is_known(suite: Suite) -> bool:
    """Whether a command is a check by its name, or does nothing that sq does not know."""
    known = check_table().harmless
    return is_check(suite) and (
        named_as_check(suite.command.split()[-1])
        or all(run.lints or is_compiler(run) or run.simple.name in known for run in suite.runs)
    )


def _is_covered(suite: Suite, tool: str, others: Sequence[Suite]) -> bool:
    """Whether other commands run this tool, or everything that this command runs."""
    if tool:
        return any(name == tool for other in others for name, _ in tools_of(other))
    known = {run.simple.words for other in others for run in other.runs}
    return all(run.simple.words in known for run in suite.runs if run.simple.name != "cd")


def _why_not(suite: Suite) -> str:
    """Return why a check is not run, or ""."""
    if part := changing_part(suite):
        return f"`{part}` changes files"
    inside = next((run.simple.name for run in suite.runs if run.simple.name in RUN_INSIDE), "")
    return f"it needs {inside}" if inside else ""
