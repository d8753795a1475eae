"""Reports of runners: how a command is made to write them, their files, and the tests in seven formats."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

from orchestrator.project.files import matches
from orchestrator.project.runners.listings import FAILED, PASSED, SKIPPED, tally
from orchestrator.project.runners.row import ReportKind, Runner
from orchestrator.project.runners.suite import Suite, SuiteRun
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


_LISTS = re.compile(r".*(?:OPTS|OPTIONS|FLAGS|OVERRIDE)")

_PACKAGE = Path(str(files("orchestrator.project.runners")))
REPORTERS = (_PACKAGE / "node_reporter.mjs",)  # files of sq that commands read when they report


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A command that reports when run, with the variables to add to its environment."""

    command: str
    environment: dict[str, str]


def prepare(suite: Suite, reports: Path, environ: Mapping[str, str]) -> Prepared:
    """Return the suite's command, changed to report into the folder `reports`.

    `environ` is the environment in which it would run. Its exit code is that of the plain command. The folder
    must exist and be empty before the command runs.
    """
    added = ""
    if run := next(
        (one for one in reversed(suite.test_runs) if one.passes is not None and _takes_report(one)), None
    ):
        added = f"{run.passes}{_arguments(run, reports)}"
    return _prepared(suite, f"{suite.command}{added}", reports, environ)


def _prepared(suite: Suite, command: str, reports: Path, environ: Mapping[str, str]) -> Prepared:
    environment: dict[str, str] = {}
    front = ""
    if any(row.report.written for row in suite.runners):
        front += f": > {shlex.quote(str(reports / STARTED))}; "
    for row in (*suite.runners, *suite.carriers):
        made = {
            name: _filled(value, row, reports, quote=_is_list(name))
            for name, value in row.report.environment.items()
        }
        if not made or _has_own(suite, row, environ):
            continue
        made = {
            name: f"{environ[name]} {value}" if _is_list(name) and environ.get(name) else value
            for name, value in made.items()
        }
        if row.report.guard:  # in the shell: set only if this machine's program accepts it
            told = " ".join(f"{name}={shlex.quote(value)}" for name, value in made.items())
            front += f"if {told} {row.report.guard} >/dev/null 2>&1; then export {told}; fi; "
        else:
            environment |= made
    return Prepared(command=f"{front}{command}", environment=environment)


def _is_list(name: str) -> bool:
    return _LISTS.fullmatch(name) is not None


def _filled(text: str, row: Runner, reports: Path, *, quote: bool) -> str:
    report = str(report_file(row, reports))
    package = str(_PACKAGE)
    values = {"report": shlex.quote(report) if quote else report, "reports": str(reports), "package": package}
    if row.name == "node":  # NODE_OPTIONS knows double quotes only
        values["package"] = Path(package).as_uri()
    return text.format_map(values)


def _has_own(suite: Suite, row: Runner, environ: Mapping[str, str]) -> bool:
    """Whether a command of this row, or the environment, names reports of its own."""
    given = [word for run in suite.test_runs if run.runner is row for word in run.simple.words]
    given += [word for name in row.report.environment for word in environ.get(name, "").split()]
    return any(word.split("=", maxsplit=1)[0] in row.report.not_with for word in given)


def _takes_report(run: SuiteRun) -> bool:
    if run.runner is None or not run.runner.report.arguments or "--" in run.simple.words or run.replaces:
        return False
    first = run.runner.report.arguments[0].split("=", maxsplit=1)[0]
    return run.grows and not any(
        word.split("=", maxsplit=1)[0] == first for word in run.simple.words if run.runner.name != "vitest"
    )


def _arguments(run: SuiteRun, reports: Path) -> str:
    assert run.runner is not None  # noqa: S101  `_takes_report` looked
    told = [
        shlex.quote(_filled(one, run.runner, reports, quote=False)) for one in run.runner.report.arguments
    ]
    front = ["--"] if "-e" in run.simple.words and run.simple.name == "ruby" else []
    return "".join(f" {one}" for one in [*front, *told])
