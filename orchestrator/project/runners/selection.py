"""Builds a suite's command for chosen test files and names."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath

from orchestrator.project.runners.recognise import targets
from orchestrator.project.runners.row import TestSelection
from orchestrator.project.runners.suite import Suite, SuiteRun
from orchestrator.project.shell import simple_commands

_GLOB = re.compile(r"[*?\[{]")
_TANGLED = re.compile(r"\|\||(?<!\|)\|(?!\|)|[()`]|(?<!&)&(?!&)|\b(?:if|for|while|export|set|source)\b")
_MOVES = frozenset({"cd", "pushd", "popd"})
_LINKS = re.compile(r"&&|\|\||[;|\n()]|(?<=\s)-\w*c\s+['\"]")


def only_these(suite: Suite, files: Sequence[str], names: Sequence[str] = ()) -> str | None:
    """Return a command that runs only these test files, and only the tests `names` if the runner can.

    `files` are relative to the suite's folder, `names` are names as `count` returns them. It is the suite's
    command if arguments reach the runner, otherwise the line of the project's files that holds the runner.

    Returns:
        None if a file belongs to no run of the suite, or if it is unknown how its runner takes files.
    """
    parted = _parted(suite, files, names)
    found = [(run, command) for run, chosen in parted for command in _commands(suite, run, chosen, names)]
    if not parted or len(found) < len(parted) or any(not command for _, command in found):
        return None
    if len(found) == 1:
        return found[0][1]
    if any(_loses_names(run) for run, _ in found):
        return None
    # All of them run, and the exit code is that of the last failure.
    return f"code=0; {''.join(f'( {_reporting(run, one)} ) || code=$?; ' for run, one in found)}exit $code"


def without_linters(suite: Suite) -> str | None:
    """Return a suite's command without its linters, which stop before tests if code is written otherwise.

    Builds and all other steps stay, in their order.

    Returns:
        None if there is no linter in it, nothing else, or no way to take them apart.
    """
    return _one_after_another([part for _, part in _parts(suite)]) or None


def _parts(suite: Suite) -> list[tuple[SuiteRun, str]]:
    """Return the parts of a suite's command that are no linters, each with its last run.

    Returns [] if there is no linter in it, or no way to take them apart.
    """
    callers = [line for run in suite.runs for line in run.lines[:-1]]
    if suite.runs_tests is False or not any(map(_is_linter, suite.runs)):
        return []
    if any(map(_TANGLED.search, callers)):
        return []
    parts: list[tuple[SuiteRun, str]] = []
    for line, group in groupby(suite.runs, key=lambda run: run.line):
        runs = list(group)
        kept = [run for run in runs if not (_is_linter(run) or run.simple.name in _MOVES)]
        whole = len(kept) == len(simple_commands(line))
        if any(run.elsewhere for run in runs) or (_TANGLED.search(line) and not whole):
            return []
        lines = [(kept[-1], line)] if whole else [(run, _segment(run)) for run in kept]
        parts += [(run, _placed(suite, replace(run, line=""), one)) for run, one in lines]
    return parts


def _one_after_another(parts: Sequence[str]) -> str:
    parts = [one.replace('"; export PATH; ', '" && export PATH && ') for one in parts]
    return " && ".join([*(f"( {one} )" for one in parts[:-1]), *parts[-1:]])


def _is_linter(run: SuiteRun) -> bool:
    """Whether a command only checks how code is written. TypeScript's compiler builds, unless told not to."""
    return run.lints and not (run.simple.name.endswith("tsc") and "--noEmit" not in run.simple.words)


def _loses_names(run: SuiteRun) -> bool:
    """Whether a run's tests are named by a report alone that is asked for at the end of the whole command."""
    if run.runner is None or run.runner.report.environment:
        return False
    return any("{" in one for one in run.runner.report.arguments)


def _reporting(run: SuiteRun, command: str) -> str:
    """Return a command that prints the names of its tests, if its runner does so when asked.

    Nothing can be added later to a command that stands within others.
    """
    asked = run.runner.report.arguments if run.runner else ()
    if not asked or any("{" in one or one in command.split() for one in asked):
        return command
    return f"{command} {shlex.join(asked)}"


def _parted(suite: Suite, files: Sequence[str], names: Sequence[str]) -> list[tuple[SuiteRun, list[str]]]:
    """Return the runs that hold the files, each with its files. A file goes to the first run that holds it.

    Returns [] if a file belongs to no run. Without files, the names go to the first run.
    """
    runs = suite.test_runs
    if not files and names and runs:
        return [(runs[0], [])]
    parted: dict[int, list[str]] = {}
    for file in files:
        number = next(
            (at for at, run in enumerate(runs) if suite.holds_tests(run, file) or _names(run, file)), None
        )
        if number is None:
            return []
        parted.setdefault(number, []).append(file)
    return [(runs[number], chosen) for number, chosen in parted.items()]


def _names(run: SuiteRun, file: str) -> bool:
    """Whether the command itself names the file."""
    return posixpath.normpath(file) in {posixpath.normpath(word) for word in run.simple.plain}


def _commands(suite: Suite, run: SuiteRun, files: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield the commands for one run, each for the suite's folder, or "" for each that is impossible."""
    row = run.runner
    if row is None or (not row.select.files and not (row.select.names and names)):
        yield ""
        return
    inside = [(suite.folder / file).relative_to(run.folder).as_posix() for file in files]
    if row.name == "unittest" and "discover" in run.simple.words:
        for path in inside:
            yield _direct(suite, run, _discovered(run, path, names), drop=("-s", "-p", "-t"))
        return
    for group in [[one] for one in inside] if row.select.single else [inside]:
        arguments = _arguments(row.select, group, names)
        if run.choose:
            listed = _no_option(group[0]) if len(group) == 1 else f"{{{','.join(map(_no_option, group))}}}"
            yield _placed(suite, run, run.choose.format(files=shlex.quote(listed)))
        elif arguments is None:
            yield ""
        elif run in (before := [one for one, _ in _parts(suite)]):  # without the linters beside it
            built = [part for one, part in _parts(suite)[: before.index(run)] if not one.runs_tests]
            yield _one_after_another([*built, _direct(suite, replace(run, grows=False), arguments)])
        elif run.passes is not None and (run.replaces or not _paths(run)):
            yield f"{suite.command}{run.passes} {shlex.join(arguments)}"
        else:
            yield "" if run.elsewhere else _direct(suite, run, arguments)


def _arguments(select: TestSelection, files: Sequence[str], names: Sequence[str]) -> list[str] | None:
    """Return the arguments that choose these tests, or None if one of the files cannot be given."""
    if select.files and any(select.only and not re.search(select.only, file) for file in files):
        if not (select.names and names):
            return None
        files = ()
    files, names = [_no_option(file) for file in files], [_no_option(name) for name in names]
    arguments: list[str] = []
    if select.names == ("{path}::{name}",) and names:  # pytest takes names as they are
        return [name for name in names if "::" in name] + [
            file for file in files if not any(name.startswith(f"{file}::") for name in names)
        ]
    bare = list(dict.fromkeys(_bare(name) for name in names))
    if bare and select.joined:
        arguments += [*select.names, select.joined.format(names="|".join(map(_escaped, bare)))]
    elif len(bare) == 1 or (bare and "{name}" in select.names[:1]):
        arguments += [part.format(name=name) for name in bare for part in select.names]
    stems = [PurePosixPath(file).stem for file in files]
    if select.files and select.folders:
        folders = dict.fromkeys(posixpath.dirname(file) for file in files)
        arguments += [
            part.format(folder=folder).removesuffix("/") or "." for folder in folders for part in select.files
        ]
    elif select.files and select.between and files:
        arguments += [part.format(all=select.between.join(stems)) for part in select.files]
    elif select.files and files:
        fixed = [
            part
            for part in select.files
            if "{" not in part and len(select.files) > 1 and "{path}" in select.files
        ]
        repeated = [part for part in select.files if part not in fixed]
        arguments += fixed
        for file, stem in zip(files, stems, strict=True):
            arguments += [part.format(path=file, stem=stem) for part in repeated]
    return arguments


def _no_option(file: str) -> str:
    """Return a file's path, or the name of a test, in a form that no runner takes for an option."""
    return f"./{file}" if file.startswith("-") else file


def _bare(name: str) -> str:
    """Return a test's own name, without the file, package or class that `count` puts in front."""
    if found := re.search(r"/((?:Test|Example|Fuzz|Benchmark)\w*)(?:/.*)?$", name):  # of Go
        return found[1]
    return name.rsplit(" > ", maxsplit=1)[-1].rsplit("::", maxsplit=1)[-1]


def _escaped(name: str) -> str:
    return re.sub(r"([.^$*+?()\[\]{}|\\/])", r"\\\1", name)


def _paths(run: SuiteRun) -> list[str]:
    """Return the words of a run that name files or folders to run."""
    words = targets(run.simple, run.runner)
    return [
        word
        for word in words
        if _GLOB.search(word)
        or word in {".", "./..."}
        or "::" in word
        or (run.folder / word.removesuffix("/...")).exists()
        or (run.runner and run.runner.name == "unittest" and word != "discover" and "=" not in word)
    ]


def _discovered(run: SuiteRun, path: str, names: Sequence[str]) -> list[str]:
    """Return the arguments that give `unittest discover` one file."""
    start = run.simple.option("-s", "--start-directory") or next(iter(_paths(run)), ".")
    top = run.simple.option("-t", "--top-level-directory") or start
    folder = posixpath.dirname(path) or "."
    told = ["-s", folder, "-p", posixpath.basename(path)]
    told += ["-t", top] if posixpath.normpath(top) != posixpath.normpath(folder) else []
    return told + [word for name in names for word in ("-k", name)]


def _direct(suite: Suite, run: SuiteRun, arguments: Sequence[str], drop: Sequence[str] = ()) -> str:
    """Return the line that holds the run, without the files it names and with these arguments at its end."""
    line = run.line if run.grows else _segment(run)
    for option in drop:
        if (value := run.simple.option(option)) is not None:
            line = _without(line, f"{re.escape(option)}[ =]+", value)
    for word in _paths(run):
        line = _without(line, "", word)
    if drop:
        line = re.sub(r"\bdiscover\b(?! -)", "discover", line)
    return _placed(suite, run, f"{line.rstrip()} {shlex.join(arguments)}")


def _segment(run: SuiteRun) -> str:
    """Return the part of the line that is this command, with the wrappers in front of it."""
    first = run.simple.words[0]
    at = run.line.rfind(first)
    if at < 0:
        return shlex.join(run.simple.words)
    start = max((link.end() for link in _LINKS.finditer(run.line, 0, at)), default=0)
    after = _LINKS.search(run.line, at)
    segment = run.line[start : after.start() if after else len(run.line)].strip()
    return (
        segment
        if segment.count("'") % 2 == 0 and segment.count('"') % 2 == 0
        else shlex.join(run.simple.words)
    )


def _without(line: str, front: str, word: str) -> str:
    found = list(re.finditer(rf"(?<=\s){front}(['\"]?){re.escape(word)}\1(?=\s|$)", line))
    return line[: found[-1].start()] + line[found[-1].end() :] if found else line


def _placed(suite: Suite, run: SuiteRun, line: str) -> str:
    """Return a line of the project's files in the form in which it runs from the suite's folder."""
    if run.programs:
        line = f'PATH="$PWD/{run.programs}:$PATH"; export PATH; {line}'
    if run.folder == suite.folder or run.line == suite.command:
        return line
    relative = run.folder.relative_to(suite.folder) if run.folder.is_relative_to(suite.folder) else run.folder
    return f"cd {shlex.quote(str(relative))} && {line}"
