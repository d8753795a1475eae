"""Commands that sq ran: the tests they counted, their results before the work, the hosts they used."""

from dataclasses import dataclass, field
from enum import StrEnum


class TestState(StrEnum):
    """How one test ended, as the runner reports it."""

    __test__ = False  # pytest collects classes named Test*

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCount:
    """The tests that one command ran, from the runner's report or its output.

    `tests` is by name, and empty if the names are unknown. A number of None is unknown, which is not zero.
    `says_none`: the command itself reports that it ran no test.
    """

    __test__ = False

    tests: dict[str, TestState] = field(default_factory=dict)
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    says_none: bool = False

    @property
    def ran(self) -> int | None:
        """The number of tests executed, without skipped ones, or None if it is unknown."""
        if self.says_none:
            return 0
        if self.passed is None and self.failed is None:
            return None
        return (self.passed or 0) + (self.failed or 0)


UNCOUNTED = TestCount()


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A complaint of a type checker, a linter, a formatter or a build about a file of the project.

    `message` is empty if a formatter would change the file. `digest` is that of the line that it is about, or
    of the whole file if `line` is 0.
    """

    file: str
    line: int = 0
    rule: str = ""
    message: str = ""
    digest: str = ""

    @property
    def words(self) -> str:
        """The complaint in a line, as tools print it."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        rule = f" [{self.rule}]" if self.rule else ""
        return f"{place}: {self.message or 'would be formatted otherwise'}{rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandUse:
    """What a command has used, in seconds. None: it cannot be known on this system.

    `cpu_s` is the processor time of its process tree. `silence_s` is the longest time in which it neither
    printed nor used a processor, `silent_s` that until now. `is_crowded`: the machine had no processor to
    spare, so it may have waited for one. `processors` are those that it used, all if it is crowded.
    `before`: the limit at which it was ended before this try, which it made alone.
    """

    seconds: float = 0.0
    cpu_s: float | None = None
    silent_s: float = 0.0
    silence_s: float = 0.0
    is_crowded: bool = False
    processors: float | None = None
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """One verification command as sq ran it. `exit_code` is None if it did not start or was ended.

    `missing` names a program, a toolchain or a runner's module that is not on this machine. `nothing_yet`
    names the part that the tree lacks so far (a test, a manifest, the script). `timed_out`: it was ended at
    a limit. `broken` says why the runner stopped before any test: by name, with the first cause. Its
    exit code then shows nothing about the work. `failing_part` is the part of its output that shows the
    failures, empty if that is `output_tail`. `walled`: what a sandbox seems to have kept from a command that
    failed, and the setting that opens it. `rewritten` are files of tests that it changed in its plain run.
    `complaints` are those of a check that runs no tests. It is None for all other commands.
    """

    command: str
    exit_code: int | None
    seconds: float
    output_tail: str
    problem: str = ""
    count: TestCount = UNCOUNTED
    missing: str = ""
    nothing_yet: str = ""
    timed_out: bool = False
    broken: str = ""
    failing_part: str = ""
    walled: str = ""
    rewritten: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] | None = None
    use: CommandUse = CommandUse()

    @property
    def passed(self) -> bool:
        """Whether it ran to its end with exit code 0."""
        return self.exit_code == 0

    @property
    def answered(self) -> bool:
        """Whether it ran to its end at all. A command that could not start has not answered."""
        return self.exit_code is not None

    @property
    def passes_no_test(self) -> bool:
        """Whether it failed, and none of the tests that it names passed."""
        return bool(self.exit_code and self.count.tests and not self.count.passed)


class BaselineOutcome(StrEnum):
    """The result of a verification command on the commit that a run starts from."""

    PASSES = "passes"
    FAILS = "fails"
    MISSING = "missing program"
    BROKEN = "could not run"
    NOTHING_YET = "nothing there yet"
    TOO_LONG = "too long"
    NEVER_ENDS = "never ends"
    UNREADABLE = "fails, with no complaint that sq can read"

    @property
    def is_red(self) -> bool:
        """Whether the command ran, or stopped, without passing."""
        return self in {BaselineOutcome.FAILS, BaselineOutcome.BROKEN}


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """The result of a command on a tree with an added test that must fail.

    `caught`: whether the command failed with it, or None if sq cannot say, for the reason in `problem`.
    """

    command: str
    path: str = ""
    name: str = ""
    caught: bool | None = None
    problem: str = ""
    seconds: float = 0.0

    @property
    def is_impossible(self) -> bool:
        """Whether no test that must fail could be made."""
        return not self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReruns:
    """How often a test that passed at the base and failed now ran again, and failed: here and at the base.

    `spared`: its command met a time limit or an interruption on a machine without a processor to spare, and
    it passed with no other command of the run beside it.
    """

    __test__ = False

    test: str
    here: int
    failed_here: int
    at_base: int = 0
    failed_at_base: int = 0
    spared: bool = False

    @property
    def is_flaky(self) -> bool:
        """Whether its failure says nothing of the work."""
        return self.spared or self.failed_at_base > 0

    @property
    def words(self) -> str:
        """Its results in a sentence without its end."""
        at_base = f", and {self.failed_at_base} of {self.at_base} at the base" if self.at_base else ""
        alone = ", with no other command of sq beside the last" if self.spared else ""
        return (
            f"{self.test} failed in {self.failed_here} of {self.here} more runs on the work{alone}{at_base}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutWork:
    """The result of a command that passed, on the same tree with the changed functions emptied.

    `functions` are those, as `file: name`. `needed`: whether a test fails then, `failing` the names of those
    that do. It is None if sq cannot say, for the reason in `problem`. `together` are new tests that pass with
    the work only if other files of tests run too. `noticed`: whether a command whose tests cannot be counted
    fails with a small change in the work, None if that was not asked. `small` is that change, or those that
    it did not notice. If counted tests failed with it, because nothing could be emptied, `functions` is ().
    `partly`: only a part of the work was taken out or changed, so other tests may need the rest. `lines` are
    new lines in functions of the base, as `file:first-last`, without which no test fails.
    """

    command: str
    functions: tuple[str, ...] = ()
    needed: bool | None = None
    failing: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0
    noticed: bool | None = None
    small: tuple[str, ...] = ()
    partly: bool = False
    lines: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineCheck:
    """One command on the untouched commit. `source` is where it was found: `--verify`, a file, the analysis.

    `chosen`: the user named it. `canary` is None if no test that must fail could be made for it.
    `environment` is the fingerprint of its programs and its set-up.
    """

    run: CommandRun
    source: str
    outcome: BaselineOutcome
    chosen: bool = False
    canary: CanaryResult | None = None
    environment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUse:
    """The use of one host, a name with its port. `sent` and `received` are bytes.

    `refused` are the reasons of the `refusals`, each once.
    """

    host: str
    requests: int = 0
    sent: int = 0
    received: int = 0
    refusals: int = 0
    refused: tuple[str, ...] = ()

    def __add__(self, other: "HostUse") -> "HostUse":
        """Return both uses of the host together."""
        return HostUse(
            host=self.host,
            requests=self.requests + other.requests,
            sent=self.sent + other.sent,
            received=self.received + other.received,
            refusals=self.refusals + other.refusals,
            refused=tuple(dict.fromkeys((*self.refused, *other.refused))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedPackage:
    """A package that the work adds. `licence` is what its registry says, or ""."""

    ecosystem: str
    name: str
    version: str
    licence: str = ""
