"""The settings of a run with their times: those of its beginning, and the changes by `sq resume`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.words import columns
from state.journal import events as e
from state.journal.events import Stored
from state.settings.keys import AUTO, shown
from state.settings.records import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSetting:
    """A value of a setting since an event of the run, which `since` names."""

    key: str
    value: bool | int | float | str | tuple[str, ...] | None
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
    rows = [
        (one.key, shown(one.value), one.since, f"{one.at.astimezone():%Y-%m-%d %H:%M:%S}") for one in held
    ]
    return columns(("key", "value", "since", "time"), rows)


def _values(settings: Settings) -> dict[str, bool | int | float | str | tuple[str, ...] | None]:
    return {
        "effort": settings.effort.name,
        "workflow": str(settings.workflow),
        "questions": str(settings.questions),
        "context_window": settings.context_window,
        "worktrees": settings.worktrees,
        "max_parallel": settings.max_parallel,
        "gateway": settings.gateway,
        "gateway.first_party": AUTO if settings.first_party is None else settings.first_party,
        "merge": settings.merge,
        "merge_unverified": settings.merge_unverified,
        "verify": settings.verify,
        "max_iterations": settings.limits.max_iterations,
        "budget": settings.budget_run_usd,
        "budget_task": settings.budget_task_usd,
        **{f"models.{role}": model.name for role, model in settings.models.items()},
        "limits.verify_s": settings.limits.verify_s,
        "limits.run_s": settings.limits.run_s,
        "sandbox": str(settings.sandbox.mode),
        "sandbox.network": str(settings.sandbox.network),
        "sandbox.limits.processes": settings.sandbox.limits.processes,
        "sandbox.limits.memory_mb": settings.sandbox.limits.memory_mb,
        "sandbox.limits.file_mb": settings.sandbox.limits.file_mb,
        "notify": tuple(f"{', '.join(one.on)}: {one.command or one.url}" for one in settings.outward.notify),
        "bell": settings.outward.bell,
        "telemetry.otlp": settings.outward.telemetry.otlp or None,
        "telemetry.headers": settings.outward.telemetry.headers or None,
        "policy.protected": settings.protected,
        "policy.allowed": settings.allowed,
    }


def _changed(event: e.RunResumed) -> dict[str, bool | int | float | str | tuple[str, ...] | None]:
    found: dict[str, bool | int | float | str | tuple[str, ...] | None] = {
        "verify": event.verify,
        "questions": str(event.questions) if event.questions else None,
        "sandbox": str(event.sandbox_mode) if event.sandbox_mode else None,
        "budget": event.budget_usd,
        "max_iterations": event.max_iterations,
        **{f"models.{role}": model.name for role, model in event.models.items()},
    }
    return {key: value for key, value in found.items() if value is not None}
