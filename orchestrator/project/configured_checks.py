"""The checks that a project shows: its own targets and scripts, its CI, the files of its tools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.build_files import packages
from orchestrator.project.build_files.python_envs import tox_environments
from orchestrator.project.build_files.recipes import justfile_in, makefile_in, taskfile_in
from orchestrator.project.checks import (
    changing_part,
    check_table,
    is_check,
    is_compiler,
    named_as_build,
    named_as_check,
)
from orchestrator.project.files import Shown, look
from orchestrator.project.runners.recognise import RUN_INSIDE
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.project.runners.table import usual_table
from orchestrator.project.ways import deploys, files_showing, workflow_ways

_MOST = 8
_IN_CI = (".github/", ".gitlab-ci")


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
        if _is_covered(suite, tool, suites) or not (tool or _is_known(suite) or source.startswith(_IN_CI)):
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
    """Whether a command of a workflow is a check that sq knows, or builds, however, and deploys nothing."""
    suite = suite_of(command, folder, table)
    builds = is_check(suite) and named_as_build(suite.command.rsplit(maxsplit=1)[-1])
    return may_be_run(suite) or (builds and not _why_not(suite) and not deploys(suite.runs))


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
        row = check_table().tools[tool]
        return any(row.is_run_by(run.simple) for other in others for run in other.runs)
    known = {run.simple.words for other in others for run in other.runs}
    return all(run.simple.words in known for run in suite.runs if run.simple.name != "cd")


def _why_not(suite: Suite) -> str:
    """Return why a check is not run, or ""."""
    if part := changing_part(suite):
        return f"`{part}` changes files"
    inside = next((run.simple.name for run in suite.runs if run.simple.name in RUN_INSIDE), "")
    return f"it needs {inside}" if inside else ""
