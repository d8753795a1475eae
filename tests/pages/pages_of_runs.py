"""The pages of a run as a browser meets them, and runs whose every text is hostile."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum

from language.large_runs import RUN_ID, twelve_tasks

from state.settings.records import Model

RUN = f"/run/{RUN_ID}"
LONG = "20260131-150000-long"  # another run, in which nothing needs a person
REGIONS = (
    *(
        "r-head",
        "r-needs",
        "r-words",
        "r-asked",
        "r-criteria",
        "r-tasks",
        "r-look",
        "r-commands",
        "r-findings",
    ),
    *("r-time", "r-cost", "r-feed"),
)
PAGES = (
    "/",
    RUN,
    f"{RUN}/task/mail",
    f"{RUN}/task/prices?attempt=1",
    f"{RUN}/task/accounts",
    f"{RUN}/decisions",
    f"{RUN}/events",
    f"{RUN}/call/call-3",
    f"{RUN}/event/1",
    f"{RUN}/report",
)


def axe_violations(page, axe):
    """The violations of WCAG 2.2 AA in a page, each with its rule and the elements."""
    page.add_script_tag(path=str(axe))
    found = page.evaluate(
        """async () => (await axe.run(document, {runOnly: {type: 'tag',
        values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}})).violations"""
    )
    return [f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}" for one in found]


def hostile_run(texts):
    """The events of a run in which each text has one of these texts at its end, the same text the same one."""
    given = iter(texts)
    known: dict[str, str] = {}

    def words(value):
        if value not in known:
            known[value] = value + next(given, "")
        return known[value]

    return [replace(stored, event=_changed(stored.event, words)) for stored in twelve_tasks()]


def hostile_runs(texts):
    """Runs that together hold all of these texts."""
    size = len({text for stored in twelve_tasks() for text in _texts(stored.event)})
    return [hostile_run(texts[begin : begin + size]) for begin in range(0, len(texts), size)]


def _changed(value, change: Callable[[str], str]):
    if isinstance(value, str):
        return value if isinstance(value, StrEnum) or not value else change(value)
    if isinstance(value, tuple):
        return tuple(_changed(part, change) for part in value)
    if isinstance(value, dict):
        return {_changed(key, change): _changed(part, change) for key, part in value.items()}
    if is_dataclass(value):
        names = [one.name for one in fields(value) if not (isinstance(value, Model) and one.name == "effort")]
        return replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    return value


def _texts(value):
    found = []
    _changed(value, lambda text: found.append(text) or text)
    return found
