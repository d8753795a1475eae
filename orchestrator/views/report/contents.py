"""The contents of a report, as records that each format writes in its own way."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.checks.objecting import RUNS_LATER
from orchestrator.views.descriptions.description import Tone
from orchestrator.views.models.criteria import CommandFacts, CriterionRow, FindingRow, Point
from orchestrator.views.models.decisions import Decision, SpecQuestion
from orchestrator.views.models.lanes import Timeline
from orchestrator.views.models.spend import Spending
from orchestrator.views.models.work import TaskPart
from state.hidden import visible
from state.outcome import Outcome
from state.records.plan import PastRun

UNVERIFIED = "[unverified] "  # before the title of a pull request


class CheckState(StrEnum):
    """The conclusion of a check in a CI, as GitHub spells it. `PENDING` while the run goes on."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    ACTION_REQUIRED = "action_required"
    CANCELLED = "cancelled"
    PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The headline of one run.

    `word` is its state, `sentence` the meaning, `why` sq's cause if it is not complete. `exit_code` is None
    as long as there is no outcome. `title_prefix` goes before the title of a pull request, which is a draft
    if `draft`. `all_seen`: it is complete, no rehearsal, and sq has seen what shows each criterion.
    """

    word: str
    sentence: str
    why: str = ""
    outcome: Outcome | None = None
    exit_code: int | None = None
    tone: Tone = Tone.WARN
    check: CheckState = CheckState.FAILURE
    title_prefix: str = UNVERIFIED
    draft: bool = True
    rehearsal: bool = False
    all_seen: bool = False

    def title(self, subject: str) -> str:
        """Return the title of a pull request about `subject`."""
        if not self.draft:
            return subject
        return f"{self.title_prefix}{subject} ({self.word.lower()})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The spec. `subject` is its first heading or line, `sha256` the hash of its text as it was read.

    `issue` is the one that it came from, as `OWNER/REPO#N`. `follows`: the run whose pull request it serves.
    `is_checked`: it was read for faults before it was planned. `questions` are those that it raised.
    `found_before`: by reviews of the analysis and the plan.
    """

    name: str
    subject: str
    sha256: str
    spec_lines: tuple[str, ...]
    issue: str = ""
    follows: str = ""
    is_checked: bool = False
    questions: tuple[SpecQuestion, ...] = ()
    found_before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """Where a run began and where its work is. Empty texts are unknown.

    `place` is sq's sentence on where the finished work is, `place_seq` the event that says so. `added`,
    `removed` and `files` measure the whole, and are None if nothing was measured.
    """

    branch: str
    base: str
    commit: str
    tree: str
    place: str
    place_seq: int
    added: int | None
    removed: int | None
    files: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When a run was. `until` is the time of its newest event. `past`: what later forecasts need of it."""

    began_at: datetime | None
    until: datetime | None
    seconds: float
    processes: int
    seq: int
    past: PastRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommands:
    """How a reader checks the run: a command to copy, and the commands that only an agent has named.

    `note` says why there is no command. `verified_seq` is the verification of the finished tree.
    """

    command: str
    named_by_agents: tuple[str, ...]
    note: str
    verified_seq: int


DEPENDENCY = "dependency"  # the name of facts on added packages


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact on how the run was made, or the value of a setting. `seq` is its event."""

    name: str
    value: str
    seq: int = 0
    is_setting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One event: its place, its time, its name, its task ("" for the whole), and a line about it."""

    seq: int
    at: datetime
    name: str
    task_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The events that the report shows. `left_out` says which of its parts are cut, a sentence each."""

    rows: tuple[IndexRow, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContents:
    """A run as a report shows it."""

    run_id: str
    headline: Headline
    spec: Spec
    commits: Commits
    times: Times
    check: CheckCommands
    criteria: tuple[CriterionRow, ...]
    commands: tuple[CommandFacts, ...]
    attention: tuple[Point, ...]
    decisions: tuple[Decision, ...]
    findings: tuple[FindingRow, ...]
    tasks: tuple[TaskPart, ...]
    spending: Spending
    timeline: Timeline
    made: tuple[Fact, ...]
    index: Index

    @property
    def protected(self) -> tuple[str, ...]:
        """Return what is said of changed files that act later, which a person has to look at first."""
        return tuple(dict.fromkeys(point.what for point in self.attention if point.kind == RUNS_LATER))

    @property
    def title(self) -> str:
        """Return the title of a pull request: the spec's subject, with a mark if the run is not complete."""
        return self.headline.title(visible(self.spec.subject) or self.run_id)
