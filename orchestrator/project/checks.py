"""Checks: the tools of `checks.yaml`, commands that check and change no file, and their complaints."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from orchestrator.project.runners.listings import plain
from orchestrator.project.runners.recognise import is_among
from orchestrator.project.runners.row import Detection
from orchestrator.project.runners.suite import Suite, SuiteRun
from orchestrator.project.shell import Simple
from state.decoding import table_beside
from state.records.commands import Complaint
from state.safe_paths import read_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTool:
    """A row. The head of `checks.yaml` describes the fields."""

    called: Mapping[str, tuple[str, ...]]
    only_with: tuple[str, ...] = ()
    never_with: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    within: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    found: tuple[Detection, ...] = ()

    def is_called(self, simple: Simple) -> bool:
        """Whether a command is a call of this tool."""
        return is_among(simple, self.called)

    def is_run_by(self, simple: Simple) -> bool:
        """Whether a command runs this tool, as a call of it or with an option of its own."""
        options = self.within.get(simple.name, ())
        return self.is_called(simple) or not {*options}.isdisjoint(simple.words)


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
        name = suite.command.split()[-1]
        return (named_as_check(name) or named_as_build(name)) and not any(
            run.runs_tests for run in suite.runs
        )
    return suite.runs_tests is False and any(run.lints or is_compiler(run) for run in suite.runs)


def named_as_check(name: str) -> bool:
    """Whether the name of a script, a target or an environment is one of a check."""
    return re.fullmatch(check_table().names, name) is not None


def named_as_build(name: str) -> bool:
    """Whether the name of a script or a target is one of a build."""
    return re.fullmatch(check_table().builds, name) is not None


def is_compiler(run: SuiteRun) -> bool:
    """Whether a command translates the code."""
    return is_among(run.simple, check_table().compilers)


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


_MOST_COMPLAINTS = 2_000  # complaints: more are not compared
_LONGEST = 2_000  # characters of a line that is read
_MESSAGE = 300  # characters of a message that are kept
_LARGEST = 1 << 20  # bytes of a file in which the lines of complaints are looked up
_FILE = ("filePath", "filename", "file", "path", "source")
_LINE = ("line", "row", "startLine")
_RULE = ("ruleId", "rule", "code", "cop_name", "identifier", "symbol")
_PLACES = ("location", "range", "start", "Pos")


def complaints_in(
    output: str, folder: Path, places: Iterable[Path] = (), *, lists: bool = False
) -> tuple[Complaint, ...]:
    """Return the complaints about files of a folder, each once, or none if there are too many to compare.

    `places` are the folders in which the tools ran. `lists`: a tool prints the files that it would change.
    """
    files = _Files(folder, places)
    text = "\n".join(line for line in plain(output).split("\n") if len(line) <= _LONGEST)
    found = list(_of_machines(output)) or list(_of_people(text, files, lists=lists))
    if len(found) > _MOST_COMPLAINTS:
        return ()
    named = [(files.inside(one.file), one) for one in found]
    return tuple(
        dict.fromkeys(
            replace(one, file=file, digest=files.digest(file, one.line)) for file, one in named if file
        )
    )


class _Files:
    """The files of a folder, as tools name them."""

    def __init__(self, folder: Path, places: Iterable[Path]) -> None:
        self._folder = folder
        self._places = dict.fromkeys((folder, *places, folder.resolve()))
        self._known: dict[str, str] = {}
        self._lines: dict[str, list[bytes]] = {}

    def inside(self, name: str) -> str:
        """Return the path of a file that an output names, relative to the folder, or "" if there is none."""
        if name not in self._known:
            self._known[name] = self._looked_up(name)
        return self._known[name]

    def _looked_up(self, name: str) -> str:
        for place in self._places:
            path = Path(os.path.normpath(place / name))
            roots = (self._folder, self._folder.resolve())
            root = next((one for one in roots if path.is_relative_to(one)), None)
            try:
                if root and path.is_file():
                    return path.relative_to(root).as_posix()
            except (OSError, ValueError):
                return ""
        return ""

    def digest(self, file: str, line: int) -> str:
        """Return a digest of a line, or of the whole file without a line, or "" if it cannot be read."""
        if file not in self._lines:
            try:
                self._lines[file] = read_inside(self._folder, file, limit=_LARGEST).split(b"\n")
            except OSError:
                self._lines[file] = []
        lines = self._lines[file]
        told = lines[line - 1].strip() if 0 < line <= len(lines) else b"" if line else b"\n".join(lines)
        return hashlib.sha256(told).hexdigest()[:8] if told else ""


def _of_people(text: str, files: _Files, *, lists: bool) -> Iterator[Complaint]:
    """Yield the complaints in an output for people. A part of it belongs to one complaint only."""
    table, taken = check_table(), set[int]()
    headers = [
        (found.start(), file)
        for found in re.finditer(table.header, text, re.MULTILINE)
        if (file := files.inside(found["file"].strip()))
    ]
    for pattern in table.complaints:
        for found in re.finditer(pattern, text, re.MULTILINE):
            groups = found.groupdict()
            file = groups.get("file") or next(
                (file for start, file in reversed(headers) if start < found.start()), ""
            )
            if found.start() in taken or not files.inside(file.strip()):
                continue
            taken.add(found.start())
            message = " ".join((groups.get("message") or "").split())
            if not re.match(table.notes, message):
                yield _complaint(file.strip(), groups.get("line"), groups.get("rule") or "", message)
    if lists:
        yield from (_complaint(file, 0, "", "") for start, file in headers if start not in taken)


def _complaint(file: str, line: object, rule: str, message: str) -> Complaint:
    number = int(line) if isinstance(line, int | str) and str(line).isdecimal() else 0
    return Complaint(file=file, line=number if message else 0, rule=rule[:80], message=message[:_MESSAGE])


def _of_machines(output: str) -> Iterator[Complaint]:
    """Yield the complaints in JSON, whole or a line each: objects with a message, in or with a file."""
    waiting: list[tuple[Any, str]] = [(one, "") for one in _read_json(output)]
    while waiting:
        node, file = waiting.pop()
        if isinstance(node, list):
            waiting += [(one, file) for one in reversed(node)]
        elif isinstance(node, dict):
            file = next((node[key] for key in _FILE if isinstance(node.get(key), str)), file)
            message = node.get("message", node.get("text"))
            if isinstance(message, str) and file:
                rule = next((str(node[key]) for key in _RULE if isinstance(node.get(key), str | int)), "")
                yield _complaint(file, _line_of(node), rule, " ".join(message.split()))
                continue
            waiting += [
                (one, key if "." in key else file)
                for key, one in reversed(node.items())
                if not key.startswith("suppressed")
            ]


def _line_of(node: dict[str, Any]) -> int:
    """Return the line in an object, or in the place that it names. Ranges count from 0."""
    for key in _LINE:
        if isinstance(node.get(key), int):
            return int(node[key])
    for key in _PLACES:
        if isinstance(node.get(key), dict):
            return _line_of(node[key]) + (key == "range")
    return 0


def _read_json(output: str) -> Iterator[Any]:
    """Yield the values that begin at the beginning of a line, other text aside."""
    decoder, at = json.JSONDecoder(), 0
    while found := re.compile(r"^[\[{]", re.MULTILINE).search(output, at):
        try:
            value, at = decoder.raw_decode(output, found.start())
        except (ValueError, RecursionError):
            return
        yield value
