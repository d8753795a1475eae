"""Events of the run as a whole: begun, resumed, interrupted, limited, ended, and the notices of it."""

from dataclasses import dataclass, field
from datetime import datetime

from state.outcome import Outcome
from state.records.commands import AddedPackage, HostUse
from state.roles import Role
from state.settings.integrations import NoticeKind
from state.settings.records import Confinement, Model, OnQuestion, Sandbox, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began, with everything that was asked of it, so that it can be resumed without its command line.

    A `base_branch` of None is a detached HEAD. `edit_dirty`: without worktrees, the user's uncommitted work
    may be changed.
    """

    run_id: str
    spec_name: str
    spec_text: str
    repository: str
    worktrees: str
    base_commit: str
    base_branch: str | None
    rehearsal: str | None
    credentials: str
    sq_version: str
    settings: Settings
    notes: tuple[str, ...] = ()
    edit_dirty: bool = False
    confined: Confinement = field(default_factory=Confinement)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """Another process took the run up again, with other limits and settings if they were given.

    `retry` are tasks that had ended without being merged and are tried again. `verify`, `models`,
    `questions`, `sandbox_mode`, `deadline` ("": none) and `max_parallel` replace those settings, and None and
    empty leave them unchanged. `kept`: the process before was killed, and `sq run --keep` began this one.
    """

    confined: Confinement = field(default_factory=Confinement)
    budget_usd: float | None = None
    max_iterations: int | None = None
    retry: tuple[str, ...] = ()
    verify: tuple[str, ...] | None = None
    models: dict[Role, Model] = field(default_factory=dict)
    questions: OnQuestion | None = None
    sandbox_mode: Sandbox | None = None
    deadline: str | None = None
    max_parallel: int | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInterrupted:
    """The run was asked to stop (`by` names the signal) and saved its state."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """The run's budget or time is used up. No more requests are sent, and merged work is brought home.

    `late`: its time is over, so nothing more is verified either.
    """

    cause: str
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingStarted:
    """The end of the run's time is near: no task is begun, and verified work is merged until `until`.

    `signal`: the signal that asked for it, or "" for a deadline. Such a run is interrupted then.
    """

    cause: str
    until: datetime
    signal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitNear:
    """A session or a command comes near to a limit of its sandbox, which would end it."""

    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run reached an outcome. `cause` is why it is not complete. `resumable`: a resume may go on."""

    outcome: Outcome
    cause: str
    resumable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSent:
    """A notice was handed to a target, or could not be. It is not tried again.

    `of_seq` is the place of the event that it is about, `to` names the target, as in `command 1` or `env:NAME
    2`. `ok`: the target took it. `problem`: why it did not.
    """

    kind: NoticeKind
    of_seq: int
    to: str
    ok: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsUsed:
    """Processes in sandboxes used hosts since the last such event, agents and downloads of packages."""

    hosts: tuple[HostUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DependenciesAdded:
    """The finished work adds packages. `more` is the number of those that are not named."""

    packages: tuple[AddedPackage, ...]
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsRead:
    """The project's instruction files that agents are given. `remarks` say what of them is missing."""

    files: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The files and what is missing, in lines for people."""
        return [f"agents read the project's instructions: {', '.join(self.files)}", *self.remarks]


RunNote = LimitNear | HostsUsed | DependenciesAdded  # views alone read these

RunEvent = (
    RunStarted
    | RunResumed
    | RunInterrupted
    | LimitReached
    | LandingStarted
    | RunEnded
    | NoticeSent
    | InstructionsRead
    | RunNote
)


@dataclass(slots=True)
class PaceView:
    """The longest time that each step of this run has taken so far, in seconds; 0 for one not yet seen.

    `begun` are the steps under way. A review counts from the accepted claim, with its commit. `claim_s` is
    the check of a claim from its verification on, `move_s` what git needs to move the run's branch.
    """

    begun: dict[str, datetime] = field(default_factory=dict)
    verify_s: float = 0.0
    claim_s: float = 0.0
    review_s: float = 0.0
    merge_s: float = 0.0
    move_s: float = 0.0
    exchange_s: float = 0.0


@dataclass(slots=True)
class ClockView:
    """When events were stored, and the place of the newest one."""

    started_at: datetime | None = None
    last_at: datetime | None = None
    last_seq: int = 0
    ended_seq: int = 0  # of the newest end of the run, which notices may follow
    worked_s: float = 0.0  # by all processes together until the end, without waits for a person
    earlier_s: float = 0.0  # likewise, until ends after which the run was opened again
    waits: bool = False  # for a person, before the work
    pace: PaceView = field(default_factory=PaceView)

    @property
    def all_s(self) -> float:
        """Return the seconds of work of the whole run, its earlier ends included."""
        return self.earlier_s + self.worked_s


@dataclass(slots=True)
class ProcessView:
    """The newest process that works on the run, and its limits."""

    resumptions: int = 0
    resumed: RunResumed | None = None
    resumed_seq: int = 0  # the place in the journal where it took the run up
    verify_changed: tuple[int, datetime] | None = None  # the newest one that took it up with other commands
    interrupted_by: str = ""
    budget_usd: float | None = None  # given to a resumed run, in place of those of its settings
    max_iterations: int | None = None  # likewise
    limit: str = ""  # which limit of the whole run is reached
    landing: LandingStarted | None = None
    is_late: bool = False  # the time is over: nothing more is verified
    deadline: datetime | None = None  # by the settings of this process
    quiet_until: datetime | None = None  # no request goes to a model before this time
    judge_answers: bool = False  # the judge has answered in this process
    judge_refused: str = ""  # the call in which a judge was refused for good before it had answered any
