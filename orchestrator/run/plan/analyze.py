"""analyze: what the repository is. Skipped where there is nothing to read; reviewed if the effort says so."""

from functools import partial

import prompts
from agents.roles.planner import ANALYSIS, read_analysis
from orchestrator.git.repository import tracked_files
from orchestrator.run.asking.briefing import at_the_base, described
from orchestrator.run.plan.propose import propose, review
from orchestrator.run.record import Run
from state.errors import AgentError
from state.journal.events import AnalysisProposed, AnalysisRejected, RepositoryAnalyzed
from state.records.plan import Analysis
from state.settings.records import Workflow
from state.settings.retry_limits import PATIENCE

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
    if len(rejections) >= PATIENCE.proposals:
        problems = "; ".join(rejections[-1].problems)
        raise AgentError(f"no acceptable analysis after {len(rejections)} tries: {problems}")
    folder = await run.integration.show(run.view.whole.commit)
    files = await tracked_files(folder)
    if not files:
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped="the repository is empty"))
        return
    call = await propose(run, ANALYSIS, len(rejections), folder, partial(_prompt, run, files))
    if call.payload:
        analysis = read_analysis(call.payload)
        reviewed = run.effort.review_analysis
        run.record(AnalysisProposed(analysis=analysis) if reviewed else RepositoryAnalyzed(analysis=analysis))
    elif failure := call.failure:
        raise AgentError(f"the repository could not be analyzed: {failure}")
    else:
        skipped = "the planner ended its turn without a report"
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped=skipped))


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
    shown = "\n".join(f"- {name}" for name in files[:_FILES_SHOWN])
    return prompts.render("analyze", files=shown, limit=_FILES_SHOWN, baseline=at_the_base(run.view))
