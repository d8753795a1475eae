"""Every fact of a run: frozen, in the past tense. How they are stored: `state.journal.codec`."""

from dataclasses import dataclass, field
from typing import get_args

from state.outcome import Outcome
from state.records import (
    Analysis,
    Answer,
    BaselineCheck,
    CallEnd,
    CanaryResult,
    CommandRun,
    Criterion,
    Finding,
    GivenAnswer,
    HandOver,
    Message,
    Question,
    ReviewIssue,
    Role,
    Task,
    TestChange,
    TestRuling,
    TestThatChanges,
    Usage,
)
from state.settings.records import Model, OnQuestion, Settings
from state.verdicts import CheckResult, Verdict

NO_USAGE = Usage()

# --- the run -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began; everything that was asked of it, so that it can be resumed without its command line.

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
    effort: str
    verify: tuple[str, ...]
    rehearsal: str | None
    credentials: str
    containment: str
    sq_version: str
    notes: tuple[str, ...] = ()
    settings: Settings | None = None
    edit_dirty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """Another process took the run up again; with other limits and settings where they were given.

    `retry` are tasks that had ended without being merged and are tried again. `verify`, `models` and
    `questions` take the place of those settings from here on; None and empty: as before.
    """

    containment: str
    budget_usd: float | None = None
    max_iterations: int | None = None
    retry: tuple[str, ...] = ()
    verify: tuple[str, ...] | None = None
    models: dict[Role, Model] = field(default_factory=dict)
    questions: OnQuestion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInterrupted:
    """The run was asked to stop (`by` names the signal) and saved its state."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run reached an outcome; `cause` is why it is not complete. `resumable`: a resume may go on."""

    outcome: Outcome
    cause: str
    resumable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """The run's budget or time is used up: no model is asked any more; what is merged is brought home."""

    cause: str


# --- calls: exchanges with a model -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A prompt is about to be sent: stored first, since it may cost money.

    `planning`: the agent makes a plan and writes nothing. `subject` tells conversations of one role about one
    attempt apart. `reserved_usd` is what it will probably cost, `allowed_usd` what its session may spend.
    """

    call_id: str
    role: Role
    task_id: str
    attempt: int
    iteration: int
    session_id: str
    model: str
    prompt: str
    system: str = ""
    reserved_usd: float = 0.0
    planning: bool = False
    subject: str = ""
    allowed_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetried:
    """A try of a call failed in a way that may pass; after `wait_s` it is tried again.

    Whoever else asks waits as long: `wait_s` counts from this event's time. `cost_usd`: of the failed try.
    """

    call_id: str
    end: CallEnd
    detail: str
    wait_s: float
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInterrupted:
    """A call was cut off when the run stopped; it stays open. `cost_usd` is what it had cost by then."""

    call_id: str
    cost_usd: float
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResumed:
    """A call that had started and not ended is asked to go on, in the same session where there is one."""

    call_id: str
    session_id: str
    prompt: str
    reserved_usd: float = 0.0
    allowed_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """One message went by in a session."""

    call_id: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceived:
    """An agent reported through one of its typed tools. `payload` is the checked input as JSON."""

    call_id: str
    name: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRefused:
    """A tool call was refused by policy; the agent was told why."""

    call_id: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call is over. `cost_usd` is what the CLI or the price list says; `answer` an asked call's JSON."""

    call_id: str
    end: CallEnd
    detail: str = ""
    api_status: int | None = None
    cost_usd: float = 0.0
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    turns: int = 0
    answer: str = ""


# --- the baseline ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStarted:
    """sq is about to run the verification commands on the commit that the run starts from."""

    tree: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTaken:
    """What the verification commands say before any agent has changed anything.

    `tree` is what they ran on, `environment` the fingerprint of the programs and the set-up they ran with.
    `notes` say what was left out and why. `of_analysis`: these are the commands that the analysis named, in
    addition to what an earlier event of this kind holds.
    """

    tree: str
    environment: str
    checks: tuple[BaselineCheck, ...]
    notes: tuple[str, ...] = ()
    of_analysis: bool = False


# --- analysis and plan -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryAnalyzed:
    """The repository was read (or, where `skipped` says why, was not)."""

    analysis: Analysis
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisProposed:
    """The repository was read; the effort has the result reviewed before anyone builds on it."""

    analysis: Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRejected:
    """A reviewer does not accept the proposed analysis; the problems go back to the planner."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed:
    """A plan holds together; the effort has it reviewed before it is built."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected:
    """A proposed plan does not hold; the problems and a reviewer's suggestions go back to the planner."""

    problems: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted:
    """A proposed plan was checked and holds. `reviewed`: a reviewer accepted it, with these `suggestions`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]
    tests_that_change: tuple[TestThatChanges, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


# --- tasks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    """A task got its branch and worktree, made from `base_commit`."""

    task_id: str
    branch: str
    worktree: str
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStarted:
    """A worktree is about to be made ready by these steps, each a command and the file that asks for it."""

    task_id: str
    folder: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSetUp:
    """A worktree got the ignored files that the configuration names, and what its project needs.

    `task_id` is empty for a worktree of sq's own. A command of the user's that failed is the last of `runs`.
    `again` are folders that an earlier set-up made and that were copied; `left_out` says which steps could
    not be done.
    """

    task_id: str
    folder: str
    copied: tuple[str, ...]
    runs: tuple[CommandRun, ...]
    again: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """What an attempt that is over leaves to the next one."""

    task_id: str
    attempt: int
    notes: HandOver


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """A new Worker session begins on a task; `tree` is what the workspace holds then."""

    task_id: str
    attempt: int
    session_id: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationMeasured:
    """What an iteration left: the progress check looks at content, not claims.

    `error` is the last error that a tool reported in it, numbers aside; empty where there was none.
    """

    task_id: str
    attempt: int
    iteration: int
    tree: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationStarted:
    """sq is about to run the verification commands. `task_id` is empty for the merged whole."""

    task_id: str
    tree: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFinished:
    """sq ran the verification commands on `tree`. No commands: there is nothing to verify with.

    `environment` is the fingerprint of the programs and the set-up they ran with. `flaky` are tests that
    passed at the baseline, failed here, and changed their mind when they were run alone.
    """

    task_id: str
    tree: str
    runs: tuple[CommandRun, ...]
    environment: str = ""
    flaky: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofsTaken:
    """What sq found out about the tests themselves on `tree`; `task_id` is empty for the merged whole.

    `changes` are tests of the base that no longer count as they were, `unproven` those that the work adds or
    changes and that pass without it too; `proven`: of another command's, one fails without it. `canaries`:
    whether commands notice a test that fails. `untold` says which of these questions could not be answered,
    and why. `only_here` are commands that pass in the checkout and not on a clean copy of the same files.
    `seconds` is what the commands took for all this.
    """

    task_id: str
    tree: str
    changes: tuple[TestChange, ...] = ()
    unproven: tuple[str, ...] = ()
    proven: bool = False
    canaries: tuple[CanaryResult, ...] = ()
    untold: tuple[str, ...] = ()
    only_here: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided:
    """A completion gate answered a Worker's claim."""

    task_id: str
    attempt: int
    iteration: int
    gate: str
    verdict: Verdict
    reason: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksDecided:
    """Power steering looked at a Worker's session: what each consideration found."""

    task_id: str
    attempt: int
    iteration: int
    results: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionAccepted:
    """All completion gates let a Worker's claim stand, for exactly this tree."""

    task_id: str
    attempt: int
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRefused:
    """A completion gate blocked; `feedback` is the next prompt in the same session."""

    task_id: str
    attempt: int
    iteration: int
    feedback: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommitted:
    """sq committed a task's verified tree on its branch."""

    task_id: str
    attempt: int
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecorded:
    """A usable review of `commit`. `task_id` is empty for the final review of the whole.

    Reviews before the build have `analysis` or `plan` there, and no commit. `issues` are those that stand in
    the way; `findings` are all of this and earlier reviews, with what became of each. `passed`: there is no
    such issue. `tests` rule on the tests that the work changed.
    """

    task_id: str
    attempt: int
    commit: str
    passed: bool
    issues: tuple[ReviewIssue, ...]
    suggestions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    tests: tuple[TestRuling, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointReviewed:
    """A reviewer looked at work under way; its findings go into the same session's next prompt.

    `findings` are all that are known of the task now. `problem`: why there is no usable report.
    """

    task_id: str
    attempt: int
    iteration: int
    tree: str
    issues: tuple[ReviewIssue, ...] = ()
    findings: tuple[Finding, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewUnusable:
    """A reviewer did not report usably; `issue` is the parser's synthetic one, never sent to a Worker."""

    task_id: str
    attempt: int
    commit: str
    problem: str
    issue: ReviewIssue


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReopened:
    """A failed review or merge sends a task back; its issues go into the next attempt's prompt.

    Where it has to be built on newer work, `base` is the commit it is built on and `start` the one whose
    content the workspace begins with.
    """

    task_id: str
    issues: tuple[ReviewIssue, ...]
    by: str
    base: str = ""
    start: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStarted:
    """A reviewed commit is about to be merged onto `onto`, the newest merged work: one at a time."""

    task_id: str
    commit: str
    onto: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeConflicted:
    """Git cannot merge these paths by itself; a resolver session does, in the integration worktree."""

    task_id: str
    commit: str
    onto: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionRefused:
    """The resolver's claim does not hold: git, the files or the verification say otherwise."""

    task_id: str
    commit: str
    onto: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeBuilt:
    """The merged commit exists and passes the verification; the run's branch is about to move to it.

    `united` are files to which both sides only added lines at the same places: both additions are kept.
    `summary` is what the Resolver of its conflict says of the resolution, `noticed` what of other code.
    """

    task_id: str
    commit: str
    tree: str
    onto: str
    united: tuple[str, ...] = ()
    summary: str = ""
    noticed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFailed:
    """A merge was given up and undone: the run's branch stands where it stood."""

    task_id: str
    commit: str
    onto: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMerged:
    """A task's work is part of the run's branch, as `commit` on `onto` (empty: on the task's base)."""

    task_id: str
    commit: str
    tree: str
    onto: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStuck:
    """A task cannot move; what depends on it does not start."""

    task_id: str
    reason: str
    limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed:
    """An agent or the infrastructure failed for good while on this task."""

    task_id: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUnverified:
    """A check that should have answered did not; the task is not merged."""

    task_id: str
    reason: str


# --- questions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAsked:
    """A Worker asked; `ask_id` is the id of its tool call. `plain`: at the end of a turn, without the tool.

    `again` are the questions with which the Worker rejects earlier answers, `rejects`. `tree` is the content
    of the workspace as the questions came.
    """

    ask_id: str
    call_id: str
    task_id: str
    questions: tuple[Question, ...]
    plain: bool = False
    again: tuple[str, ...] = ()
    rejects: tuple[GivenAnswer, ...] = ()
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAnswered:
    """Each question of one call has its own answer, made by call `by`.

    `reused`: given before a crash, or to the same question of another session (`reused_from`).
    """

    ask_id: str
    answers: tuple[Answer, ...]
    model: str
    reused: bool = False
    reused_from: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsFailed:
    """A call's questions were not answered. `final`: the exchange ends; else the Worker may ask better."""

    ask_id: str
    cause: str
    final: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsParked:
    """A question is left to a person: it cannot be undone and the spec does not cover it.

    `answers` are what the Developer would have said.
    """

    ask_id: str
    question: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceGiven:
    """At a checkpoint the Developer looked at the progress; an empty `guidance` changes nothing."""

    task_id: str
    attempt: int
    iteration: int
    guidance: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRescued:
    """Unfinished work of a task was in the way and is kept as `commit` under `ref`."""

    task_id: str
    ref: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersWorkKept:
    """Without worktrees: a copy of all uncommitted work in the checkout was made, `commit` under `ref`.

    `base` is a commit of the whole checkout as it was, from which the run's own changes count. It is empty if
    the copy was made anew when the run was resumed. `ignored` is the number of ignored files that were copied
    into the run's folder, `not_kept` why there are none.
    """

    ref: str
    commit: str
    base: str
    paths: tuple[str, ...]
    ignored: int = 0
    not_kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersWorkRestored:
    """What had changed of the user's uncommitted work was put back; afterwards the checkout holds `tree`.

    `ref` keeps the other version of the files `overwritten`, and commits that an agent made. `indexes` and
    `heads` name the repositories (`.`: the checkout) whose index, or HEAD and branch, were put back,
    `elsewhere` those whose HEAD the user has moved. `ignored` are ignored files that were put back; the other
    versions are in the folder `replaced`. `problem`: why something could not be put back.
    """

    tree: str
    task_id: str = ""
    paths: tuple[str, ...] = ()
    overwritten: tuple[str, ...] = ()
    ref: str = ""
    indexes: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    replaced: str = ""
    problem: str = ""


# --- the end -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCaughtUp:
    """The finished work was merged with what the user committed meanwhile (`onto`), and verified as that."""

    onto: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryStarted:
    """The user's branch is about to be moved to the finished work, if the checkout allows it."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDelivered:
    """The user's branch was moved to the finished work."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLeft:
    """The finished work is in the checkout, neither staged nor committed; `commit` holds the same tree."""

    ref: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkKept:
    """The finished work stays on sq's branch: why, and how to take it over."""

    branch: str
    commit: str
    reason: str


Event = (
    RunStarted | RunResumed | RunInterrupted | LimitReached | RunEnded
    | CallStarted | CallRetried | CallInterrupted | CallResumed
    | MessageReceived | SignalReceived | ActionRefused | CallEnded
    | BaselineStarted | BaselineTaken
    | AnalysisProposed | AnalysisRejected | RepositoryAnalyzed | PlanProposed | PlanRejected | PlanAccepted
    | TaskStarted | SetUpStarted | WorkspaceSetUp | HandedOver | AttemptStarted | IterationMeasured
    | VerificationStarted | VerificationFinished | ProofsTaken
    | GateDecided | ChecksDecided | CompletionAccepted | CompletionRefused | TaskCommitted
    | ReviewRecorded | ReviewUnusable | CheckpointReviewed | TaskReopened
    | MergeStarted | MergeConflicted | ResolutionRefused | MergeBuilt | MergeFailed | TaskMerged
    | TaskStuck | TaskFailed | TaskUnverified
    | QuestionsAsked | QuestionsAnswered | QuestionsFailed | QuestionsParked | GuidanceGiven
    | UsersWorkKept | UsersWorkRestored
    | WorkRescued | WorkCaughtUp | DeliveryStarted | WorkDelivered | WorkLeft | WorkKept
)  # fmt: skip

EVENTS: tuple[type, ...] = get_args(Event)
