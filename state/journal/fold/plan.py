"""The analysis and the plan, from their proposals to the tasks."""

from typing import assert_never

from state.journal import events as e
from state.journal.task_view import TaskView
from state.journal.view import RunView
from state.records.plan import Plan


def apply(view: RunView, event: e.PlanEvent) -> None:
    """Add an event of the analysis or the plan to the view of its run."""
    plan = view.plan
    match event:
        case e.AnalysisProposed():
            plan.proposed_analysis, plan.unusable = event.analysis, 0
        case e.AnalysisRejected():
            plan.proposed_analysis = None
            plan.analysis_rejections.append(event)
        case e.RepositoryAnalyzed():
            plan.analysis = event.analysis
            view.context.discoveries.extend(event.analysis.patterns)
        case e.PlanProposed():
            plan.proposed = Plan(
                tasks=event.tasks, criteria=event.criteria, tests_that_change=event.tests_that_change
            )
            plan.unusable = 0
        case e.PlanRejected():
            plan.proposed = None
            plan.rejections.append(event)
        case e.PlanAccepted():
            plan.criteria, plan.tests_that_change = event.criteria, event.tests_that_change
            plan.reviewed, plan.suggestions = event.reviewed, event.suggestions
            view.tasks = {task.id: TaskView(task) for task in event.tasks}
        case _:
            assert_never(event)
