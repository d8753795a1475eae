"""Events of reviews: of a task, of a checkpoint, of the whole."""

from dataclasses import dataclass

from state.records import Finding, ReviewIssue, TestRuling


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecorded:
    """A usable review of `commit`. `task_id` is empty for the final review of the whole.

    In reviews before the build it is `analysis` or `plan`, and there is no commit. `issues` are those that
    prevent acceptance. `findings` are all of this and earlier reviews, with the state of each. `passed`:
    there are no `issues`. `tests` are rulings on the tests that the work changed.
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
class ReviewUnusable:
    """A reviewer made no usable report. `issue` is the parser's synthetic one, never sent to a Worker."""

    task_id: str
    attempt: int
    commit: str
    problem: str
    issue: ReviewIssue


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointReviewed:
    """A reviewer looked at work under way. Its findings go into the same session's next prompt.

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
class TaskReopened:
    """A failed review or merge sends a task back. Its findings go into the next attempt's prompt.

    `issues` are the same as they were reported.

    If the task has to be built on newer work, `base` is the new base commit and `start` the commit with whose
    content the workspace begins.
    """

    task_id: str
    issues: tuple[ReviewIssue, ...]
    by: str
    base: str = ""
    start: str = ""
    findings: tuple[Finding, ...] = ()


ReviewEvent = ReviewRecorded | ReviewUnusable | CheckpointReviewed | TaskReopened
