"""plan: the spec as tasks. A plan is checked, and reviewed if the effort says so, before anyone believes it.

A failed one goes back to the planner with the problems and is never built.
"""

from datetime import UTC, datetime
from functools import partial

import prompts
from agents.roles.planner import PLAN, read_plan
from orchestrator.run.asking.briefing import at_the_base, decisions, described
from orchestrator.run.plan.analyze import propose, review
from orchestrator.run.plan.fit import fit_of, not_below
from orchestrator.run.plan.forecast import forecast
from orchestrator.run.plan.quotes import placed
from orchestrator.run.plan.rules import problems_of
from orchestrator.run.record import Run
from state.errors import AgentError
from state.journal.events import ForecastMade, PlanAccepted, PlanProposed, PlanRejected, RunEnded
from state.outcome import Outcome
from state.records.plan import Analysis, Plan, Task
from state.settings.presets import RETRY_LIMITS
from state.settings.records import Workflow
from state.words import fit_words

_TITLE_KEPT = 80


async def plan(run: Run) -> None:
    """Record a proposed plan, an accepted one, a rejected one, or that no acceptable plan came.

    Raises:
        AgentError: the planner could not be asked.
    """
    if run.settings.workflow is not Workflow.ORCHESTRATED:
        _accept(run, PlanAccepted(tasks=(_whole_spec(run.started.spec_text),), criteria=()))
        return
    if given := run.view.plan.before.plan:
        plan_of = Plan(
            tasks=given.tasks,
            criteria=given.criteria,
            tests_that_change=given.tests_that_change,
            readings=given.readings,
        )
        _accept(run, _accepted(plan_of, reviewed=given.reviewed, suggestions=given.suggestions))
        return
    if run.view.plan.proposed:
        await _review(run, run.view.plan.proposed)
        return
    rejections = run.view.plan.rejections
    if len(rejections) >= RETRY_LIMITS.proposals:
        cause = f"no acceptable plan after {len(rejections)} tries: " + "; ".join(rejections[-1].problems)
        run.record(RunEnded(outcome=Outcome.USAGE, cause=cause))
        return
    folder = await run.integration.show(run.view.whole.commit)
    call = await propose(run, PLAN, len(rejections), folder, partial(_prompt, run))
    if failure := call.failure:
        raise AgentError(f"the spec could not be planned: {failure}")
    if call.payload is None:
        run.record(PlanRejected(problems=("no plan was submitted: call `mcp__sq__submit_plan`",)))
        return
    proposed = placed(read_plan(call.payload), run.started.spec_text)
    if problems := problems_of(proposed, run.view.spec_words):
        run.record(PlanRejected(problems=tuple(one.text for one in problems)))
    elif run.effort.review_plan:
        run.record(
            PlanProposed(
                tasks=proposed.tasks,
                criteria=proposed.criteria,
                tests_that_change=proposed.tests_that_change,
                readings=proposed.readings,
            )
        )
    else:
        _accept(run, _accepted(proposed, reviewed=False))


def _accept(run: Run, accepted: PlanAccepted) -> None:
    """Record an accepted plan, and the forecast that it allows."""
    found = []
    if basis := run.forecast_basis:
        made = forecast(basis, run.settings, accepted.tasks)
        made = not_below(made, run.view, datetime.now(UTC), accepted.tasks)
        found = [ForecastMade(forecast=made)]
    run.record(accepted, *found)


def _accepted(proposed: Plan, *, reviewed: bool, suggestions: tuple[str, ...] = ()) -> PlanAccepted:
    return PlanAccepted(
        tasks=proposed.tasks,
        criteria=proposed.criteria,
        tests_that_change=proposed.tests_that_change,
        readings=proposed.readings,
        reviewed=reviewed,
        suggestions=suggestions,
    )


def _whole_spec(spec: str) -> Task:
    """The spec as one task, where nobody plans."""
    first = next((line.strip("# ").strip() for line in spec.splitlines() if line.strip("# ").strip()), "")
    return Task(id="spec", title=first[:_TITLE_KEPT], description="Build what the spec asks for, all of it.")


async def _review(run: Run, proposed: Plan) -> None:
    found = await review(
        run,
        PLAN,
        len(run.view.plan.rejections),
        spec=run.started.spec_text,
        analysis=_described(run),
        baseline=at_the_base(run.view),
        plan=proposed,
        decided=decisions(run.view),
        sent_back=run.view.plan.rejections[-1].problems if run.view.plan.rejections else (),
    )
    if found and found.passed:
        _accept(run, _accepted(proposed, reviewed=True, suggestions=found.suggestions))
    elif found:
        run.record(PlanRejected(problems=found.problems, suggestions=found.suggestions))


async def _prompt(run: Run) -> str:
    if rejected := run.view.plan.rejections:
        last = rejected[-1]
        return prompts.render("plan_rejected", problems=last.problems, suggestions=last.suggestions)
    now = datetime.now(UTC)
    fit = fit_of(run.view, now)
    return prompts.render(
        "plan",
        spec=run.started.spec_text,
        analysis=_described(run),
        baseline=at_the_base(run.view),
        in_worktree=run.settings.worktrees,
        decided=decisions(run.view),
        time=fit_words(fit, now) if fit else [],
    )


def _described(run: Run) -> str:
    return described(run.view.plan.analysis or Analysis(), commands=False)
