"""Reports of runners: their files, and the tests in seven formats."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

from orchestrator.project.files import matches
from orchestrator.project.runners.listings import FAILED, PASSED, SKIPPED, tally
from orchestrator.project.runners.row import ReportKind, Runner
from state.records.commands import UNCOUNTED, TestCount, TestState
from state.safe_paths import files_inside, read_inside

STARTED = "started"  # an empty file, made when the command starts: older reports are of other runs
_ENDINGS = {"junit": "xml", "trx": "trx", "jest": "json", "rspec": "json", "dart": "jsonl"}
_Tests = Iterator[tuple[str, TestState]]
_SEVERAL = {ReportKind.TRX: "/dotnet/**/*.trx", ReportKind.NODE: "/node-*.jsonl"}
_LARGEST = 100_000_000  # bytes of all reports of a command
_MOST_TESTS = 200_000
_LONGEST_NAME = 10_000
_SHOWN = 200  # characters of a reason
_ODD = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ET.ParseError,
    RecursionError,
    MemoryError,
)
_RERUN = 2.0  # seconds by which clocks of file systems may differ


def report_file(row: Runner, reports: Path) -> Path:
    """Return the file to which a row's report goes."""
    return reports / f"{row.name.replace(' ', '-')}.{_ENDINGS.get(row.report.kind, 'txt')}"


def reported_count(row: Runner, reports: Path, folder: Path, output: str) -> TestCount:
    """Return the count in the reports of one row, or UNCOUNTED if there is none or it cannot be read.

    Names of files are relative to `folder`.
    """
    if row.report.kind is ReportKind.TEXT:
        return UNCOUNTED
    try:
        if not (files := _files(row, reports, folder, output)):
            return UNCOUNTED
        tests = list(islice(_tests_in(row, files, folder), _MOST_TESTS + 1))
        if len(tests) <= _MOST_TESTS:
            return tally(tests, merge=row.name in {"pytest", "maven"})
        why = f"more than {_MOST_TESTS} tests"
    except _ODD as error:  # also one that was cut off when its runner was ended: a part would look complete
        why = repr(error)[:_SHOWN]
    return _uncounted(row, why)


def _uncounted(row: Runner, why: str) -> TestCount:
    """Return that nothing is counted, and say why in the log. No hook reads reports, so it may cost that."""
    import structlog

    structlog.get_logger(__name__).warning("report.not_counted", runner=row.name, why=why)
    return UNCOUNTED


def _tests_in(row: Runner, files: Sequence[tuple[Path, str]], folder: Path) -> _Tests:
    """Yield the tests in the reports of a row, whose texts any process of the project may have written."""
    left = _LARGEST
    for place, name in files:
        content = read_inside(place, name, largest=left)
        left -= len(content)
        for test, state in _READERS[row.report.kind](content.decode(errors="replace"), folder):
            if len(test) > _LONGEST_NAME:
                raise ValueError(f"a test's name has {len(test)} characters")
            yield test.encode(errors="replace").decode(), state


def junit_tests(text: str, folder: Path) -> _Tests:
    """Yield the tests of a JUnit report, named by file if the report names one, else by class."""
    for case, suites in _cases(ET.fromstring(text), ()):  # noqa: S314  as above
        kinds = {child.tag.rsplit("}", maxsplit=1)[-1] for child in case}
        state = FAILED if kinds & {"failure", "error"} else PASSED
        if (state is PASSED and "skipped" in kinds) or case.get("status") == "notrun":
            state = SKIPPED
        if (case.get("classname"), case.get("name")) != ("pytest", "internal"):  # pytest's own failure
            yield _case_name(case, suites, folder), state


def _case_name(case: ET.Element, suites: tuple[str, ...], folder: Path) -> str:
    name, place, group = (
        case.get("name", ""),
        case.get("file", ""),
        case.get("classname") or case.get("class") or "",
    )
    if place.endswith(".py"):  # pytest: file, classes inside it, name
        module = place.removesuffix(".py").replace("/", ".")
        classes = group.removeprefix(module).strip(".")
        return "::".join([_relative(place, folder), *([*classes.split(".")] if classes else []), name])
    if place and (place.endswith(".php") or not group):
        return f"{_relative(place, folder)} > {name}"
    if not group and suites:
        return " > ".join([*(_relative(one, folder) for one in suites[-1:]), name])
    if "/" in group or group.endswith((".ts", ".js")):
        return f"{_relative(group, folder)} > {name}"
    return f"{group}.{name}" if group else name


def _cases(element: ET.Element, suites: tuple[str, ...]) -> Iterator[tuple[ET.Element, tuple[str, ...]]]:
    for child in element:
        tag = child.tag.rsplit("}", maxsplit=1)[-1]
        if tag == "testcase":
            yield child, suites
        elif tag in {"testsuite", "testsuites"}:
            yield from _cases(child, (*suites, child.get("name", "")))


def _trx_tests(text: str, folder: Path) -> _Tests:
    del folder
    states = {"Passed": PASSED, "Failed": FAILED, "NotExecuted": SKIPPED}
    for result in ET.fromstring(text).iter():  # noqa: S314  as above
        if result.tag.endswith("UnitTestResult") and (
            state := states.get(result.get("outcome", "Failed"), FAILED)
        ):
            yield result.get("testName", ""), state


def _jest_tests(text: str, folder: Path) -> _Tests:
    states = {"passed": PASSED, "failed": FAILED}
    for file in json.loads(text)["testResults"]:
        place = _relative(file["name"], folder)
        for one in file["assertionResults"]:
            yield (
                " > ".join([place, *one["ancestorTitles"], one["title"]]),
                states.get(one["status"], SKIPPED),
            )
        if not file["assertionResults"] and file["status"] == "failed":  # it could not be loaded
            yield place, FAILED


def _rspec_tests(text: str, folder: Path) -> _Tests:
    del folder
    loaded = json.loads(text)
    states = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}
    for one in loaded["examples"]:
        place = str(one["file_path"]).removeprefix("./")
        yield f"{place} > {one['full_description']}", states[one["status"]]
    for number in range(loaded["summary"].get("errors_outside_of_examples_count", 0)):
        yield f"error outside of examples {number + 1}", FAILED


def _dart_tests(text: str, folder: Path) -> _Tests:
    suites: dict[int, str] = {}
    names: dict[int, str] = {}
    for line in text.splitlines():
        event = json.loads(line)
        if event["type"] == "suite":
            suites[event["suite"]["id"]] = _relative(event["suite"]["path"], folder)
        elif event["type"] == "testStart":
            names[event["test"]["id"]] = f"{suites[event['test']['suiteID']]} > {event['test']['name']}"
        elif event["type"] == "testDone" and (not event["hidden"] or event["result"] != "success"):
            state = PASSED if event["result"] == "success" else FAILED
            yield names[event["testID"]], SKIPPED if event["skipped"] else state


def _node_tests(text: str, folder: Path) -> _Tests:
    del folder
    for line in text.splitlines():
        event = json.loads(line)
        name = [part for part in event["name"] if part != event["file"]]
        same_name = Path(str(event["name"][0])).name == Path(event["file"]).name
        whole_file = len(event["name"]) == 1 and same_name
        if whole_file and event["state"] == "failed":
            yield event["file"], FAILED
        elif not event["suite"] and not whole_file:
            yield " > ".join([event["file"], *name] if event["file"] else name), TestState(event["state"])


_READERS: Mapping[ReportKind, Callable[[str, Path], _Tests]] = {
    ReportKind.JUNIT: junit_tests,
    ReportKind.TRX: _trx_tests,
    ReportKind.JEST: _jest_tests,
    ReportKind.RSPEC: _rspec_tests,
    ReportKind.DART: _dart_tests,
    ReportKind.NODE: _node_tests,
}


def _files(row: Runner, reports: Path, folder: Path, output: str) -> list[tuple[Path, str]]:
    if row.report.kind in _SEVERAL:
        return [(reports, one) for one in files_inside(reports) if matches(one, [_SEVERAL[row.report.kind]])]
    if os.path.lexists(path := report_file(row, reports)):
        return [(reports, path.name)]
    if not row.report.written:
        return []
    started = reports / STARTED
    after = started.lstat().st_mtime - _RERUN if os.path.lexists(started) else 0.0
    if row.report.unless and re.search(row.report.unless, output, re.MULTILINE):
        after = 0.0
    found = (one for one in files_inside(folder) if matches(one, row.report.written))
    return sorted((folder, one) for one in found if (folder / one).lstat().st_mtime >= after)


def _relative(place: str, folder: Path) -> str:
    """Return a path without the folder of the project, which differs in each worktree."""
    for base in (str(folder), str(folder.resolve())):
        if place.startswith(base + "/"):
            return place[len(base) + 1 :]
    return place.removeprefix("file://").removeprefix("./")
