"""How agents of a run were held, for people: the sandbox, its network, and where the key could be read."""

from collections.abc import Iterator

from state.journal.view import RunView
from state.settings.records import CommandNetwork


def confinement_lines(view: RunView) -> list[str]:
    """Return the lines on the sandbox of a run, as it is now. A run that recorded none gives no line."""
    return [*_lines(view)]


def _lines(view: RunView) -> Iterator[str]:
    source = view.process.resumed or view.started
    if source is None or source.confined.sandbox is None:
        return
    held = source.confined.sandbox
    yield held.line
    if held.commands and view.settings and view.settings.sandbox.network is CommandNetwork.FULL:
        yield "sandbox.network is full: verification commands had the network of this machine"
    if source.confined.key_exposed:
        yield source.confined.key_exposed
