"""How a command is made to write reports of its tests."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from orchestrator.project.runners.reports import STARTED, report_file
from orchestrator.project.runners.row import Runner
from orchestrator.project.runners.suite import Suite, SuiteRun

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
    asked = [one for one in suite.test_runs if one is run or _asks_itself(one)]
    return _prepared(suite, f"{suite.command}{added}", reports, environ, asked)


def _asks_itself(run: SuiteRun) -> bool:
    """Whether a command has the arguments of its runner's report already."""
    arguments = run.runner.report.arguments if run.runner else ()
    return bool(arguments) and set(arguments) <= set(run.simple.words)


def _prepared(
    suite: Suite, command: str, reports: Path, environ: Mapping[str, str], asked: Sequence[SuiteRun]
) -> Prepared:
    """Return the command with the variables that its rows need.

    Those of a row whose runs are all `asked` by arguments are left out: programs that a test starts would
    read them too.
    """
    environment: dict[str, str] = {}
    front = ""
    if any(row.report.written for row in suite.runners):
        front += f": > {shlex.quote(str(reports / STARTED))}; "
    for row in (*suite.runners, *suite.carriers):
        made = {
            name: _filled(value, row, reports, quote=_is_list(name))
            for name, value in row.report.environment.items()
        }
        own = [run for run in suite.test_runs if run.runner is row]
        by_arguments = bool(row.report.arguments and own) and all(run in asked for run in own)
        by_arguments = by_arguments and not any("{" in value for value in row.report.environment.values())
        if not made or by_arguments or _has_own(suite, row, environ):
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
