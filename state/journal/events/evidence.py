"""Events of the project's own commands: baseline, set-up, verification, proofs."""

from dataclasses import dataclass

from state.records import BaselineCheck, CanaryResult, CommandRun, TestChange


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


EvidenceEvent = (
    BaselineStarted
    | BaselineTaken
    | SetUpStarted
    | WorkspaceSetUp
    | VerificationStarted
    | VerificationFinished
    | ProofsTaken
)
