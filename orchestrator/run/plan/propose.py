"""propose: the planner hands in an analysis or a plan, and hears the problems until one holds.

The loop is the same for both: asked for, checked, reviewed if the effort says so, and asked for again. A
read-only session of a Reviewer makes the review.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import prompts
from agents.roles.planner import planner_session
from orchestrator.run.record import Run
from orchestrator.run.review.report import ReviewSubject, report_on
from state.errors import SqError
from state.journal.events.calls import CallView
from state.records.findings import ReviewIssue
from state.records.reviews import ReviewReport
from state.roles import Role
from state.settings.retry_limits import PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The review of a proposal: `problems` keep it from being accepted, `suggestions` do not."""

    problems: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    passed: bool = False


async def propose(
    run: Run, subject: str, rejected: int, folder: Path, prompt: Callable[[], Awaitable[str]]
) -> CallView:
    """Return the planner's call with its next proposal.

    Args:
        run: the run.
        subject: `analysis` or `plan`.
        rejected: how many proposals were rejected so far.
        folder: where the planner reads.
        prompt: makes the prompt.

    Raises:
        BudgetExhausted: it may not be paid for.
        ServiceError: no model can be asked at all.
    """
    spec_for = partial(planner_session, run.platform, subject=subject, attempt=1, workspace=folder)
    async with run.converse(run, role=Role.PLANNER, task_id=subject, attempt=1, spec_for=spec_for) as talk:
        return await talk.exchange(rejected + 1, prompt)


async def review(run: Run, subject: str, rejected: int, **values: object) -> Reviewed | None:
    """Return the review of a proposal, or None if there is no usable one yet. `values` are for its prompt.

    Raises:
        ReviewSilenceError: the reviewer did not report usably, twice.
    """
    report = await _review_proposal(run, subject, rejected + 1, f"review_{subject}", **values)
    if report is None:
        return None
    if report.passed:
        return Reviewed(suggestions=report.suggestions, passed=True)
    return Reviewed(problems=tuple(map(_problem_of, report.issues)), suggestions=report.suggestions)


def _problem_of(issue: ReviewIssue) -> str:
    """Return a finding about a proposal as a line for the planner."""
    about = " ".join(
        part for part in (issue.task_id, issue.location if issue.file != "unknown" else "") if part
    )
    return (f"{about}: " if about else "") + f"{issue.description} (fix: {issue.suggestion})"


async def _review_proposal(
    run: Run, subject_name: str, attempt: int, template: str, **values: object
) -> ReviewReport | None:
    """Return the review of an analysis or a plan, recorded, or None while there is no usable one.

    Args:
        run: the run.
        subject_name: `analysis` or `plan`: the name of its lane.
        attempt: the number of the proposal, from 1.
        template: the prompt's name.
        values: the prompt's values.

    Raises:
        ReviewSilenceError: the reviewer made no usable report, twice.
    """
    if run.view.plan.unusable >= PATIENCE.unusable_reports:
        raise ReviewSilenceError(
            f"the {subject_name} could not be reviewed: the reviewer did not report usably, "
            f"{PATIENCE.unusable_reports} times"
        )
    folder = await run.integration.show(run.view.whole.commit)
    subject = ReviewSubject(subject_name, attempt, "", folder, run.view.plan.unusable)

    async def prompt() -> str:
        return prompts.render(template, **values)

    return await report_on(run, subject, prompt)


class ReviewSilenceError(SqError):
    """A review that is required before any other step is missing."""
