"""The settings of a run with their times: those of its beginning, and the changes by `sq resume`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.words import columns, local_time
from state.journal import events as e
from state.journal.events import Stored
from state.settings.keys import KEYS, shown
from state.settings.kinds import Value
from state.settings.records import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSetting:
    """A value of a setting since an event of the run, which `since` names."""

    key: str
    value: Value
    since: str
    at: datetime


def held_settings(events: Iterable[Stored]) -> list[HeldSetting]:
    """Every value that applied in a run, oldest first. The last one of a key applies now."""
    held: list[HeldSetting] = []
    resumed = 0
    for stored in events:
        match stored.event:
            case e.RunStarted(settings=Settings() as settings):
                held += [
                    HeldSetting(key=key, value=value, since="the start", at=stored.at)
                    for key, value in _values(settings).items()
                ]
            case e.RunResumed() as event:
                resumed += 1
                held += [
                    HeldSetting(key=key, value=value, since=f"resume {resumed}", at=stored.at)
                    for key, value in _changed(event).items()
                ]
            case _:
                pass
    return held


def held_lines(held: Iterable[HeldSetting]) -> list[str]:
    """The values as a table."""
    rows = [(one.key, shown(one.value), one.since, local_time(one.at)) for one in held]
    return columns(("key", "value", "since", "time"), rows)


def _values(settings: Settings) -> dict[str, Value]:
    notices = tuple(f"{', '.join(one.on)}: {one.command or one.url}" for one in settings.outward.notify)
    return {
        "effort": settings.effort.name,
        **{key.name: key.value_in(settings) for key in KEYS.values() if key.path},
        **{f"models.{role}": model.name for role, model in settings.models.items()},
        "notify": notices,
    }


def _changed(event: e.RunResumed) -> dict[str, Value]:
    found: dict[str, Value] = {
        "verify": event.verify,
        "questions": str(event.questions) if event.questions else None,
        "sandbox": str(event.sandbox_mode) if event.sandbox_mode else None,
        "budget": event.budget_usd,
        "max_iterations": event.max_iterations,
        **{f"models.{role}": model.name for role, model in event.models.items()},
    }
    return {key: value for key, value in found.items() if value is not None}
