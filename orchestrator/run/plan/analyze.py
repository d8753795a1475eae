"""analyze: what the repository is, and the loop in which a planner hands in an analysis or a plan.

A proposal is asked for, checked, reviewed in a read-only session if the effort says so, and asked for again
with the problems until one holds. The Planner questions the spec in the same exchange. In
an empty repository it does nothing else.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import prompts
from agents.roles.planner import ANALYSIS, planner_session, read_analysis
from orchestrator.git.repository import tracked_files
from orchestrator.run.asking.briefing import at_the_base, described
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.plan.spec_check import FindingsDemanded, findings_in, numbered
from orchestrator.run.record import Run
from orchestrator.run.review.report import ReviewSubject, report_on
from state.errors import AgentError, ReviewSilenceError
from state.journal.events import AnalysisProposed, AnalysisRejected, RepositoryAnalyzed, SpecChecked
from state.journal.events.calls import CallView
from state.records.plan import Analysis
from state.records.reviews import ReviewIssue, ReviewReport
from state.records.spec_check import in_a_line
from state.roles import Role
from state.settings.presets import RETRY_LIMITS
from state.settings.records import Workflow

_FILES_SHOWN = 400


async def analyze(run: Run) -> None:
    """Record what the repository is, or what somebody says it is, or that there is nothing to read.

    Raises:
        AgentError: the planner could not be asked, or its analysis never passed the review.
    """
    if run.settings.workflow is not Workflow.ORCHESTRATED:
        skipped = f"the Worker looks for itself in workflow {run.settings.workflow}"
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped=skipped))
        return
    if run.view.plan.proposed_analysis:
        await _review(run, run.view.plan.proposed_analysis)
        return
    rejections = run.view.plan.analysis_rejections
    if len(rejections) >= RETRY_LIMITS.proposals:
        problems = "; ".join(rejections[-1].problems)
        raise AgentError(f"no acceptable analysis after {len(rejections)} tries: {problems}")
    folder = await run.integration.show(run.view.whole.commit)
    files = await tracked_files(folder)
    refuse = FindingsDemanded(run.started.spec_text)
    call = await propose(run, ANALYSIS, len(rejections), folder, partial(_prompt, run, files), refuse)
    if call.payload:
        checked = SpecChecked(findings=findings_in(call.payload, run.started.spec_text))
        run.record(checked, _analyzed(run, read_analysis(call.payload), is_empty=not files))
    elif failure := call.failure:
        raise AgentError(f"the repository could not be analyzed: {failure}")
    else:
        skipped = "the planner ended its turn without a report"
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped=skipped))


def _analyzed(run: Run, analysis: Analysis, *, is_empty: bool) -> AnalysisProposed | RepositoryAnalyzed:
    if is_empty:
        return RepositoryAnalyzed(analysis=Analysis(), skipped="the repository is empty")
    reviewed = run.effort.review_analysis and not run.settings.check_only
    return AnalysisProposed(analysis=analysis) if reviewed else RepositoryAnalyzed(analysis=analysis)


async def _review(run: Run, analysis: Analysis) -> None:
    rejected = len(run.view.plan.analysis_rejections)
    found = await review(run, ANALYSIS, rejected, analysis=described(analysis))
    if found and found.passed:
        run.record(RepositoryAnalyzed(analysis=analysis))
    elif found:
        run.record(AnalysisRejected(problems=found.problems))


async def _prompt(run: Run, files: list[str]) -> str:
    if rejected := run.view.plan.analysis_rejections:
        return prompts.render("analyze_again", problems=rejected[-1].problems)
    given = run.view.plan.before.check.answers
    shown = "\n".join(f"- {name}" for name in files[:_FILES_SHOWN])
    return prompts.render(
        "analyze",
        files=shown,
        limit=_FILES_SHOWN,
        baseline=at_the_base(run.view),
        spec=numbered(run.started.spec_text),
        answered=[f"{in_a_line(one.quote)} | {one.question} → {one.answer}" for one in given.answers]
        if given
        else [],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The review of a proposal: `problems` keep it from being accepted, `suggestions` do not."""

    problems: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    passed: bool = False


async def propose(
    run: Run,
    subject: str,
    rejected: int,
    folder: Path,
    prompt: Callable[[], Awaitable[str]],
    refuse: Callable[[str], str | None] | None = None,
) -> CallView:
    """Return the planner's call with its next proposal.

    Args:
        subject: `analysis` or `plan`.
        rejected: how many proposals were rejected so far.
        folder: where the planner reads.
        prompt: makes the prompt.
        refuse: given a report's JSON, returns why it has to be made anew, or None.

    Raises:
        BudgetExhausted: it may not be paid for.
        ServiceError: no model can be asked at all.
    """
    spec_for = partial(planner_session, run.platform, subject=subject, attempt=1, workspace=folder)
    async with Conversation(
        run, role=Role.PLANNER, task_id=subject, attempt=1, spec_for=spec_for, refuse=refuse
    ) as talk:
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
        subject_name: `analysis` or `plan`: the name of its caller.
        attempt: the number of the proposal, from 1.
        template: the prompt's name.
        values: the prompt's values.

    Raises:
        ReviewSilenceError: the reviewer made no usable report, twice.
    """
    if run.view.plan.unusable >= RETRY_LIMITS.unusable_reports:
        raise ReviewSilenceError(
            f"the {subject_name} could not be reviewed: the reviewer did not report usably, "
            f"{RETRY_LIMITS.unusable_reports} times"
        )
    folder = await run.integration.show(run.view.whole.commit)
    subject = ReviewSubject(subject_name, attempt, "", folder, run.view.plan.unusable)

    async def prompt() -> str:
        return prompts.render(template, **values)

    return await report_on(run, subject, prompt)
