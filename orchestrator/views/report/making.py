"""How a run was made: versions, models, the sandbox, its settings with their times, each with its event."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.report.contents import DEPENDENCY, Fact
from orchestrator.views.words import columns, host_words, local_time, package_words
from state.journal import events as e
from state.journal.events import Stored
from state.records.commands import HostUse
from state.roles import Role
from state.settings.keys import KEYS, shown
from state.settings.kinds import Value
from state.settings.records import CommandNetwork, Settings


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
            case e.RunStarted(settings=settings):
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
    notices = tuple(f"{', '.join(one.on)}: {one.command or one.url}" for one in settings.integrations.notify)
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


_STARTED_WITH = "the start"
_MODELS = "models."
_SANDBOX = "sandbox: "  # begins its line, which is a fact of its own


def made_of(events: Iterable[Stored], version: str) -> tuple[Fact, ...]:
    """Return the facts on the making of a run.

    Args:
        events: all of the run but messages.
        version: of the sq that writes the report.
    """
    every = list(events)
    return (
        *_facts(every),
        *_given(every),
        *_meanwhile(every),
        *_hosts(every),
        *_settings(every),
        Fact(name="report written by", value=f"sq {version}"),
    )


def _facts(events: list[Stored]) -> Iterator[Fact]:  # noqa: C901  one case an event
    for stored in events:
        match stored.event:
            case e.RunStarted() as event:
                yield Fact(name="sq", value=event.sq_version, seq=stored.seq)
                yield Fact(name="models reached by", value=_reached(event), seq=stored.seq)
                yield from _confined(event, stored.seq)
                notes = [note for note in event.notes if not note.startswith(_SANDBOX)]
                yield from (Fact(name="note", value=note, seq=stored.seq) for note in notes)
            case e.RunResumed() as event:
                words = ", ".join(event.retry)
                value = f"tries again: {words}" if words else "goes on"
                yield Fact(name="resumed", value=value, seq=stored.seq)
                yield from _confined(event, stored.seq)
            case e.RunInterrupted() as event:
                yield Fact(name="interrupted", value=f"by {event.by}", seq=stored.seq)
            case e.DependenciesAdded() as event:
                for line in package_words(event.packages, event.more):
                    yield Fact(name=DEPENDENCY, value=line, seq=stored.seq)
            case e.LimitReached() as event:
                yield Fact(name="limit reached", value=event.cause, seq=stored.seq)
            case e.LandingStarted() as event:
                yield Fact(name="landing", value=event.cause, seq=stored.seq)
            case e.BaselineTaken() as event:
                for check in event.checks:
                    value = f"`{check.run.command}` ({check.source}): {check.outcome}"
                    yield Fact(name="before any change", value=value, seq=stored.seq)
                yield from (
                    Fact(name="before any change", value=note, seq=stored.seq) for note in event.notes
                )
            case _:
                pass


def _meanwhile(events: list[Stored]) -> Iterator[Fact]:
    """Yield what people said to the run, and its waits for the end of a limit."""
    for stored in events:
        match stored.event:
            case e.WordSaid() as event:
                value = f"{event.by} to {event.task_id or 'all'}: {event.text}"
            case e.PersonAnswered() as event:
                value = f"{event.by} answered “{event.answer.question}”: {event.answer.text}"
            case e.RunPaused(by=by):
                value = f"paused by {by}"
            case e.RunContinued(by=by):
                value = f"let go on by {by}"
            case e.WordRefused() as event:
                value = f"nothing was done with what {event.by} said ({event.reason})"
            case e.CallRetried(resets_at=at) if at:
                value = f"a limit was waited for until {local_time(at)}"
            case _:
                continue
        yield Fact(name="meanwhile", value=value, seq=stored.seq)


def _given(events: list[Stored]) -> Iterator[Fact]:
    """Yield the project's instructions and MCP servers that agents had."""
    for stored in events:
        if isinstance(stored.event, e.InstructionsRead | e.ToolServersListed):
            yield from (Fact(name="agents", value=one, seq=stored.seq) for one in stored.event.lines)


def _hosts(events: list[Stored]) -> Iterator[Fact]:
    """Yield the use of each host in the whole run."""
    found = {
        one.host: (HostUse(host=one.host), 0)
        for stored in events
        if isinstance(stored.event, e.HostsUsed)
        for one in stored.event.hosts
    }
    for stored in events:
        for one in stored.event.hosts if isinstance(stored.event, e.HostsUsed) else ():
            found[one.host] = (found[one.host][0] + one, stored.seq)
    for use, seq in found.values():
        yield from (Fact(name="host", value=line, seq=seq) for line in host_words(use))


def _reached(event: e.RunStarted) -> str:
    return "nothing: a script played the model" if event.rehearsal else event.credentials


def _confined(event: e.RunStarted | e.RunResumed, seq: int) -> Iterator[Fact]:
    held = event.confined
    if held.sandbox:
        yield Fact(name="sandbox", value=held.sandbox.line.removeprefix(_SANDBOX), seq=seq)
    if held.containment:
        yield Fact(name="processes ended by", value=held.containment, seq=seq)
    if held.key_exposed:
        yield Fact(name="API key", value=held.key_exposed, seq=seq)
    settings = event.settings if isinstance(event, e.RunStarted) else None
    if settings and settings.sandbox.network is CommandNetwork.FULL:
        yield Fact(name="network", value="verification commands have the network of the machine", seq=seq)


def _settings(events: list[Stored]) -> Iterator[Fact]:
    """Yield each setting with its values, the models first."""
    seqs = {
        stored.at: stored.seq for stored in events if isinstance(stored.event, e.RunStarted | e.RunResumed)
    }
    held = held_settings(events)
    order = {f"{_MODELS}{role}": number for number, role in enumerate(Role)}
    for one in sorted(held, key=lambda one: order.get(one.key, len(order))):
        since = "" if one.since == _STARTED_WITH else f" (since {one.since})"
        is_model = one.key in order
        name = f"model of the {one.key.removeprefix(_MODELS)}" if is_model else one.key
        value = f"{shown(one.value)}{since}"
        yield Fact(name=name, value=value, seq=seqs.get(one.at, 0), is_setting=not is_model)
