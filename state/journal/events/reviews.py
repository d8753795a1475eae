"""Events of reviews: of a task, of a checkpoint, of the whole."""

from dataclasses import dataclass

from state.records import Finding, ReviewIssue, TestRuling


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
class ReviewUnusable:
    """A reviewer did not report usably; `issue` is the parser's synthetic one, never sent to a Worker."""

    task_id: str
    attempt: int
    commit: str
    problem: str
    issue: ReviewIssue


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


ReviewEvent = ReviewRecorded | ReviewUnusable | CheckpointReviewed | TaskReopened
