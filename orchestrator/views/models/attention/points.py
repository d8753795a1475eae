"""All points of a run at which a person should look, most urgent first."""

from orchestrator.views.models.attention import demands, gaps
from orchestrator.views.models.attention.environment import surroundings
from orchestrator.views.models.attention.findings import findings, suggestions
from orchestrator.views.models.conclusions import Point
from orchestrator.views.models.criteria import CriterionRow
from orchestrator.views.models.history import RunFacts


def attention(story: RunFacts, rows: tuple[CriterionRow, ...]) -> tuple[Point, ...]:
    """Return the points of a run.

    Args:
        story: the run. Its messages are not needed.
        rows: its criteria.
    """
    points = [
        *demands.questions(story.view),
        *demands.criteria(story.view, rows),
        *demands.tasks(story),
        *findings(story),
        *suggestions(story),
        *gaps.checks(story),
        *gaps.proofs(story.view),
        *gaps.earlier_proofs(story),
        *surroundings(story),
    ]
    return tuple(sorted(points, key=lambda one: one.urgency))
