"""How a run was made: versions, models, settings, the sandbox, each with the event that says so."""

from collections.abc import Iterable, Iterator

from orchestrator.views.report.contents import DEPENDENCY, Fact
from orchestrator.views.run.held_settings import held_settings
from orchestrator.views.words import host_words, local_time, package_words
from state.journal import events as e
from state.journal.events import Stored
from state.records.commands import HostUse
from state.roles import Role
from state.settings.keys import shown
from state.settings.records import CommandNetwork

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
                    value = f"`{check.run.command}` ({check.source}): {check.standing}"
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
