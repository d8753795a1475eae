"""Appends events to a run as its process does, and prints when each was stored, for `benchmarks.views`."""

import sys
import time
from pathlib import Path

from state.journal.events import ActionRefused, CallStarted, Event, MessageReceived
from state.journal.store import Journal
from state.records.calls import Message, MessageKind

_BATCH = 200
_PROBE_EACH = 20  # of the events of a batch, the others are messages


def main() -> None:
    """`python -m benchmarks.view_writer FOLDER COUNT PAUSE`: seconds between probes, below 0 batches."""
    folder, count, pause_s = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with Journal(folder) as journal:
        call_id = [one.event.call_id for one in journal.read() if isinstance(one.event, CallStarted)][-1]
        size = _BATCH if pause_s < 0 else 1
        for start in range(1, count + 1, size):
            numbers = range(start, start + size)
            journal.append(*(_event(call_id, number, alone=size == 1) for number in numbers))
            sys.stdout.write(f"{numbers[-1]} {time.time():.6f}\n")
            sys.stdout.flush()
            time.sleep(max(0.0, pause_s))


def _event(call_id: str, number: int, *, alone: bool) -> Event:
    if alone or number % _PROBE_EACH == 0:
        return ActionRefused(call_id=call_id, tool="Bash", reason=f"probe-{number:06}")
    return MessageReceived(call_id=call_id, message=Message(kind=MessageKind.TEXT, text=f"{number} " * 60))


if __name__ == "__main__":
    main()
