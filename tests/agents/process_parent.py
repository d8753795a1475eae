"""Stands for sq: starts a command as sq does, says so and waits. `process_parent.py WAY COMMAND…`."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents.process.containment import Containment, contained

with subprocess.Popen(contained(sys.argv[2:], Containment(sys.argv[1]))) as command:
    sys.stdout.write("started\n")
    sys.stdout.flush()
    command.wait()
