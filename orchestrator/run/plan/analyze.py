"""analyze: what the repository is. Skipped where there is nothing to read; reviewed if the effort says so."""

from functools import partial

import prompts
from agents.roles.planner import ANALYSIS, planner_session, read_analysis
from orchestrator.git.repository import tracked_files
from orchestrator.run.asking.briefing import at_the_base, described
from orchestrator.run.asking.conversation import Conversation, failure_of
from orchestrator.run.record import Run
from orchestrator.run.review.review import review_proposal
from state.errors import AgentError
from state.journal.events import AnalysisProposed, AnalysisRejected, RepositoryAnalyzed
from state.records import Analysis, ReviewIssue, Role
from state.settings.records import Workflow

MAX_REJECTIONS = 3  # the first and two corrected ones
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
    if len(rejections) >= MAX_REJECTIONS:
        problems = "; ".join(rejections[-1].problems)
        raise AgentError(f"no acceptable analysis after {len(rejections)} tries: {problems}")
    folder = await run.workspaces.show(run.view.whole.commit)
    files = await tracked_files(folder)
    if not files:
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped="the repository is empty"))
        return
    spec_for = partial(planner_session, run.platform, subject=ANALYSIS, attempt=1, workspace=folder)
    async with Conversation(run, role=Role.PLANNER, task_id=ANALYSIS, attempt=1, spec_for=spec_for) as talk:
        ended = [call for call in talk.calls if call.end]
        if len(ended) > len(rejections):
            call = ended[len(rejections)]
        else:
            call = await talk.ask(_prompt(run, files), iteration=len(rejections) + 1)
    if call.payload:
        analysis = read_analysis(call.payload)
        reviewed = run.effort.review_analysis
        run.record(AnalysisProposed(analysis=analysis) if reviewed else RepositoryAnalyzed(analysis=analysis))
    elif failure := failure_of(call):
        raise AgentError(f"the repository could not be analyzed: {failure}")
    else:
        skipped = "the planner ended its turn without a report"
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped=skipped))


async def _review(run: Run, analysis: Analysis) -> None:
    attempt = len(run.view.plan.analysis_rejections) + 1
    report = await review_proposal(run, ANALYSIS, attempt, "review_analysis", analysis=described(analysis))
    if report and report.passed:
        run.record(RepositoryAnalyzed(analysis=analysis))
    elif report:
        run.record(AnalysisRejected(problems=tuple(map(problem_of, report.issues))))


def problem_of(issue: ReviewIssue) -> str:
    """A finding about a proposal, in a line for the planner."""
    about = " ".join(
        part for part in (issue.task_id, issue.location if issue.file != "unknown" else "") if part
    )
    return (f"{about}: " if about else "") + f"{issue.description} (fix: {issue.suggestion})"


def _prompt(run: Run, files: list[str]) -> str:
    if rejected := run.view.plan.analysis_rejections:
        return prompts.render("analyze_again", problems=rejected[-1].problems)
    shown = "\n".join(f"- {name}" for name in files[:_FILES_SHOWN])
    return prompts.render("analyze", files=shown, limit=_FILES_SHOWN, baseline=at_the_base(run.view))
