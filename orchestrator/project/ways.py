"""A way to verify a folder: one command, its source, and all that it runs, as far as known.

Ways come from the rows of the table, by the files that show a runner, and from CI workflows. Of their lines
those count that are only runners of tests, one or several joined by `&&`, in a job that needs no secret,
deploys nothing and has no environment. Nothing else in a workflow is ever run.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from orchestrator.project.build_files.yaml_text import Node, as_table, read_yaml, texts
from orchestrator.project.files import MANIFESTS, Shown, matches
from orchestrator.project.runners.recognise import RUN_INSIDE, recognised
from orchestrator.project.runners.row import Detection, Runner, Table
from orchestrator.project.runners.suite import SuiteRun, runs_of
from orchestrator.project.shell import simple_commands

# Words for a check that does not run the code, where no row knows the program: `poetry run lint`.
_LINTS = re.compile(r"(?<![\w.\-=$])(?:lint\S*|typecheck|type-check|fmt|format)(?![\w\-=]|\.\w)")
_MOST_FILES = 20
_GITHUB = ".github/workflows/"
_GITLAB = (".gitlab-ci.yml", ".gitlab-ci.yaml")
_TRIGGERS = {"push", "pull_request", "merge_group"}
_SHELLS = {"", "bash", "sh"}
_DEPLOYS = re.compile(
    r"deploy|publish|release|upload|push(?!_)|pages|production|staging|cleanup", re.IGNORECASE
)
_SECRET = re.compile(r"secrets\b|_TOKEN\b|PASSWORD|API_?KEY", re.IGNORECASE)
_NOT_PLAIN = re.compile(r"[`$;|<>(){}*?~!#\\\n\r]|(?<!&)&(?!&)|&&&")
_LAUNCHER = re.compile(
    r"(?:python3?\s+-m\s+(?!unittest)|(?:uv|poetry|pdm|pipenv|hatch|rye)\s+run\s+|bundle\s+exec\s+|npx\s+(?:--no-install\s+)?"
    r"|(?:pnpm|yarn|npm)\s+exec\s+(?:--\s+)?|\./|vendor/bin/|bin/)"
)
_UNITTEST = re.compile(r"python3?\s+-m\s+unittest\b|python3?\s+manage\.py\s+test\b")
_SCRIPT = re.compile(r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+|run-script\s+)?(test[\w:.\-]*|unit[\w:.\-]*)")
_NO_RUNNER = re.compile(
    r"\S*/|(?:python|perl|php)"
)  # a script of the project, by its path or by its interpreter
_WRITES = ("write", "write-all")
Accepts = Callable[[Path, str, Table], bool]  # whether one command of a workflow may be run in a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to verify.

    `runs` are the commands that it runs in the end. `tests` is False for a command that only lints. `own`:
    the project itself names it, as a target or a script, and it does not merely follow from the language.
    `one_language`: it runs the tests of one language only. `runners` are the families of the runners of tests
    that it calls, as far as known. `lints`: it calls a linter, a formatter or a type checker, and no runner.
    """

    command: str
    source: str
    runs: tuple[SuiteRun, ...]
    runners: frozenset[str]
    lints: bool = False
    tests: bool = True
    own: bool = False
    one_language: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines that the command runs, directly or indirectly."""
        return [line for run in self.runs for line in run.lines if line != self.command]

    @property
    def stands_for_all(self) -> bool:
        """Whether it is taken for all tests of the project, because its runners are unknown."""
        unknown = self.own and self.tests and not self.runners and not self.needs_more
        return unknown and not self.one_language

    @property
    def needs_more(self) -> bool:
        """Whether it runs something in a container or on another machine, which may be missing."""
        return any(run.simple.name in RUN_INSIDE for run in self.runs)

    def calls(self, other: "Way") -> bool:
        """Whether this command runs the other one."""
        return any(other.command in line for line in self.lines)


def way(
    command: str,
    source: str,
    folder: Path,
    table: Table,
    *,
    line: str = "",
    also: Iterable[str] = (),
    own: bool = False,
    one_language: bool = False,
) -> Way:
    """Return a way to verify a folder.

    Args:
        source: the file that shows it.
        folder: the folder in which it runs.
        table: the table of runners.
        line: the line that it runs, if no row of the table knows how to find it.
        also: families of runners that it is known to call.
    """
    runs = runs_of(line or command, folder, table)
    families = {family for run in runs if (family := _family(run, folder, table))}
    return Way(
        command=command,
        source=source,
        runs=runs,
        runners=frozenset({*families, *also}),
        lints=not families and any(_lints(run, table) for run in runs),
        own=own,
        one_language=one_language,
    )


def _family(run: SuiteRun, folder: Path, table: Table) -> str:
    """Return the family of a run, of the command that gets its words by `xargs` too."""
    words = run.simple.words if run.simple.name == "xargs" else ()
    inner = (replace(run.simple, words=words[at:]) for at in range(1, len(words)))
    return run.family or next(
        (found for one in inner if (found := recognised(one, folder, table).family)), ""
    )


def _lints(run: SuiteRun, table: Table) -> bool:
    inside = run.simple.name in RUN_INSIDE and not {*run.simple.words}.isdisjoint(table.programs.linters)
    return run.lints or inside or _LINTS.search(run.line) is not None


def workflow_ways(shown: Shown, table: Table, accepts: Accepts | None = None) -> list[Way]:
    """Return the commands in the workflows of a repository that are runners', or accepted, each once."""
    found: dict[str, Way] = {}
    for source, folder, line in _lines(shown):
        command = _command(shown, folder, line, table, accepts or _is_runner)
        if command and command not in found:
            found[command] = way(command, source, shown.folder, table)
    return list(found.values())


def _lines(shown: Shown) -> Iterator[tuple[str, str, str]]:
    """Yield each line that may be used, with its file and the folder that it is run in."""
    for name in shown.ending(".yml", ".yaml", under=_GITHUB)[:_MOST_FILES]:
        workflow = as_table(read_yaml(shown.text(name)))
        if not _DEPLOYS.search(name.removeprefix(_GITHUB)) and _is_for_changes(workflow):
            for job_name, job in as_table(workflow.get("jobs")).items():
                for folder, line in _github_job(workflow, job_name, as_table(job)):
                    yield name, folder, line
    if name := shown.first(*_GITLAB):
        for job_name, node in as_table(read_yaml(shown.text(name))).items():
            job = as_table(node)
            if not _is_closed(job_name, job) and not _DEPLOYS.search(str(job.get("stage", ""))):
                for line in _plain_lines("\n".join(texts(job.get("script")))):
                    yield name, "", line


def _is_for_changes(workflow: dict[str, Node]) -> bool:
    """Whether it is run for changes of the code, and not only for tags or by hand."""
    triggers = workflow.get("on")
    names = set(triggers) if isinstance(triggers, dict) else set(texts(triggers))
    push = as_table(as_table(triggers).get("push"))
    if "tags" in push and "branches" not in push:
        names.discard("push")
    return bool(names & _TRIGGERS) and not _may_write(workflow)


def _may_write(node: dict[str, Node]) -> bool:
    """Whether it asks for permission to change something outside."""
    permissions = node.get("permissions")
    return any(value in _WRITES for value in (*texts(permissions), *as_table(permissions).values()))


def _is_closed(name: str, job: dict[str, Node]) -> bool:
    """Whether no line of a job may be run: it deploys, or needs an environment, services or secrets."""
    parts = ("environment", "services", "if", "secrets", "uses")
    shown_name = f"{name} {job.get('name', '')}"
    open_ = not (_DEPLOYS.search(shown_name) or any(part in job for part in parts) or _may_write(job))
    return not open_ or _has_secret(job.get("env")) or _has_secret(job.get("variables"))


def _has_secret(node: Node | None) -> bool:
    return any(_SECRET.search(f"{key} {value}") for key, value in as_table(node).items())


def _github_job(workflow: dict[str, Node], name: str, job: dict[str, Node]) -> Iterator[tuple[str, str]]:
    if _is_closed(name, job) or _has_secret(workflow.get("env")):
        return
    systems = " ".join(texts(job.get("runs-on")))
    if re.search(r"windows|macos", systems) and "ubuntu" not in systems:
        return
    usual = [as_table(as_table(level.get("defaults")).get("run")) for level in (job, workflow)]
    steps = job.get("steps")
    for step in [as_table(one) for one in steps] if isinstance(steps, list) else []:
        settings = [step, *usual]
        shell = next((str(one["shell"]) for one in settings if "shell" in one), "")
        folder = next((str(one["working-directory"]) for one in settings if "working-directory" in one), "")
        if shell not in _SHELLS or "if" in step or "with" in step or _has_secret(step.get("env")):
            continue
        for line in _plain_lines(str(step.get("run", ""))):
            yield folder, line


def _plain_lines(script: str) -> list[str]:
    """Return the lines of a script if it runs all of them in the same folder, else none."""
    lines = [line.strip() for line in script.replace("\\\n", " ").splitlines()]
    if any(
        "<<" in line or re.match(r"(?:cd|pushd|export|set\s+\+e|if|for|while|case)\b", line) for line in lines
    ):
        return []
    return [line for line in lines if line]


def _command(shown: Shown, folder: str, line: str, table: Table, accepts: Accepts) -> str:
    """Return the line as a command for the root, or "" if it must not be run."""
    if _NOT_PLAIN.search(line) or _SECRET.search(line) or _DEPLOYS.search(line):
        return ""
    parts = [part.strip() for part in line.split("&&")]
    if not all(part and accepts(shown.folder / folder, part, table) for part in parts):
        return ""
    command = " && ".join(re.sub(r"^python(?= )", "python3", part) for part in parts)
    place = PurePosixPath(folder)
    if str(place) == ".":
        return command
    if (
        place.is_absolute()
        or ".." in place.parts
        or _NOT_PLAIN.search(folder)
        or not shown.part(str(place)).files
    ):
        return ""
    return f"cd {shlex.quote(str(place))} && {command}"


def _is_runner(folder: Path, command: str, table: Table) -> bool:
    """Whether a command is a runner's, or a script of a package that calls one and deploys nothing."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    if _SCRIPT.match(command):
        runs = runs_of(command, folder, table)
        return any(run.family for run in runs) and not deploys(runs)
    if _UNITTEST.match(command):
        return True
    bare = _LAUNCHER.sub("", command, count=1)
    simples = simple_commands(bare)
    if len(simples) != 1 or simples[0].words[:1] != (*bare.split()[:1],) or _NO_RUNNER.match(bare):
        return False
    known = recognised(simples[0], folder, table)
    return bool(known.family) and known.runs_tests is not False


def deploys(runs: Iterable[SuiteRun]) -> bool:
    """Whether a line below those that a person types publishes or deploys something."""
    return any(_DEPLOYS.search(line) for run in runs for line in run.lines[1:])


_PYTHON_TESTS = "{python tests}"
_UNITTEST_PLACE = "{unittest}"
# A folder for build results that git never sees, and that is removed with the worktree.
_BUILT = '"$(git rev-parse --absolute-git-dir)/sq-build"'
_IGNORED_BUILD = re.compile(r"^/?(?:\*\*/)?build[*]?/?\s*$", re.MULTILINE)
_MOST_READ = 300  # files whose text is read to find the runner that they are for
_USUAL = re.compile(r"(?:tests?/(?:.*/)?)?(?:test_[^/]*)\.py|[^/]*_test\.py")
_ANYWHERE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_IS_TEST = re.compile(r"^[ \t]*(?:import|from) pytest\b|^(?:async )?def test_|\bTestCase\b", re.MULTILINE)
_IN_TESTS = re.compile(r"(?:^|/)tests?/")
_MOST_SEEN = 300  # tests that are read because their names alone do not show that they are


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRunner:
    """A runner that the files of a folder show, its commands there, and the files that show it."""

    row: Runner
    commands: tuple[str, ...]
    source: str


def shown_runners(shown: Shown, table: Table) -> Iterator[ShownRunner]:
    """Yield the runners that the rows find in a folder, those of one family once."""
    taken: set[str] = set()
    for row in table.runners.values():
        if (row.family or row.name) in taken:
            continue
        for found in row.found:
            if files := files_showing(shown, found):
                taken.add(row.family or row.name)
                commands = tuple(dict.fromkeys(_commands(shown, found, files)))
                yield ShownRunner(row=row, commands=commands, source=_source(files[0]))
                break


def files_showing(shown: Shown, found: Detection) -> list[list[str]]:
    """Return the files that match each of the globs, or nothing if they do not show the runner."""
    matching: list[list[str]] = []
    for globs in found.files:
        matching.append(_matching(shown, globs.split("|")))
        if not matching[-1]:
            return []
    if found.alone and len(matching[0]) > 1:
        return []
    if found.contains:
        texts = map(shown.text, matching[-1][:_MOST_READ])
        return matching if any(re.search(found.contains, text) for text in texts) else []
    return matching


def _matching(shown: Shown, globs: Sequence[str]) -> list[str]:
    """Return the files that match one of the globs, which begin at the folder."""
    plain = [glob for glob in globs if shown.has(glob)]
    wild = [f"/{glob}" for glob in globs if "*" in glob]
    tests = python_tests(shown) if _PYTHON_TESTS in globs else []
    return [*plain, *tests, *(sorted(name for name in shown.files if matches(name, wild)) if wild else ())]


def _commands(shown: Shown, found: Detection, files: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the commands with the words of this project in them."""
    first, last = files[0], files[-1][0]
    command = found.command
    if command == _UNITTEST_PLACE:
        yield from unittest_commands(shown, first)
    elif "{each}" in command:
        yield from (command.replace("{each}", shlex.quote(name)) for name in first)
    else:
        built = "build" if _IGNORED_BUILD.search(shown.text(".gitignore")) else _BUILT
        call = f"./{last}" if os.access(shown.folder / last, os.X_OK) else f"sh {last}"
        folders = sorted({name.rpartition("/")[0] or "." for name in first})
        words = {"{build}": built, "{run}": call, "{folders}": shlex.join(folders)}
        yield re.sub(r"\{(?:build|run|folders)\}", lambda used: words[used[0]], command)


def _source(files: Sequence[str]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def python_tests(shown: Shown) -> list[str]:
    """Return the files that hold tests, by their usual names, else those in packages."""
    return sorted(name for name in shown.files if _USUAL.fullmatch(name)) or _tests_elsewhere(shown)


def unittest_commands(shown: Shown, tests: Sequence[str]) -> list[str]:
    """Return a command for each folder in which discovery has to begin. It enters only packages."""
    root = PurePosixPath()
    found: dict[tuple[PurePosixPath, PurePosixPath, str], None] = {}
    for test in map(PurePosixPath, tests):
        start = top = test.parent
        while top != root and str(top / "__init__.py") in shown.files:
            start, top = top, top.parent
        found[start, top, "" if test.name.startswith("test") else "*_test.py"] = None
    commands = []
    for start, top, pattern in found:
        if top == root != start and (root, root, pattern) in found:
            continue  # a package in the root: the root's own discovery enters it
        words = ["python3", "-m", "unittest"]
        words += ["discover"] if start != root or pattern else []
        words += ["-s", str(start)] if start != root else []
        words += ["-t", str(top)] if start != top else []
        words += ["-p", pattern] if pattern else []
        commands.append(shlex.join(words))
    return commands


def _tests_elsewhere(shown: Shown) -> list[str]:
    """Return tests inside packages, but none of a part with its own manifest and none by its name alone."""
    parts = tuple(f"{part}/" for part in shown.folders_with(*MANIFESTS, deepest=8))
    named = sorted(name for name in shown.files if _ANYWHERE.fullmatch(name) and not name.startswith(parts))
    elsewhere = set([name for name in named if not _IN_TESTS.search(name)][:_MOST_SEEN])
    return [name for name in named if name not in elsewhere or _IS_TEST.search(shown.text(name))]
