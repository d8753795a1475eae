"""Stands for another sq: writes a run's journal, one event for each line it is given. `journal_writer.py FOLDER`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from state.journal.events import RunInterrupted
from state.journal.store import Journal

with Journal(Path(sys.argv[1])) as journal:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for given in sys.stdin:
        (stored,) = journal.append(RunInterrupted(by=given.strip()))
        sys.stdout.write(f"{stored.seq}\n")
        sys.stdout.flush()
