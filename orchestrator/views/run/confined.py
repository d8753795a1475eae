"""How agents of a run were held, for people: the sandbox, its network, and where the key could be read."""

from collections.abc import Iterator

from state.journal.view import RunView
from state.settings.records import CommandNetwork

NETWORK_IS_OPEN = "sandbox.network is full: verification commands have the network of this machine"


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
        yield NETWORK_IS_OPEN
    if source.confined.key_exposed:
        yield source.confined.key_exposed


def lacking_lines(view: RunView) -> Iterator[str]:
    """Yield a line for each command that lacked something on the base, and each step not repeated."""
    for command, check in view.baseline.checks.items():
        if check.run.walled:
            yield f"in the sandbox `{command}` fails on the base and seems to lack {check.run.walled}"
    yield from (f"set-up: {line}" for line in view.evidence.not_again)
