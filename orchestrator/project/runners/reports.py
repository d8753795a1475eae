"""The reports of runners: their files, and the tests in JUnit, TRX, and the JSON of five other formats."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from orchestrator.project.runners.listings import FAILED, PASSED, SKIPPED, tally
from orchestrator.project.runners.row import ReportKind, Runner
from state.records.commands import UNCOUNTED, TestCount, TestState

STARTED = "started"  # an empty file, made when the command starts: older reports are of other runs
_ENDINGS = {"junit": "xml", "trx": "trx", "jest": "json", "rspec": "json", "dart": "jsonl"}
_Tests = Iterator[tuple[str, TestState]]
_LARGEST = 200_000_000
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
    read = _READERS[row.report.kind]
    tests: list[tuple[str, TestState]] = []
    found = False
    for path in _files(row, reports, folder, output):
        try:
            if path.stat().st_size > _LARGEST:
                return UNCOUNTED
            told = list(read(path.read_text("utf-8", errors="replace"), folder))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ET.ParseError):
            return UNCOUNTED  # cut off when its runner was ended: a part would look complete
        found = True
        tests += told
    if not found:
        return UNCOUNTED
    return tally(tests, merge=row.name in {"pytest", "maven"})


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


def _files(row: Runner, reports: Path, folder: Path, output: str) -> list[Path]:
    if row.report.kind is ReportKind.TRX:
        return sorted((reports / "dotnet").rglob("*.trx"))
    if row.report.kind is ReportKind.NODE:
        return sorted(reports.glob("node-*.jsonl"))
    if (path := report_file(row, reports)).is_file():
        return [path]
    started = reports / STARTED
    after = started.stat().st_mtime - _RERUN if started.is_file() else 0.0
    if row.report.unless and re.search(row.report.unless, output, re.MULTILINE):
        after = 0.0
    return sorted(
        {one for glob in row.report.written for one in folder.glob(glob) if one.stat().st_mtime >= after}
    )


def _relative(place: str, folder: Path) -> str:
    """Return a path without the folder of the project, which differs in each worktree."""
    for base in (str(folder), str(folder.resolve())):
        if place.startswith(base + "/"):
            return place[len(base) + 1 :]
    return place.removeprefix("file://").removeprefix("./")
