"""Events of the project's own commands: baseline, set-up, verification, proofs."""

from dataclasses import dataclass, field
from datetime import datetime

from state.records.commands import BaselineCheck, CommandRun, TestReruns
from state.records.objections import Objection, Proof, Weight
from state.records.work import WorkFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStarted:
    """sq is about to run the verification commands on the commit that the run starts from."""

    tree: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTaken:
    """The results of the verification commands before any agent has changed anything.

    `tree` is the content that they ran on, `environment` the fingerprint of their programs and set-up.
    `notes` say which parts were left out and why. `of_analysis`: the commands come from the analysis, in
    addition to those of an earlier event of this kind. `not_run` are commands of it that sq does not know as
    test runs. `exports` are the variables with which they ran, as a shell exports them in a copy of the tree.
    `left_out` are checks that the repository configures and sq does not run, each with the reason. `kept` are
    commands that an earlier process ran in the same environment, so they were not run again. `rewritten` are
    files of the base that they write and that the spec does not name: their changes are no work.
    """

    tree: str
    environment: str
    checks: tuple[BaselineCheck, ...]
    notes: tuple[str, ...] = ()
    of_analysis: bool = False
    not_run: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStarted:
    """A worktree is about to be made ready by these steps, each a command and the file that asks for it.

    `waits`: it does not begin yet, because another worktree is being made ready.
    """

    task_id: str
    folder: str
    steps: tuple[str, ...]
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSetUp:
    """A worktree got the ignored files that the configuration names, and everything that its project needs.

    `task_id` is empty for a worktree of sq's own. A command of the user's that failed is the last of `runs`.
    `again` are paths copied from an earlier set-up, `seals` the digests of what was kept for copies, each
    behind the key of its step. `left_out` names the steps that could not be done, `not_again` those that a
    task's changes ask for and that no sandbox can do, with the reason.
    """

    task_id: str
    folder: str
    copied: tuple[str, ...]
    runs: tuple[CommandRun, ...]
    again: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    not_again: tuple[str, ...] = ()
    seals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkGiven:
    """A work from elsewhere is to be tried: a `commit`, "" if it is none, and its `tree`."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationStarted:
    """sq is about to run the verification commands. `task_id` is empty for the merged whole."""

    task_id: str
    tree: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFinished:
    """sq ran the verification commands on `tree`. Without commands there is no verification.

    `environment` is the fingerprint of their programs and set-up. `flaky` are tests that passed at the
    baseline, failed here, and do not count, by what `reruns` say: the tests that were run again.
    """

    task_id: str
    tree: str
    runs: tuple[CommandRun, ...]
    environment: str = ""
    flaky: tuple[str, ...] = ()
    reruns: tuple[TestReruns, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofsTaken:
    """Results of sq's checks of the tests themselves on `tree`. `task_id` is empty for the merged whole.

    The work began with the tree `base`.

    `objections` say why the work may not be accepted, `proofs` what speaks for it. `facts` are computed from
    the files. `only_prose`: the work changes documents alone, so there is no code to take out.
    `all_taken_out`: a command answered with all of the work taken out.
    """

    task_id: str
    tree: str
    base: str = ""
    objections: tuple[Objection, ...] = ()
    proofs: tuple[Proof, ...] = ()
    facts: WorkFacts | None = None
    only_prose: bool = False
    all_taken_out: bool = False

    @property
    def proven(self) -> bool:
        """Whether a test is known to fail without the work."""
        return any(one.needs_work for one in self.proofs)

    def of(self, check: str) -> list[Objection]:
        """Return the objections of one check that had an answer."""
        return [one for one in self.objections if one.check == check and one.weight is not Weight.UNKNOWN]

    @property
    def silent(self) -> list[Objection]:
        """The questions that had no answer."""
        return [one for one in self.objections if one.weight is Weight.UNKNOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandStarted:
    """A process of the project's is about to be started by sq: a command of a baseline, a set-up or a claim.

    `number` counts those of this process of sq. `purpose` is baseline, set-up, verification or proofs, and
    `about` what is asked with it. It is command `nth` of `of`, 0 if their number is not known before. There
    are some ten of these events for a claim, and none in an exchange with an agent. `part`: only some of its
    files of tests are run.
    """

    number: int
    command: str
    purpose: str
    task_id: str = ""
    about: str = ""
    part: bool = False
    nth: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnded:
    """The command of this number took so many seconds. `cut_off`: sq ended it before it had answered."""

    number: int
    task_id: str
    seconds: float
    cut_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAwaited:
    """A command waits until the machine has room for it beside those of this run that are running.

    `turn` numbers the waits of a process. `task_id` is empty for a command of the run itself.
    """

    turn: int
    task_id: str
    command: str
    behind: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken:
    """A command that waited begins, or is `given_up`."""

    turn: int
    task_id: str
    command: str
    given_up: bool = False


EvidenceEvent = (
    BaselineStarted
    | BaselineTaken
    | SetUpStarted
    | WorkspaceSetUp
    | WorkGiven
    | VerificationStarted
    | VerificationFinished
    | ProofsTaken
    | TurnAwaited
    | TurnTaken
    | CommandStarted
    | CommandEnded
)


WAITS = "wait for a turn"


@dataclass(frozen=True, slots=True)
class CommandsView:
    """Commands of the project that run or wait. `purpose` is as that of `CommandStarted`, or `WAITS`.

    With `started` it is one that runs, else some of which none runs now. `is_cut`: sq ended it.
    """

    purpose: str
    task_id: str
    commands: tuple[str, ...]
    at: datetime
    started: CommandStarted | None = None
    is_cut: bool = False


@dataclass(slots=True)
class BaselineView:
    """The newest baseline. `seq`: its place in the journal, 0 if none was taken.

    `of_analysis`: the commands of the analysis were asked for.
    """

    checks: dict[str, BaselineCheck] = field(default_factory=dict)  # by command
    tree: str = ""
    seq: int = 0
    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()  # commands that the analysis names
    exports: tuple[str, ...] = ()  # the variables of the commands, for a shell
    rewritten: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # checks that are not run, with the reasons
    of_analysis: bool = False


@dataclass(slots=True)
class EvidenceView:
    """Runs of the project's commands: those under way, and results. `…_at`: places in the journal.

    `took` are the seconds of the first run of each command that was not cut off.
    """

    commands: dict[str, CommandsView] = field(default_factory=dict)  # under way, by purpose and subject
    took: dict[str, float] = field(default_factory=dict)  # by command
    verifications: dict[str, VerificationFinished] = field(default_factory=dict)  # newest, by tree
    verified_at: dict[str, int] = field(default_factory=dict)  # by tree
    proofs: dict[tuple[str, str], ProofsTaken] = field(default_factory=dict)  # by task and tree
    proved_at: dict[tuple[str, str], int] = field(default_factory=dict)
    not_again: dict[str, None] = field(default_factory=dict)  # steps of set-ups that no sandbox could repeat
    not_set_up: dict[str, None] = field(default_factory=dict)  # steps that failed or lack their program
    seals: dict[str, str] = field(default_factory=dict)  # of what is kept of set-ups, by the key of the step
