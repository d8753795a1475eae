"""The records that events carry and floors exchange: tasks, issues, questions, plans.

All are frozen and independent of how they are stored. The seed's `taskId` is `task_id` here (JSON written
for people keeps the seed's camelCase).
"""

from dataclasses import dataclass, field
from enum import StrEnum


class IssueType(StrEnum):
    """The kind of a review issue (the first four: seed 002)."""

    OVER_ENGINEERING = "over-engineering"
    MISSING_ERROR_HANDLING = "missing-error-handling"
    PATTERN_VIOLATION = "pattern-violation"
    DEAD_CODE = "dead-code"
    INCORRECT_BEHAVIOR = "incorrect-behavior"
    SPEC_MISMATCH = "spec-mismatch"
    ARCHITECTURE_CONCERN = "architecture-concern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One piece of the plan. `dependencies` are ids of other tasks of the same plan."""

    id: str
    title: str
    description: str
    acceptance_criteria: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    estimated_iterations: int = 1


class CriterionKind(StrEnum):
    """The kind of a criterion, which decides the evidence that proves it."""

    BEHAVIOUR = "behaviour"
    CONSTRAINT = "constraint"
    DOCUMENT = "document"


class CriterionVerdict(StrEnum):
    """A verdict on one criterion. `not checked` also stands for a verdict that is missing."""

    MET = "met"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One demand of the spec, and the tasks that will meet it according to the planner.

    `quote` are the words of the spec as the planner quotes them. sq gives the `id` (c-1, c-2, …) and looks
    for the quote: `spec_lines` are the first and the last line of its place, or (0, 0) if it has none.
    """

    text: str
    task_ids: tuple[str, ...] = ()
    id: str = ""
    quote: str = ""
    spec_lines: tuple[int, int] = (0, 0)
    kind: CriterionKind = CriterionKind.BEHAVIOUR

    @property
    def is_placed(self) -> bool:
        """Whether sq found its words in the spec."""
        return self.spec_lines != (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A planner's proposal. It counts only after `orchestrator.run.plan.plan.problems_of`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...] = ()
    tests_that_change: "tuple[TestThatChanges, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """An agent's description of a repository. Its commands are claims, checked by running them."""

    project_type: str = ""
    stack: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    verification_commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewIssue:
    """A reviewer's finding (seed 002). `line` is absent if the finding is about a whole file."""

    task_id: str
    file: str
    line: int | None = None
    type: IssueType = IssueType.PATTERN_VIOLATION
    description: str
    suggestion: str

    @property
    def location(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file


class FindingState(StrEnum):
    """The state of a finding."""

    OPEN = "open"
    FIXED = "fixed"
    DISPUTED = "disputed"
    WONT_FIX = "won't fix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An issue through the reviews of a task: `id` is its fingerprint, `round` the review that found it.

    `note` is the evidence of a dispute, or why it is not going to be fixed. `unruled`: it is open because the
    last review did not rule on it. `advice`: only a checkpoint has named it.
    """

    id: str
    issue: ReviewIssue
    state: FindingState = FindingState.OPEN
    round: int = 1
    note: str = ""
    unruled: bool = False
    advice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A Worker's evidence that the finding of this id is wrong."""

    id: str
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A re-review's ruling on an earlier finding: open, fixed, or need not be fixed."""

    id: str
    state: FindingState
    why: str = ""


class JudgedBy(StrEnum):
    """Who gave a verdict on a criterion.

    A reviewer read the tree. A rule of sq looked in a later tree for the evidence that a reviewer had named.
    """

    REVIEWER = "reviewer"
    RULE = "rule"


class CriterionStanding(StrEnum):
    """The worth of a verdict on a criterion. Only `proven` rests on evidence that sq has seen itself."""

    PROVEN = "proven"
    CLAIMED = "claimed"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"


class EvidenceKind(StrEnum):
    """The kind of a piece of evidence for a criterion."""

    TEST = "test"
    COMMAND = "command"
    LINE = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence for a criterion: a reviewer names it, and sq checks it on the tree.

    `ref` is the test's name, the command, or `path:line`. `holds` is sq's own result, and None if sq could
    not check it or has not checked it yet. `why` is the reason, in words for people. `general`: it says
    nothing about one behaviour by itself, such as a whole suite or file of tests, a linter, or a new test
    that passes without the work.
    """

    kind: EvidenceKind
    ref: str
    holds: bool | None = None
    why: str = ""
    general: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionClaim:
    """A reviewer's verdict on one criterion, with evidence that sq has not checked yet."""

    id: str
    verdict: CriterionVerdict
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReport:
    """A usable review: `passed` without issues, or issues that say why not.

    `rulings` are about earlier issues, `tests` about tests that the work changed, `criteria` about those of
    the spec, if the review was asked about them.
    """

    passed: bool
    issues: tuple[ReviewIssue, ...] = ()
    suggestions: tuple[str, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    tests: "tuple[TestRuling, ...]" = ()
    criteria: tuple[CriterionClaim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The notes of one attempt for the next: work done, state of the tests, obstacles.

    `attempt` is its number. `tests` is the result that sq saw, or else the Worker's account. `decisions` are
    answers that held. `ended` is why the attempt ended. `since` lists the changes after its end.
    """

    attempt: int = 0
    done: str = ""
    tests: str = ""
    next_step: str = ""
    blockers: tuple[str, ...] = ()
    notes: str = ""
    decisions: tuple[str, ...] = ()
    ended: str = ""
    since: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOption:
    """One choice that a question offers."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of an AskUserQuestion call. Without options, the answer is free text."""

    text: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


class Basis(StrEnum):
    """The basis of an answer."""

    SPEC = "spec"
    CODE = "code"
    SESSION = "session"
    JUDGEMENT = "judgement"


class Confidence(StrEnum):
    """The confidence in an answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The Developer's answer to one question.

    `labels` are labels of that question's options. `free_text` is used if no option fits or none was offered.
    One of the two is filled. `beside_options`: options were offered, and the answer is a free text.
    `evidence` is the part of its basis that supports it, in words or as a quote.
    """

    question: str
    labels: tuple[str, ...] = ()
    free_text: str = ""
    reason: str = ""
    basis: Basis = Basis.JUDGEMENT
    evidence: str = ""
    reversible: bool = True
    confidence: Confidence = Confidence.MEDIUM
    beside_options: bool = False

    @property
    def text(self) -> str:
        """The answer itself: its labels, or the free text."""
        return ", ".join(self.labels) if self.labels else self.free_text

    @property
    def marked(self) -> str:
        """The answer for the Worker and people, with a mark on a free text beside options."""
        return f"{self.text} (free text, none of the options)" if self.beside_options else self.text

    @property
    def is_covered(self) -> bool:
        """Whether it needs no person's consent: it follows from the spec or is easy to undo."""
        return self.reversible or self.basis is Basis.SPEC


class TestState(StrEnum):
    """How one test ended, as the runner reports it."""

    __test__ = False  # pytest collects classes named Test*

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer by its place: the question's text in the call `ask_id`."""

    ask_id: str
    question: str


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
class CommandRun:
    """One verification command as sq ran it. `exit_code` is None if it did not start or was ended.

    `missing` names a program, or a runner's module, that is not on this machine. `nothing_yet` names the part
    that the tree lacks so far (a test, a manifest, the script). `timed_out`: it was ended at its deadline.
    `walled`: what a sandbox seems to have kept from a command that failed, and the setting that opens it.
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
    walled: str = ""

    @property
    def passed(self) -> bool:
        """Whether it ran to its end with exit code 0."""
        return self.exit_code == 0

    @property
    def answered(self) -> bool:
        """Whether it ran to its end at all. A command that could not start has not answered."""
        return self.exit_code is not None


class BaselineStanding(StrEnum):
    """The result of a verification command on the commit that a run starts from."""

    PASSES = "passes"
    FAILS = "fails"
    MISSING = "missing program"
    NOTHING_YET = "nothing there yet"
    TOO_LONG = "too long"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineCheck:
    """One command on the untouched commit. `source` is where it was found: `--verify`, a file, the analysis.

    `chosen`: the user named it. `canary` is None if no test that must fail could be made for it.
    """

    run: CommandRun
    source: str
    standing: BaselineStanding
    chosen: bool = False
    canary: CanaryResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestThatChanges:
    """A test, or a file of tests, that the plan expects to change. `line`: the line of the spec that asks."""

    __test__ = False

    test: str
    line: str = ""


class TestChangeKind(StrEnum):
    """How a test of the base differs from before."""

    __test__ = False

    FAILS = "fails as it was"
    GONE = "is gone"
    SKIPPED = "is skipped now"
    UNREADABLE = "was changed, and sq cannot run it as it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange:
    """A test that passed at the base and no longer counts as it was.

    `test` is empty if the whole file is meant, `path` if the file is unknown. `expected_by` is the line of
    the spec or of the reviewed plan that announces the change, or "" if there is none.
    """

    __test__ = False

    test: str
    path: str = ""
    kind: TestChangeKind
    detail: str = ""
    expected_by: str = ""

    @property
    def name(self) -> str:
        """The name that people and agents use."""
        return self.test or self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRuling:
    """A reviewer's ruling on a changed test. `ruled`: the report did mention this test."""

    __test__ = False

    test: str
    accepted: bool
    why: str = ""
    ruled: bool = True


class ChangeKind(StrEnum):
    """How a file changed between two commits."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One changed file. `added` and `removed` count its lines, and are None for a binary file."""

    path: str
    added: int | None
    removed: int | None
    kind: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class CallEnd(StrEnum):
    """How one exchange with a model ended. Only `completed` means that the model finished its turn."""

    COMPLETED = "completed"
    MAX_TURNS = "max turns"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    UNANSWERED = "question unanswered"
    API_ERROR = "api error"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    SILENT = "silent"
    DIED = "process died"
    NOT_STARTED = "process did not start"
    UNUSABLE = "unusable answer"
    TIMED_OUT = "timed out"
    SIGNALLED = "signalled before the process ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The result of one try of a call. `cost_usd` is the cost of this try alone.

    `retry_after_s`: the API named this time until the next request. `turns`: of the model, 0 if not counted.
    """

    end: CallEnd
    detail: str = ""
    text: str = ""
    api_status: int | None = None
    retry_after_s: float | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    turns: int = 0


class MessageKind(StrEnum):
    """The kind of a message of a session."""

    TEXT = "text"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a live session, as history for the Developer and for the views."""

    kind: MessageKind
    text: str
    tool: str = ""
    is_error: bool = False
