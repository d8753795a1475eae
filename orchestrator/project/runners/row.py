"""The records that make up the table: a test runner, the programs without a row, a tool that sets up."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

DOWNLOADS = "SQ_DOWNLOADS"  # the variable that names the folder for downloads


class ReportKind(StrEnum):
    """The format of a runner's report. `text`: it writes no report, so its output is read."""

    JUNIT = "junit"
    TRX = "trx"
    JEST = "jest"
    RSPEC = "rspec"
    DART = "dart"
    NODE = "node"
    TEXT = "text"


class Reader(StrEnum):
    """How names are read from output: by patterns, an indented tree, TAP, the forms of Go and ExUnit."""

    LINES = "lines"
    TREE = "tree"
    TAP = "tap"
    GO = "go"
    MIX = "mix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One way to call a runner: any of the programs, with one of the subcommands and flags, if there are any.

    `contains` is a pattern that the script (the first plain word) must match if the program is an
    interpreter. `anywhere`: the subcommand may be any of the plain words, not only the first.
    """

    programs: tuple[str, ...]
    subcommands: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    contains: str = ""
    anywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Files that show that a repository uses a runner, and the command to use then.

    Each of `files` is one or more globs, separated by `|`, from the project's folder on. One file must match
    each of them, and `contains` must match the text of one for the last of them. `alone`: only one file may
    match the first. `command` may hold `{run}`, the call of the last file as a program, `{each}`, one command
    for each of the first files, `{folders}`, the folders of these, and `{build}`, a folder for build results.
    """

    files: tuple[str, ...]
    command: str
    contains: str = ""
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """How a runner is made to report: `{report}` is the file, `{reports}` the folder, `{package}` ours.

    The environment is used only if `guard`, a shell command run in it, succeeds. `arguments` are appended to
    commands that they reach. A command with one of the options `not_with` is left as it is. `written` are
    reports that the runner leaves in the project anyway. If the output matches `unless`, the runner has kept
    older reports because nothing changed.
    """

    kind: ReportKind = ReportKind.TEXT
    environment: dict[str, str] = field(default_factory=dict)
    guard: str = ""
    not_with: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    unless: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """How a runner's output shows that it stopped, and where it begins to print its failures.

    `breaks` are patterns of a runner that stopped as a whole. `unloaded` matches once for each part that
    could not be loaded or built. Both may have a group `why`, the cause. `begins` matches the first line of
    the failures.
    """

    breaks: tuple[str, ...] = ()
    unloaded: str = ""
    begins: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """How a runner's output is read.

    `tests` have the groups `name` and `state`, and perhaps `file`. `file` matches lines that name the file or
    module of the tests after it. `ends` matches the line at which the tests end and repetitions begin. `bad`
    matches the message that a whole file failed. `states` adds words to the usual ones. `numbers` have groups
    `passed`, `failed`, `skipped`, `total` (with a digit behind them if there are several), or `words` for a
    list such as `3 passed, 1 failed`. `none` matches the message that no test ran.
    """

    reader: Reader = Reader.LINES
    tests: tuple[str, ...] = ()
    file: str = ""
    begins: str = ""
    ends: str = ""
    bad: str = ""
    states: dict[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    none_exit_codes: tuple[int, ...] = ()
    failing: Failing = field(default_factory=Failing)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSelection:
    """How single tests are chosen. `{path}` is the file. If `files` is empty, the runner takes none.

    `only` is a pattern of the files that can be given. `between` joins all files into one argument.
    `folders`: folders are named instead of files, each once. `single`: the runner takes one file at a time.
    `values` are options that take a value. `names` are the arguments for a test's name, `{name}`. With
    `joined` there is one more argument, which holds all names in one pattern, `{names}`.
    """

    files: tuple[str, ...] = ()
    only: str = ""
    between: str = ""
    folders: bool = False
    single: bool = False
    values: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    joined: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFiles:
    """Paths that hold tests. If `contains` is given, the text of the file must match it too."""

    __test__ = False  # pytest collects classes named Test*

    globs: tuple[str, ...]
    contains: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStatement:
    """A statement that fails a test. It is used beside tests whose text matches `when`."""

    text: str
    when: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How a new test file loads a `module` that the pattern finds in the file beside it."""

    pattern: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTest:
    """A test that must fail, for test files whose path matches `path` and whose text matches `when`.

    If its text has a place `{fails}`, a test is made for each of the row's statements that fit.

    `new` is the name of a new file beside such a file. Without it, or if a command names its files, the text
    is put into that file, in front of the first line that matches `before`. `header` are patterns of lines
    that a new file takes over. `whole`: the text needs a file of its own.
    """

    path: str
    text: str
    name: str
    when: str = ""
    new: str = ""
    header: tuple[str, ...] = ()
    before: str = ""
    whole: bool = False
    opening: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryForms:
    """How a runner is kept honest: the forms of tests that must fail, their statements and what they load.

    `marks` are patterns of code that looks at the runner, or touches it, as only tests and their environment
    may.
    """

    forms: tuple[FailingTest, ...] = ()
    fails: tuple[FailingStatement, ...] = ()
    loads: tuple[Loading, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """What shows that a suite could not begin.

    The runner is missing if one of its own `modules` cannot be imported. `nothing` are patterns of output
    that report that there is nothing to run yet.
    """

    modules: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """One row. `carrier`: it runs other runners, which are found in the project's files.

    `setup` is the ecosystem of the tools that set a project up for it. `like` is the row of a runner that
    runs the same tests: a project shows one of them. `unknown` lists the abilities that it lacks. `deciders`
    and `manifests` are globs of files that decide how tests are run.
    """

    name: str
    setup: str = ""
    like: str = ""
    carrier: bool = False
    called: tuple[Invocation, ...]
    not_with: tuple[str, ...] = ()
    found: tuple[Detection, ...] = ()
    report: Reporting = field(default_factory=Reporting)
    printed: Printed = field(default_factory=Printed)
    select: TestSelection = field(default_factory=TestSelection)
    tests: tuple[TestFiles, ...] = ()
    deciders: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    absent: Absent = field(default_factory=Absent)
    canary: CanaryForms = field(default_factory=CanaryForms)
    unknown: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The name that it shares with the runners of the same tests. A carrier may have none."""
        return self.like or ("" if self.carrier else self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Programs without a row, each with the subcommands concerned, or () for all of them.

    `runners` run tests, and nothing more is known of them. Their subcommands are patterns of all words, and
    `families` are rows for the same tests. `linters` check the code without running it.
    """

    runners: dict[str, tuple[str, ...]]
    families: dict[str, str]
    linters: dict[str, tuple[str, ...]]
    others: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineInstall:
    """How a tool downloads in a folder of its own, and builds without network.

    `download` and `build` are commands, in which `{command}` is that of the step. One that is empty is not
    needed. `manifests` are names, and `empty` patterns of files that only have to exist. `variables` hold for
    both commands, `offline` for the build. `{into}` in them is the folder for downloads, `{uri}` its URL.
    `lasting`: all later commands in the worktree need them too. `why_not`: why the tool cannot do it, or "".
    """

    download: str = ""
    build: str = "{command}"
    manifests: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    offline: dict[str, str] = field(default_factory=dict)
    lasting: bool = False
    why_not: str = ""

    def variables_for(self, into: Path, *, building: bool) -> dict[str, str]:
        """Return the variables of the download, or of the build and of later commands."""
        chosen = {**self.variables, **(self.offline if building else {})}
        return {
            DOWNLOADS: str(into),
            **{name: value.format(into=into, uri=into.as_uri()) for name, value in chosen.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpTool:
    """A tool that makes a project ready for the runners of an ecosystem.

    It is used if one of the files `locks` exists, `contains` (a file and a pattern) matches, and `unless`
    does not exist. `command` may hold `{extras}`, an `extra` for each `{name}`, and `{groups}`. Without a
    lock file it is `unlocked`, if a manifest of the folder or below it requires something: `requires` is its
    name and a pattern of that. `files` decide about the result too. `apart` is for manifests that an agent
    has changed.
    """

    name: str
    ecosystem: str
    program: str = ""
    locks: tuple[str, ...] = ()
    contains: tuple[str, str] | None = None
    unless: str = ""
    command: str = ""
    extra: str = ""
    groups: str = ""
    unlocked: str = ""
    requires: tuple[str, str] | None = None
    files: tuple[str, ...] = ()
    apart: OfflineInstall = field(default_factory=lambda: OfflineInstall(why_not="sq does not know how"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows by name, in the order of the files and of the rows in them."""

    runners: dict[str, Runner]
    programs: Programs
    tools: dict[str, SetUpTool]

    @property
    def manifests(self) -> tuple[str, ...]:
        """Globs of the files that show that a folder is a project of its own."""
        every = (glob for row in self.runners.values() if not row.carrier for glob in row.manifests)
        return tuple(dict.fromkeys(every))

    @property
    def ecosystems(self) -> tuple[str, ...]:
        """The ecosystems that runners need to be set up, each once."""
        return tuple(dict.fromkeys(row.setup for row in self.runners.values() if row.setup))
