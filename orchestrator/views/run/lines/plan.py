"""Lines of the analysis and the plan."""

from typing import assert_never

from orchestrator.views.words import plan_lines, short, suggested
from state.journal import events as e


def lines(event: e.PlanEvent) -> list[str]:
    """The lines that an event of the plan adds to the story."""
    match event:
        case e.AnalysisRejected():
            return _analysis_rejected(event)
        case e.RepositoryAnalyzed():
            return _analyzed(event)
        case e.PlanRejected():
            return _plan_rejected(event)
        case e.PlanAccepted():
            return _plan_accepted(event)
        case e.AnalysisProposed() | e.PlanProposed():
            return []
        case _:
            assert_never(event)


def _analysis_rejected(event: e.AnalysisRejected) -> list[str]:
    return ["the analysis goes back to the planner:", *(f"    {problem}" for problem in event.problems)]


def _analyzed(event: e.RepositoryAnalyzed) -> list[str]:
    if event.skipped:
        return [f"analysis: skipped, {event.skipped}"]
    return [f"analysis: {event.analysis.project_type} ({', '.join(event.analysis.stack)})"]


def _plan_rejected(event: e.PlanRejected) -> list[str]:
    problems = [f"    {problem}" for problem in event.problems]
    return ["plan: sent back to the planner", *problems, *suggested(event.suggestions)]


def _plan_accepted(event: e.PlanAccepted) -> list[str]:
    counted = f"plan: {len(event.tasks)} task(s), {len(event.criteria)} criteria covered"
    unplaced = [
        f"    {one.id} is not in the spec in these words: {short(one.quote or one.text)}"
        for one in event.criteria
        if not one.is_placed
    ]
    return [counted, *plan_lines(event.tasks), *unplaced, *suggested(event.suggestions)]
