"""The templates of the page: their engine with local times, and the report's sections as regions.

The sections have the same records and macros as in the report, with fewer rows. A page stays below 5,000
elements whatever the size of a run.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from orchestrator.views.html.environment import environment, lines
from orchestrator.views.html.sections import (
    LIMITS,
    clipper,
    decided_for,
    each_text,
    gaps_in,
    grouped,
    merged_commits,
)
from orchestrator.views.models.criteria import CriterionState, counted, criteria_of, facts_of, verified_seq
from orchestrator.views.models.decisions import decisions_of, spec_questions
from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.points import attention, findings_by_state, found_before
from orchestrator.views.models.spend import by_model, by_role, by_task, spending
from orchestrator.views.models.timeline import timeline
from orchestrator.views.models.work import recorded_work
from orchestrator.views.words import time_of_day
from state.hidden import without_codes

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


TEMPLATES = Path(__file__).parent / "templates"
LONG = 4000  # characters of a text that are shown at once


@cache
def engine() -> "Environment":
    made = environment(TEMPLATES)
    made.filters |= {
        "clock": time_of_day,
        "cut": cut,
        "millis": millis,
        "moment": moment,
        "part": part,
        "without_codes": without_codes,
    }
    made.tests["long"] = lambda text: len(text) > LONG
    return made


def rendered(template: str, /, **values: object) -> str:
    """Return a template with these values."""
    return engine().get_template(f"{template}.html.j2").render(values)


def moment(at: datetime) -> str:
    """Return the local date and time, to the minute."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def millis(at: datetime) -> str:
    """Return milliseconds since 1970, as scripts count time."""
    return str(round(at.astimezone(UTC).timestamp() * 1000))


def part(text: str) -> str:
    """Return a text as one part of an address."""
    return quote(text, safe="")


def cut(text: str, limit: int = LONG) -> "Markup":
    """Return a text of several lines. Its end is left out if it is long, and the text says so."""
    if len(text) <= limit:
        return lines(text)
    return lines(f"{text[:limit]}\n… {len(text) - limit:,} more characters")


_MOST_CRITERIA, _MOST_COMMANDS, _MOST_FINDINGS = 40, 20, 40
_MOST_POINTS, _MOST_DECISIONS, _MOST_SPENDERS = 60, 100, 40
_MOST_BARS, _MOST_LANES, _MOST_FOLDS = 400, 40, 12
_FIRST = (CriterionState.NOT_MET, CriterionState.NOT_CHECKED, CriterionState.UNDER_WAY)
_T = TypeVar("_T")


def criteria_regions(story: RunFacts, run_id: str) -> dict[str, str]:
    """Return the criteria of the spec, counted and in full. Of very many the urgent ones are kept."""
    rows, most = criteria_of(story.view), _MOST_CRITERIA
    shown = rows if len(rows) <= most else sorted(rows, key=lambda row: row.state not in _FIRST)[:most]
    commits, decided = merged_commits(recorded_work(story.view)), decided_for(rows, decisions_of(story.view))
    return {
        **_region(run_id, "asked", len(rows), rows=rows, counts=counted(rows)),
        **_region(run_id, "criteria", len(rows), most, rows=tuple(shown), commits=commits, decided=decided),
    }


def evidence_regions(story: RunFacts, run_id: str) -> dict[str, str]:
    """Return the places where a person should look, the commands on the merged work, and the findings."""
    view = story.view
    points, commands = attention(story, criteria_of(view)), facts_of(view)
    findings, before = findings_by_state(story), tuple(found_before(story))
    return {
        **_region(
            run_id,
            "look",
            len(points),
            _MOST_POINTS,
            groups=grouped(points[:_MOST_POINTS]),
            number=len(points),
        ),
        **_region(
            run_id,
            "commands",
            len(commands),
            _MOST_COMMANDS,
            rows=commands[:_MOST_COMMANDS],
            whole=view.whole,
            verified_seq=verified_seq(view),
        ),
        **_region(
            run_id,
            "findings",
            len(findings) + len(before),
            _MOST_FINDINGS,
            rows=tuple(findings[:_MOST_FINDINGS]),
            before=before[: max(0, _MOST_FINDINGS - len(findings))],
        ),
    }


def decided_regions(story: RunFacts, run_id: str) -> dict[str, str]:
    """Return the decisions without the user, and the gaps in the evidence."""
    rows, gaps = decisions_of(story.view), gaps_in(attention(story, criteria_of(story.view)))
    order = sorted(range(len(rows)), key=lambda number: (not rows[number].parked, -number))
    kept = sorted(order[:_MOST_DECISIONS])  # those for a person, and the newest
    asked, is_checked = spec_questions(story.view), story.view.plan.before.check.seq > 0
    return {
        **_region(run_id, "spec_questions", int(is_checked), questions=asked[:_MOST_DECISIONS]),
        **_region(
            run_id, "decisions", max(1, len(rows)), _MOST_DECISIONS, rows=tuple(rows[one] for one in kept)
        ),
        **_region(run_id, "unchecked", max(1, len(gaps)), _MOST_POINTS, gaps=tuple(gaps[:_MOST_POINTS])),
    }


def amount_regions(story: RunFacts, run_id: str, until: datetime) -> dict[str, str]:
    """Return the time and the cost of the run. Spans that go on end at `until`."""
    count = max(1, min(_MOST_LANES, len(story.view.tasks) + 1))
    time, spent = timeline(story, until, most_bars=_MOST_BARS // count), spending(story.view)
    folds, rows, most = time.folds, spent.rows, _MOST_SPENDERS
    if len(folds) > _MOST_FOLDS:
        folds = tuple(sorted(folds, key=lambda fold: -fold.seconds)[:_MOST_FOLDS])
    if len(rows) > most:
        rows = tuple(sorted(rows, key=lambda row: -row.cost_usd)[:most])
    shown = replace(time, lanes=time.lanes[:_MOST_LANES], folds=folds)
    totals = {"by task": by_task(spent)[:most], "by model": by_model(spent)[:most]}
    return {
        **_region(run_id, "time", len(time.lanes), _MOST_LANES, shown=shown),
        **_region(
            run_id,
            "cost",
            len(spent.rows),
            _MOST_SPENDERS,
            spent=replace(spent, rows=rows),
            by_role=by_role(spent)[:most],
            totals=totals,
        ),
    }


def links(run_id: str) -> dict[str, object]:
    """Return the functions that make the addresses of the pages of a run, by their names in templates."""
    at = f"/run/{part(run_id)}"
    sections = {"decisions": f"{at}/decisions", "tasks": f"{at}#r-tasks", "criteria": f"{at}#r-criteria"}
    return {
        "live": True,
        "run": run_id,
        "event_href": lambda seq: f"{at}/events?after={max(0, seq - 1)}#seq-{seq}",
        "word_href": f"{at}/word",
        "spec_href": f"{at}/report#spec-{{}}".format,
        "section_href": sections.__getitem__,
        "task_href": lambda task_id: f"{at}/task/{part(task_id)}",
        "changes_href": lambda commit: f"{at}/diff/{part(commit)}",
        "call_href": lambda call_id: f"{at}/call/{part(call_id)}",
    }


def renderer(run_id: str) -> Callable[..., str]:
    """Return a function that renders a template of the page of this run with some values."""
    return partial(rendered, **links(run_id))


def fitting(value: _T, run_id: str) -> _T:
    """Return a record with its long texts cut, as a report cuts them."""
    return each_text(value, clipper(LIMITS.text, f"`sq logs {run_id}` has all"))


def _region(run_id: str, name: str, count: int, most: int = 0, **values: object) -> dict[str, str]:
    """Return a region, which is hidden if `count` is 0. It says how many rows more than `most` there are."""
    html = renderer(run_id)(
        "region",
        name=name,
        is_shown=count > 0,
        more=max(0, count - most) if most else 0,
        values={key: fitting(value, run_id) for key, value in values.items()},
    )
    return {f"r-{name}": html}
